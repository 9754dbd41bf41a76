/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HEALTH_H
#define PAY_HEALTH_H

/* PaymentsHealth: 200 or 503 for load balancers, without a key and without a body. */

#include <apr_pools.h>

void pay_health_register_hooks(apr_pool_t *p);

#endif
