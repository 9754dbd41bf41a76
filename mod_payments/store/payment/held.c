/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/held.h"

#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

void pay_store_held_key(pay_store_key_t *key, const pay_scope_t *scope, pay_store_due_kind_t kind,
                        apr_uint64_t seq)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    pay_store_key_u64(key, seq);
}

/* ---- the list */

/* The start of the list: after `after`, else at the scope, else at the table's start. */
static void begin_key(pay_store_key_t *key, const pay_scope_t *scope, const pay_due_t *after)
{
    static const unsigned char behind = 0;

    pay_store_key_start(key);
    if (after && after->refund) {
        pay_store_held_key(key, &after->refund->scope, PAY_DUE_REFUND, after->refund->seq);
    } else if (after) {
        pay_store_held_key(key, &after->charge->scope, PAY_DUE_CHARGE, after->charge->seq);
    } else if (scope) {
        pay_store_key_scope(key, scope);
    }
    if (after) {
        (void)pay_store_key_bytes(key, &behind, 1);
    }
}

static int is_of_scope(const pay_bytes_t *key, const pay_scope_t *scope)
{
    pay_store_key_t want;

    if (!scope) {
        return 1;
    }
    pay_store_key_of_scope(&want, scope);
    return key->len >= want.len && !memcmp(key->data, want.bytes, want.len);
}

/* The row of an entry; *due stays empty if it cannot be read, which is logged. */
static int load(pay_due_t *due, pay_rows_txn_t *txn, const pay_bytes_t *key, const pay_bytes_t *val,
                apr_pool_t *p)
{
    const unsigned char *at = key->data;
    pay_store_refund_t *row;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    memset(due, 0, sizeof(*due));
    if (key->len != PAY_STORE_HELD_KEY_LEN) {
        (void)pay_rows_bad(PAY_TABLE_HELD, key);
        return 0;
    }
    pay_store_read_scope(&scope, at);
    if (at[PAY_STORE_SCOPE_LEN] == PAY_DUE_CHARGE) {
        rc = pay_store_charge_get(&charge, txn, &scope,
                                  pay_store_read_u64(at + PAY_STORE_SCOPE_LEN + 1), p);
        due->charge = rc ? NULL : charge;
    } else {
        rc = pay_store_refund_get(&row, txn, val, p);
        due->refund = rc ? NULL : &row->refund;
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        rc = pay_rows_bad(PAY_TABLE_HELD, key);
    }
    return rc == PAY_ROWS_BAD ? 0 : rc;
}

static int list(apr_array_header_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                const pay_due_t *after, int limit)
{
    pay_store_key_t from;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_HELD, NULL, &from, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    pay_due_t due;
    int rc;

    begin_key(&from, scope, after);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && out->nelts < limit && is_of_scope(&key, scope)) {
        rc = load(&due, txn, &key, &val, out->pool);
        if (!rc && (due.charge || due.refund)) {
            APR_ARRAY_PUSH(out, pay_due_t) = due;
        }
        if (!rc) {
            rc = pay_rows_next(&key, &val, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_held_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const pay_due_t *after, int limit,
                                 apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = apr_array_make(p, 16, sizeof(pay_due_t));
    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = list(*out, &txn, scope, after, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
