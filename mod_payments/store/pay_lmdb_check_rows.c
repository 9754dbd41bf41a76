/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_checkout.h"
#include "store/pay_lmdb_rows.h"
#include "store/pay_lmdb_rows_count.h"

#include <string.h>

/* A damaged checkout is told with its table, and makes the number unsure. */
static int count_strangers(apr_uint64_t *out, int *unsure, pay_lmdb_check_t *check,
                           const pay_scope_t *scope)
{
    pay_checkout_t *checkout;
    pay_lmdb_key_t prefix;
    apr_pool_t *row_pool;
    MDB_cursor *cursor;
    MDB_val key, row;
    int rc;

    *out = 0;
    *unsure = 0;
    rc = mdb_cursor_open(check->txn, pay_lmdb_dbi(check->db, PAY_TABLE_CHECKOUT), &cursor);
    if (rc) {
        return rc;
    }
    apr_pool_create(&row_pool, check->ptemp);
    pay_lmdb_key_start(&prefix);
    pay_lmdb_key_scope(&prefix, scope);
    key = pay_lmdb_key_val(&prefix);
    rc = mdb_cursor_get(cursor, &key, &row, MDB_SET_RANGE);
    while (!rc && key.mv_size >= prefix.len && memcmp(key.mv_data, prefix.bytes, prefix.len) == 0) {
        if (pay_lmdb_checkout_decode(&checkout, &key, &row, row_pool) != MDB_SUCCESS) {
            *unsure = 1;
        } else if (checkout->stranger) {
            (*out)++;
        }
        apr_pool_clear(row_pool);
        rc = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
    }
    apr_pool_destroy(row_pool);
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_lmdb_check_rows(pay_lmdb_check_t *check, const MDB_val *key, const pay_scope_t *scope,
                        const pay_lmdb_scope_t *last)
{
    apr_uint64_t rows, strangers;
    int rc, unsure;

    if (last->rows_told == 0) { /* not counted since an earlier version wrote it */
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_rows_count(&rows, check->txn, check->db, scope);
    if (!rc) {
        rc = count_strangers(&strangers, &unsure, check, scope);
    }
    if (rc) {
        return rc;
    }
    if (rows != last->rows_told - 1) {
        pay_lmdb_check_fault(check, PAY_TABLE_SCOPE, key,
                             "counts %" APR_UINT64_T_FMT
                             " kept answers, events, tokens, links and checkouts, there are "
                             "%" APR_UINT64_T_FMT,
                             last->rows_told - 1, rows);
    }
    if (!unsure && strangers != last->strangers) {
        pay_lmdb_check_fault(check, PAY_TABLE_SCOPE, key,
                             "counts %" APR_UINT64_T_FMT
                             " unpaid checkouts of public keys and links, there are "
                             "%" APR_UINT64_T_FMT,
                             last->strangers, strangers);
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_checkout_sweep(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const char *at = key->mv_data;
    pay_checkout_t *checkout;
    MDB_val place, val;
    int rc, found = 0;

    (void)row;
    if (key->mv_size != PAY_LMDB_CHECKOUT_SWEEP_KEY_LEN) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT_SWEEP, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    place.mv_size = key->mv_size - sizeof(apr_uint64_t);
    place.mv_data = (void *)(at + sizeof(apr_uint64_t)); /* only read */
    rc = pay_lmdb_check_has(&found, &val, check, PAY_TABLE_CHECKOUT, &place);
    if (rc) {
        return rc;
    }
    if (found) {
        rc = pay_lmdb_checkout_decode(&checkout, &place, &val, check->ptemp);
        if (rc == PAY_LMDB_BAD_ROW) { /* told with the checkout */
            return MDB_SUCCESS;
        }
        found = !rc && checkout->ended_at == pay_lmdb_read_time(at);
    }
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT_SWEEP, key,
                             "leads to no checkout that ended then");
    }
    return rc;
}

int pay_lmdb_check_checkout_listed(pay_lmdb_check_t *check, const MDB_val *key,
                                   const pay_checkout_t *checkout)
{
    pay_lmdb_key_t entry;
    MDB_val at;
    int rc, found;

    if (checkout->ended_at == 0
        || pay_lmdb_table_is_missing(check->txn, PAY_TABLE_CHECKOUT_SWEEP)) {
        return MDB_SUCCESS;
    }
    pay_lmdb_key_start(&entry);
    pay_lmdb_key_time(&entry, checkout->ended_at);
    (void)pay_lmdb_key_bytes(&entry, key->mv_data, key->mv_size);
    at = pay_lmdb_key_val(&entry);
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_CHECKOUT_SWEEP, &at);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "it is not listed for its removal");
    }
    return rc;
}
