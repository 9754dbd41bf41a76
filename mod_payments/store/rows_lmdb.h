/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ROWS_LMDB_H
#define PAY_STORE_ROWS_LMDB_H

/*
 * The shortest functions of the seam, for LMDB. Include store/rows.h or store/rows_scan.h instead.
 */

#include "store/rows.h"

#include <errno.h>

/* The handle of a table; valid while a transaction is open. */
MDB_dbi pay_lmdb_dbi(pay_table_t table);

static inline int pay_rows_get(MDB_val *row, const pay_rows_txn_t *txn, pay_table_t table,
                               const MDB_val *key)
{
    return mdb_get(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, row);
}

static inline int pay_rows_put(pay_rows_txn_t *txn, pay_table_t table, const MDB_val *key,
                               MDB_val *row, unsigned int flags)
{
    return pay_rows_may_write(txn, table, key)
               ? mdb_put(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, row, flags)
               : EACCES;
}

static inline int pay_rows_del(pay_rows_txn_t *txn, pay_table_t table, const MDB_val *key)
{
    return pay_rows_may_write(txn, table, key)
               ? mdb_del(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, NULL)
               : EACCES;
}

/* The next row of a scan that has started. */
static inline int pay_lmdb_scan_next(MDB_val *key, MDB_val *row, MDB_cursor *cursor, int downward)
{
    return mdb_cursor_get(cursor, key, row, downward ? MDB_PREV : MDB_NEXT);
}

#endif
