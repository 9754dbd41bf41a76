/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_API_H
#define PAY_HTTPD_API_API_H

/*
 * The operations (docs/api.md). Each reads, makes one service call and replies. They are called
 * after transport, key, path, method, kind of key, Accept and the body's form as JSON were judged,
 * with the call's key, service, path segments, media type, body and Idempotency-Key set, and return
 * what a handler returns.
 */

#include "base/text/time.h"
#include "httpd/call/call.h"
#include "model/transaction.h"

int pay_api_charge_create(request_rec *r, const pay_call_t *call);
int pay_api_refund_create(request_rec *r, const pay_call_t *call);
int pay_api_refund_create_partial(request_rec *r, const pay_call_t *call);
int pay_api_refund_get(request_rec *r, const pay_call_t *call);
int pay_api_refund_list(request_rec *r, const pay_call_t *call);
int pay_api_transaction_get(request_rec *r, const pay_call_t *call);
int pay_api_transaction_shown(request_rec *r, const pay_call_t *call);
int pay_api_transaction_list(request_rec *r, const pay_call_t *call);
int pay_api_transaction_verify(request_rec *r, const pay_call_t *call);
int pay_api_transaction_void(request_rec *r, const pay_call_t *call);
int pay_api_paymentlink_initiate(request_rec *r, const pay_call_t *call);
int pay_api_checkout_initiate(request_rec *r, const pay_call_t *call);
int pay_api_order_create(request_rec *r, const pay_call_t *call);
int pay_api_order_get(request_rec *r, const pay_call_t *call);
int pay_api_order_verify(request_rec *r, const pay_call_t *call); /* and status: the same */
int pay_api_transaction_fee(request_rec *r, const pay_call_t *call);
int pay_api_order_fee(request_rec *r, const pay_call_t *call);
int pay_api_bank_list(request_rec *r, const pay_call_t *call);
int pay_api_report(request_rec *r, const pay_call_t *call);
int pay_api_openapi_get(request_rec *r, const pay_call_t *call);

/* Returns what the caller's kind of key may see. */
pay_view_t pay_api_view(const pay_call_t *call);

/* Finds the transaction that a call names, and names it to the access log. NULL, or a problem. */
const pay_problem_t *pay_api_find(pay_transaction_t *out, request_rec *r, const pay_call_t *call,
                                  const char *reference);

/*
 * Sets *body to the call's body, or to its decrypted form: a body with only `data`, a string, is
 * decrypted with the account's key of the mode and read as the operation's plain body.
 */
const pay_problem_t *pay_api_open_body(const struct pay_json_t **body, request_rec *r,
                                       const pay_call_t *call);

/*
 * Reads the range from the call's two segments, bare dates in the account's zone (docs/api.md,
 * "Dates"). `days_max` 0: any span. NULL, or a problem.
 */
const pay_problem_t *pay_api_range(pay_time_range_t *out, request_rec *r, const pay_call_t *call,
                                   int days_max);

#endif
