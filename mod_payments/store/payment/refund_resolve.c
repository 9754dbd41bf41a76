/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/account/account.h"
#include "store/event/event.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/hint.h"
#include "store/payment/refund.h"
#include "store/payment/total.h"
#include "store/record/epoch.h"
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
    pay_refund_t *out; /* NULL if it does not exist */
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

/* Not decided yet: its worker lets go, and it is queried at due_at. */
static int release(resolve_t *resolve, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    if (row->refund.import_number != 0 && row->refund.due_at == 0) { /* it is not queried */
        return 0;
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

/* Sets the state, which is frozen as its decision, and updates the charge's amounts. */
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
 * It was decided before: nothing changes, but a contradicting outcome is recorded. A caller that
 * comes late with "it was not sent" must not free the amount of a refund that was processed. The
 * decision counts, and was returned: that it failed later, as the acquirer reported, contradicts
 * nothing.
 */
static int resolve_decided(resolve_t *resolve, pay_rows_txn_t *txn, pay_store_refund_t *row)
{
    int processed = row->refund.decided_state == PAY_REFUND_PROCESSED;

    if (resolve->outcome->kind == PAY_OUTCOME_UNKNOWN
        || (resolve->outcome->kind == PAY_OUTCOME_APPROVED) == processed
        || resolve->outcome->resolution) { /* a person's late decision, not the acquirer's */
        return PAY_ROWS_SILENT;
    }
    resolve->contradicts = 1;
    if (row->contradiction[0] != '\0') { /* the first one stays */
        return 0;
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
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
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

/* ---- events */

int pay_store_refund_announce(pay_rows_txn_t *txn, const pay_refund_t *refund, int turned,
                              apr_pool_t *p)
{
    pay_charge_t *charge;
    int rc, wanted;

    if (refund->charge_seq == 0 || (refund->import_number != 0 && !*refund->acquirer)) {
        return 0; /* the content of a file causes no events */
    }
    rc = pay_store_event_is_wanted(&wanted, txn, &refund->scope, p);
    if (rc || !wanted) {
        return rc;
    }
    rc = pay_store_charge_get(&charge, txn, &refund->scope, refund->charge_seq, p);
    if (rc) {
        return rc;
    }
    rc = pay_store_event_of_refund(txn, charge, refund, turned, p);
    return rc ? rc : pay_store_charge_put(txn, charge, p);
}

/* ---- failing later */

typedef struct fail_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL if it does not exist */
    int changed;
} fail_t;

/*
 * The decision stays frozen: the request was answered long ago. The amounts, the total and the
 * record become what they would be if the acquirer had refused at once.
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
    rc = pay_store_total_refund(txn, refund, -1, fail->p); /* while it is still processed */
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
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_store_refund_visible(&visible, txn, &row->refund);
    if (rc || !visible) {
        return rc;
    }
    fail->out = &row->refund;
    /* A pending one may become failed too, but refund_resolve decides that. */
    if (row->refund.state != PAY_REFUND_PROCESSED
        || !pay_refund_may_become(row->refund.state, PAY_REFUND_FAILED)) {
        return 0;
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

/* ---- claiming */

typedef struct claim_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const pay_worker_t *worker;
    apr_int64_t send_before_ms, wait_until_ms;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL if it does not exist */
    int claimed;
} claim_t;

/*
 * Sets *out to 0 while its account is in Test Mode, or while the store was restored and not
 * confirmed.
 */
static int may_send(int *out, pay_rows_txn_t *txn, const pay_scope_t *scope, apr_pool_t *p)
{
    pay_account_t *account;
    int rc, held;

    *out = scope->mode == PAY_TEST;
    if (*out) {
        return 0;
    }
    rc = pay_store_epoch_held(&held, txn);
    if (rc || held) {
        return rc;
    }
    rc = pay_store_account_by_number(&account, txn, scope->account, p);
    *out = !rc && account->mode == PAY_LIVE;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/*
 * From here on it may have been sent: any process that finds it queries the acquirer and does not
 * send it again.
 */
static int claim_work(pay_rows_txn_t *txn, void *baton)
{
    claim_t *claim = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc, may;

    claim->out = NULL;
    claim->claimed = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, claim->scope,
                                   claim->refund_reference, claim->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    refund = &row->refund;
    claim->out = refund;
    if (!refund->waiting || refund->state != PAY_REFUND_PENDING) {
        return 0;
    }
    rc = may_send(&may, txn, claim->scope, claim->p);
    if (rc || !may) {
        return rc;
    }
    refund->waiting = 0;
    refund->worker = *claim->worker;
    refund->send_before_ms = claim->send_before_ms;
    refund->wait_until_ms = claim->wait_until_ms;
    refund->wait_until_at = pay_worker_until(claim->wait_until_ms, pay_store_time_now());
    refund->due_at = claim->due_at;
    claim->claimed = 1;
    return pay_store_refund_put(txn, row, claim->p);
}

apr_status_t pay_store_refund_claim(pay_refund_t **out, int *claimed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *refund_reference,
                                    const pay_worker_t *worker, apr_int64_t send_before_ms,
                                    apr_int64_t wait_until_ms, apr_time_t due_at, apr_pool_t *p)
{
    claim_t claim = {.scope = scope,
                     .refund_reference = refund_reference,
                     .worker = worker,
                     .send_before_ms = send_before_ms,
                     .wait_until_ms = wait_until_ms,
                     .due_at = due_at,
                     .p = p};
    apr_status_t rv;

    *out = NULL;
    *claimed = 0;
    assert(due_at > 0);
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(scope), 0, claim_work, &claim);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!claim.out) {
        return APR_NOTFOUND;
    }
    *out = claim.out;
    *claimed = claim.claimed;
    return APR_SUCCESS;
}

/* ---- late refunds */

typedef struct late_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const pay_outcome_t *found; /* NULL: nothing was found */
    apr_time_t due_at;
    pay_held_t held;
    const char *resolution; /* NULL: unchanged */
    apr_pool_t *p;
    pay_refund_t *out; /* NULL if it does not exist */
    int changed;
    int contradicts; /* and the contradiction is new */
} late_t;

/* A result that was found before, and that a person has decided since, needs no further review. */
static pay_held_t held_now(const late_t *late, const pay_store_refund_t *row)
{
    int decided = late->found && row->contradiction[0] != '\0' && row->refund.held == PAY_NOT_HELD
                  && row->refund.resolution[0] != '\0';

    return decided ? PAY_NOT_HELD : late->held;
}

static int changes_nothing(const late_t *late, const pay_store_refund_t *row)
{
    return late->due_at == row->refund.due_at && held_now(late, row) == row->refund.held
           && (!late->found || row->contradiction[0] != '\0') && !late->resolution;
}

static int late_work(pay_rows_txn_t *txn, void *baton)
{
    late_t *late = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc;

    late->out = NULL;
    late->changed = 0;
    late->contradicts = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, late->scope,
                                   late->refund_reference, late->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    refund = &row->refund;
    late->out = refund;
    if (refund->state != PAY_REFUND_FAILED || changes_nothing(late, row)) {
        return PAY_ROWS_SILENT;
    }
    refund->due_at = late->due_at;
    refund->held = held_now(late, row);
    if (late->found && row->contradiction[0] == '\0') {
        row->contradiction = pay_store_contradiction(late->found, late->p);
        late->contradicts = 1;
    }
    if (late->resolution) {
        refund->resolution = pay_store_text_cut(late->resolution, PAY_RESOLUTION_MAX, late->p);
    }
    late->changed = 1;
    return pay_store_refund_put(txn, row, late->p);
}

apr_status_t pay_store_refund_late(pay_refund_t **out, int *changed, pay_store_t *store,
                                   const pay_scope_t *scope, const char *refund_reference,
                                   const pay_outcome_t *found, apr_time_t due_at, pay_held_t held,
                                   const char *resolution, apr_pool_t *p)
{
    late_t late = {.scope = scope,
                   .refund_reference = refund_reference,
                   .found = found,
                   .due_at = due_at,
                   .held = held,
                   .resolution = resolution,
                   .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(due_at >= 0);
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, late_work, &late);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!late.out) {
        return APR_NOTFOUND;
    }
    if (late.contradicts) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00172) "refund %s (key %s): it failed here, but acquirer %s reports "
                                "otherwise; its answer is stored with the refund",
                late.out->refund_reference, late.out->key_id, late.out->acquirer);
    }
    *out = late.out;
    *changed = late.changed;
    return APR_SUCCESS;
}

/* ---- querying again */

typedef struct ask_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const char *acquirer;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL if it does not exist */
    int changed;
} ask_t;

/* Without amount and currency no answer could be compared with it. */
static int may_be_asked(const pay_refund_t *refund)
{
    return refund->import_number != 0 && refund->state == PAY_REFUND_PENDING && refund->due_at == 0
           && refund->money.amount_minor > 0 && refund->money.currency[0] != '\0';
}

static int ask_work(pay_rows_txn_t *txn, void *baton)
{
    ask_t *ask = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc, visible;

    ask->out = NULL;
    ask->changed = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, ask->scope,
                                   ask->refund_reference, ask->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    refund = &row->refund;
    rc = pay_store_refund_visible(&visible, txn, refund);
    if (rc || !visible) {
        return rc ? rc : PAY_ROWS_SILENT;
    }
    ask->out = refund;
    if (!may_be_asked(refund)) {
        return PAY_ROWS_SILENT;
    }
    refund->acquirer = pay_store_text_cut(ask->acquirer, PAY_STORE_NAME_MAX, ask->p);
    refund->due_at = ask->due_at;
    ask->changed = 1;
    return pay_store_refund_put(txn, row, ask->p);
}

apr_status_t pay_store_refund_ask(pay_refund_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, const char *refund_reference,
                                  const char *acquirer, apr_time_t due_at, apr_pool_t *p)
{
    ask_t ask = {.scope = scope,
                 .refund_reference = refund_reference,
                 .acquirer = acquirer,
                 .due_at = due_at,
                 .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
    assert(due_at > 0);
    assert(acquirer[0] != '\0');
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, ask_work, &ask);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!ask.out) {
        return APR_NOTFOUND;
    }
    *out = ask.out;
    *changed = ask.changed;
    return APR_SUCCESS;
}
