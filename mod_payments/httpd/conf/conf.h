/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_CONF_H
#define PAY_HTTPD_CONF_CONF_H

/*
 * The directives of one server (docs/directives.md). All but the first five members are inherited
 * from the main server. Constant once the server runs, but for the last two.
 */

#include "base/shared/rate.h"
#include "model/delivery.h"
#include "service/service.h"

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_BODY_MIN APR_INT64_C(1024)
#define PAY_CONF_BODY_MAX (APR_INT64_C(16) << 20)
#define PAY_CONF_STORE_MIN (APR_INT64_C(1) << 20)
#define PAY_CONF_STORE_MAX (APR_INT64_C(16) << 40)
#define PAY_CONF_DAYS_MAX 36600
#define PAY_CONF_COMMIT_WAIT_MIN apr_time_from_msec(10)
#define PAY_CONF_COMMIT_WAIT_MAX apr_time_from_sec(60)
#define PAY_CONF_SLOT_WAIT_MIN apr_time_from_msec(10)
#define PAY_CONF_SLOT_WAIT_MAX apr_time_from_sec(60)
#define PAY_CONF_ACQUIRER_TIMEOUT_MIN apr_time_from_sec(1)
#define PAY_CONF_ACQUIRER_TIMEOUT_MAX apr_time_from_sec(60)
#define PAY_CONF_REFUND_REPEAT_WINDOW apr_time_from_sec(600)
#define PAY_CONF_REFUND_REPEAT_WINDOW_MAX apr_time_from_sec(24 * 3600)
#define PAY_CONF_CORS_ORIGINS_MAX 32
#define PAY_CONF_SITE_PATH_LEN_MAX 255

typedef struct pay_conf_t {
    int engine;
    apr_array_header_t *cors_origins;    /* of const char *, lower case; NULL: no CORS */
    const char *health_path;             /* "/a/b", NULL: none */
    const char *metrics_path;            /* as that */
    const char *dashboard_path;          /* as that */
    const char *store;                   /* URL without a slash at its end; NULL: none */
    const char *account;                 /* NULL: the key selects it */
    const char *base_path;               /* "" or "/a/b" */
    const char *key_prefix;              /* defaults of new accounts, as the next two */
    const char *currency;                /* upper case */
    const char *timezone;                /* IANA name */
    const apr_array_header_t *tls_proxy; /* of apr_ipsubnet_t *, NULL: none */
    int require_tls;
    apr_int64_t body_max;
    pay_store_options_t options; /* all but those that httpd itself knows */
    pay_policy_t policy;
    apr_array_header_t *acquirers;  /* of pay_conf_acquirer_t *; NULL: no Live Mode */
    int in_flight_max;              /* calls of one acquirer at a time */
    pay_rate_limit_t rate_limit[2]; /* by pay_key_kind_t */
    pay_rate_limit_t rate_total;    /* of a public key over all addresses */
    pay_rate_limit_t failure_limit;
    const char *master_key;      /* a path; NULL: beside the store */
    const char *dashboard_files; /* a directory; NULL: the installed one */
    pay_delivery_t delivery;     /* the main server's, as the next one; mail_login is "" */
    const char *mail_login_file; /* NULL: the relay wants none */
    const char *checkout_url;    /* scheme and host of hosted pages; NULL: those of the call */

    unsigned store_set : 1;
    unsigned account_set : 1;
    unsigned base_path_set : 1;
    unsigned key_prefix_set : 1;
    unsigned currency_set : 1;
    unsigned timezone_set : 1;
    unsigned tls_proxy_set : 1;
    unsigned require_tls_set : 1;
    unsigned body_max_set : 1;
    unsigned map_bytes_set : 1;
    unsigned reserve_bytes_set : 1;
    unsigned commit_wait_set : 1;
    unsigned commit_batch_set : 1;
    unsigned account_rows_max_set : 1;
    unsigned checkout_keep_set : 1;
    unsigned currencies_set : 1;
    unsigned refund_days_max_set : 1;
    unsigned acquirer_timeout_set : 1;
    unsigned slot_wait_set : 1;
    unsigned refund_repeat_window_set : 1;
    unsigned acquirers_set : 1;
    unsigned in_flight_max_set : 1;
    unsigned late_after_set : 1;
    unsigned late_refund_set : 1;
    unsigned pending_alert_set : 1;
    unsigned refund_sync_set : 1;
    unsigned rate_secret_set : 1;
    unsigned rate_public_set : 1;
    unsigned rate_total_set : 1;
    unsigned failure_limit_set : 1;
    unsigned failure_kinds_set; /* of PaymentsFailureLimit: a bit for each kind */
    unsigned master_key_set : 1;
    unsigned dashboard_files_set : 1;
    unsigned checkout_url_set : 1;
    unsigned checkout_lifetime_set : 1;
    unsigned return_hosts_set : 1;

    pay_service_t *service;                    /* of this process; written once in child_init */
    const apr_array_header_t *dashboard_pages; /* pay_dashboard_files, in the parent; NULL: none */
} pay_conf_t;

extern const command_rec pay_conf_directives[];

pay_conf_t *pay_conf_get(const server_rec *s);

void *pay_conf_create(apr_pool_t *p, server_rec *s);
void *pay_conf_merge(apr_pool_t *p, void *base, void *add);

/* Where the master key of its store lies. */
const char *pay_conf_master_key(const pay_conf_t *conf, apr_pool_t *p);

#endif
