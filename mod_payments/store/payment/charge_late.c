/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/charge.h"

#include "base/log.h"
#include "store/payment/charge_record.h"
#include "store/record/text.h"
#include "store/record/time.h"

#include <assert.h>

typedef struct late_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    const pay_late_step_t *step;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL: there is none */
    int changed;
    int found; /* the approval is new */
} late_t;

/* What is known of the approval, beside a decision that stays as it is. */
static void note(late_t *late)
{
    const pay_late_step_t *step = late->step;
    pay_charge_t *charge = late->out;

    late->found = charge->late == PAY_LATE_NONE && step->to != PAY_LATE_NONE;
    if (step->outcome && charge->contradiction[0] == '\0') { /* the first one stays */
        charge->contradiction = pay_store_contradiction(step->outcome, late->p);
    }
    charge->late = step->to;
    if (step->tag) {
        charge->late_tag = pay_store_text_cut(step->tag, PAY_TAG_LEN, late->p);
    }
    if (step->sent_at) {
        charge->absent_since = step->sent_at;
        charge->absent_from = step->sent;
    }
    if (step->resolution) {
        charge->resolution = pay_store_text_cut(step->resolution, PAY_RESOLUTION_MAX, late->p);
    }
    charge->updated_at = pay_store_time_not_before(charge->updated_at);
    charge->held = step->held;
    charge->due_at = step->due_at;
}

static int late_work(pay_rows_txn_t *txn, void *baton)
{
    late_t *late = baton;
    pay_charge_t *charge;
    int rc;

    late->out = NULL;
    late->changed = 0;
    late->found = 0;
    rc = pay_store_charge_get(&charge, txn, late->scope, late->seq, late->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    late->out = charge;
    if (charge->state != PAY_CHARGE_FAILED || charge->late != late->step->from) {
        return PAY_ROWS_SILENT;
    }
    note(late);
    late->changed = 1;
    return pay_store_charge_put(txn, charge, late->p);
}

apr_status_t pay_store_charge_late(pay_charge_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, apr_uint64_t seq,
                                   const pay_late_step_t *step, apr_pool_t *p)
{
    late_t late = {.scope = scope, .seq = seq, .step = step, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(step->to < PAY_LATE_COUNT);
    assert(step->due_at >= 0);
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, late_work, &late);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!late.out) {
        return APR_NOTFOUND;
    }
    if (late.found) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00171) "charge %s (key %s): it failed here because acquirer %s had not "
                                "received it, but the acquirer approved it",
                late.out->reference, late.out->key_id, late.out->acquirer);
    }
    *out = late.out;
    *changed = late.changed;
    return APR_SUCCESS;
}
