/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_GATE_REQUIRE_H
#define PAY_HTTPD_CALL_GATE_REQUIRE_H

/*
 * `Require payments-key WORD ...` with the words secret, public, test, live. One of the words for
 * kinds on the line must match, and one of those for modes likewise: "secret public live" is any
 * live key.
 */

#include <apr_pools.h>

void pay_gate_require_register(apr_pool_t *p);

#endif
