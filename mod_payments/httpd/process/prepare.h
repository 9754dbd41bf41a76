/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_PREPARE_H
#define PAY_HTTPD_PROCESS_PREPARE_H

/*
 * The parent's work once the configuration is read: loads the master keys, makes the stores, stores
 * the defaults of new accounts and the delivery settings there, shares the slots, reads the secrets
 * of acquirers, starts the watchdog's work. Never fails for the runtime trouble of one host: a
 * failed post_config takes the whole server down, at a reload too.
 */

#include <apr_pools.h>

void pay_prepare_register_hooks(apr_pool_t *p);

#endif
