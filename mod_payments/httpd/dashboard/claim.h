/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_CLAIM_H
#define PAY_HTTPD_DASHBOARD_CLAIM_H

/*
 * Claims the path of PaymentsDashboard and everything below it, ahead of rewriting, aliases,
 * handlers and a site's .htaccess. The site's authentication decides who may come in; its
 * Authorization header is left alone.
 */

#include <httpd.h>

void pay_dashboard_claim_register_hooks(apr_pool_t *p);

#endif
