/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_REFUND_REFUND_IMPORT_H
#define PAY_SERVICE_REFUND_REFUND_IMPORT_H

/* Refunds that were made elsewhere: from a file, or from an acquirer's books. Changes leave an
 * entry in the audit (service/change.h). */

#include "service/service.h"

/*
 * Called now and then with the records done and the total; pass 1 reads and validates, pass 2
 * writes. `total` is 0 in pass 1: it is known only at its end.
 */
typedef void (*pay_import_progress_t)(void *baton, int pass, apr_uint64_t done, apr_uint64_t total);

typedef struct pay_import_result_t {
    apr_uint64_t written;
    apr_uint64_t skipped;
    apr_uint64_t unlinked; /* of those written: in Live Mode, that name no charge of this store */
    const char *fault;     /* the failure, with the line if the file is at fault; NULL: none */
} pay_import_result_t;

/*
 * Imports refund records from the file `path`: a JSON array, or one object a line. Reads and
 * validates all of it first; a fault then leaves the store untouched. Then writes in short
 * transactions under an import number that becomes visible at once at the end; a failure removes
 * everything that was written. A record with the same id and content is skipped. APR_EINVAL: the
 * file is at fault.
 */
apr_status_t pay_refund_import(pay_import_result_t *out, const pay_service_t *service,
                               const pay_scope_t *scope, const char *path,
                               pay_import_progress_t progress, void *baton, apr_pool_t *p);

/*
 * Links a refund of the acquirer's books to its charge here; with `change` 0 only reports what that
 * would do. *charge is NULL if there is no charge. 404 N1: there is no such refund (any more).
 */
const pay_problem_t *pay_refund_attach(pay_refund_t **out, pay_charge_t **charge,
                                       pay_refund_link_t *verdict, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *reference, int change,
                                       apr_pool_t *p);

/*
 * Requests that the server fetch the acquirer's refunds of the range; `said` is its text for the
 * audit. *out is the stored request. 409 D2: another range is under way, which is *out.
 */
const pay_problem_t *pay_refunds_ask(pay_history_t **out, const pay_service_t *service,
                                     const pay_scope_t *scope, const pay_time_range_t *range,
                                     const char *said, apr_pool_t *p);

#endif
