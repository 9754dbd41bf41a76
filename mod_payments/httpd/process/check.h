/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_CHECK_H
#define PAY_HTTPD_PROCESS_CHECK_H

#include <apr_pools.h>

/* Refuses a configuration whose fault no directive can see by itself. Touches no file. */
void pay_check_register_hooks(apr_pool_t *p);

#endif
