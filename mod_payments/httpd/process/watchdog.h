/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_WATCHDOG_H
#define PAY_HTTPD_PROCESS_WATCHDOG_H

/*
 * Work outside of requests, on mod_watchdog's threads: reconciliation, the history of refunds, the
 * outbox and purging idempotency records in one child of the server, housekeeping and the last use
 * of keys in each. That one child is only a hint: rows are leased in the store.
 */

#include <httpd.h>
#include <apr_tables.h>

/*
 * Called in the parent, in the real pass of post_config. `store_hosts`: see
 * httpd/process/store_host.h.
 */
void pay_watchdog_start(server_rec *main_server, const apr_array_header_t *store_hosts,
                        apr_pool_t *pconf);

#endif
