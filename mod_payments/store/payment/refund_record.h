/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_REFUND_RECORD_H
#define PAY_STORE_PAYMENT_REFUND_RECORD_H

/*
 * The row of a refund together with its indexes: by reference, by id, by charge, by what would
 * repeat it, by its names at the acquirer, by when it is due, and among what waits for a person.
 * Units of work change the refund and write it; the entries follow. Functions run inside the
 * caller's transaction and return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/payment/refund.h"
#include "store/record/index.h"

extern const pay_store_record_t pay_store_refund_record; /* of pay_store_refund_t */

/* Writes a new row with this text. Its reference and id are known to be free. */
int pay_store_refund_insert(pay_rows_txn_t *txn, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p);
/* Writes the row again. */
int pay_store_refund_put(pay_rows_txn_t *txn, const pay_store_refund_t *row, apr_pool_t *p);
/* Takes out the row of `refund`, which is as it was read. One that is not there is no error. */
int pay_store_refund_remove(pay_rows_txn_t *txn, const pay_refund_t *refund);

/* Puts the entries of a refund that is stored, for one that may lack some. */
int pay_store_refund_reindex(pay_rows_txn_t *txn, const pay_store_refund_t *row);

/* --- store/payment/announce.c --- */
/*
 * Writes the events of a refund that was decided, or failed later, and counts them in its charge;
 * with `turned` 1, also those of the charge, which became reversed by that, or successful again.
 * Nothing is written for a refund that only a file reported. Both rows are written already.
 */
int pay_store_refund_announce(pay_rows_txn_t *txn, const pay_refund_t *refund, int turned,
                              apr_pool_t *p);

#endif
