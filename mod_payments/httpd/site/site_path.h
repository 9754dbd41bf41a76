/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_SITE_PATH_H
#define PAY_HTTPD_SITE_SITE_PATH_H

/*
 * Paths of a virtual host besides the API, each opened by a directive: PaymentsHealth,
 * PaymentsMetrics. Claimed ahead of rewriting and aliases; no ErrorDocument replaces their answers.
 * The administrator decides who has access, by Require in a <Location>.
 */

#include <httpd.h>

void pay_site_path_register_hooks(apr_pool_t *p);

#endif
