/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_CONF_H
#define PAY_HTTPD_CONF_CONF_H

/*
 * The directives of one server (docs/directives.md). Their rows say which members a virtual host
 * inherits from the main server, and the defaults (row.h). Constant once the server runs, except
 * for the last two members.
 */

#include "base/shared/rate.h"
#include "model/delivery.h"
#include "service/service.h"

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_DIRECTIVES_MAX 64
#define PAY_CONF_ACQUIRER_TIMEOUT_MIN apr_time_from_sec(1)
#define PAY_CONF_ACQUIRER_TIMEOUT_MAX apr_time_from_sec(60)
#define PAY_CONF_CORS_ORIGINS_MAX 32

typedef struct pay_conf_t {
    int engine;
    apr_array_header_t *cors_origins;    /* of const char *, lower case; NULL: no CORS */
    const char *health_path;             /* "/a/b", NULL: none */
    const char *metrics_path;            /* "/a/b", NULL: none */
    const char *dashboard_path;          /* "/a/b", NULL: none */
    const char *store;                   /* URL without a slash at its end; NULL: none */
    const char *account;                 /* NULL: the key selects it */
    const char *base_path;               /* "" or "/a/b" */
    const char *key_prefix;              /* default of new accounts */
    const char *currency;                /* default of new accounts, upper case */
    const char *timezone;                /* default of new accounts, IANA name */
    const apr_array_header_t *tls_proxy; /* of apr_ipsubnet_t *, NULL: none */
    int require_tls;
    apr_int64_t body_max;
    pay_store_options_t options; /* all except those that httpd itself knows */
    pay_policy_t policy;
    apr_array_header_t *acquirers;  /* of pay_conf_acquirer_t *; NULL: no Live Mode */
    int in_flight_max;              /* calls of one acquirer at a time */
    pay_rate_limit_t rate_limit[2]; /* by pay_key_kind_t */
    pay_rate_limit_t rate_total;    /* of a public key over all addresses */
    pay_rate_limit_t failure_limit;
    const char *master_key;      /* a path; NULL: next to the store */
    const char *dashboard_files; /* a directory; NULL: the installed one */
    pay_delivery_t delivery;     /* the main server's; mail_login is "" */
    const char *mail_login_file; /* the main server's; NULL: the relay wants no login */
    const char *checkout_url;    /* scheme and host of hosted pages; NULL: the request's */

    /* For each row of pay_conf_directives, a bit for each part that a directive set (row.h). */
    unsigned char said[PAY_CONF_DIRECTIVES_MAX];

    pay_service_t *service;                    /* of this process; written once in child_init */
    const apr_array_header_t *dashboard_pages; /* pay_dashboard_files, in the parent; NULL: none */
} pay_conf_t;

/* One row for each directive; the cmd_data of each is a pay_conf_row_t (row.h). */
extern const command_rec pay_conf_directives[];

pay_conf_t *pay_conf_get(const server_rec *s);

void *pay_conf_create(apr_pool_t *p, server_rec *s);
void *pay_conf_merge(apr_pool_t *p, void *base, void *add);

/* The path of the master key of its store. */
const char *pay_conf_master_key(const pay_conf_t *conf, apr_pool_t *p);

#endif
