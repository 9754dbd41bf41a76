/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_DELIVER_H
#define PAY_HTTPD_PROCESS_DELIVER_H

/*
 * The outbox of one store in one child process, run by the thread of a watchdog. At the child's end
 * it waits briefly for deliveries under way, while the store is still open.
 */

#include "httpd/process/store_host.h"

/* Called in child_init, before threads start and after the store was opened. */
void pay_deliver_init(pay_store_host_t *store_host, apr_pool_t *pchild);

/* The watchdog's callback; `baton` is the pay_store_host_t. */
apr_status_t pay_deliver_run(int state, void *baton, apr_pool_t *p);

#endif
