/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_CHARGE_TRANSACTIONS_H
#define PAY_SERVICE_CHARGE_TRANSACTIONS_H

#include "service/service.h"

/* By reference, with its refunds; 404 N1 when there is none, also when no reference has that form.
 */
const pay_problem_t *pay_transaction_get(pay_transaction_t *out, pay_service_t *service,
                                         const pay_scope_t *scope, const char *reference,
                                         apr_pool_t *p);

/*
 * Charges created in `range`, at most `limit`, by createdAt and then id; those behind `after`
 * (NULL: from the start), the last one of the call before. Array of const pay_charge_t *.
 */
const pay_problem_t *pay_transactions_scan(apr_array_header_t **out, pay_service_t *service,
                                           const pay_scope_t *scope, const pay_time_range_t *range,
                                           const pay_charge_t *after, int limit, apr_pool_t *p);

/*
 * Charges that `filter` wants, newest first, at most `limit`: fewer, or none, is not the end, which
 * cursor->done tells. Array of const pay_charge_t *.
 */
const pay_problem_t *pay_transactions_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                             pay_service_t *service, const pay_scope_t *scope,
                                             const pay_charge_filter_t *filter, int limit,
                                             apr_pool_t *p);

/*
 * POST transaction/verify: *text is the whole answer. 404 N1, 409 V1 when the amount differs. It
 * reads, and so an Idempotency-Key keeps nothing of it: asked again, it is answered anew.
 */
const pay_problem_t *pay_transaction_verify(const char **text, pay_service_t *service,
                                            const pay_scope_t *scope,
                                            const pay_verify_request_t *request, apr_pool_t *p);

/*
 * POST void-transaction: *text and *replayed likewise. 404 N1; 409 V2 for all but pending checkouts
 * that nobody is at work on. Only a checkout takes the writer's turn.
 */
const pay_problem_t *pay_transaction_void(const char **text, int *replayed, pay_service_t *service,
                                          const pay_caller_t *caller, const char *reference,
                                          apr_pool_t *p);

#endif
