/* SPDX-License-Identifier: Apache-2.0 */
#include "store/erase/gather.h"

#include "store/payment/kept.h"
#include "store/record/rows.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

/* The keys of this part; gather->from is where the next one begins. */
static int collect(pay_store_gather_t *gather, pay_rows_txn_t *txn)
{
    const pay_store_key_t from = gather->from;
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, gather->table, &prefix, &from, PAY_ROWS_FROM);
    MDB_val key, row;
    int rc, wanted, visits = 0;

    (void)pay_store_key_of(&prefix, from.bytes, PAY_STORE_SCOPE_LEN);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        if (visits++ == PAY_STORE_GATHER_VISITS_MAX
            || gather->keys->nelts == PAY_STORE_GATHER_ROWS_MAX) {
            (void)pay_store_key_of(&gather->from, key.mv_data, key.mv_size);
            break;
        }
        rc = gather->want(&wanted, gather, &key, &row, gather->ptemp);
        if (!rc && wanted) {
            APR_ARRAY_PUSH(gather->keys, MDB_val) = pay_rows_dup(&key, gather->ptemp);
        }
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    gather->done = rc == MDB_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

/* What was changed or taken out since it was found is left alone. */
static int take_out_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_gather_t *gather = baton;
    MDB_val key, row;
    int i, rc, wanted;

    gather->taken = 0;
    for (i = 0; i < gather->keys->nelts; i++) {
        key = APR_ARRAY_IDX(gather->keys, i, MDB_val);
        rc = pay_rows_get(&row, txn, gather->table, &key);
        if (rc == MDB_NOTFOUND) {
            continue;
        }
        if (!rc) {
            rc = gather->want(&wanted, gather, &key, &row, gather->ptemp);
        }
        if (!rc && wanted) {
            rc = gather->take_out(gather, txn, &key, &row, gather->ptemp);
            gather->taken++;
        }
        if (rc) {
            return rc == MDB_NOTFOUND ? pay_rows_bad(gather->table, &key) : rc;
        }
    }
    return gather->taken ? MDB_SUCCESS : PAY_ROWS_SILENT;
}

apr_status_t pay_store_gather(pay_store_gather_t *gather, pay_store_place_t *place, pay_store_t *db,
                              apr_pool_t *ptemp)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    gather->taken = 0;
    gather->done = 0;
    gather->ptemp = ptemp;
    gather->keys = apr_array_make(ptemp, 16, sizeof(MDB_val));
    pay_store_key_start(&gather->from);
    if (place->key_len > 0) {
        (void)pay_store_key_bytes(&gather->from, place->key, place->key_len);
    } else {
        pay_store_key_scope(&gather->from, gather->scope);
    }
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(gather, &txn);
    pay_rows_end(&txn);
    rv = pay_rows_status(rc);
    if (rv == APR_SUCCESS && gather->keys->nelts > 0) {
        rv = pay_rows_commit(db, pay_turn_scope(gather->scope), 0, take_out_work, gather);
    }
    if (rv == APR_SUCCESS && !gather->done) {
        memcpy(place->key, gather->from.bytes, gather->from.len);
        place->key_len = gather->from.len;
    }
    return rv;
}

int pay_store_gather_take_row(pay_store_gather_t *gather, pay_rows_txn_t *txn, const MDB_val *key,
                              const MDB_val *row, apr_pool_t *p)
{
    MDB_val at = *key;

    (void)row;
    (void)p;
    return pay_store_rows_del(txn, gather->table, &at);
}

int pay_store_gather_take_kept(pay_store_gather_t *gather, pay_rows_txn_t *txn, const MDB_val *key,
                               const MDB_val *row, apr_pool_t *p)
{
    pay_store_kept_t kept;
    int rc;

    (void)gather;
    (void)p;
    rc = pay_store_kept_decode(&kept, key, row);
    return rc ? rc : pay_store_kept_take_out(txn, key, &kept);
}
