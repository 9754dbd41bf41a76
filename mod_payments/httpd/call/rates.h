/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_RATES_H
#define PAY_HTTPD_CALL_RATES_H

/*
 * How often clients may call (docs/directives.md, PaymentsRateLimit, PaymentsAuthFailureLimit),
 * counted over all child processes of one generation. Virtual hosts with one limit count together.
 */

#include "httpd/call/call.h"

/* In the parent: the memory that all children of this generation count in. */
void pay_rates_share(server_rec *main_server, apr_pool_t *pconf);

/* One more call with a good key, which may make it: NULL, or 429 L1. */
const pay_problem_t *pay_rates_judge_call(request_rec *r, const pay_call_t *call);

/* One more request for a hosted page, which counts by address as calls with a public key do: NULL,
 * or 429 L1. */
const pay_problem_t *pay_rates_judge_page(request_rec *r);

/* One more call with a key that was refused: NULL (it is 401), or 429 L1. */
const pay_problem_t *pay_rates_judge_failure(request_rec *r);

/*
 * One more request with credentials for the dashboard, before they are judged: NULL, or 429 L1.
 * Once they are found right, pay_rates_signed_in is owed, and it does not count.
 */
const pay_problem_t *pay_rates_judge_sign_in(request_rec *r);
void pay_rates_signed_in(request_rec *r);

/*
 * One more password that is typed to confirm a change, before it is judged; `who` are
 * PAY_SHA256_LEN bytes that stand for user and host. NULL, or 429 L1. Once it is found right,
 * pay_rates_confirmed is owed, and it does not count.
 */
const pay_problem_t *pay_rates_judge_confirmation(request_rec *r, const unsigned char *who);
void pay_rates_confirmed(const unsigned char *who);

/*
 * 1: one more entry of the audit of a change that was refused, of an account's number (0: of the
 * whole store), goes in; 0: there were too many, and the log says so.
 */
int pay_rates_judge_refusal_entry(request_rec *r, apr_uint32_t account);

/* One more export; `who` are PAY_SHA256_LEN bytes that stand for account, user and host. NULL, or
 * 429 L1. */
const pay_problem_t *pay_rates_judge_export(request_rec *r, const unsigned char *who);

/* One more mail with a code to confirm a change, for the same: NULL, or 429 L1. */
const pay_problem_t *pay_rates_judge_code(request_rec *r, const unsigned char *who);

#endif
