/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_NEIGHBOURS_H
#define PAY_HTTPD_PROCESS_NEIGHBOURS_H

/*
 * What else in this server reaches a store's files, because it runs as the same user. Said once at
 * each start, while the administrator looks.
 */

#include <apr_pools.h>

void pay_neighbours_register_hooks(apr_pool_t *p);

#endif
