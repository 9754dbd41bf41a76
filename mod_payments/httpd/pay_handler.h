/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HANDLER_H
#define PAY_HANDLER_H

/* The door: one table of method, path, kind of key and operation. */

#include <apr_pools.h>

void pay_handler_register_hooks(apr_pool_t *p);

#endif
