/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_STATUS_H
#define PAY_HTTPD_SITE_STATUS_H

/* The module's part of mod_status's page. */

#include <apr_pools.h>

void pay_status_register_hooks(apr_pool_t *p);

#endif
