/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_NEIGHBOURS_H
#define PAY_HTTPD_PROCESS_NEIGHBOURS_H

/*
 * Other modules of this server that can reach a store's files, because they run as the same user.
 * Logged once at each start, while the administrator is watching.
 */

#include <apr_pools.h>

void pay_neighbours_register_hooks(apr_pool_t *p);

#endif
