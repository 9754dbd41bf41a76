/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/walk.h"
#include "store/rows_scan.h"

#include <assert.h>

typedef struct walk_t {
    pay_table_t table;
    pay_store_key_t prefix;
    pay_store_key_t last; /* the row visited last; empty before the first */
    pay_store_visit_t visit;
    void *baton;
} walk_t;

/* Visits the rows of one transaction; PAY_ROWS_NOTFOUND after the last row. */
static int walk_chunk(walk_t *walk, pay_rows_txn_t *txn, int limit)
{
    const pay_store_key_t after = walk->last;
    pay_rows_scan_t scan = pay_rows_scan(txn, walk->table, &walk->prefix, &after, PAY_ROWS_AFTER);
    pay_bytes_t key, val;
    int count;
    int rc;

    rc = pay_rows_next(&key, &val, &scan);
    for (count = 0; !rc && count < limit; count++) {
        (void)pay_store_key_of(&walk->last, key.data, key.len);
        rc = walk->visit(walk->baton, txn, &key, &val);
        if (rc == PAY_ROWS_NOTFOUND) {
            rc = PAY_ROWS_CORRUPTED; /* a row's target is missing: not the end of the walk */
        }
        if (!rc) {
            rc = pay_rows_next(&key, &val, &scan);
        }
    }
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

static void walk_start(walk_t *walk, const pay_store_key_t *prefix, const pay_store_key_t *after)
{
    pay_store_key_start(&walk->prefix);
    pay_store_key_start(&walk->last);
    if (prefix) {
        walk->prefix = *prefix;
    }
    if (after) {
        walk->last = *after;
    }
}

apr_status_t pay_store_walk(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                            pay_store_visit_t visit, void *baton)
{
    walk_t walk = {.table = table, .visit = visit, .baton = baton};
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc = 0;

    walk_start(&walk, prefix, NULL);
    while (!rc) { /* ends with the table: each round advances `last` */
        rv = pay_rows_begin(&txn, db);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        rc = walk_chunk(&walk, &txn, PAY_STORE_ROWS_MAX);
        pay_rows_end(&txn);
    }
    return rc == PAY_ROWS_NOTFOUND ? APR_SUCCESS : pay_rows_status(rc);
}

int pay_store_walk_part(pay_rows_txn_t *txn, pay_table_t table, const pay_store_key_t *prefix,
                        const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                        void *baton)
{
    walk_t walk = {.table = table, .visit = visit, .baton = baton};
    int rc;

    walk_start(&walk, prefix, after);
    rc = walk_chunk(&walk, txn, limit);
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

apr_status_t pay_store_walk_page(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                                 const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                                 void *baton)
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
    rc = pay_store_walk_part(&txn, table, prefix, after, limit, visit, baton);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int count_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                       const pay_bytes_t *val)
{
    (void)txn;
    (void)key;
    (void)val;
    ++*(int *)baton;
    return 0;
}

int pay_store_walk_count(int *out, pay_rows_txn_t *txn, pay_table_t table,
                         const pay_store_key_t *prefix, int limit)
{
    *out = 0;
    return pay_store_walk_part(txn, table, prefix, NULL, limit, count_visit, out);
}
