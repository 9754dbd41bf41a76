/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ZONES_H
#define PAY_ZONES_H

/* The time zones that this process has loaded, by name. Thread-safe after pay_zones_init. */

#include "base/pay_timezone.h"

#define PAY_ZONES_MAX 64 /* kept; others are loaded for each request anew */

/* Once per process, while single-threaded; what is kept lives in `pchild`. */
void pay_zones_init(apr_pool_t *pchild);

/* As pay_timezone_load, but kept for the next caller where there is room. */
apr_status_t pay_zones_get(const pay_timezone_t **out, const char *name, apr_pool_t *p);

#endif
