/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_DISPATCHER_H
#define PAY_SERVICE_RECONCILE_DISPATCHER_H

/*
 * The dispatcher of reconciliation (service/reconcile/reconcile.h): threads of its own, fair
 * between acquirers, so that one that is stuck does not delay the rows of another. A dispatcher
 * belongs to one store and one process; any number of processes may have one on the same store, and
 * share the work by its leases.
 */

#include "service/reconcile/reconcile.h"

#define PAY_RECONCILE_QUERIES_MAX                                                                  \
    16 /* rows at their acquirers at once, of all dispatchers of a process */
#define PAY_RECONCILE_QUEUE_MAX 4096   /* rows of a dispatcher that wait for a thread */
#define PAY_RECONCILE_TAKE_MAX 64      /* rows of one take: charges wait for its transaction */
#define PAY_RECONCILE_ROUND_MS_MAX 500 /* a round takes no more rows after it */

typedef struct pay_reconcile_dispatcher_t pay_reconcile_dispatcher_t;

/*
 * `services` as of pay_reconcile_step; they and the store outlive the dispatcher. No thread starts
 * before there is work. Destroying `p` stops it, if pay_reconcile_stop did not.
 */
apr_status_t pay_reconcile_create(pay_reconcile_dispatcher_t **out, pay_store_t *store,
                                  const apr_array_header_t *services, apr_pool_t *p);

/*
 * Takes due rows and leaves them to the threads, without waiting; called about once a second, by
 * one thread at a time. *settled counts rows decided since the last call.
 */
apr_status_t pay_reconcile_round(int *settled, pay_reconcile_dispatcher_t *dispatcher,
                                 apr_pool_t *p);

/*
 * Begins nothing more and waits at most `patience` for the calls under way; waiting rows are due
 * again after their leases have ended. APR_SUCCESS: the dispatcher is gone. APR_TIMEUP: calls are
 * still under way, and what they work with must stay until the process ends; may be called again.
 */
apr_status_t pay_reconcile_stop(pay_reconcile_dispatcher_t *dispatcher,
                                apr_interval_time_t patience);

#endif
