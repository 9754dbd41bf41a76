/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_SITE_PATH_H
#define PAY_HTTPD_SITE_SITE_PATH_H

/*
 * Paths of a virtual host beside the API that a directive of its own opens: PaymentsHealth,
 * PaymentsMetrics. Claimed ahead of rewriting and aliases; no ErrorDocument takes the place of
 * their answers. Who may ask is the administrator's business, by Require in a <Location>.
 */

#include <httpd.h>

void pay_site_path_register_hooks(apr_pool_t *p);

#endif
