/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge_time.h"

#include "store/payment/charge.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

#define LIST_SIZE_HINT 64

/* The charge that an entry leads to. */
static int follow(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                  const MDB_val *key, apr_time_t created_at, apr_pool_t *p)
{
    const unsigned char *seq = (const unsigned char *)key->mv_data + PAY_STORE_SCOPE_LEN + 8;
    int rc;

    rc = pay_store_charge_get(out, txn, scope, pay_store_read_u64(seq), p);
    if (rc == MDB_NOTFOUND || (!rc && (*out)->created_at != created_at)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, key);
    }
    return rc;
}

/* Makes the key where the list begins, and says on which side of it. */
static pay_rows_way_t begin_key(pay_store_key_t *key, const pay_scope_t *scope, apr_time_t from,
                                const pay_charge_t *after)
{
    if (after && after->created_at >= from) {
        pay_store_charge_time_key(key, scope, after->created_at, after->seq);
        return PAY_ROWS_AFTER;
    }
    pay_store_charge_time_key(key, scope, from, 0);
    return PAY_ROWS_FROM;
}

static int collect(apr_array_header_t *rows, pay_rows_txn_t *txn, const pay_scope_t *scope,
                   const pay_time_range_t *range, const pay_charge_t *after, int limit)
{
    pay_store_key_t prefix, from;
    pay_charge_t *charge;
    pay_rows_scan_t scan;
    apr_time_t created_at;
    MDB_val key, val;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    scan = pay_rows_scan(txn, PAY_TABLE_CHARGE_BY_TIME, &prefix, &from,
                         begin_key(&from, scope, range->from, after));
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && rows->nelts < limit) {
        if (key.mv_size != PAY_STORE_CHARGE_TIME_KEY_LEN) {
            rc = pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, &key);
            break;
        }
        created_at = pay_store_read_time((const char *)key.mv_data + PAY_STORE_SCOPE_LEN);
        if (created_at > range->to) {
            break;
        }
        rc = follow(&charge, txn, scope, &key, created_at, rows->pool);
        if (!rc) {
            APR_ARRAY_PUSH(rows, pay_charge_t *) = charge;
            rc = pay_rows_next(&key, &val, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_charge_list(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const pay_time_range_t *range,
                                   const pay_charge_t *after, int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    *out =
        apr_array_make(p, limit < LIST_SIZE_HINT ? limit : LIST_SIZE_HINT, sizeof(pay_charge_t *));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(*out, &txn, scope, range, after, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
