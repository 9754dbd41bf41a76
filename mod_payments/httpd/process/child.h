/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_CHILD_H
#define PAY_HTTPD_PROCESS_CHILD_H

/* The environment of each child process: opened stores, and a service for each host. */

#include <apr_pools.h>

void pay_child_register_hooks(apr_pool_t *p);

#endif
