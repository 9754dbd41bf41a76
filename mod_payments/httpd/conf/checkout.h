/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_CHECKOUT_H
#define PAY_HTTPD_CONF_CHECKOUT_H

/* The directives about checkouts (docs/directives.md). */

#include "model/checkout.h"

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_CHECKOUT_LIFETIME_MIN apr_time_from_sec(1)
#define PAY_CONF_CHECKOUT_LIFETIME_MAX PAY_CHECKOUT_LIFETIME_MAX

const char *pay_conf_set_checkout_lifetime(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_checkout_url(cmd_parms *cmd, void *dir, const char *arg);

const char *pay_conf_add_return_host(cmd_parms *cmd, void *dir, const char *arg);

#endif
