/* SPDX-License-Identifier: Apache-2.0 */
#include "service/checkout/checkouts.h"

#include "base/log.h"
#include "base/text/id.h"
#include "base/text/time.h"
#include "service/acquiring.h"
#include "service/failures.h"
#include "service/reconcile/reconcile.h"

#include <string.h>

#define ASK_AGAIN_AFTER apr_time_from_sec(1)
#define CODE_RIGHT "123456"
#define CODE_LEN_MAX 32

/* The state of one action of a payer. */
typedef struct till_t {
    pay_service_t *service;
    const pay_charge_t *charge;
    const char *address; /* the payer's; NULL: not known */
    apr_pool_t *pool;
} till_t;

const pay_problem_t *pay_page_get(pay_page_t *out, pay_service_t *service, const char *page_id,
                                  apr_pool_t *p)
{
    pay_store_page_t page;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    rv = pay_store_page_find(&page, service->store, page_id, p);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return pay_problem_of_store(rv, p);
    }
    if (rv == APR_NOTFOUND || (!page.charge && !page.link)
        || (service->account_name && strcmp(service->account_name, page.account->name) != 0)) {
        return pay_problem_make(PAY_ERR_PATH_UNKNOWN, NULL, APR_SUCCESS, p);
    }
    out->account = page.account;
    out->charge = page.charge;
    out->link = page.link;
    return NULL;
}

const pay_problem_t *pay_checkout_judge_payer(pay_service_t *service, const pay_page_t *page,
                                              const pay_card_t *card, apr_pool_t *p)
{
    const pay_charge_t *charge = page->charge;
    const pay_attempt_t attempt = {.scope = charge->scope,
                                   .is_visitor = 1,
                                   .address = page->address,
                                   .email = charge->email,
                                   .card = card,
                                   .link = charge->checkout->link};

    return pay_failures_judge(service, &attempt, p);
}

static const pay_problem_t *move(const pay_charge_t **out, int *changed,
                                 const pay_checkout_move_t *what, const till_t *till)
{
    pay_store_t *store = till->service->store;
    pay_charge_t *stored = NULL;
    apr_status_t rv;

    rv = pay_store_checkout_move(&stored, changed, store, &till->charge->scope, till->charge->seq,
                                 what, till->pool);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, till->pool);
    }
    *out = stored;
    return NULL;
}

/* ---- Test Mode: the simulator leaves no trace, so it is called before anything is written */

/* Pays with the charge's present data, in one transaction with the decision. */
static const pay_problem_t *pay(const pay_charge_t **out, const pay_checkout_move_t *step,
                                const till_t *till)
{
    pay_charge_t asked = *till->charge;
    pay_checkout_move_t what = *step;
    const pay_problem_t *problem;
    pay_acquiring_t acquiring;
    pay_outcome_t outcome;
    apr_status_t rv;
    int changed = 0;

    asked.channel = step->channel;
    if (step->card) {
        asked.card = *step->card;
    }
    problem = pay_acquiring_enter(&acquiring, till->service, &till->charge->scope,
                                  till->service->acquirer[PAY_TEST], till->pool);
    if (problem) {
        return problem;
    }
    rv = pay_acquiring_charge(&outcome, &acquiring, &asked, till->pool);
    pay_acquiring_leave(&acquiring);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, rv, till->pool);
    }
    problem = pay_checkout_token_draw(&outcome, &asked, till->pool);
    if (problem) {
        return problem;
    }
    what.to = PAY_CHECKOUT_SENT;
    what.outcome = &outcome;
    what.due_at = pay_time_now() + ASK_AGAIN_AFTER;
    problem = move(out, &changed, &what, till);
    if (changed) {
        pay_service_count(*out);
        pay_failures_note_charge(till->service, *out, &outcome, till->address, till->pool);
    }
    return problem;
}

/*
 * Returns 1 if the page accepts that action now; else *out is its state after another window, or
 * time, changed it.
 */
static int is_at(const pay_charge_t **out, const pay_page_t *page, pay_checkout_stage_t stage)
{
    *out = page->charge;
    return page->charge->scope.mode == PAY_TEST
           && pay_checkout_stage(page->charge, pay_time_now()) == stage;
}

const pay_problem_t *pay_checkout_pay_card(const pay_charge_t **out, pay_service_t *service,
                                           const pay_page_t *page, const pay_card_entry_t *entry,
                                           apr_pool_t *p)
{
    const till_t till = {service, page->charge, page->address, p};
    pay_checkout_move_t step = {.from = PAY_CHECKOUT_OPEN, .now = pay_time_now()};
    const pay_problem_t *problem;
    const pay_card_t *card;
    int changed;

    if (!is_at(out, page, PAY_STAGE_PAY)) {
        return NULL;
    }
    problem = pay_card_entry_judge(&card, entry, step.now, p);
    if (!problem) {
        problem = pay_checkout_judge_payer(service, page, card, p);
    }
    if (problem) {
        return problem;
    }
    step.card = card;
    step.channel = PAY_CHANNEL_CARD;
    if (pay_test_card_behaviour(card) != PAY_TEST_ONE_TIME_CODE) {
        return pay(out, &step, &till);
    }
    step.to = PAY_CHECKOUT_CODE;
    step.due_at = page->charge->checkout->expires_at;
    return move(out, &changed, &step, &till);
}

static const pay_problem_t *decline(const pay_charge_t **out, pay_checkout_move_t *step,
                                    const till_t *till)
{
    static const pay_outcome_t wrong = {
        .kind = PAY_OUTCOME_DECLINED, .code = "55", .message = "The one-time code was wrong."};
    const pay_problem_t *problem;
    int changed = 0;

    step->to = PAY_CHECKOUT_SENT;
    step->outcome = &wrong;
    problem = move(out, &changed, step, till);
    if (changed) {
        pay_service_count(*out);
        pay_failures_note_charge(till->service, *out, &wrong, till->address, till->pool);
    }
    return problem;
}

const pay_problem_t *pay_checkout_pay_code(const pay_charge_t **out, pay_service_t *service,
                                           const pay_page_t *page, const char *code, apr_pool_t *p)
{
    const till_t till = {service, page->charge, page->address, p};
    pay_checkout_move_t step = {.from = PAY_CHECKOUT_CODE, .now = pay_time_now()};
    const pay_problem_t *problem;
    pay_problem_t *faults = NULL;

    if (!is_at(out, page, PAY_STAGE_CODE)) {
        return NULL;
    }
    if (!code || !*code || strlen(code) > CODE_LEN_MAX) {
        pay_problem_add(&faults, "/code", "is required: the code of 6 digits", p);
        return faults;
    }
    problem = pay_checkout_judge_payer(service, page, &page->charge->card, p);
    if (problem) {
        return problem;
    }
    return strcmp(code, CODE_RIGHT) == 0 ? pay(out, &step, &till) : decline(out, &step, &till);
}

const pay_problem_t *pay_checkout_pay_transfer(const pay_charge_t **out, pay_service_t *service,
                                               const pay_page_t *page, const char *bank_code,
                                               const char *account_number, apr_pool_t *p)
{
    const till_t till = {service, page->charge, page->address, p};
    const pay_checkout_move_t step = {
        .from = PAY_CHECKOUT_OPEN, .now = pay_time_now(), .channel = PAY_CHANNEL_BANK_TRANSFER};
    const pay_problem_t *problem;
    pay_problem_t *faults = NULL;

    if (!is_at(out, page, PAY_STAGE_PAY)) {
        return NULL;
    }
    if (!bank_code || strcmp(bank_code, PAY_TEST_BANK_CODE) != 0) {
        pay_problem_add(&faults, "/bankCode",
                        "must be " PAY_TEST_BANK_CODE ", the bank of Test Mode", p);
    }
    if (!account_number || strcmp(account_number, PAY_TEST_BANK_ACCOUNT) != 0) {
        pay_problem_add(&faults, "/accountNumber",
                        "must be " PAY_TEST_BANK_ACCOUNT ", the account of Test Mode", p);
    }
    if (faults) {
        return faults;
    }
    problem = pay_checkout_judge_payer(service, page, NULL, p);
    return problem ? problem : pay(out, &step, &till);
}

/* ---- both modes */

const pay_problem_t *pay_checkout_cancel(const pay_charge_t **out, pay_service_t *service,
                                         const pay_page_t *page, apr_pool_t *p)
{
    const till_t till = {service, page->charge, page->address, p};
    const apr_time_t now = pay_time_now();
    const pay_checkout_stage_t stage = pay_checkout_stage(page->charge, now);
    pay_checkout_move_t step = {.to = PAY_CHECKOUT_CANCELLED, .now = now};
    int changed;

    *out = page->charge;
    if (stage != PAY_STAGE_PAY && stage != PAY_STAGE_CODE) {
        return NULL;
    }
    step.from = page->charge->checkout->step;
    step.channel = page->charge->channel;
    if (page->charge->scope.mode == PAY_LIVE) { /* it may nevertheless be paid at the acquirer */
        step.due_at = pay_reconcile_next(now, now, 0);
    }
    return move(out, &changed, &step, &till);
}

/* Queries the acquirer; unknown without a query if there is no place for a call or if the acquirer
 * is left alone: anybody with the page's address can cause queries, at any rate. */
static void ask(pay_outcome_t *out, const pay_acquirer_t *acquirer, const till_t *till)
{
    pay_acquiring_t acquiring;

    *out = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN};
    if (pay_acquiring_enter_query(&acquiring, till->service, &till->charge->scope, acquirer)) {
        (void)pay_acquiring_visitor_query(
            out, &acquiring, pay_service_asked(till->service->store, till->charge, till->pool),
            till->pool);
        pay_acquiring_leave(&acquiring);
    }
}

const pay_problem_t *pay_checkout_return(const pay_charge_t **out, pay_service_t *service,
                                         const pay_page_t *page, apr_pool_t *p)
{
    const pay_charge_t *charge = page->charge;
    pay_store_t *store = service->store;
    const pay_acquirer_t *acquirer;
    const till_t till = {service, charge, page->address, p};
    pay_charge_t *resolved = NULL;
    pay_outcome_t outcome;
    apr_status_t rv;
    int changed = 0;

    *out = charge;
    if (charge->scope.mode != PAY_LIVE || charge->decided_state != PAY_CHARGE_PENDING
        || charge->due_at == 0) { /* closed, and queried for the last time */
        return NULL;
    }
    acquirer = pay_acquiring_find(service, PAY_LIVE, charge->acquirer);
    if (!acquirer) {
        return NULL; /* reconciliation holds it for a person */
    }
    ask(&outcome, acquirer, &till);
    if (outcome.kind == PAY_OUTCOME_UNKNOWN
        || (outcome.kind == PAY_OUTCOME_DECLINED && pay_charge_has_refunds(charge))) {
        return NULL; /* it is queried again */
    }
    if (outcome.kind == PAY_OUTCOME_DECLINED && charge->state != PAY_CHARGE_PENDING) {
        outcome = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN}; /* it stays closed, for good */
    }
    rv = pay_store_charge_resolve(&resolved, &changed, store, &charge->scope, charge->seq, &outcome,
                                  0, p);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00574) "the outcome of checkout %s could not be stored: it stays pending "
                                "until reconciliation has asked the acquirer",
                charge->reference);
        return NULL;
    }
    if (changed && outcome.kind != PAY_OUTCOME_UNKNOWN) {
        pay_service_count(resolved);
        pay_failures_note_charge(service, resolved, &outcome, page->address, p);
    }
    *out = resolved;
    return NULL;
}
