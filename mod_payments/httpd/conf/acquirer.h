/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_ACQUIRER_H
#define PAY_HTTPD_CONF_ACQUIRER_H

/* PaymentsAcquirer (docs/directives.md). */

#include "acquirer/mod_payments.h"

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_ACQUIRERS_MAX 8
#define PAY_CONF_PARAMETERS_MAX 16
#define PAY_CONF_PARAMETER_NAME_MAX 32
#define PAY_CONF_PARAMETER_LEN_MAX 1000
#define PAY_CONF_CONNECTOR_NAME_MAX 32

struct pay_conf_t;

/* One PaymentsAcquirer. Of a secret only its path is ever repeated, never the value. */
typedef struct pay_conf_acquirer_t {
    const char *connector;
    const char *name;            /* the instance's, as stored in rows */
    const char *url;             /* NULL: none */
    apr_table_t *given;          /* the connector's own parameters, secrets as file: or exec: */
    apr_interval_time_t timeout; /* 0: PaymentsAcquirerTimeout */
} pay_conf_acquirer_t;

/* PaymentsAcquirer live CONNECTOR [URL] [NAME=VALUE ...] */
const char *pay_conf_add_acquirer(cmd_parms *cmd, void *dir, int count, char *const words[]);

/* NULL if no loaded module has this connector. */
const payments_acquirer_t *pay_conf_connector(const char *name);

/* Returns 1 if the parameter is one of the connector's secrets. */
int pay_conf_is_secret(const payments_acquirer_t *connector, const char *parameter);

/* The time-out of one call: the acquirer's own, else the host's. */
apr_interval_time_t pay_conf_acquirer_timeout(const struct pay_conf_t *conf,
                                              const pay_conf_acquirer_t *acquirer);

/* Returns a sentence about a secret that is not given as file: or exec:, or NULL. */
const char *pay_conf_acquirer_secret_fault(const payments_acquirer_t *connector,
                                           const pay_conf_acquirer_t *acquirer, apr_pool_t *p);

/* Called after all modules are loaded. Returns a fault of a host's acquirers, or NULL. Reads no
 * files. */
const char *pay_conf_acquirers_fault(const server_rec *main_server, const server_rec *s,
                                     apr_pool_t *p);

#endif
