/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_GATE_H
#define PAY_HTTPD_CALL_GATE_H

/*
 * Authenticates the caller: TLS, then the API key. Also AuthType Payments and Require payments-key.
 */

#include "httpd/call/call.h"

/* On paths of orders the key may be in this header, which takes precedence over Authorization. */
#define PAY_GATE_ORDER_KEY "api-key"

/*
 * Judges transport and key of `r`, once; later calls return the same result. NULL: the call's key
 * is set, and so are r->user and the access log's variables. The headers with a key are then
 * removed, so that nothing after it can log or pass on a key.
 */
const pay_problem_t *pay_gate_judge(request_rec *r);

/* Judges PaymentsRequireTLS alone: NULL, or 403 B02. */
const pay_problem_t *pay_gate_judge_transport(request_rec *r);

/* Returns 1 if a PaymentsTrustedTLSProxy in front of us ended the client's TLS. */
int pay_gate_is_behind_tls(const request_rec *r);

/* Sets WWW-Authenticate (RFC 6750 section 3) for an answer 401 or 403. */
void pay_gate_challenge(request_rec *r, int status);

void pay_gate_register_hooks(apr_pool_t *p);

#endif
