/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_ZONES_H
#define PAY_HTTPD_CALL_ZONES_H

/* The time zones that this process has loaded, by name. Thread-safe after pay_zones_init. */

#include "base/problem.h"
#include "base/text/timezone.h"
#include "model/account.h"

#define PAY_ZONES_MAX 64 /* kept; others are loaded for each request anew */

/* Once per process, while single-threaded; what is kept lives in `pchild`. */
void pay_zones_init(apr_pool_t *pchild);

/* As pay_timezone_load, but kept for the next caller where there is room. */
apr_status_t pay_zones_get(const pay_timezone_t **out, const char *name, apr_pool_t *p);

/* The account's zone. Returns NULL, or a problem (500) that has been logged: the zone was known
 * when it was set. */
const pay_problem_t *pay_zones_of_account(const pay_timezone_t **out, const pay_account_t *account,
                                          apr_pool_t *p);

#endif
