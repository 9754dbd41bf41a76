/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_CHECK_H
#define PAY_HTTPD_PROCESS_CHECK_H

#include <apr_pools.h>

/* Refuses a configuration with a fault that no single directive can detect. Touches no file. */
void pay_check_register_hooks(apr_pool_t *p);

#endif
