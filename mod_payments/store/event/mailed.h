/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENT_MAILED_H
#define PAY_STORE_EVENT_MAILED_H

/*
 * How many receipts a payer's mailbox was sent of late, inside a transaction that the caller holds:
 * rows "mailed/", scope and the digest of the address in the table meta. So the limit holds over
 * all processes and restarts. Functions return LMDB's codes.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_MAILED_MAX 5 /* receipts of an account and mode to one mailbox */
#define PAY_STORE_MAILED_TIME apr_time_from_sec(3600)

/*
 * Counts one more receipt to `address`. *until 0: it may go. Else it has had all that it may have,
 * nothing is counted, and that is when there is room again. A row that is dated ahead is as good as
 * none: the clock was set back. Takes out a few old rows on the way.
 */
int pay_store_mailed_count(apr_time_t *until, pay_rows_txn_t *txn, const pay_scope_t *scope,
                           const char *address, apr_time_t now, apr_pool_t *p);

/* The payer is forgotten. */
int pay_store_mailed_remove(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *address,
                            apr_pool_t *p);

#endif
