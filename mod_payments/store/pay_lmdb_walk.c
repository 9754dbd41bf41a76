/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_walk.h"

#include <assert.h>
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
static int walk_chunk(walk_t *walk, pay_rows_txn_t *txn, int limit)
{
    MDB_cursor *cursor;
    MDB_val key, val;
    int count;
    int rc;

    rc = mdb_cursor_open(txn->mdb, walk->dbi, &cursor);
    if (rc) {
        return rc;
    }
    rc = walk_seek(walk, cursor, &key, &val);
    for (count = 0; !rc && count < limit; count++) {
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

static void walk_start(walk_t *walk, const pay_lmdb_key_t *prefix, const pay_lmdb_key_t *after)
{
    pay_lmdb_key_start(&walk->prefix);
    pay_lmdb_key_start(&walk->last);
    if (prefix) {
        walk->prefix = *prefix;
    }
    if (after) {
        walk->last = *after;
    }
}

apr_status_t pay_lmdb_walk(pay_store_t *db, pay_lmdb_table_t table, const pay_lmdb_key_t *prefix,
                           pay_lmdb_visit_t visit, void *baton)
{
    walk_t walk = {.dbi = pay_lmdb_dbi(table), .visit = visit, .baton = baton};
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc = 0;

    walk_start(&walk, prefix, NULL);
    while (!rc) { /* ends with the table: each round moves `last` on */
        rv = pay_rows_begin(&txn, db);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        rc = walk_chunk(&walk, &txn, PAY_STORE_ROWS_MAX);
        pay_rows_end(&txn);
    }
    return rc == MDB_NOTFOUND ? APR_SUCCESS : pay_lmdb_status(rc);
}

int pay_lmdb_walk_part(pay_rows_txn_t *txn, pay_lmdb_table_t table, const pay_lmdb_key_t *prefix,
                       const pay_lmdb_key_t *after, int limit, pay_lmdb_visit_t visit, void *baton)
{
    walk_t walk = {.dbi = pay_lmdb_dbi(table), .visit = visit, .baton = baton};
    int rc;

    walk_start(&walk, prefix, after);
    rc = walk_chunk(&walk, txn, limit);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

apr_status_t pay_lmdb_walk_page(pay_store_t *db, pay_lmdb_table_t table,
                                const pay_lmdb_key_t *prefix, const pay_lmdb_key_t *after,
                                int limit, pay_lmdb_visit_t visit, void *baton)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_lmdb_walk_part(&txn, table, prefix, after, limit, visit, baton);
    pay_rows_end(&txn);
    return pay_lmdb_status(rc);
}

static int count_visit(void *baton, pay_rows_txn_t *txn, const MDB_val *key, const MDB_val *val)
{
    (void)txn;
    (void)key;
    (void)val;
    ++*(int *)baton;
    return MDB_SUCCESS;
}

int pay_lmdb_walk_count(int *out, pay_rows_txn_t *txn, pay_lmdb_table_t table,
                        const pay_lmdb_key_t *prefix, int limit)
{
    *out = 0;
    return pay_lmdb_walk_part(txn, table, prefix, NULL, limit, count_visit, out);
}
