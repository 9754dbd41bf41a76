/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_RATE_H
#define PAY_HTTPD_CONF_RATE_H

/* The directives that limit how often clients may call (docs/directives.md). */

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_RATE_MAX 100000 /* tokens a second, minute or hour */
#define PAY_CONF_BURST_MAX 1000000

/* The part of PaymentsRateLimit's row that limits a public key over all addresses; the other parts
 * are values of pay_key_kind_t. */
#define PAY_CONF_RATE_TOTAL 2

/* PaymentsRateLimit [secret|public|public-total] RATE [burst=N]|off */
const char *pay_conf_set_rate_limit(cmd_parms *cmd, void *dir, const char *one, const char *two,
                                    const char *three);

/* PaymentsAuthFailureLimit RATE [burst=N]|off */
const char *pay_conf_set_failure_limit(cmd_parms *cmd, void *dir, const char *rate,
                                       const char *burst);

/* PaymentsFailureLimit off|KIND N/TIME|off [KIND N/TIME|off]... */
const char *pay_conf_set_payment_failures(cmd_parms *cmd, void *dir, const char *args);

#endif
