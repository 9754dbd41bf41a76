/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_REFUND_REFUNDS_H
#define PAY_SERVICE_REFUND_REFUNDS_H

#include "service/service.h"

/*
 * Makes a refund of a charge (docs/api.md, "Refunds"): opens it, sends it to the charge's acquirer,
 * resolves it. NULL: *out is the refund, also if the acquirer refused it (state failed); the answer
 * is pay_refund_answer_to_json, the first time too. *replayed 1: an earlier request with the
 * caller's Idempotency-Key made it, and it is decided. A refusal R1 to R3 that is stored under the
 * key is repeated, with *replayed 1 too.
 */
const pay_problem_t *pay_refund_create(pay_refund_t **out, int *replayed, pay_service_t *service,
                                       const pay_caller_t *caller,
                                       const pay_refund_request_t *request, apr_pool_t *p);

/* Finds a refund by its reference; 404 N1 if none exists. */
const pay_problem_t *pay_refund_get(pay_refund_t **out, pay_service_t *service,
                                    const pay_scope_t *scope, const char *refund_reference,
                                    apr_pool_t *p);

/* Returns the next chunk of a list; see pay_store_refund_scan. */
const pay_problem_t *pay_refunds_scan(pay_refund_cursor_t *cursor, apr_size_t *len,
                                      apr_size_t *count, pay_service_t *service,
                                      const pay_scope_t *scope, const pay_time_range_t *range,
                                      char *buffer, apr_size_t size, apr_pool_t *p);

#endif
