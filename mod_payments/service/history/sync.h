/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_HISTORY_SYNC_H
#define PAY_SERVICE_HISTORY_SYNC_H

/*
 * Fetches the refunds known to the accounts' acquirers into the store (docs/live-mode.md, "Refunds
 * made elsewhere"): the last days every policy.refund_sync, the weeks before them once a day, and
 * the range that paymentsctl requested (model/history.h). Fetches nothing through a key that other
 * accounts send with too. A sync belongs to one thread.
 */

#include "service/service.h"

#define PAY_HISTORY_DAYS 7      /* of the longest window; older ones are fetched on request only */
#define PAY_HISTORY_TRIES_MAX 5 /* of one window of a request, which then ends with the error */

typedef struct pay_history_sync_t pay_history_sync_t;

/*
 * `services` (of pay_service_t *) share the store, and live as long as `p`. Of the services of one
 * account the first that has a live acquirer with a list of refunds counts.
 */
pay_history_sync_t *pay_history_sync_create(pay_store_t *store, const apr_array_header_t *services,
                                            apr_pool_t *p);

/*
 * Fetches at most one window of one account, the accounts in turn: *worked is 1 if there was one,
 * and there may be more at once. Takes as long as one call to an acquirer, which is made at `now`;
 * an acquirer that failed is left alone for a while, so that it delays no other. Errors are the
 * store's; faults of acquirers are logged.
 */
apr_status_t pay_history_sync_step(int *worked, pay_history_sync_t *sync, apr_time_t now,
                                   apr_pool_t *p);

#endif
