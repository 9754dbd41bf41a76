/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_CORS_H
#define PAY_HTTPD_API_CORS_H

/*
 * Calls by browsers from pages of the origins of PaymentsCORSOrigin (Fetch, "CORS protocol"): they
 * may read the answers of operations that a public key may call, and nothing else.
 */

#include "httpd/call/call.h"

/*
 * Judges origin and operation once the call's path is known, before anything can refuse the call.
 */
void pay_cors_begin(request_rec *r);

/* Answers a preflight (call->cors_preflight). It needs no key, but TLS like every call. */
int pay_cors_answer(request_rec *r);

void pay_cors_register_hooks(apr_pool_t *p);

#endif
