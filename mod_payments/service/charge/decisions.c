/* SPDX-License-Identifier: Apache-2.0 */
#include "service/charge/decisions.h"

#include "base/text/time.h"
#include "model/text.h"
#include "service/change.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <string.h>

#define LATE_CHECK_AFTER apr_time_from_sec(6 * 3600) /* as after a failure for absence */
#define CLAIM_SECONDS 60 /* a claim whose process dies: the server then queries the refund */

static const char *const held_texts[] = {
    [PAY_NOT_HELD] = NULL,
    [PAY_HELD_OVERDUE] = "pending for longer than PaymentsPendingAlert",
    [PAY_HELD_NO_ACQUIRER] = "the acquirer through which it was sent is not configured",
    [PAY_HELD_DIFFERENT] = "the acquirer has a different payment under its reference",
    [PAY_HELD_LATE] = "it failed here, but the acquirer carried it out",
};
_Static_assert(sizeof(held_texts) / sizeof(held_texts[0]) == PAY_HELD_COUNT, "a text each");

const char *pay_held_text(pay_held_t held)
{
    return (unsigned int)held < PAY_HELD_COUNT ? held_texts[held] : "unknown";
}

/* Blanks alone are not a reason. */
const char *pay_decision_reason_fault(const char *reason)
{
    if (strlen(reason) > PAY_RESOLUTION_MAX || !reason[strspn(reason, " ")]
        || !pay_text_is_plain(reason, "")) {
        return "must be 1 to " APR_STRINGIFY(
            PAY_RESOLUTION_MAX) " bytes of text without control characters";
    }
    return pay_card_number_within(reason) ? "must not contain a card number" : NULL;
}

pay_outcome_t pay_decision_outcome(int approved, const char *reason)
{
    const pay_outcome_t outcome = {.kind = approved ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED,
                                   .message = "Decided by the merchant.",
                                   .resolution = reason};

    return outcome;
}

int pay_decision_wait(apr_interval_time_t busy_for)
{
    return (int)apr_time_sec(busy_for) + 1;
}

const char *pay_decision_refund(pay_store_t *store, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_transaction_t transaction;
    pay_refund_t *refund;
    const char *name;
    int i;

    if (pay_store_transaction_get(&transaction, store, &charge->scope, charge->seq, p)
        != APR_SUCCESS) {
        return "one";
    }
    for (i = 0; i < transaction.refunds->nelts; i++) {
        name = APR_ARRAY_IDX(transaction.refunds, i, const char *);
        if (pay_store_refund_find(&refund, store, &charge->scope, name, p) == APR_SUCCESS
            && refund->state != PAY_REFUND_FAILED) {
            return name;
        }
    }
    return "one";
}

/* Somebody outside may have executed it anyway: a failed one is queried again. */
static void check_late(pay_outcome_t *outcome)
{
    if (outcome->kind == PAY_OUTCOME_DECLINED) {
        outcome->late_check_at = pay_time_now() + LATE_CHECK_AFTER;
    }
}

static apr_status_t charge_settle(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                                  const pay_charge_t *charge, const pay_outcome_t *outcome,
                                  apr_pool_t *p)
{
    apr_status_t rv;
    int changed;

    rv = pay_store_charge_resolve(out, &changed, store, &charge->scope, charge->seq, outcome, 0, p);
    *decision = changed ? PAY_DECISION_DONE : PAY_DECISION_MEANWHILE;
    return rv;
}

static apr_status_t charge_pending(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                                   const pay_charge_t *charge, pay_outcome_t outcome, apr_pool_t *p)
{
    if (pay_charge_in_flight(charge)) {
        *decision = PAY_DECISION_BUSY;
        return APR_SUCCESS;
    }
    if (*charge->acquirer_reference) {
        check_late(&outcome);
    }
    return charge_settle(out, decision, store, charge, &outcome, p);
}

/* A checkout that was closed, and is held or still queried: a decline leaves it closed, and ends
 * the queries. */
static apr_status_t charge_closed(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                                  const pay_charge_t *charge, pay_outcome_t outcome, apr_pool_t *p)
{
    if (outcome.kind == PAY_OUTCOME_DECLINED) {
        outcome = (pay_outcome_t){.kind = PAY_OUTCOME_UNKNOWN, .resolution = outcome.resolution};
    }
    return charge_settle(out, decision, store, charge, &outcome, p);
}

/* It failed, something else was found at the acquirer later, and a person has handled that. */
static apr_status_t charge_late(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                                const pay_charge_t *charge, const pay_outcome_t *outcome,
                                apr_pool_t *p)
{
    const pay_late_step_t step = {.from = charge->late,
                                  .to = charge->late,
                                  .held = PAY_NOT_HELD,
                                  .resolution = outcome->resolution};
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_APPROVED) {
        *decision = PAY_DECISION_STAYS_FAILED;
        return APR_SUCCESS;
    }
    rv = pay_store_charge_late(out, &changed, store, &charge->scope, charge->seq, &step, p);
    *decision = changed ? PAY_DECISION_DONE : PAY_DECISION_MEANWHILE;
    return rv;
}

/* A checkout that failed, because no page of it is known, and whose acquirer is still queried: it
 * holds a link that can be paid once until a person decides that nobody will pay it. */
static int is_asked_late(const pay_charge_t *charge)
{
    return charge->kind == PAY_CHARGE_CHECKOUT && charge->late == PAY_LATE_NONE
           && charge->due_at != 0;
}

apr_status_t pay_charge_decide(pay_charge_t **out, pay_decision_t *decision, pay_store_t *store,
                               const pay_charge_t *charge, const pay_outcome_t *outcome,
                               apr_pool_t *p)
{
    *out = apr_pmemdup(p, charge, sizeof(*charge));
    *decision = PAY_DECISION_NOT_WAITING;
    if (charge->decided_state == PAY_CHARGE_PENDING && outcome->kind == PAY_OUTCOME_DECLINED
        && pay_charge_has_refunds(charge)) {
        *decision = PAY_DECISION_REFUNDED;
        return APR_SUCCESS;
    }
    if (charge->state == PAY_CHARGE_PENDING) {
        return charge_pending(out, decision, store, charge, *outcome, p);
    }
    if (charge->state == PAY_CHARGE_FAILED
        && (charge->held != PAY_NOT_HELD || is_asked_late(charge))) {
        return charge_late(out, decision, store, charge, outcome, p);
    }
    if (charge->decided_state == PAY_CHARGE_PENDING
        && (charge->held != PAY_NOT_HELD || charge->due_at != 0)) {
        return charge_closed(out, decision, store, charge, *outcome, p);
    }
    return APR_SUCCESS;
}

/* Takes a waiting refund away from the server first, which could otherwise still send it. */
static apr_status_t refund_claim(pay_refund_t **out, pay_decision_t *decision, pay_store_t *store,
                                 const pay_refund_t *refund, apr_pool_t *p)
{
    const pay_worker_t self = pay_worker_self();
    const apr_int64_t now_ms = pay_time_boot_ms();
    apr_status_t rv;
    int mine;

    rv = pay_store_refund_claim(out, &mine, store, &refund->scope, refund->refund_reference, &self,
                                now_ms, now_ms + CLAIM_SECONDS * 1000,
                                pay_time_now() + apr_time_from_sec(CLAIM_SECONDS), p);
    *decision = PAY_DECISION_DONE;
    if (rv == APR_SUCCESS && !mine) {
        *decision =
            (*out)->state == PAY_REFUND_PENDING ? PAY_DECISION_BUSY : PAY_DECISION_MEANWHILE;
    }
    return rv;
}

static apr_status_t refund_pending(pay_refund_t **out, pay_decision_t *decision, pay_store_t *store,
                                   const pay_refund_t *refund, pay_outcome_t outcome, apr_pool_t *p)
{
    apr_status_t rv;
    int changed;

    if (pay_refund_in_flight(refund)) {
        *decision = PAY_DECISION_BUSY;
        return APR_SUCCESS;
    }
    if (refund->waiting) {
        rv = refund_claim(out, decision, store, refund, p);
        if (rv != APR_SUCCESS || *decision != PAY_DECISION_DONE) {
            return rv;
        }
    } else if (*refund->tag) {
        check_late(&outcome);
    }
    rv = pay_store_refund_resolve(out, &changed, store, &refund->scope, refund->refund_reference,
                                  &outcome, 0, p);
    *decision = changed ? PAY_DECISION_DONE : PAY_DECISION_MEANWHILE;
    return rv;
}

static apr_status_t refund_late(pay_refund_t **out, pay_decision_t *decision, pay_store_t *store,
                                const pay_refund_t *refund, const pay_outcome_t *outcome,
                                apr_pool_t *p)
{
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_APPROVED) {
        *decision = PAY_DECISION_STAYS_FAILED;
        return APR_SUCCESS;
    }
    rv = pay_store_refund_late(out, &changed, store, &refund->scope, refund->refund_reference, NULL,
                               0, PAY_NOT_HELD, outcome->resolution, p);
    *decision = changed ? PAY_DECISION_DONE : PAY_DECISION_MEANWHILE;
    return rv;
}

apr_status_t pay_refund_decide(pay_refund_t **out, pay_decision_t *decision, pay_store_t *store,
                               const pay_refund_t *refund, const pay_outcome_t *outcome,
                               apr_pool_t *p)
{
    *out = apr_pmemdup(p, refund, sizeof(*refund));
    *decision = PAY_DECISION_NOT_WAITING;
    if (refund->state == PAY_REFUND_PENDING) {
        return refund_pending(out, decision, store, refund, *outcome, p);
    }
    if (refund->state == PAY_REFUND_FAILED && refund->held != PAY_NOT_HELD) {
        return refund_late(out, decision, store, refund, outcome, p);
    }
    return APR_SUCCESS;
}

/* ---- on a person's request */

/* Returns why nothing was decided; NULL if it was. */
static const pay_problem_t *problem_of(pay_decision_t decision, const char *noun,
                                       const char *reference, const char *state,
                                       apr_interval_time_t busy_for, apr_pool_t *p)
{
    pay_problem_t *problem;

    switch (decision) {
    case PAY_DECISION_DONE:
        return NULL;
    case PAY_DECISION_BUSY:
        problem = pay_problem_makef(PAY_ERR_IN_PROGRESS, p,
                                    "The %s %s is at its acquirer now, whose answer decides it: "
                                    "look again in %d seconds.",
                                    noun, reference, pay_decision_wait(busy_for));
        problem->retry_after = pay_decision_wait(busy_for);
        return problem;
    case PAY_DECISION_STAYS_FAILED:
        return pay_problem_makef(
            PAY_ERR_REFERENCE_REUSED, p,
            "The %s %s stays failed, because the shop knows it as failed: settle "
            "it at the acquirer, and close the case as failed.",
            noun, reference);
    case PAY_DECISION_MEANWHILE:
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The %s %s was decided meanwhile: it is %s.", noun, reference,
                                 state);
    default:
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The %s %s is %s: it does not wait for a decision.", noun,
                                 reference, state);
    }
}

static const char *said_of(const pay_outcome_t *outcome, const char *approved, apr_pool_t *p)
{
    return apr_pstrcat(p, outcome->kind == PAY_OUTCOME_APPROVED ? approved : "failed", ": ",
                       outcome->resolution, NULL);
}

const pay_problem_t *pay_charge_resolve(pay_charge_t **out, const pay_service_t *service,
                                        const pay_charge_t *charge, const pay_outcome_t *outcome,
                                        apr_pool_t *p)
{
    const char *said = said_of(outcome, pay_charge_state_name(PAY_CHARGE_SUCCESSFUL), p);
    pay_decision_t decision;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_CHARGE_RESOLVE, &charge->scope,
                             charge->reference, said, p);
    if (rv == APR_SUCCESS) {
        rv = pay_charge_decide(out, &decision, store, charge, outcome, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (decision == PAY_DECISION_REFUNDED) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The charge %s cannot have failed: refund %s of it was made, so "
                                 "it was approved.",
                                 charge->reference, pay_decision_refund(service->store, charge, p));
    }
    return problem_of(decision, "charge", charge->reference, pay_charge_state_name((*out)->state),
                      pay_charge_busy_for(*out), p);
}

const pay_problem_t *pay_refund_resolve(pay_refund_t **out, const pay_service_t *service,
                                        const pay_refund_t *refund, const pay_outcome_t *outcome,
                                        apr_pool_t *p)
{
    const char *said = said_of(outcome, pay_refund_state_name(PAY_REFUND_PROCESSED), p);
    pay_decision_t decision;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_REFUND_RESOLVE, &refund->scope,
                             refund->refund_reference, said, p);
    if (rv == APR_SUCCESS) {
        rv = pay_refund_decide(out, &decision, store, refund, outcome, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    return problem_of(decision, "refund", refund->refund_reference,
                      pay_refund_state_name((*out)->state), pay_refund_busy_for(*out), p);
}
