/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_RATES_H
#define PAY_HTTPD_CALL_RATES_H

/*
 * Limits on how often clients may call (docs/directives.md, PaymentsRateLimit,
 * PaymentsAuthFailureLimit), counted over all child processes of one generation. Virtual hosts with
 * the same limit count together.
 */

#include "httpd/call/call.h"

/* Called in the parent: makes the memory that all children of this generation count in. */
void pay_rates_share(server_rec *main_server, apr_pool_t *pconf);

/* Counts a call with a valid key: NULL if it may be made, or 429 L1. */
const pay_problem_t *pay_rates_judge_call(request_rec *r, const pay_call_t *call);

/* Counts a request for a hosted page, by address like calls with a public key: NULL, or 429 L1. */
const pay_problem_t *pay_rates_judge_page(request_rec *r);

/* Counts a call with a refused key: NULL (it is 401), or 429 L1. */
const pay_problem_t *pay_rates_judge_failure(request_rec *r);

/*
 * Counts a request with credentials for the dashboard, before they are judged: NULL, or 429 L1. If
 * they turn out to be right, the caller must call pay_rates_signed_in, and the request does not
 * count.
 */
const pay_problem_t *pay_rates_judge_sign_in(request_rec *r);
void pay_rates_signed_in(request_rec *r);

/*
 * Counts a password that was typed to confirm a change, before it is judged; `who` is
 * PAY_SHA256_LEN bytes that identify user and host. NULL, or 429 L1. If it turns out to be right,
 * the caller must call pay_rates_confirmed, and it does not count.
 */
const pay_problem_t *pay_rates_judge_confirmation(request_rec *r, const unsigned char *who);
void pay_rates_confirmed(const unsigned char *who);

/*
 * Counts an entry of the audit for a refused change, by an account's number (0: of the whole
 * store). Returns 1 if it may be written; 0 if there were too many, which is logged.
 */
int pay_rates_judge_refusal_entry(request_rec *r, apr_uint32_t account);

/* Counts an export; `who` is PAY_SHA256_LEN bytes that identify account, user and host. NULL, or
 * 429 L1. */
const pay_problem_t *pay_rates_judge_export(request_rec *r, const unsigned char *who);

/* Counts a mail with a code to confirm a change, by the same `who`: NULL, or 429 L1. */
const pay_problem_t *pay_rates_judge_code(request_rec *r, const unsigned char *who);

#endif
