/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_RECONCILE_H
#define PAY_RECONCILE_H

#include "service/pay_service.h"

#define PAY_RECONCILE_BATCH_MAX 16

/*
 * One step: takes up to PAY_RECONCILE_BATCH_MAX pending rows that are due, asks the acquirer each
 * was sent through, and stores the answers. What stays unknown is due again after 1 s, doubling to
 * 60 s, after an hour hourly. A row whose acquirer is not configured stays pending and is logged.
 * *settled counts rows decided. `services` (of pay_service_t *) share one store; the first one
 * whose acquirer for the row's mode has the stored name asks.
 */
apr_status_t pay_reconcile_step(int *settled, pay_store_t *store,
                                const apr_array_header_t *services, apr_pool_t *p);

/* When a row that stays unknown is due next, counted from `now`. */
apr_time_t pay_reconcile_next(apr_time_t now, apr_time_t created_at, apr_uint32_t attempts);

#endif
