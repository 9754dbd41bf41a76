/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"

#define ACCEPTED ""

static const char *refund_answer(const pay_refund_t *refund)
{
    pay_writer_t *w = pay_writer_make(512, property.pool);

    pay_refund_answer_to_json(w, refund);
    return w->text;
}

static const pay_problem_t *refund_ask(pay_refund_t **out, int *replayed, const char *reference,
                                       apr_int64_t asked_minor, const char *key)
{
    char amount[PAY_MONEY_TEXT_MAX];
    pay_refund_request_t request = {.reference = reference, .channel = "API"};
    pay_caller_t caller = property.caller;

    if (asked_minor > 0) {
        request.amount = pay_money_format(amount, asked_minor, "NGN");
    }
    caller.idempotency_key = key;
    return pay_refund_create(out, replayed, &property.service, &caller, &request, property.step);
}

typedef struct wish_t {
    const char *reference, *key;
    apr_int64_t asked_minor;
} wish_t;

static void refund_in_a_child(const void *baton)
{
    const wish_t *wish = baton;
    pay_refund_t *out;
    int replayed;

    (void)refund_ask(&out, &replayed, wish->reference, wish->asked_minor, wish->key);
}

/* Left by a dead process: only the store knows its reference. */
static void refund_find_left(model_charge_t *charge, model_refund_t *refund)
{
    pay_transaction_t seen;

    HOLD(!pay_transaction_get(&seen, &property.service, &property.caller.scope, charge->reference,
                              property.step),
         "the charge is gone");
    HOLD(seen.refunds->nelts == charge->refund_count, "the dead process left no refund");
    refund->reference = apr_pstrdup(
        property.pool, APR_ARRAY_IDX(seen.refunds, charge->refund_count - 1, const char *));
}

/* Settled results are remembered; others are not: R4, a charge not decided yet. */
static int refusal_is_kept(const model_charge_t *charge, const char *code)
{
    return !strcmp(code, "R2") || !strcmp(code, "R3")
           || (!strcmp(code, "R1") && charge->state == PAY_CHARGE_FAILED);
}

static void refusal_keep(const model_charge_t *charge, const wish_t *wish, const char *code)
{
    model_refusal_t *refusal = &property.model.refusals[property.model.refusal_count];

    if (wish->key && refusal_is_kept(charge, code)
        && property.model.refusal_count < MODEL_REFUSALS_MAX) {
        *refusal = (model_refusal_t){charge, wish->key, wish->asked_minor, code, property.now};
        property.model.refusal_count++;
    }
}

/* Mostly one that can be refunded. */
static model_charge_t *charge_for_refund(void)
{
    model_charge_t *charge = NULL;
    int tries;

    for (tries = 0; tries < 4 && (!charge || charge->state != PAY_CHARGE_SUCCESSFUL); tries++) {
        charge = property_charge();
    }
    return charge;
}

void property_do_refund(void)
{
    model_charge_t *charge = charge_for_refund();
    pay_outcome_kind_t kind = property_outcome();
    const pay_problem_t *problem;
    model_refund_t *refund;
    pay_refund_t *out;
    const char *want;
    wish_t wish;
    int replayed;

    if (!charge || charge->refund_count == MODEL_REFUNDS_MAX) {
        return;
    }
    wish.reference = charge->reference;
    wish.key = property_below(2) ? property_name("refund-key") : NULL;
    wish.asked_minor =
        property_below(4) == 0
            ? 0
            : 1 + property_below((int)charge->amount_minor + 5) / (1 + property_below(3));
    want = model_refund_judge(charge, wish.asked_minor, wish.key, property.now - PROPERTY_WINDOW);
    property_say(kind, APR_SUCCESS);
    if (!strcmp(want, ACCEPTED) && !property.wrong_by && property_below(6) == 0) {
        property_crash(refund_in_a_child, &wish);
        refund = model_refund_add(charge, wish.asked_minor, wish.key, property.now);
        refund_find_left(charge, refund);
        return;
    }
    problem = refund_ask(&out, &replayed, wish.reference, wish.asked_minor, wish.key);
    HOLD(!replayed, "a new refund is no replay");
    if (strcmp(want, ACCEPTED) != 0) {
        property.refusals++;
        HOLD(problem && !strcmp(problem->code, want), want);
        refusal_keep(charge, &wish, want);
        return;
    }
    property.refunds++;
    HOLD(!problem, "a refund was refused");
    refund = model_refund_add(charge, wish.asked_minor, wish.key, property.now);
    refund->reference = apr_pstrdup(property.pool, out->refund_reference);
    model_refund_outcome(charge, refund, kind);
}

void property_do_refund_again(void)
{
    const pay_problem_t *problem;
    model_charge_t *charge;
    model_refund_t *refund = property_refund(&charge);
    pay_refund_t *out;
    int replayed, other = property_below(4) == 0;

    if (!refund || !refund->key) {
        return;
    }
    if (refund->asked_minor == 0) {
        other = 0; /* a partial refund is another operation, with keys of its own */
    }
    property_say(PAY_OUTCOME_APPROVED, APR_SUCCESS);
    problem =
        refund_ask(&out, &replayed, charge->reference, refund->asked_minor + other, refund->key);
    HOLD(property_calls() == 0, "a retry reached the acquirer");
    if (other) {
        HOLD(problem && !strcmp(problem->code, "D1"), "another refund under the key");
        return;
    }
    property.replays++;
    HOLD(!problem, "a retry was refused");
    HOLD(!strcmp(out->refund_reference, refund->reference), "the key gave another refund");
    HOLD(replayed == (refund->state != PAY_REFUND_PENDING), "replayed is wrong");
    if (replayed) {
        property_hold_answer(&refund->answer, refund_answer(out));
    }
}

void property_do_refusal_again(void)
{
    const model_refusal_t *refusal;
    const pay_problem_t *problem;
    pay_refund_t *out;
    int replayed;

    if (property.model.refusal_count == 0) {
        return;
    }
    refusal = &property.model.refusals[property_below(property.model.refusal_count)];
    property_say(PAY_OUTCOME_APPROVED, APR_SUCCESS);
    problem =
        refund_ask(&out, &replayed, refusal->charge->reference, refusal->asked_minor, refusal->key);
    property.replays++;
    HOLD(problem && !strcmp(problem->code, refusal->code) && replayed,
         "the key remembers another answer");
    HOLD(property_calls() == 0, "a refused refund reached the acquirer");
}

/* The acquirer's late report on one that it had processed. */
void property_do_refund_fail(void)
{
    model_charge_t *charge;
    model_refund_t *refund = property_refund(&charge);
    pay_refund_t *out;
    int changed;

    if (!refund || property_below(3) > 0) {
        return;
    }
    HOLD(pay_store_refund_fail(&out, &changed, property.service.store, &property.caller.scope,
                               refund->reference, property.step)
             == APR_SUCCESS,
         "the late failure was not taken");
    HOLD(changed == (refund->state == PAY_REFUND_PROCESSED), "changed is wrong");
    if (refund->state == PAY_REFUND_PROCESSED) {
        refund->state = PAY_REFUND_FAILED;
        model_settle(charge);
    }
}

/* A day later: only refunds' keys are still known. */
void property_do_expire(void)
{
    int i, count;

    if (property_below(4) > 0) {
        return;
    }
    property.now += 25 * PROPERTY_HOUR;
    HOLD(pay_store_idempotency_expire(&count, property.service.store, property.now,
                                      PAY_STORE_ROWS_MAX, property.step)
             == APR_SUCCESS,
         "keys could not be removed");
    property.model.refusal_count = 0;
    for (i = 0; i < property.model.charge_count; i++) {
        if (property.model.charges[i].state != PAY_CHARGE_PENDING) {
            property.model.charges[i].key = NULL;
        }
    }
}
