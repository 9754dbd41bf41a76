/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund_record.h"

#include "base/log.h"
#include "store/event/event.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/hint.h"
#include "store/payment/total.h"
#include "store/record/text.h"
#include "store/record/time.h"

#include <assert.h>
#include <string.h>

typedef struct resolve_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const pay_outcome_t *outcome;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL: there is none */
    int changed;
    int contradicts;
} resolve_t;

static void clear_work_in_flight(pay_refund_t *refund)
{
    memset(&refund->worker, 0, sizeof(refund->worker));
    refund->send_before_ms = 0;
    refund->wait_until_ms = 0;
    refund->wait_until_at = 0;
}

/* Nobody knows yet: its worker lets go, and it is asked about at due_at. */
static int release(resolve_t *resolve, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    if (row->refund.import_number != 0 && row->refund.due_at == 0) { /* nobody asks about it */
        return MDB_SUCCESS;
    }
    clear_work_in_flight(&row->refund);
    if (resolve->outcome->received) { /* it was sent before this store was copied */
        row->refund.waiting = 0;
    }
    row->refund.due_at = resolve->due_at;
    row->refund.absent_since = resolve->outcome->absent_since;
    row->refund.absent_from = resolve->outcome->absent_from;
    row->refund.held = resolve->outcome->held;
    pay_store_acquirer_name_refund(&row->refund, resolve->outcome->acquirer_reference, resolve->p);
    resolve->changed = 1;
    return pay_store_refund_put(txn, row, resolve->p);
}

/* The state, which is frozen as its decision, and with it the charge's amounts. */
static int move(resolve_t *resolve, pay_rows_txn_t *txn, pay_store_refund_t *row,
                pay_refund_state_t to)
{
    const pay_outcome_t *outcome = resolve->outcome;
    pay_refund_t *refund = &row->refund;
    int rc, turned = 0;

    if (refund->charge_seq != 0) {
        rc = pay_store_charge_move_refund(&turned, txn, refund, to, resolve->p);
        if (rc) {
            return rc;
        }
    }
    clear_work_in_flight(refund);
    refund->waiting = 0;
    refund->absent_since = 0;
    refund->absent_from = (pay_moment_t){0, 0};
    refund->due_at = to == PAY_REFUND_FAILED ? outcome->late_check_at : 0;
    refund->state = to;
    refund->held = PAY_NOT_HELD;
    pay_store_acquirer_name_refund(refund, outcome->acquirer_reference, resolve->p);
    if (outcome->resolution) {
        refund->resolution =
            pay_store_text_cut(outcome->resolution, PAY_RESOLUTION_MAX, resolve->p);
    }
    refund->updated_at = pay_store_time_not_before(refund->created_at);
    refund->decided_state = to;
    refund->decided_at = refund->updated_at;
    resolve->changed = 1;
    rc = pay_store_refund_put(txn, row, resolve->p);
    if (!rc) {
        rc = pay_store_refund_announce(txn, refund, turned, resolve->p);
    }
    if (rc || to != PAY_REFUND_PROCESSED) {
        return rc;
    }
    return pay_store_total_refund(txn, refund, 1, resolve->p);
}

/*
 * It was decided before: nothing changes, but an outcome that says otherwise is kept. A caller that
 * comes late with "it was not sent" must not free the amount of a refund that was processed. What
 * was decided counts, and was told: that it failed later, as the acquirer said, contradicts
 * nothing.
 */
static int resolve_decided(resolve_t *resolve, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    int processed = row->refund.decided_state == PAY_REFUND_PROCESSED;

    if (resolve->outcome->kind == PAY_OUTCOME_UNKNOWN
        || (resolve->outcome->kind == PAY_OUTCOME_APPROVED) == processed
        || resolve->outcome->resolution) { /* a person who came late: no word of the acquirer's */
        return PAY_ROWS_SILENT;
    }
    resolve->contradicts = 1;
    if (row->contradiction[0] != '\0') { /* the first one stays */
        return MDB_SUCCESS;
    }
    row->contradiction = pay_store_contradiction(resolve->outcome, resolve->p);
    return pay_store_refund_put(txn, row, resolve->p);
}

static int resolve_work(pay_rows_txn_t *txn, void *baton)
{
    resolve_t *resolve = baton;
    pay_store_refund_t *row;
    pay_refund_state_t to;
    int rc, visible;

    resolve->out = NULL;
    resolve->changed = 0;
    resolve->contradicts = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, resolve->scope,
                                   resolve->refund_reference, resolve->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    rc = pay_store_refund_visible(&visible, txn, &row->refund);
    if (rc || !visible) {
        return rc ? rc : PAY_ROWS_SILENT;
    }
    resolve->out = &row->refund;
    to = resolve->outcome->kind == PAY_OUTCOME_APPROVED ? PAY_REFUND_PROCESSED : PAY_REFUND_FAILED;
    if (row->refund.state != PAY_REFUND_PENDING || !pay_refund_may_become(row->refund.state, to)) {
        return resolve_decided(resolve, txn, row);
    }
    if (resolve->outcome->kind == PAY_OUTCOME_UNKNOWN) {
        return release(resolve, txn, row);
    }
    return move(resolve, txn, row, to);
}

static void resolve_hints(pay_rows_txn_t *txn, const void *baton)
{
    const resolve_t *resolve = baton;

    pay_store_hint_refund(txn, PAY_TABLE_REFUND_REF, resolve->scope, resolve->refund_reference);
    if (resolve->outcome->kind != PAY_OUTCOME_UNKNOWN) {
        pay_store_hint_events(txn, resolve->scope);
    }
}

apr_status_t pay_store_refund_resolve(pay_refund_t **out, int *changed, pay_store_t *store,
                                      const pay_scope_t *scope, const char *refund_reference,
                                      const pay_outcome_t *outcome, apr_time_t due_at,
                                      apr_pool_t *p)
{
    resolve_t resolve = {.scope = scope,
                         .refund_reference = refund_reference,
                         .outcome = outcome,
                         .due_at = due_at,
                         .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(outcome->kind != PAY_OUTCOME_UNKNOWN || due_at > 0);
    rv = pay_rows_commit(store, pay_turn_hinted(pay_turn_scope(scope), resolve_hints), 0,
                         resolve_work, &resolve);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!resolve.out) {
        return APR_NOTFOUND;
    }
    if (resolve.contradicts) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00152) "refund %s (key %s): the acquirer contradicts the outcome that was "
                                "stored and reported; its answer is stored with the refund",
                resolve.out->refund_reference, resolve.out->key_id);
    }
    *out = resolve.out;
    *changed = resolve.changed;
    return APR_SUCCESS;
}
