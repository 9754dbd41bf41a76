/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_CHARGE_LIST_H
#define PAY_LMDB_CHARGE_LIST_H

/*
 * The index of charges by time, inside the write transaction that changes it. Functions return
 * LMDB's codes or PAY_LMDB_BAD_ROW (already logged).
 */

#include "store/pay_lmdb.h"
#include "store/pay_lmdb_keys.h"

#define PAY_LMDB_CHARGE_TIME_KEY_LEN (PAY_LMDB_SCOPE_LEN + 8 + 8) /* scope, createdAt, seq */

void pay_lmdb_charge_time_key(pay_lmdb_key_t *key, const pay_scope_t *scope, apr_time_t created_at,
                              apr_uint64_t seq);

/* With the row's own insertion and removal; nothing else moves a charge in time. */
int pay_lmdb_charge_time_put(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);
int pay_lmdb_charge_time_del(MDB_txn *txn, const pay_lmdb_t *db, const pay_charge_t *charge);

#endif
