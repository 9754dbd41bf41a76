/* SPDX-License-Identifier: Apache-2.0 */
#include "service/charge/charges.h"

#include "base/log.h"
#include "base/text/time.h"
#include "service/acquiring.h"
#include "service/charge/charge_rules.h"
#include "service/failures.h"

#include <string.h>

#define ASK_AGAIN_AFTER apr_time_from_sec(1)

/* The state of one charge request. */
typedef struct counter_t {
    pay_service_t *service;
    const pay_caller_t *caller;
    const pay_charge_request_t *request;
    const char *request_ip;
    apr_pool_t *pool;
} counter_t;

/*
 * Returns 1 if the request is the one that made the charge. Without a currency of its own it is
 * read in the charge's: the account's default may have changed between the two.
 */
static int is_same_request(const pay_charge_t *known, const counter_t *c)
{
    const pay_charge_request_t *request = c->request;
    pay_charge_request_t *rebased;
    apr_status_t rv;

    if (!memcmp(known->request_digest, request->digest, PAY_SHA256_LEN)) {
        return 1;
    }
    if (!request->currency_defaulted || !strcmp(known->money.currency, request->money.currency)) {
        return 0;
    }
    rv = pay_charge_request_rebase(&rebased, request, known->money.currency, c->pool);
    if (rv != APR_SUCCESS) {
        return 0;
    }
    return !memcmp(known->request_digest, rebased->digest, PAY_SHA256_LEN);
}

/* Answers for a reference that already has a charge. */
static const pay_problem_t *answer_known(pay_charge_t **out, int *replayed, pay_charge_t *known,
                                         const counter_t *c)
{
    if (!is_same_request(known, c)) {
        return pay_problem_make(PAY_ERR_REFERENCE_REUSED, "/reference", APR_SUCCESS, c->pool);
    }
    if (known->decided_state == PAY_CHARGE_PENDING && pay_charge_in_flight(known)) {
        return pay_problem_make(PAY_ERR_IN_PROGRESS, NULL, APR_SUCCESS, c->pool);
    }
    *replayed = known->decided_state != PAY_CHARGE_PENDING;
    *out = known;
    return NULL;
}

static apr_status_t propose(pay_charge_t **out, const pay_card_t *card, const counter_t *c)
{
    pay_charge_t *proposal = apr_palloc(c->pool, sizeof(*proposal));
    const pay_acquirer_t *acquirer = c->service->acquirer[c->caller->scope.mode];
    pay_deadline_t deadline = pay_deadline_make(acquirer);
    apr_status_t rv;

    *out = proposal;
    pay_charge_init(proposal);
    rv = pay_charge_acquirer_name(&proposal->acquirer_reference, c->caller->account,
                                  c->caller->scope.mode, c->request->reference, c->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    proposal->scope = c->caller->scope;
    proposal->reference = c->request->reference;
    memcpy(proposal->request_digest, c->request->digest, PAY_SHA256_LEN);
    proposal->token = c->request->token;
    proposal->card = *card;
    proposal->money = c->request->money;
    proposal->email = c->request->email;
    proposal->first_name = c->request->first_name;
    proposal->last_name = c->request->last_name;
    proposal->request_ip = c->request_ip ? c->request_ip : "";
    proposal->acquirer = acquirer->name;
    proposal->key_id = c->caller->key_id;
    proposal->worker = deadline.worker;
    proposal->send_before_ms = deadline.send_before_ms;
    proposal->wait_until_ms = deadline.wait_until_ms;
    proposal->due_at = deadline.due_at;
    return APR_SUCCESS;
}

/*
 * Frees the reference of a charge of which no byte left this process. If that fails the row counts:
 * reconciliation may have decided it meanwhile, or will, and the client gets its state.
 */
static const pay_problem_t *withdraw(pay_charge_t **out, pay_charge_t *charge, pay_error_t error,
                                     apr_status_t cause, const counter_t *c)
{
    pay_store_t *store = c->service->store;
    pay_charge_t *stored = NULL;
    apr_status_t rv;

    rv = pay_store_charge_withdraw(store, &charge->scope, charge->seq, c->pool);
    if (rv == APR_SUCCESS) {
        return pay_problem_make(error, NULL, cause, c->pool);
    }
    pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00200) "charge %s was not sent, but could not be withdrawn",
            charge->reference);
    rv = pay_store_charge_find(&stored, store, &charge->scope, charge->reference, c->pool);
    if (rv == APR_NOTFOUND) { /* it was removed, and the store could not report that */
        return pay_problem_make(error, NULL, cause, c->pool);
    }
    *out = rv == APR_SUCCESS ? stored : charge;
    return NULL;
}

/* From here on the acquirer was called: whatever fails now, the charge is pending, never a 5xx. */
static pay_charge_t *resolve(pay_charge_t *charge, const pay_outcome_t *outcome, const counter_t *c)
{
    pay_charge_t *resolved = NULL;
    apr_time_t due_at = 0;
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_UNKNOWN) {
        due_at = pay_time_now() + ASK_AGAIN_AFTER;
    }
    rv = pay_store_charge_resolve(&resolved, &changed, c->service->store, &charge->scope,
                                  charge->seq, outcome, due_at, c->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00201) "the outcome of charge %s could not be stored: it stays pending "
                                "until reconciliation has asked the acquirer",
                charge->reference);
        pay_service_count(charge);
        return charge;
    }
    if (changed) { /* else reconciliation was faster, and has counted it */
        pay_service_count(resolved);
        pay_failures_note_charge(c->service, resolved, outcome, NULL, c->pool);
    }
    return resolved;
}

static const pay_problem_t *charge_send(pay_charge_t **out, pay_charge_t *charge,
                                        pay_acquiring_t *acquiring, const counter_t *c)
{
    pay_outcome_t outcome;
    apr_status_t rv;

    if (pay_time_boot_ms() > charge->send_before_ms) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00202) "charge %s was opened too late to be sent", charge->reference);
        return withdraw(out, charge, PAY_ERR_BUSY, APR_SUCCESS, c);
    }
    /* No transaction is open here: the acquirer may take seconds, and LMDB has one writer. */
    rv = pay_acquiring_charge(&outcome, acquiring, charge, c->pool);
    if (rv == PAYMENTS_NOT_SENT) {
        return withdraw(out, charge, PAY_ERR_ACQUIRER_UNAVAILABLE, rv, c);
    }
    *out = resolve(charge, &outcome, c);
    return NULL;
}

/* The reference is part of it: a key stands for one charge. */
static const pay_problem_t *use_of(const pay_idempotency_t **out, const counter_t *c)
{
    const char *values[] = {c->request->reference,
                            pay_hex(c->request->digest, PAY_SHA256_LEN, c->pool)};

    return pay_caller_use(out, c->caller, PAY_OPERATION_CHARGE, values,
                          sizeof(values) / sizeof(values[0]), c->pool);
}

/*
 * Calls an acquirer that leaves no trace before anything is written, so that the charge and its
 * outcome are one transaction. *known is NULL if there was no outcome, and the acquirer is called
 * again like any other.
 */
static const pay_problem_t *ask_first(const pay_outcome_t **known, pay_outcome_t *outcome,
                                      pay_charge_t *proposal, pay_acquiring_t *acquiring,
                                      const counter_t *c)
{
    apr_status_t rv;

    *known = NULL;
    rv = pay_acquiring_charge(outcome, acquiring, proposal, c->pool);
    if (rv == PAYMENTS_NOT_SENT) {
        return pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, rv, c->pool);
    }
    if (outcome->kind != PAY_OUTCOME_UNKNOWN) {
        *known = outcome;
        return NULL;
    }
    memset(&proposal->worker, 0, sizeof(proposal->worker));
    proposal->send_before_ms = 0;
    proposal->wait_until_ms = 0;
    proposal->due_at = pay_time_now() + ASK_AGAIN_AFTER;
    return NULL;
}

static const pay_problem_t *open_and_send(pay_charge_t **out, int *replayed, const pay_card_t *card,
                                          pay_acquiring_t *acquiring, const counter_t *c)
{
    const int is_pure = pay_acquirer_is_pure(acquiring->acquirer);
    const pay_outcome_t *known = NULL;
    pay_outcome_t outcome;
    const pay_idempotency_t *use;
    const pay_problem_t *problem;
    pay_charge_t *proposal, *charge = NULL;
    pay_claim_t claim;
    apr_status_t rv;

    problem = use_of(&use, c);
    if (problem) {
        return problem;
    }
    rv = propose(&proposal, card, c);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, rv, c->pool);
    }
    if (is_pure) {
        problem = ask_first(&known, &outcome, proposal, acquiring, c);
        if (problem) {
            return problem;
        }
    }
    rv = pay_store_charge_open(&charge, &claim, c->service->store, proposal, known, use, c->pool);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, c->pool);
    }
    if (claim == PAY_CLAIM_KEY_USED) {
        return pay_problem_of_key(c->pool);
    }
    if (claim != PAY_CLAIM_NEW) {
        return answer_known(out, replayed, charge, c);
    }
    if (is_pure) {
        pay_service_count(charge);
        if (known) {
            pay_failures_note_charge(c->service, charge, known, NULL, c->pool);
        }
        *out = charge;
        return NULL;
    }
    return charge_send(out, charge, acquiring, c);
}

static const pay_problem_t *enter_and_charge(pay_charge_t **out, int *replayed,
                                             const pay_card_t *card, const counter_t *c)
{
    const pay_scope_t *scope = &c->caller->scope;
    const pay_problem_t *problem;
    pay_acquiring_t acquiring;

    problem = pay_acquiring_enter(&acquiring, c->service, scope, c->service->acquirer[scope->mode],
                                  c->pool);
    if (!problem) {
        problem = open_and_send(out, replayed, card, &acquiring, c);
        pay_acquiring_leave(&acquiring);
    }
    return problem;
}

/* Returns 1 for a token that is unknown, revoked or another payer's. */
static int is_token_wrong(const pay_problem_t *problem)
{
    int i;

    for (i = 0; problem->fields && i < problem->fields->nelts; i++) {
        const char *field = APR_ARRAY_IDX(problem->fields, i, pay_field_error_t).field;

        if (!strcmp(field, "/token") || !strcmp(field, "/email")) {
            return 1;
        }
    }
    return 0;
}

/* *card is the charged card; a wrong token counts as a failure. */
static const pay_problem_t *judge(const pay_card_t **card, const pay_charge_look_t *look,
                                  const counter_t *c)
{
    const pay_attempt_t attempt = {
        .scope = c->caller->scope, .email = c->request->email, .token = c->request->token};
    const pay_problem_t *problem;

    *card = NULL;
    problem = pay_failures_judge(c->service, &attempt, c->pool);
    if (problem) {
        return problem;
    }
    problem = pay_charge_judge(card, c->service, c->caller, c->request, look, c->pool);
    if (problem && is_token_wrong(problem)) {
        pay_failures_note(c->service, &attempt, c->pool);
    }
    return problem;
}

const pay_problem_t *pay_charge_create(pay_charge_t **out, int *replayed, pay_service_t *service,
                                       const pay_caller_t *caller,
                                       const pay_charge_request_t *request, const char *request_ip,
                                       apr_pool_t *p)
{
    const counter_t c = {service, caller, request, request_ip, p};
    const pay_card_t *card;
    const pay_problem_t *problem;
    pay_charge_look_t look;
    apr_status_t rv;

    *out = NULL;
    *replayed = 0;
    rv = pay_store_charge_look(&look, service->store, &caller->scope, request->reference,
                               pay_charge_stored_token(request), p);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (look.known) {
        return answer_known(out, replayed, look.known, &c);
    }
    if (request->amount_fault) {
        return request->amount_fault;
    }
    problem = judge(&card, &look, &c);
    if (problem) {
        return problem;
    }
    return enter_and_charge(out, replayed, card, &c);
}
