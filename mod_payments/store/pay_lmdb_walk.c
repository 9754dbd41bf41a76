/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_walk.h"

#include <string.h>

typedef struct walk_t {
    MDB_dbi dbi;
    pay_lmdb_key_t prefix;
    pay_lmdb_key_t last; /* the row visited last; empty before the first */
    pay_lmdb_visit_t visit;
    void *baton;
} walk_t;

static int is_inside(const walk_t *walk, const MDB_val *key)
{
    return key->mv_size >= walk->prefix.len
           && memcmp(key->mv_data, walk->prefix.bytes, walk->prefix.len) == 0;
}

/* To the first row that was not visited yet. */
static int walk_seek(walk_t *walk, MDB_cursor *cursor, MDB_val *key, MDB_val *val)
{
    const pay_lmdb_key_t *from = walk->last.len ? &walk->last : &walk->prefix;
    int rc;

    if (!from->len) {
        return mdb_cursor_get(cursor, key, val, MDB_FIRST);
    }
    *key = pay_lmdb_key_val(from);
    rc = mdb_cursor_get(cursor, key, val, MDB_SET_RANGE);
    if (!rc && walk->last.len && key->mv_size == walk->last.len
        && memcmp(key->mv_data, walk->last.bytes, walk->last.len) == 0) {
        rc = mdb_cursor_get(cursor, key, val, MDB_NEXT);
    }
    return rc;
}

/* One transaction's share; MDB_NOTFOUND: that was the last one. */
static int walk_chunk(walk_t *walk, MDB_txn *txn)
{
    MDB_cursor *cursor;
    MDB_val key, val;
    int count;
    int rc;

    rc = mdb_cursor_open(txn, walk->dbi, &cursor);
    if (rc) {
        return rc;
    }
    rc = walk_seek(walk, cursor, &key, &val);
    for (count = 0; !rc && count < PAY_STORE_ROWS_MAX; count++) {
        if (!is_inside(walk, &key)) {
            rc = MDB_NOTFOUND;
            break;
        }
        pay_lmdb_key_start(&walk->last);
        (void)pay_lmdb_key_bytes(&walk->last, key.mv_data, key.mv_size);
        rc = walk->visit(walk->baton, txn, &key, &val);
        if (rc == MDB_NOTFOUND) {
            rc = MDB_CORRUPTED; /* what a row points at is missing: not the end of the walk */
        }
        if (!rc) {
            rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    return rc;
}

apr_status_t pay_lmdb_walk(pay_lmdb_t *db, pay_lmdb_table_t table, const pay_lmdb_key_t *prefix,
                           pay_lmdb_visit_t visit, void *baton)
{
    walk_t walk = {.dbi = pay_lmdb_dbi(db, table), .visit = visit, .baton = baton};
    apr_status_t rv;
    MDB_txn *txn;
    int rc = 0;

    pay_lmdb_key_start(&walk.prefix);
    pay_lmdb_key_start(&walk.last);
    if (prefix) {
        walk.prefix = *prefix;
    }
    while (!rc) { /* ends with the table: each round moves `last` on */
        rv = pay_lmdb_read_begin(&txn, db);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        rc = walk_chunk(&walk, txn);
        pay_lmdb_read_end(db, txn);
    }
    return rc == MDB_NOTFOUND ? APR_SUCCESS : pay_lmdb_status(rc);
}
