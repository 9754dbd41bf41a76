/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_TRANSACTIONS_H
#define PAY_TRANSACTIONS_H

#include "service/pay_service.h"

/* By reference, with its refunds; 404 N1 when there is none, also when no reference has that form.
 */
const pay_problem_t *pay_transaction_get(pay_transaction_t *out, pay_service_t *service,
                                         const pay_scope_t *scope, const char *reference,
                                         apr_pool_t *p);

/*
 * POST transaction/verify: *text is the whole answer. 404 N1, 409 V1 when the amount differs.
 * With an Idempotency-Key the first answer about a transaction that is not pending is kept, and
 * given again with *replayed 1. One about a pending transaction is not kept: a shop that polls with
 * one key sees it decided.
 */
const pay_problem_t *pay_transaction_verify(const char **text, int *replayed,
                                            pay_service_t *service, const pay_caller_t *caller,
                                            const pay_verify_request_t *request, apr_pool_t *p);

/*
 * POST void-transaction: *text and *replayed likewise. 404 N1; 409 V2 for all but pending checkouts
 * that nobody is at work on. Only a checkout takes the writer's turn.
 */
const pay_problem_t *pay_transaction_void(const char **text, int *replayed, pay_service_t *service,
                                          const pay_caller_t *caller, const char *reference,
                                          apr_pool_t *p);

#endif
