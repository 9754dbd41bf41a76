/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows_scan.h"

/* Onto the last row below the key. */
static int seek_below(MDB_cursor *cursor, MDB_val *key, MDB_val *row)
{
    int rc = mdb_cursor_get(cursor, key, row, MDB_SET_RANGE);

    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    return mdb_cursor_get(cursor, key, row, rc ? MDB_LAST : MDB_PREV);
}

static int seek(MDB_val *key, MDB_val *row, const pay_rows_scan_t *scan)
{
    const int is_given = scan->from && scan->from->len > 0;
    const pay_store_key_t *from = is_given ? scan->from : scan->prefix;
    int rc;

    if (!from || from->len == 0) {
        return mdb_cursor_get(scan->cursor, key, row,
                              scan->way == PAY_ROWS_BEFORE ? MDB_LAST : MDB_FIRST);
    }
    *key = pay_store_key_val(from);
    if (scan->way == PAY_ROWS_BEFORE) {
        return seek_below(scan->cursor, key, row);
    }
    rc = mdb_cursor_get(scan->cursor, key, row, MDB_SET_RANGE);
    if (!rc && is_given && scan->way == PAY_ROWS_AFTER && key->mv_size == from->len
        && memcmp(key->mv_data, from->bytes, from->len) == 0) {
        rc = mdb_cursor_get(scan->cursor, key, row, MDB_NEXT);
    }
    return rc;
}

int pay_rows_scan_start(MDB_val *key, MDB_val *row, pay_rows_scan_t *scan)
{
    int rc = MDB_SUCCESS;

    if (!scan->cursor) {
        rc = mdb_cursor_open(scan->txn->mdb, pay_lmdb_dbi(scan->table), &scan->cursor);
    }
    if (!rc) {
        rc = seek(key, row, scan);
        scan->started = 1;
    }
    return rc;
}

int pay_rows_scan_end(pay_rows_scan_t *scan, int rc)
{
    if (scan->cursor) {
        mdb_cursor_close(scan->cursor);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_rows_first(MDB_val *key, MDB_val *row, const pay_rows_txn_t *txn, pay_table_t table,
                   const pay_store_key_t *prefix, const pay_store_key_t *from, pay_rows_way_t way)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, table, prefix, from, way);
    int rc;

    rc = pay_rows_next(key, row, &scan);
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

MDB_val pay_rows_dup(const MDB_val *val, apr_pool_t *p)
{
    return (MDB_val){val->mv_size, apr_pmemdup(p, val->mv_data, val->mv_size)};
}
