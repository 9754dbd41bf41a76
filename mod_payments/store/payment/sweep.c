/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/sweep.h"

#include "store/payment/charge.h"
#include "store/payment/refund_record.h"
#include "store/payment/total.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

typedef struct sweep_t {
    const pay_scope_t *scope;
    apr_uint32_t number;
    pay_store_key_t from;     /* where the next part begins */
    apr_array_header_t *keys; /* of MDB_val: the rows of this part */
    apr_pool_t *ptemp;        /* of this part */
} sweep_t;

/* The next rows of the import. *done 1: the scope has no more. */
static int collect(int *done, sweep_t *sweep, pay_rows_txn_t *txn)
{
    const pay_store_key_t from = sweep->from;
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_REFUND, &prefix, &from, PAY_ROWS_FROM);
    pay_store_refund_head_t head;
    MDB_val key, row;
    int rc, visits = 0;

    sweep->keys = apr_array_make(sweep->ptemp, 64, sizeof(MDB_val));
    (void)pay_store_key_of(&prefix, from.bytes, PAY_STORE_SCOPE_LEN);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && visits++ < PAY_STORE_SWEEP_VISITS_MAX
           && sweep->keys->nelts < PAY_STORE_SWEEP_ROWS_MAX) {
        /* A row whose head cannot be read is logged and left to the store's check. */
        if (pay_store_refund_head(&head, &key, &row) == MDB_SUCCESS
            && head.import_number == sweep->number) {
            APR_ARRAY_PUSH(sweep->keys, MDB_val) = pay_rows_dup(&key, sweep->ptemp);
        }
        rc = pay_rows_next(&key, &row, &scan);
    }
    if (!rc) {
        (void)pay_store_key_of(&sweep->from, key.mv_data, key.mv_size);
    }
    *done = rc == MDB_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

/* As if the refund had failed: a failed one counts nothing. */
static int give_back(pay_rows_txn_t *txn, const pay_refund_t *refund, apr_pool_t *p)
{
    if (refund->charge_seq == 0 || refund->state == PAY_REFUND_FAILED) {
        return MDB_SUCCESS;
    }
    return pay_store_charge_move_refund(NULL, txn, refund, PAY_REFUND_FAILED, p);
}

static int remove_work(pay_rows_txn_t *txn, void *baton)
{
    sweep_t *sweep = baton;
    apr_uint64_t removed = 0;
    pay_store_refund_t *row;
    pay_store_scope_t last;
    int i, rc;

    for (i = 0; i < sweep->keys->nelts; i++) {
        rc = pay_store_refund_get(&row, txn, &APR_ARRAY_IDX(sweep->keys, i, MDB_val), sweep->ptemp);
        if (rc == MDB_NOTFOUND) { /* swept by another meanwhile */
            continue;
        }
        if (!rc) {
            rc = give_back(txn, &row->refund, sweep->ptemp);
        }
        if (!rc) {
            rc = pay_store_refund_remove(txn, &row->refund);
        }
        if (!rc && row->refund.state == PAY_REFUND_PROCESSED) {
            rc = pay_store_total_refund(txn, &row->refund, -1, sweep->ptemp);
        }
        if (rc) {
            return rc;
        }
        removed++;
    }
    rc = pay_store_scope_get(&last, txn, sweep->scope);
    if (rc) {
        return rc;
    }
    last.taken_back += removed;
    if (pay_store_scope_is_worker(&last)) {
        pay_store_scope_hold(&last);
    }
    return pay_store_scope_put(txn, sweep->scope, &last, sweep->ptemp);
}

/* One read transaction, and one to write if it found something. */
static apr_status_t sweep_part(int *done, sweep_t *sweep, pay_store_t *db)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *done = 0;
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(done, sweep, &txn);
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (sweep->keys->nelts == 0) {
        return APR_SUCCESS;
    }
    return pay_rows_commit(db, pay_turn_scope(sweep->scope), 0, remove_work, sweep);
}

apr_status_t pay_store_sweep(pay_store_t *db, const pay_scope_t *scope, apr_uint32_t number,
                             apr_pool_t *p)
{
    sweep_t sweep = {.scope = scope, .number = number};
    apr_status_t rv;
    int done = 0;

    rv = apr_pool_create(&sweep.ptemp, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_store_refund_key(&sweep.from, scope, APR_INT64_MIN, 0);
    while (rv == APR_SUCCESS && !done) {
        rv = sweep_part(&done, &sweep, db);
        apr_pool_clear(sweep.ptemp);
    }
    apr_pool_destroy(sweep.ptemp);
    return rv;
}
