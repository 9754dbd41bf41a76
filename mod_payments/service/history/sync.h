/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_HISTORY_SYNC_H
#define PAY_SERVICE_HISTORY_SYNC_H

/*
 * Fetches the refunds that the accounts' acquirers know of into the store (docs/live-mode.md,
 * "Refunds made elsewhere"): the last days every policy.refund_sync, the weeks before them once a
 * day, and the range that paymentsctl asked for (model/history.h). Nothing through a key that
 * other accounts send with too. A sync belongs to one thread.
 */

#include "service/service.h"

#define PAY_HISTORY_DAYS                                                                           \
    7 /* of the longest window; what is older is fetched when asked for only                       \
       */
#define PAY_HISTORY_TRIES_MAX 5 /* of one window of a request, which then ends with the error */

typedef struct pay_history_sync_t pay_history_sync_t;

/*
 * `services` (of pay_service_t *) share the store, and live as long as `p`. Of those of one account
 * the first counts that has a live acquirer with a list of refunds.
 */
pay_history_sync_t *pay_history_sync_create(pay_store_t *store, const apr_array_header_t *services,
                                            apr_pool_t *p);

/*
 * At most one window of one account, the accounts in turn: *worked 1 when there was one, and there
 * may be more at once. It takes as long as one call of an acquirer, which is made at `now`; one
 * that failed is left alone for a while, so that it keeps nobody else waiting. Errors are the
 * store's; what acquirers do wrong is logged.
 */
apr_status_t pay_history_sync_step(int *worked, pay_history_sync_t *sync, apr_time_t now,
                                   apr_pool_t *p);

#endif
