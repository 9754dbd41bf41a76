/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASE_DISCARD_H
#define PAY_STORE_ERASE_DISCARD_H

/*
 * Taking out one record as if it had never been, inside a write transaction: its row, what leads to
 * it, and what it counts in totals, amounts and the scope. Events are not its own, and what an
 * Idempotency-Key keeps of a refund has gone before. Functions return LMDB's codes or
 * PAY_ROWS_BAD (already logged).
 */

#include "store/rows.h"

/* Its amounts are given back to the charge. */
int pay_store_discard_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p);
/* One without refunds. */
int pay_store_discard_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);

#endif
