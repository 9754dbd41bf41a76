/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_DELIVER_H
#define PAY_HTTPD_PROCESS_DELIVER_H

/*
 * The outbox of one store in one child process, worked on by the thread of a watchdog. At the
 * child's end what is on its way is waited for, a moment long, while the store is still open.
 */

#include "service/outbox/outbox.h"

#include <stdatomic.h>

struct pay_ledger_t;

/* Part of pay_ledger_t: it outlives the child's pool, for the watchdog may come late. */
typedef struct pay_deliver_t {
    pay_outbox_t *outbox; /* made by the first call, in `pool`; NULL: not yet, or no more */
    apr_pool_t *pool;
    apr_int64_t open_due_ms; /* boot clock: not before, after it could not be made */
    atomic_int busy;         /* a thread is at it */
    atomic_int owed;         /* tries are on their way */
    atomic_int stop;         /* nothing is begun any more */
} pay_deliver_t;

/* In child_init, before threads start and after the store was opened. */
void pay_deliver_init(struct pay_ledger_t *ledger, apr_pool_t *pchild);

/* The watchdog's callback; `baton` is the pay_ledger_t. */
apr_status_t pay_deliver_run(int state, void *baton, apr_pool_t *p);

#endif
