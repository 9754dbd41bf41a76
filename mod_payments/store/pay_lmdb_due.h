/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_DUE_H
#define PAY_LMDB_DUE_H

/*
 * The index of rows by the time of the next question to their acquirer, in one of two tables: while
 * it is pending a row has an entry in pending_due at its own due_at; one that failed for absence,
 * or a checkout that was closed, has it in late_due as long as its due_at is not 0. A checkout that
 * nobody paid yet is due when its time is over. Functions run inside the caller's transaction.
 */

#include "store/pay_lmdb.h"
#include "store/pay_lmdb_keys.h"

typedef enum pay_lmdb_due_kind_t { PAY_DUE_CHARGE = 1, PAY_DUE_REFUND = 2 } pay_lmdb_due_kind_t;

/* due time (8), scope (5), kind (1), seq (8) */
#define PAY_LMDB_DUE_KEY_LEN (8 + PAY_LMDB_SCOPE_LEN + 1 + 8)

/* What is left alone beyond wait_until while its worker lives (docs/store.md, rule 10). */
#define PAY_LMDB_DUE_GRACE_MS 30000

pay_lmdb_table_t pay_lmdb_due_table_charge(const pay_charge_t *charge);
pay_lmdb_table_t pay_lmdb_due_table_refund(const pay_refund_t *refund);

void pay_lmdb_due_key(pay_lmdb_key_t *key, apr_time_t due_at, const pay_scope_t *scope,
                      pay_lmdb_due_kind_t kind, apr_uint64_t seq);

int pay_lmdb_due_put_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);
int pay_lmdb_due_put_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);

/* Takes out the entry at the row's due_at, of the table that its state says; one that is not there
 * is no error. */
int pay_lmdb_due_del_charge(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);
int pay_lmdb_due_del_refund(MDB_txn *txn, const pay_lmdb_t *db, const pay_refund_t *refund);

#endif
