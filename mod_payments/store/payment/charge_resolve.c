/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/writer.h"
#include "model/fee.h"
#include "store/account/account.h"
#include "store/account/token.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/hint.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/total.h"
#include "store/record/text.h"
#include "store/record/time.h"

#include <apr_strings.h>
#include <assert.h>

/* If a refund contradicts a decline, the acquirer is queried again after this time. */
#define DISPUTED_AGAIN apr_time_from_sec(60 * 60)

typedef struct resolve_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    const pay_outcome_t *outcome;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL if it does not exist */
    int changed;
    int contradicts;
    int disputed; /* it needs review from now on */
} resolve_t;

/* A checkout that was closed without an outcome, and is still queried. */
static int is_closed(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_VOID || charge->state == PAY_CHARGE_ABANDONED;
}

/* A closed checkout that is queried is next queried at due_at; 0: no more. A person may confirm
 * that it stays closed when it is no longer queried. Others are left alone. */
static int ask_closed(resolve_t *resolve, pay_rows_txn_t *txn)
{
    const pay_outcome_t *outcome = resolve->outcome;
    pay_charge_t *charge = resolve->out;

    if (charge->due_at == 0 && (!outcome->resolution || charge->held == PAY_NOT_HELD)) {
        return PAY_ROWS_SILENT;
    }
    charge->due_at = resolve->due_at;
    charge->held = outcome->held;
    if (outcome->resolution) {
        charge->resolution =
            pay_store_text_cut(outcome->resolution, PAY_RESOLUTION_MAX, resolve->p);
        charge->updated_at = pay_store_time_not_before(charge->updated_at);
    }
    resolve->changed = 1;
    return pay_store_charge_put(txn, charge, resolve->p);
}

/* Not decided yet: its worker lets go, and it is queried at due_at. */
static int release(resolve_t *resolve, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = resolve->out;

    if (is_closed(charge)) {
        return ask_closed(resolve, txn);
    }
    if (charge->state != PAY_CHARGE_PENDING || resolve->due_at == 0) {
        return PAY_ROWS_SILENT;
    }
    pay_store_charge_clear_worker(charge);
    charge->due_at = resolve->due_at;
    charge->absent_since = resolve->outcome->absent_since;
    charge->absent_from = resolve->outcome->absent_from;
    charge->held = resolve->outcome->held;
    resolve->changed = 1;
    return pay_store_charge_put(txn, charge, resolve->p);
}

static void freeze(pay_charge_t *charge, const pay_outcome_t *outcome, apr_pool_t *p)
{
    charge->decided_at = pay_store_time_not_before(charge->updated_at);
    charge->updated_at = charge->decided_at;
    charge->answer_version = PAY_CHARGE_ANSWER_VERSION;
    charge->code = pay_store_text_cut(outcome->code, PAY_OUTCOME_CODE_MAX, p);
    charge->message = pay_store_text_cut(outcome->message, PAY_OUTCOME_MESSAGE_MAX, p);
    charge->authorization_code =
        pay_store_text_cut(outcome->authorization_code, PAY_AUTHORIZATION_MAX, p);
    if (outcome->kind == PAY_OUTCOME_APPROVED) {
        charge->spent = outcome->spent != 0;
        charge->refunded_there_minor = outcome->refunded_minor < charge->money.amount_minor
                                           ? outcome->refunded_minor
                                           : charge->money.amount_minor;
    }
    if (outcome->resolution) {
        charge->resolution = pay_store_text_cut(outcome->resolution, PAY_RESOLUTION_MAX, p);
    }
}

/* Stores the acquirer's data on a card that is not known here. */
static void take_card(pay_charge_t *charge, const pay_card_t *card, apr_pool_t *p)
{
    if (!card || *charge->card.last4) {
        return;
    }
    charge->card = *card;
    charge->card.issuer = pay_store_text_cut(card->issuer, PAY_STORE_CARD_TEXT_MAX, p);
    charge->card.country = pay_store_text_cut(card->country, PAY_STORE_CARD_TEXT_MAX, p);
    charge->card.type = pay_store_text_cut(card->type, PAY_STORE_CARD_TEXT_MAX, p);
}

/*
 * The token that charges the payer of a checkout again; not for a payer who was erased meanwhile.
 */
static void take_token(pay_charge_t *charge, const pay_outcome_t *outcome, apr_pool_t *p)
{
    if (charge->kind == PAY_CHARGE_CHECKOUT && outcome->kind == PAY_OUTCOME_APPROVED
        && charge->channel == PAY_CHANNEL_CARD && !*charge->token && *charge->email
        && outcome->token) {
        charge->token = apr_pstrdup(p, outcome->token);
    }
}

int pay_store_charge_decide(pay_charge_t *charge, const pay_outcome_t *outcome, apr_pool_t *p)
{
    const pay_charge_state_t to =
        outcome->kind == PAY_OUTCOME_APPROVED ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_FAILED;

    if (!pay_store_charge_become(charge, to)) {
        return 0;
    }
    pay_store_charge_clear_worker(charge);
    charge->due_at = outcome->kind == PAY_OUTCOME_DECLINED ? outcome->late_check_at : 0;
    charge->absent_since = 0;
    charge->absent_from = (pay_moment_t){0, 0};
    take_card(charge, outcome->card, p);
    take_token(charge, outcome, p);
    freeze(charge, outcome, p);
    pay_store_charge_follow_refunds(charge); /* it may have been refunded already */
    charge->decided_state = charge->state;
    return 1;
}

void pay_store_charge_fee(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_account_t *account;
    int rc;

    charge->fee_minor = 0;
    if (!pay_charge_was_approved(charge)) {
        return;
    }
    rc = pay_store_account_by_number(&account, txn, charge->scope.account, p);
    if (!rc) {
        charge->fee_minor = pay_fee_of(account->settings.fees, &charge->money, charge->channel);
    }
}

/* The token of a checkout that was paid belongs to its payer. */
static int issue_token(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    const pay_token_t token = {.scope = charge->scope,
                               .token = charge->token,
                               .card = charge->card,
                               .email = charge->email,
                               .created_at = charge->decided_at};

    if (charge->kind != PAY_CHARGE_CHECKOUT || charge->state == PAY_CHARGE_FAILED
        || !*charge->token) {
        return 0;
    }
    return pay_store_token_issue(txn, &token, p);
}

/*
 * The first decision, which is returned from now on. It may come after a checkout was closed: the
 * payer had paid just before, and the acquirer's outcome counts. A closed checkout that was not
 * paid stays closed: a decline contradicts nothing there.
 */
int pay_store_charge_settle(int *changed, pay_rows_txn_t *txn, pay_charge_t *charge,
                            const pay_outcome_t *outcome, apr_pool_t *p)
{
    int rc;

    *changed = 0;
    if (!pay_store_charge_decide(charge, outcome, p)) {
        return 0;
    }
    charge->held = PAY_NOT_HELD;
    pay_store_charge_fee(charge, txn, p);
    rc = issue_token(txn, charge, p);
    if (!rc) {
        rc = pay_store_link_decided(txn, charge, p);
    }
    if (!rc) {
        rc = pay_store_event_of_charge(txn, charge, 1, p);
    }
    if (!rc) {
        rc = pay_store_charge_put(txn, charge, p);
    }
    if (rc) {
        return rc;
    }
    *changed = 1;
    rc = pay_store_checkout_ended(txn, charge, p);
    return rc ? rc : pay_store_total_charge(txn, charge, 1, p);
}

/* It was decided before: nothing changes, but a contradicting outcome is recorded. */
static int resolve_decided(resolve_t *resolve, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = resolve->out;
    int approved = pay_charge_was_approved(charge);

    if ((resolve->outcome->kind == PAY_OUTCOME_APPROVED) == approved
        || resolve->outcome->resolution) { /* a person's late decision, not the acquirer's */
        return PAY_ROWS_SILENT;
    }
    resolve->contradicts = 1;
    if (charge->contradiction[0] != '\0') { /* the first one stays */
        return 0;
    }
    charge->contradiction = pay_store_contradiction(resolve->outcome, resolve->p);
    return pay_store_charge_put(txn, charge, resolve->p);
}

/*
 * Part of it was refunded, so it was approved: a decline is not trusted. If it were decided, the
 * totals would include the refund but not the charge. A person reviews it, and its acquirer is
 * queried again.
 */
static int dispute(resolve_t *resolve, pay_rows_txn_t *txn)
{
    pay_charge_t *charge = resolve->out;

    if (resolve->outcome->resolution) { /* the person was shown this */
        return PAY_ROWS_SILENT;
    }
    resolve->disputed = charge->held != PAY_HELD_DIFFERENT;
    pay_store_charge_clear_worker(charge);
    charge->due_at = pay_store_time_now() + DISPUTED_AGAIN;
    charge->absent_since = 0;
    charge->absent_from = (pay_moment_t){0, 0};
    charge->held = PAY_HELD_DIFFERENT;
    return pay_store_charge_put(txn, charge, resolve->p);
}

static int resolve_work(pay_rows_txn_t *txn, void *baton)
{
    resolve_t *resolve = baton;
    pay_charge_t *charge;
    int rc;

    resolve->out = NULL;
    resolve->changed = 0;
    resolve->contradicts = 0;
    resolve->disputed = 0;
    rc = pay_store_charge_get(&charge, txn, resolve->scope, resolve->seq, resolve->p);
    if (rc == PAY_ROWS_NOTFOUND) {
        return PAY_ROWS_SILENT;
    }
    if (rc) {
        return rc;
    }
    resolve->out = charge;
    if (resolve->outcome->kind == PAY_OUTCOME_UNKNOWN) {
        return release(resolve, txn);
    }
    if (charge->decided_state != PAY_CHARGE_PENDING) {
        return resolve_decided(resolve, txn);
    }
    if (resolve->outcome->kind == PAY_OUTCOME_DECLINED && pay_charge_has_refunds(charge)) {
        return dispute(resolve, txn);
    }
    rc = pay_store_charge_settle(&resolve->changed, txn, charge, resolve->outcome, resolve->p);
    return rc || resolve->changed ? rc : PAY_ROWS_SILENT;
}

static void resolve_hints(pay_rows_txn_t *txn, const void *baton)
{
    const resolve_t *resolve = baton;

    pay_store_hint_charge(txn, resolve->scope, resolve->seq);
    if (resolve->outcome->kind != PAY_OUTCOME_UNKNOWN) {
        pay_store_hint_fee(txn, resolve->scope);
        pay_store_hint_events(txn, resolve->scope);
    }
}

apr_status_t pay_store_charge_resolve(pay_charge_t **out, int *changed, pay_store_t *store,
                                      const pay_scope_t *scope, apr_uint64_t seq,
                                      const pay_outcome_t *outcome, apr_time_t due_at,
                                      apr_pool_t *p)
{
    resolve_t resolve = {.scope = scope, .seq = seq, .outcome = outcome, .due_at = due_at, .p = p};
    apr_status_t rv;

    *out = NULL;
    *changed = 0;
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
                PAYLOGNO(00151) "charge %s (key %s): the acquirer contradicts the outcome that was "
                                "stored and reported; see the contradiction of the charge",
                resolve.out->reference, resolve.out->key_id);
    }
    if (resolve.disputed) {
        pay_log(PAY_LOG_ALERT, APR_SUCCESS,
                PAYLOGNO(00783) "charge %s (key %s): the acquirer reports that it failed, but a "
                                "refund of it shows that it was approved: it stays pending and is "
                                "held until this is cleared up",
                resolve.out->reference, resolve.out->key_id);
    }
    *out = resolve.out;
    *changed = resolve.changed;
    return APR_SUCCESS;
}

/* ---- a late approval */

typedef struct late_t {
    const pay_scope_t *scope;
    apr_uint64_t seq;
    const pay_late_step_t *step;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL if it does not exist */
    int changed;
    int found; /* the approval is new */
} late_t;

/* Records the known data of the approval, beside a decision that stays unchanged. */
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
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
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

/* ---- voiding */

#define ANSWER_SIZE_HINT 1024

typedef struct void_t {
    const pay_scope_t *scope;
    const char *reference;
    const pay_idempotency_t *use;
    apr_pool_t *p;
    pay_charge_t *out; /* NULL if it does not exist */
    pay_idempotency_record_t *record;
    int voided;
} void_t;

/* Stores the answer to a retry under the same Idempotency-Key. */
static int keep_answer(const void_t *work, pay_rows_txn_t *txn)
{
    pay_writer_t *w;

    if (!work->use) {
        return 0;
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, work->p);
    pay_void_answer_to_json(w, work->out);
    return pay_store_idempotency_add_text(txn, work->scope, work->use, w->text,
                                          work->out->updated_at, work->p);
}

/*
 * Voiding decides nothing: the acquirer may still report that the payer had paid, and is queried.
 */
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
    work->record = NULL;
    work->voided = 0;
    if (work->use) {
        rc = pay_store_idempotency_get(&work->record, txn, work->scope, work->use, work->p);
        if (rc != PAY_ROWS_NOTFOUND) {
            return rc;
        }
    }
    rc = pay_store_charge_get_ref(&work->out, txn, work->scope, work->reference, work->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (work->out->kind != PAY_CHARGE_CHECKOUT
        || pay_charge_in_flight(work->out) /* the payer may be paying at this moment */
        || !pay_charge_may_become(work->out->state, PAY_CHARGE_VOID)) {
        return 0;
    }
    return close_checkout(work, txn);
}

apr_status_t pay_store_charge_void(pay_charge_t **out, int *voided,
                                   pay_idempotency_record_t **record, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference,
                                   const pay_idempotency_t *use, apr_pool_t *p)
{
    void_t work = {.scope = scope, .reference = reference, .use = use, .p = p};
    apr_status_t rv;

    *out = NULL;
    *voided = 0;
    *record = NULL;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, void_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!work.out && !work.record) {
        return APR_NOTFOUND;
    }
    *out = work.out;
    *voided = work.voided;
    *record = work.record;
    return APR_SUCCESS;
}
