/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_HANDLER_H
#define PAY_HTTPD_API_HANDLER_H

/*
 * The door: everything that is judged and read before any operation, in one order for all of them.
 */

#include <apr_pools.h>

void pay_handler_register_hooks(apr_pool_t *p);

#endif
