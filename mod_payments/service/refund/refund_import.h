/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_REFUND_REFUND_IMPORT_H
#define PAY_SERVICE_REFUND_REFUND_IMPORT_H

/* Refunds that were made elsewhere: from a file, or from an acquirer's books. Changes leave an
 * entry in the audit (service/change.h). */

#include "service/service.h"

/*
 * Called now and then with records done of all; pass 1 reads and validates, pass 2 writes. `total`
 * is 0 in pass 1: only its end tells how many there are.
 */
typedef void (*pay_import_progress_t)(void *baton, int pass, apr_uint64_t done, apr_uint64_t total);

typedef struct pay_import_result_t {
    apr_uint64_t written;
    apr_uint64_t skipped;
    apr_uint64_t unlinked; /* of those written: in Live Mode, that name no charge of this store */
    const char *fault; /* what failed, with the line where the file is at fault; NULL: nothing */
} pay_import_result_t;

/*
 * Imports refund records from the file `path`: a JSON array, or one object a line. Reads and
 * validates all of it first; a fault then leaves the store untouched. Then writes in short
 * transactions under an import number that becomes visible at once at the end; a failure takes back
 * all that was written. Same id and same content again is skipped. APR_EINVAL: the file is at
 * fault.
 */
apr_status_t pay_refund_import(pay_import_result_t *out, const pay_service_t *service,
                               const pay_scope_t *scope, const char *path,
                               pay_import_progress_t progress, void *baton, apr_pool_t *p);

/*
 * Links a refund of the acquirer's books to its charge here, `change` 0: only says what that would
 * do; *charge NULL: there is none. 404 N1: there is no such refund (any more).
 */
const pay_problem_t *pay_refund_attach(pay_refund_t **out, pay_charge_t **charge,
                                       pay_refund_link_t *verdict, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *reference, int change,
                                       apr_pool_t *p);

/*
 * Asks the server to fetch the acquirer's refunds of the range, which `said` names for the audit.
 * *out as it is stored. 409 D2: another range is under way, which is *out.
 */
const pay_problem_t *pay_refunds_ask(pay_history_t **out, const pay_service_t *service,
                                     const pay_scope_t *scope, const pay_time_range_t *range,
                                     const char *said, apr_pool_t *p);

#endif
