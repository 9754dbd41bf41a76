/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/rows_scan.h"

#include <string.h>

/*
 * Index entries read for the references that are shown. Only those of an unfinished import are
 * skipped.
 */
#define VISITS_MAX 1000

/* Adds one refund of the charge, by its index entry. */
static int show(pay_transaction_t *out, pay_rows_txn_t *txn, const pay_bytes_t *index,
                const pay_bytes_t *refund_key, apr_pool_t *p)
{
    pay_store_refund_t *row;
    pay_bytes_t key = *refund_key, val;
    int rc, visible;

    if (key.len != PAY_STORE_REFUND_KEY_LEN) {
        return pay_rows_bad(PAY_TABLE_REFUND_BY_CHARGE, index);
    }
    rc = pay_rows_get(&val, txn, PAY_TABLE_REFUND, &key);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_BY_CHARGE, index) : rc;
    }
    rc = pay_store_refund_peek(&row, &key, &val, p);
    if (rc) {
        return rc;
    }
    rc = pay_store_refund_visible(&visible, txn, &row->refund);
    if (rc) {
        return rc;
    }
    if (!visible) { /* the charge's amounts include it already */
        out->refunds_complete = 0;
        return 0;
    }
    rc = pay_store_refund_decode(&row, &key, &val, p);
    if (!rc) {
        APR_ARRAY_PUSH(out->refunds, const char *) = row->refund.refund_reference;
    }
    return rc;
}

/* References by refund seq, which is the order of their creation. */
static int list_refunds(pay_transaction_t *out, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_store_key_t prefix;
    pay_rows_scan_t scan =
        pay_rows_scan(txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, refund_key;
    int rc, visits = 0;

    pay_store_charge_key(&prefix, &out->charge->scope, out->charge->seq);
    rc = pay_rows_next(&key, &refund_key, &scan);
    while (!rc) {
        if (visits++ == VISITS_MAX || out->refunds->nelts == PAY_TRANSACTION_REFUNDS_MAX) {
            out->refunds_complete = 0;
            break;
        }
        rc = show(out, txn, &key, &refund_key, p);
        if (!rc) {
            rc = pay_rows_next(&key, &refund_key, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

/* By `reference`, or by `seq` if that is NULL. */
static apr_status_t look_up(pay_transaction_t *out, pay_store_t *db, const pay_scope_t *scope,
                            const char *reference, apr_uint64_t seq, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    memset(out, 0, sizeof(*out));
    out->refunds = apr_array_make(p, 4, sizeof(const char *));
    out->refunds_complete = 1;
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (reference) {
        rc = pay_store_charge_get_ref(&out->charge, &txn, scope, reference, p);
    } else {
        rc = pay_store_charge_get(&out->charge, &txn, scope, seq, p);
    }
    if (!rc) {
        rc = list_refunds(out, &txn, p);
    }
    pay_rows_end(&txn);
    if (rc) {
        out->charge = NULL;
    }
    return pay_rows_status(rc);
}

apr_status_t pay_store_transaction_find(pay_transaction_t *out, pay_store_t *store,
                                        const pay_scope_t *scope, const char *reference,
                                        apr_pool_t *p)
{
    return look_up(out, store, scope, reference, 0, p);
}

apr_status_t pay_store_transaction_get(pay_transaction_t *out, pay_store_t *store,
                                       const pay_scope_t *scope, apr_uint64_t seq, apr_pool_t *p)
{
    return look_up(out, store, scope, NULL, seq, p);
}
