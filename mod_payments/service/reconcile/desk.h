/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_DESK_H
#define PAY_SERVICE_RECONCILE_DESK_H

/*
 * Reconciliation (service/reconcile/reconcile.h) by threads of its own, fairly between acquirers,
 * so that one that is stuck delays the rows of no other. A desk belongs to one store and one
 * process; any number of processes may have one on the same store, and share the work by its
 * leases.
 */

#include "service/reconcile/reconcile.h"

#define PAY_RECONCILE_QUERIES_MAX                                                                  \
    16 /* rows at their acquirers at once, of all desks of a process */
#define PAY_RECONCILE_QUEUE_MAX 4096   /* rows of a desk that wait for a thread */
#define PAY_RECONCILE_TAKE_MAX 64      /* rows of one take: charges wait for its transaction */
#define PAY_RECONCILE_ROUND_MS_MAX 500 /* a round takes no more rows after it */

typedef struct pay_reconcile_desk_t pay_reconcile_desk_t;

/*
 * `services` as of pay_reconcile_step; they and the store outlive the desk. No thread starts before
 * there is work. The end of `p` stops it, if pay_reconcile_stop did not.
 */
apr_status_t pay_reconcile_create(pay_reconcile_desk_t **out, pay_store_t *store,
                                  const apr_array_header_t *services, apr_pool_t *p);

/*
 * Takes what is due and leaves it to the threads, without waiting for them; to be called about once
 * a second, by one thread at a time. *settled counts rows decided since the last call.
 */
apr_status_t pay_reconcile_round(int *settled, pay_reconcile_desk_t *desk, apr_pool_t *p);

/*
 * Begins nothing more and waits at most `patience` for the calls under way; the rows that wait come
 * again when their lease has ended. APR_SUCCESS: the desk is gone. APR_TIMEUP: calls are still
 * under way, and what they work with must stay until the process ends; may be called again.
 */
apr_status_t pay_reconcile_stop(pay_reconcile_desk_t *desk, apr_interval_time_t patience);

#endif
