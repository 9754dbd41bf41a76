/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"

#include "checkout_goods.h"

#define AMOUNT_MAX 2000 /* minor units: small, so that amounts meet and charges run out */

static const char *charge_answer(const pay_charge_t *charge)
{
    pay_writer_t *w = pay_writer_make(2048, property.pool);

    pay_charge_answer_to_json(w, charge);
    return w->text;
}

static const pay_problem_t *charge_ask(pay_charge_t **out, int *replayed, const char *reference,
                                       apr_int64_t amount_minor, const char *key)
{
    pay_charge_request_t *request;
    pay_caller_t caller = property.caller;
    const pay_json_t *json;
    const char *reason;
    char amount[PAY_MONEY_TEXT_MAX];
    char *text =
        apr_psprintf(property.step,
                     "{\"reference\":\"%s\",\"token\":\"%s\",\"amount\":%s,"
                     "\"email\":\"payer@shop.example\",\"currency\":\"NGN\"}",
                     reference, caller.scope.mode == PAY_LIVE ? "card_1" : "tok_test_success",
                     pay_money_format(amount, amount_minor, "NGN"));

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), property.step),
                     APR_SUCCESS);
    ck_assert_ptr_null(pay_charge_request_from_json(&request, json, "NGN", property.step));
    caller.idempotency_key = key;
    return pay_charge_create(out, replayed, &property.service, &caller, request, "", property.step);
}

static void charge_in_a_child(const void *baton)
{
    const model_charge_t *charge = baton;
    pay_charge_t *out;
    int replayed;

    (void)charge_ask(&out, &replayed, charge->reference, charge->amount_minor, charge->key);
}

static model_charge_t *charge_add(pay_charge_kind_t kind)
{
    model_charge_t *charge = &property.model.charges[property.model.charge_count];

    memset(charge, 0, sizeof(*charge));
    charge->reference = property_name("order");
    charge->key = property_below(2) ? property_name("charge-key") : NULL;
    charge->kind = kind;
    charge->amount_minor = 1 + property_below(AMOUNT_MAX);
    charge->state = PAY_CHARGE_PENDING;
    charge->created_at = property.now;
    return charge;
}

void property_do_charge(void)
{
    pay_outcome_kind_t kind = property_outcome();
    const pay_problem_t *problem;
    model_charge_t *charge;
    pay_charge_t *out;
    int replayed, not_sent = 0;

    if (property.model.charge_count == MODEL_CHARGES_MAX) {
        return;
    }
    charge = charge_add(PAY_CHARGE_TOKENIZED);
    property_say(kind, APR_SUCCESS);
    if (!property.wrong_by && property_below(6) == 0) {
        property.model.charge_count++;
        property_crash(charge_in_a_child, charge);
        return;
    }
    if (property_below(8) == 0) {
        not_sent = 1;
        property_say(kind, PAYMENTS_NOT_SENT);
    }
    property_set_pure(!not_sent && property_below(2));
    problem = charge_ask(&out, &replayed, charge->reference, charge->amount_minor, charge->key);
    property_set_pure(0);
    if (not_sent) {
        HOLD(problem && problem->status == 503, "what was not sent must be refused");
        return;
    }
    HOLD(!problem && !replayed, "a new charge was not made");
    property.model.charge_count++;
    model_charge_outcome(charge, kind);
}

void property_do_charge_again(void)
{
    model_charge_t *charge = property_charge();
    const pay_problem_t *problem;
    pay_charge_t *out;
    int replayed, other = property_below(4) == 0;

    if (!charge || charge->kind != PAY_CHARGE_TOKENIZED) {
        return;
    }
    property_say(PAY_OUTCOME_APPROVED, APR_SUCCESS);
    problem = charge_ask(&out, &replayed, charge->reference, charge->amount_minor + other,
                         property_below(2) ? charge->key : NULL);
    HOLD(property_calls() == 0, "a retry reached the acquirer");
    if (other) {
        HOLD(problem && !strcmp(problem->code, "D1"), "another request under the reference");
        return;
    }
    HOLD(!problem, "a retry was refused");
    HOLD(replayed == (charge->state != PAY_CHARGE_PENDING), "replayed is wrong");
    if (replayed) {
        property_hold_answer(&charge->answer, charge_answer(out));
    }
}

void property_do_charge_under_a_used_key(void)
{
    model_charge_t *charge = property_charge();
    const pay_problem_t *problem;
    pay_charge_t *out;
    int replayed;

    if (!charge || !charge->key || charge->kind != PAY_CHARGE_TOKENIZED) {
        return;
    }
    property_say(PAY_OUTCOME_APPROVED, APR_SUCCESS);
    problem =
        charge_ask(&out, &replayed, property_name("order"), charge->amount_minor, charge->key);
    HOLD(problem && !strcmp(problem->code, "D1"), "the key belongs to another charge");
    HOLD(property_calls() == 0, "it reached the acquirer");
}

void property_do_checkout(void)
{
    pay_charge_t proposal = {.acquirer = "scripted", .key_id = "", .token = ""};
    model_charge_t *charge;
    pay_charge_t *out;
    pay_claim_t claim;
    apr_status_t rv;

    /* Live Mode's acquirer would be queried: only time ends this one. */
    if (property.model.charge_count == MODEL_CHARGES_MAX
        || property.caller.scope.mode == PAY_LIVE) {
        return;
    }
    charge = charge_add(PAY_CHARGE_CHECKOUT);
    charge->key = NULL;
    proposal.scope = property.caller.scope;
    proposal.kind = PAY_CHARGE_CHECKOUT;
    proposal.reference = charge->reference;
    proposal.money = (pay_money_t){charge->amount_minor, "NGN"};
    proposal.email = "payer@shop.example";
    proposal.first_name = proposal.last_name = proposal.request_ip = "";
    proposal.card.issuer = proposal.card.country = proposal.card.type = "";
    proposal.answer_version = PAY_CHARGE_ANSWER_VERSION;
    proposal.code = proposal.message = proposal.authorization_code = proposal.contradiction = "";
    proposal.due_at = property.now + MODEL_CHECKOUT_LIFETIME;
    proposal.checkout = checkout_make(proposal.due_at, property.step);
    rv = pay_store_charge_open(&out, &claim, property.service.store, &proposal, NULL, NULL,
                               property.step);
    HOLD(rv == APR_SUCCESS && claim == PAY_CLAIM_NEW, "a checkout was not made");
    property.model.charge_count++;
}

void property_do_pay_checkout(void)
{
    model_charge_t *charge = property_charge();
    pay_outcome_kind_t kind = property_outcome();
    pay_transaction_t seen;
    pay_charge_t *out;
    int changed;

    if (!charge || charge->kind != PAY_CHARGE_CHECKOUT || kind == PAY_OUTCOME_UNKNOWN
        || (charge->state != PAY_CHARGE_PENDING && charge->state != PAY_CHARGE_VOID)) {
        return;
    }
    HOLD(!pay_transaction_get(&seen, &property.service, &property.caller.scope, charge->reference,
                              property.step),
         "the checkout is gone");
    HOLD(pay_store_charge_resolve(&out, &changed, property.service.store, &property.caller.scope,
                                  seen.charge->seq, property_say(kind, APR_SUCCESS), 0,
                                  property.step)
             == APR_SUCCESS,
         "the payment was not taken");
    model_charge_outcome(charge, kind);
}

void property_do_void(void)
{
    model_charge_t *charge = property_charge();
    const pay_problem_t *problem;
    const char *text;
    int replayed, may;

    if (!charge) {
        return;
    }
    may = charge->kind == PAY_CHARGE_CHECKOUT && charge->state == PAY_CHARGE_PENDING;
    problem = pay_transaction_void(&text, &replayed, &property.service, &property.caller,
                                   charge->reference, property.step);
    if (may) {
        HOLD(!problem && strstr(text, "\"status\":\"failed\",\"paymentStatus\":\"void\""),
             "a pending checkout was not voided");
        charge->state = PAY_CHARGE_VOID;
    } else {
        HOLD(problem && !strcmp(problem->code, "V2"), "only pending checkouts can be voided");
    }
}

void property_do_verify(void)
{
    const model_charge_t *charge = property_charge();
    pay_verify_request_t request = {NULL, "20.01", NULL};
    char amount[PAY_MONEY_TEXT_MAX];
    const pay_problem_t *problem;
    const char *text;
    int differs = property_below(2);

    if (!charge) {
        return;
    }
    request.reference = charge->reference;
    if (!differs) {
        request.amount = pay_money_format(amount, charge->amount_minor, "NGN");
    }
    problem = pay_transaction_verify(&text, &property.service, &property.caller.scope, &request,
                                     property.step);
    if (differs) {
        HOLD(problem && !strcmp(problem->code, "V1"), "another amount was confirmed");
        return;
    }
    HOLD(!problem, "verify was refused");
    HOLD(strstr(text, apr_psprintf(property.step, "\"status\":\"%s\",\"paymentStatus\":\"%s\"",
                                   pay_charge_status_name(charge->state),
                                   pay_charge_state_name(charge->state))),
         "verify tells another state");
    HOLD(!strstr(text, "\"requested_amount\":0.00,") == (charge->state == PAY_CHARGE_SUCCESSFUL),
         "verify tells an amount of what is not paid, or none of what is");
}
