/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENT_MAILED_H
#define PAY_STORE_EVENT_MAILED_H

/*
 * The number of receipts sent to a payer's mailbox recently, inside a transaction that the caller
 * holds: rows "mailed/", scope and the digest of the address in the table meta. So the limit holds
 * over all processes and restarts. Functions return the seam's codes.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_MAILED_MAX 5 /* receipts of an account and mode to one mailbox */
#define PAY_STORE_MAILED_TIME apr_time_from_sec(3600)

/*
 * Counts one more receipt to `address`. *until is 0 if it may be sent. Otherwise the limit is
 * reached, nothing is counted, and *until is the time when there is room again. A row dated in the
 * future is ignored: the clock was set back. Removes a few old rows on the way.
 */
int pay_store_mailed_count(apr_time_t *until, pay_rows_txn_t *txn, const pay_scope_t *scope,
                           const char *address, apr_time_t now, apr_pool_t *p);

/* Erases the payer's row. */
int pay_store_mailed_remove(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *address,
                            apr_pool_t *p);

#endif
