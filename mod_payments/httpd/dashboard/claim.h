/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_CLAIM_H
#define PAY_HTTPD_DASHBOARD_CLAIM_H

/*
 * Makes the path of PaymentsDashboard and all below it ours, ahead of rewriting, aliases, handlers
 * and a site's .htaccess. Who may come in is the site's authentication's business; its
 * Authorization header is left alone.
 */

#include <httpd.h>

void pay_dashboard_claim_register_hooks(apr_pool_t *p);

#endif
