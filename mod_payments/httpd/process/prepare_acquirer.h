/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_PREPARE_ACQUIRER_H
#define PAY_HTTPD_PROCESS_PREPARE_ACQUIRER_H

/*
 * The secrets of acquirers, read while the parent has the right to. They stay in memory until
 * `pconf` is destroyed, and are then wiped. An acquirer whose secret cannot be read is out of
 * service, which is logged; no failure keeps the server from starting.
 */

#include <apr_pools.h>
#include <apr_tables.h>

/* After pay_acquirers_share. */
void pay_prepare_acquirers(const apr_array_header_t *store_hosts, apr_pool_t *pconf);

#endif
