/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_RECONCILER_H
#define PAY_HTTPD_PROCESS_RECONCILER_H

/*
 * What became of one store's pending payments, asked by one child process: the thread of a watchdog
 * hands out what is due, threads of the desk (service/reconcile/desk.h) ask.
 */

#include "service/reconcile/desk.h"

#include <stdatomic.h>

struct pay_ledger_t;

/* Part of pay_ledger_t: it outlives the child's pool, for the watchdog may come late. */
typedef struct pay_reconciler_t {
    pay_reconcile_desk_t *desk; /* made by the first call, in `pool`; NULL: not yet, or no more */
    apr_pool_t *pool;
    apr_int64_t due_ms; /* of the next round; boot clock */
    atomic_int busy;    /* a watchdog's thread is at it */
    atomic_int stop;    /* nothing is begun any more */
} pay_reconciler_t;

/* In child_init, before threads start and after the store was opened. */
void pay_reconciler_init(struct pay_ledger_t *ledger, apr_pool_t *pchild);

/* The watchdog's callback; `baton` is the pay_ledger_t. */
apr_status_t pay_reconciler_run(int state, void *baton, apr_pool_t *p);

#endif
