/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ROWS_LMDB_H
#define PAY_STORE_ROWS_LMDB_H

/*
 * The shortest functions of the seam, for LMDB. Include store/rows.h or store/rows_scan.h instead.
 * Outside of store/lmdb this is the only file that knows LMDB.
 */

#include "store/rows.h"

#include <errno.h>
#include <lmdb.h>

/* The seam's bytes and codes are LMDB's, so that nothing is copied or translated. */
_Static_assert(sizeof(pay_bytes_t) == sizeof(MDB_val)
                   && offsetof(pay_bytes_t, len) == offsetof(MDB_val, mv_size)
                   && offsetof(pay_bytes_t, data) == offsetof(MDB_val, mv_data),
               "pay_bytes_t has the layout of MDB_val");
_Static_assert(MDB_SUCCESS == 0 && PAY_ROWS_NOTFOUND == MDB_NOTFOUND
                   && PAY_ROWS_EXISTS == MDB_KEYEXIST && PAY_ROWS_CORRUPTED == MDB_CORRUPTED
                   && PAY_ROWS_FULL == MDB_MAP_FULL && PAY_ROWS_NOOVERWRITE == MDB_NOOVERWRITE,
               "the seam's codes are LMDB's");

/*
 * The argument of a call of LMDB, which never writes to the bytes. Only LMDB may look into it: in
 * this program the structure is a pay_bytes_t alone, and compilers rely on that.
 */
static inline MDB_val *pay_lmdb_val(const pay_bytes_t *bytes)
{
    return (MDB_val *)bytes;
}

/* The handle of a table; valid while a transaction is open. */
MDB_dbi pay_lmdb_dbi(pay_table_t table);

static inline int pay_rows_get(pay_bytes_t *row, const pay_rows_txn_t *txn, pay_table_t table,
                               const pay_bytes_t *key)
{
    return mdb_get(txn->native, pay_lmdb_dbi(table), pay_lmdb_val(key), pay_lmdb_val(row));
}

static inline int pay_rows_put(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key,
                               pay_bytes_t *row, unsigned int flags)
{
    return pay_rows_may_write(txn, table, key) ? mdb_put(
               txn->native, pay_lmdb_dbi(table), pay_lmdb_val(key), pay_lmdb_val(row), flags)
                                               : EACCES;
}

static inline int pay_rows_del(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key)
{
    return pay_rows_may_write(txn, table, key)
               ? mdb_del(txn->native, pay_lmdb_dbi(table), pay_lmdb_val(key), NULL)
               : EACCES;
}

/* The next row of a scan that has started. */
static inline int pay_lmdb_scan_next(pay_bytes_t *key, pay_bytes_t *row, void *cursor, int downward)
{
    return mdb_cursor_get(cursor, pay_lmdb_val(key), pay_lmdb_val(row),
                          downward ? MDB_PREV : MDB_NEXT);
}

#endif
