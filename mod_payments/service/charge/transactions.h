/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_TRANSACTIONS_H
#define PAY_SERVICE_CHARGE_TRANSACTIONS_H

#include "service/service.h"

/* Finds a transaction by reference, with its refunds; 404 N1 if none exists, also if no reference
 * has this form. */
const pay_problem_t *pay_transaction_get(pay_transaction_t *out, pay_service_t *service,
                                         const pay_scope_t *scope, const char *reference,
                                         apr_pool_t *p);

/*
 * Lists charges created in `range`, at most `limit`, by createdAt and then id, after `after` (NULL:
 * from the start), the last one of the previous call. Array of const pay_charge_t *.
 */
const pay_problem_t *pay_transactions_scan(apr_array_header_t **out, pay_service_t *service,
                                           const pay_scope_t *scope, const pay_time_range_t *range,
                                           const pay_charge_t *after, int limit, apr_pool_t *p);

/*
 * Lists charges that match `filter`, newest first, at most `limit`. Fewer, or an empty array, is
 * not the end: see cursor->done. Array of const pay_charge_t *.
 */
const pay_problem_t *pay_transactions_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                             pay_service_t *service, const pay_scope_t *scope,
                                             const pay_charge_filter_t *filter, int limit,
                                             apr_pool_t *p);

/*
 * POST transaction/verify: *text is the whole answer. 404 N1, 409 V1 if the amount differs. It only
 * reads, so an Idempotency-Key stores nothing: a repeated request is answered from the present
 * state.
 */
const pay_problem_t *pay_transaction_verify(const char **text, pay_service_t *service,
                                            const pay_scope_t *scope,
                                            const pay_verify_request_t *request, apr_pool_t *p);

/*
 * POST void-transaction: *text and *replayed likewise. 404 N1; 409 V2 for everything except pending
 * checkouts without work in flight. Only a checkout takes the writer lock.
 */
const pay_problem_t *pay_transaction_void(const char **text, int *replayed, pay_service_t *service,
                                          const pay_caller_t *caller, const char *reference,
                                          apr_pool_t *p);

#endif
