/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PAGE_ERROR_FILTER_H
#define PAY_HTTPD_PAGE_ERROR_FILTER_H

/* Errors that httpd itself raises on our URLs, in our envelope. */

#include <apr_pools.h>

void pay_error_filter_register_hooks(apr_pool_t *p);

#endif
