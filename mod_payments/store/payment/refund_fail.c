/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund_record.h"

#include "base/log.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/total.h"
#include "store/record/time.h"

typedef struct fail_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL: there is none */
    int changed;
} fail_t;

/*
 * What was decided stays frozen: the request's answer was given long ago. The amounts, the total
 * and the record are what they would be had the acquirer refused at once.
 */
static int take_back(fail_t *fail, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    pay_refund_t *refund = &row->refund;
    int rc, turned = 0;

    if (refund->charge_seq != 0) {
        rc = pay_store_charge_move_refund(&turned, txn, refund, PAY_REFUND_FAILED, fail->p);
        if (rc) {
            return rc;
        }
    }
    rc = pay_store_total_refund(txn, refund, -1, fail->p); /* while it still is processed */
    if (rc) {
        return rc;
    }
    refund->state = PAY_REFUND_FAILED;
    refund->updated_at = pay_store_time_not_before(refund->updated_at);
    fail->changed = 1;
    rc = pay_store_refund_put(txn, row, fail->p);
    return rc ? rc : pay_store_refund_announce(txn, refund, turned, fail->p);
}

static int fail_work(pay_rows_txn_t *txn, void *baton)
{
    fail_t *fail = baton;
    pay_store_refund_t *row;
    int rc, visible;

    fail->out = NULL;
    fail->changed = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, fail->scope,
                                   fail->refund_reference, fail->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    rc = pay_store_refund_visible(&visible, txn, &row->refund);
    if (rc || !visible) {
        return rc;
    }
    fail->out = &row->refund;
    /* A pending one may become failed too, but that is for refund_resolve to decide. */
    if (row->refund.state != PAY_REFUND_PROCESSED
        || !pay_refund_may_become(row->refund.state, PAY_REFUND_FAILED)) {
        return MDB_SUCCESS;
    }
    return take_back(fail, txn, row);
}

apr_status_t pay_store_refund_fail(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   apr_pool_t *p)
{
    fail_t fail = {.scope = scope, .refund_reference = refund_reference, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, fail_work, &fail);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!fail.out) {
        return APR_NOTFOUND;
    }
    if (fail.changed) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00160) "refund %s (key %s): the acquirer reports that it failed after it "
                                "was processed; its amount can be refunded again",
                fail.out->refund_reference, fail.out->key_id);
    }
    *out = fail.out;
    *changed = fail.changed;
    return APR_SUCCESS;
}
