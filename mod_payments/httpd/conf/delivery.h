/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_DELIVERY_H
#define PAY_HTTPD_CONF_DELIVERY_H

/* The directives about notifications (docs/directives.md). All except the first are allowed in the
 * main server only: they apply to the store, which passes them on to paymentsctl. */

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_NETWORKS_MAX 64

const char *pay_conf_set_master_key(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_add_webhook_allow(cmd_parms *cmd, void *dir, const char *arg);
/* PaymentsMailRelay URL [LOGIN-FILE] */
const char *pay_conf_set_mail_relay(cmd_parms *cmd, void *dir, const char *url, const char *login);

#endif
