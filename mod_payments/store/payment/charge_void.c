/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"

#include "base/text/writer.h"
#include "store/payment/charge_record.h"
#include "store/payment/checkout.h"
#include "store/payment/kept.h"
#include "store/record/time.h"

#define ANSWER_SIZE_HINT 1024

typedef struct void_t {
    const pay_scope_t *scope;
    const char *reference;
    const pay_idempotency_t *use;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL: there is none */
    pay_kept_t *kept;
    int voided;
} void_t;

/* What a retry under the same Idempotency-Key is answered. */
static int keep_answer(const void_t *work, pay_rows_txn_t *txn)
{
    pay_writer_t *w;

    if (!work->use) {
        return MDB_SUCCESS;
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, work->p);
    pay_void_answer_to_json(w, work->out);
    return pay_store_kept_add_text(txn, work->scope, work->use, w->text, work->out->updated_at,
                                   work->p);
}

/* Nothing is decided by it: the acquirer may still report that the payer had paid, and is asked. */
static int close_checkout(void_t *work, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = work->out;
    int rc;

    (void)pay_store_charge_become(charge, PAY_CHARGE_VOID);
    pay_store_charge_clear_worker(charge);
    charge->held = PAY_NOT_HELD;
    charge->due_at = pay_store_checkout_is_asked(charge) ? charge->due_at : 0;
    charge->updated_at = pay_store_time_not_before(charge->updated_at);
    rc = pay_store_charge_put(txn, charge, work->p);
    if (!rc) {
        rc = pay_store_checkout_ended(txn, charge, work->p);
    }
    if (rc) {
        return rc;
    }
    work->voided = 1;
    return keep_answer(work, txn);
}

static int void_work(pay_rows_txn_t *txn, void *baton)
{
    void_t *work = baton;
    int rc;

    work->out = NULL;
    work->kept = NULL;
    work->voided = 0;
    if (work->use) {
        rc = pay_store_kept_get(&work->kept, txn, work->scope, work->use, work->p);
        if (rc != MDB_NOTFOUND) {
            return rc;
        }
    }
    rc = pay_store_charge_get_ref(&work->out, txn, work->scope, work->reference, work->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (work->out->kind != PAY_CHARGE_CHECKOUT
        || pay_charge_in_flight(work->out) /* the payer may be paying at this moment */
        || !pay_charge_may_become(work->out->state, PAY_CHARGE_VOID)) {
        return MDB_SUCCESS;
    }
    return close_checkout(work, txn);
}

apr_status_t pay_store_charge_void(pay_charge_t **out, int *voided, pay_kept_t **kept,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const char *reference, const pay_idempotency_t *use,
                                   apr_pool_t *p)
{
    void_t work = {.scope = scope, .reference = reference, .use = use, .p = p};
    apr_status_t rv;

    *out = NULL;
    *voided = 0;
    *kept = NULL;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, void_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!work.out && !work.kept) {
        return APR_NOTFOUND;
    }
    *out = work.out;
    *voided = work.voided;
    *kept = work.kept;
    return APR_SUCCESS;
}
