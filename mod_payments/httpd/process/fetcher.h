/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_FETCHER_H
#define PAY_HTTPD_PROCESS_FETCHER_H

/*
 * Fetches the refunds known to acquirers into one store, in one child process, by the thread of a
 * watchdog of its own (service/history/sync.h).
 */

#include "httpd/process/store_host.h"

/* Called in child_init, once the store and the services are there. `forever`: lives as long as the
 * process. */
void pay_fetcher_init(pay_store_host_t *store_host, apr_pool_t *pchild, apr_pool_t *forever);

/* The watchdog's callback; `baton` is the pay_store_host_t. */
apr_status_t pay_fetcher_run(int state, void *baton, apr_pool_t *p);

#endif
