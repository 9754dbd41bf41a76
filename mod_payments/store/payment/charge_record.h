/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_CHARGE_RECORD_H
#define PAY_STORE_PAYMENT_CHARGE_RECORD_H

/*
 * The row of a charge together with its indexes: by reference, by time, by its name at the
 * acquirer, by when it is due, and among what waits for a person. Units of work change the charge
 * and write it; the entries follow. Functions run inside the caller's transaction and return LMDB's
 * codes or PAY_ROWS_BAD (already logged).
 */

#include "store/record/index.h"

extern const pay_store_record_t pay_store_charge_record;

/* A new row; MDB_KEYEXIST: its number, its reference or its name at the acquirer is taken.
 * ENAMETOOLONG above PAY_STORE_CHARGE_ROW_MAX. */
int pay_store_charge_insert(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

/* Writes the row again; its payment link counts what changed. ENAMETOOLONG as above. */
int pay_store_charge_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

/* Takes out the row of `charge`, which is as it was read. One that is not there is no error. */
int pay_store_charge_remove(pay_rows_txn_t *txn, const pay_charge_t *charge);

/* Puts the entries of a charge that is stored, for one that may lack some. */
int pay_store_charge_reindex(pay_rows_txn_t *txn, const pay_charge_t *charge);

#endif
