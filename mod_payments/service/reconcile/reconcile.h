/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_RECONCILE_H
#define PAY_SERVICE_RECONCILE_RECONCILE_H

/*
 * Finds the outcome of charges and refunds that stayed pending, and of those that failed because
 * their acquirer did not know them (docs/live-mode.md, "What pending means"): queries the acquirer
 * that each was sent through, and no other. Refunds that wait for the server are sent here too,
 * once.
 */

#include "service/service.h"

#define PAY_RECONCILE_BATCH_MAX 16

/*
 * Makes one step, in this thread and in order: takes up to PAY_RECONCILE_BATCH_MAX due rows,
 * queries the acquirer that each was sent through, and stores the answers. *settled counts decided
 * rows. `services` (of pay_service_t *) share one store. A row belongs to the service of its
 * account whose acquirers have the stored name; in Test Mode to the first one that has it. An
 * acquirer that is out of order is queried about one row: the others are due again after their
 * leases have ended. The server uses service/reconcile/dispatcher.h instead.
 */
apr_status_t pay_reconcile_step(int *settled, pay_store_t *store,
                                const apr_array_header_t *services, apr_pool_t *p);

/*
 * Returns when a row that stays unknown is due next, counted from `now`: after 1 s, doubling to 60
 * s, an hour after it was made hourly, after 90 days daily.
 */
apr_time_t pay_reconcile_next(apr_time_t now, apr_time_t created_at, apr_uint32_t attempts);

/*
 * Returns when a payment that failed for absence at `decided_at` is queried late: the first of 6 h,
 * 1, 3 and 7 days after it that is after `now`; 0: no more.
 */
apr_time_t pay_reconcile_next_late(apr_time_t now, apr_time_t decided_at);

#endif
