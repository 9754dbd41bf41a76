/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_RECONCILER_H
#define PAY_HTTPD_PROCESS_RECONCILER_H

/*
 * Queries the outcome of one store's pending payments in one child process: the thread of a
 * watchdog hands out due rows, threads of the dispatcher (service/reconcile/dispatcher.h) query.
 */

#include "httpd/process/store_host.h"

/* Called in child_init, before threads start and after the store was opened. */
void pay_reconciler_init(pay_store_host_t *store_host, apr_pool_t *pchild);

/* The watchdog's callback; `baton` is the pay_store_host_t. */
apr_status_t pay_reconciler_run(int state, void *baton, apr_pool_t *p);

#endif
