/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_ZONES_H
#define PAY_HTTPD_CALL_ZONES_H

/* The time zones that this process has loaded, by name. Thread-safe after pay_zones_init. */

#include "base/problem.h"
#include "base/text/timezone.h"
#include "model/account.h"

#define PAY_ZONES_MAX 64 /* cached; others are loaded again for each request */

/* Called once per process, while single-threaded; cached zones live in `pchild`. */
void pay_zones_init(apr_pool_t *pchild);

/* Does the same as pay_timezone_load, but caches the zone if there is room. */
apr_status_t pay_zones_get(const pay_timezone_t **out, const char *name, apr_pool_t *p);

/* Returns the account's zone in *out, or a problem (500) that has been logged: the zone was known
 * when it was set. */
const pay_problem_t *pay_zones_of_account(const pay_timezone_t **out, const pay_account_t *account,
                                          apr_pool_t *p);

#endif
