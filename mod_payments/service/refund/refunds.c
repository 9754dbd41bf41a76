/* SPDX-License-Identifier: Apache-2.0 */
#include "service/change.h"
#include "service/refund/refunds.h"

#include "base/log.h"
#include "base/text/id.h"
#include "base/text/time.h"
#include "model/form.h"
#include "service/acquiring.h"

#include <string.h>

#define REFUND_ID_PREFIX "ref_"
#define REFUND_REFERENCE_PREFIX "rfd_"
#define TAG_BITS 120 /* PAY_TAG_LEN characters */
#define ASK_AGAIN_AFTER apr_time_from_sec(1)

/* The state of one refund request. */
typedef struct counter_t {
    pay_service_t *service;
    const pay_caller_t *caller;
    const pay_refund_request_t *request;
    apr_pool_t *pool;
    pay_charge_t *charge;           /* NULL: none exists, or it cannot be read */
    apr_status_t found;             /* the store's status for the charge */
    pay_money_t money;              /* amount_minor 0: the whole remainder */
    const pay_acquirer_t *acquirer; /* that it was sent through; NULL: the server finds it */
    const pay_idempotency_t *use;   /* NULL: no Idempotency-Key was given */
} counter_t;

static void judge_note(pay_problem_t **faults, const char *field, const char *note, apr_pool_t *p)
{
    const char *fault = pay_note_fault(note);

    if (fault) {
        pay_problem_add(faults, field, fault, p);
    }
}

/* In the charge's currency, or, if there is no charge, by the limits of every currency. */
static void judge_amount(pay_problem_t **faults, counter_t *c)
{
    const char *currency = c->charge ? c->charge->money.currency : NULL;
    const char *fault;

    if (!c->request->amount) {
        return;
    }
    fault = pay_amount_fault(&c->money, c->request->amount, currency, c->pool);
    if (fault) {
        pay_problem_add(faults, "/amount", fault, c->pool);
    }
}

/*
 * Judges the request's form, all faults at once, before the idempotency record: so that one body
 * has one answer, with a key and without. A missing or unreadable charge is not reported here: the
 * idempotency record does not depend on it.
 */
static const pay_problem_t *judge_form(counter_t *c)
{
    pay_store_t *store = c->service->store;
    pay_problem_t *faults = NULL;

    c->found = APR_NOTFOUND;
    if (pay_reference_check(c->request->reference) != APR_SUCCESS) {
        pay_problem_add(&faults, "/reference", "does not have the form of a reference", c->pool);
    } else {
        c->found = pay_store_charge_find(&c->charge, store, &c->caller->scope,
                                         c->request->reference, c->pool);
    }
    judge_amount(&faults, c);
    judge_note(&faults, "/customer_note", c->request->customer_note, c->pool);
    judge_note(&faults, "/merchant_note", c->request->merchant_note, c->pool);
    return faults;
}

/* The tool cannot reach Live Mode's acquirers: it writes the refund, and the server sends it. */
static int is_deferred(const counter_t *c)
{
    return c->service->deferred && c->caller->scope.mode == PAY_LIVE;
}

/* Judged again at every request that was not answered before. */
static const pay_problem_t *judge(counter_t *c)
{
    pay_mode_t mode = c->caller->scope.mode;
    const pay_problem_t *refusal;

    refusal = pay_service_judge_mode(c->service, c->caller->account, mode, c->pool);
    if (refusal) {
        return refusal;
    }
    if (c->found == APR_NOTFOUND) {
        return pay_problem_of_reference(c->request->reference, c->pool);
    }
    if (c->found != APR_SUCCESS) {
        return pay_problem_of_store(c->found, c->pool);
    }
    c->acquirer = pay_acquiring_find(c->service, mode, c->charge->acquirer);
    if (!c->acquirer && !is_deferred(c)) {
        return pay_problem_makef(PAY_ERR_ACQUIRER_UNAVAILABLE, c->pool,
                                 "The acquirer that charged this transaction is not configured.");
    }
    return NULL;
}

/* The amount in normal form: 10, 10.0 and 1e1 are the same request. */
static const pay_problem_t *use_of(const pay_idempotency_t **out, const counter_t *c)
{
    const pay_refund_request_t *request = c->request;
    char amount[PAY_DECIMAL_TEXT_MAX];
    const char *values[] = {request->reference, NULL, request->customer_note,
                            request->merchant_note};
    apr_status_t rv;

    *out = NULL;
    if (request->amount) {
        rv = pay_decimal_normalize(amount, request->amount);
        if (rv != APR_SUCCESS) {
            return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, c->pool);
        }
        values[1] = amount;
    }
    return pay_caller_use(out, c->caller,
                          request->amount ? PAY_OPERATION_PARTIAL_REFUND : PAY_OPERATION_REFUND,
                          values, sizeof(values) / sizeof(values[0]), c->pool);
}

static apr_status_t propose(pay_refund_t **out, const counter_t *c)
{
    const pay_charge_t *charge = c->charge;
    pay_refund_t *proposal = apr_palloc(c->pool, sizeof(*proposal));
    pay_deadline_t deadline = pay_deadline_make(c->acquirer);
    apr_status_t rv;

    *out = proposal;
    pay_refund_init(proposal);
    if (c->caller->scope.mode == PAY_LIVE) {
        rv = pay_id_make(&proposal->tag, "", TAG_BITS, c->pool);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    rv = pay_id_make(&proposal->id, REFUND_ID_PREFIX, PAY_ID_BITS, c->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_id_make(&proposal->refund_reference, REFUND_REFERENCE_PREFIX, PAY_ID_BITS, c->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    proposal->money = charge->money;
    proposal->money.amount_minor = c->money.amount_minor;
    proposal->scope = c->caller->scope;
    proposal->channel = c->request->channel;
    proposal->merchant_note = c->request->merchant_note;
    proposal->customer_note = c->request->customer_note;
    proposal->transaction_reference = charge->reference;
    proposal->charge_seq = charge->seq;
    proposal->acquirer = charge->acquirer;
    proposal->key_id = c->caller->key_id;
    if (is_deferred(c)) {
        proposal->waiting = 1;
        proposal->due_at = pay_time_now();
        return APR_SUCCESS;
    }
    proposal->worker = deadline.worker;
    proposal->send_before_ms = deadline.send_before_ms;
    proposal->wait_until_ms = deadline.wait_until_ms;
    proposal->due_at = deadline.due_at;
    return APR_SUCCESS;
}

static const pay_problem_t *problem_of_verdict(pay_refund_verdict_t verdict,
                                               const pay_refund_t *refund, apr_pool_t *p)
{
    switch (verdict) {
    case PAY_REFUND_OPENED:
        return NULL;
    case PAY_REFUND_REFUSED_STATE:
        return pay_problem_make(PAY_ERR_NOT_REFUNDABLE, NULL, APR_SUCCESS, p);
    case PAY_REFUND_REFUSED_ABOVE:
        return pay_problem_make(PAY_ERR_REFUND_ABOVE, "/amount", APR_SUCCESS, p);
    case PAY_REFUND_REFUSED_FULL:
        return pay_problem_make(PAY_ERR_REFUND_FULL, NULL, APR_SUCCESS, p);
    case PAY_REFUND_REFUSED_BUSY:
        return pay_problem_make(PAY_ERR_REFUND_BUSY, NULL, APR_SUCCESS, p);
    case PAY_REFUND_REFUSED_REPEATED:
        return pay_problem_makef(PAY_ERR_REFUND_REPEATED, p,
                                 "The same partial refund was just made: it is %s.",
                                 refund->refund_reference);
    case PAY_REFUND_REFUSED_HELD:
        return pay_problem_makef(PAY_ERR_BUSY, p,
                                 "Live refunds wait: the service was restored from a backup, and "
                                 "its operator has not confirmed it yet.");
    case PAY_REFUND_REFUSED_FETCHED:
        return pay_problem_makef(PAY_ERR_REFUND_REPEATED, p,
                                 "A refund of this amount was made before the service was restored "
                                 "from a backup: it is %s.",
                                 refund->refund_reference);
    }
    return pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_SUCCESS, p);
}

/* Returns the answer stored under the Idempotency-Key. */
static const pay_problem_t *answer_recorded(pay_refund_t **out, int *replayed,
                                            const pay_idempotency_record_t *record,
                                            const counter_t *c)
{
    if (!record->same_request) {
        return pay_problem_of_key(c->pool);
    }
    if (record->refund && pay_refund_in_flight(record->refund)) {
        return pay_problem_make(PAY_ERR_IN_PROGRESS, NULL, APR_SUCCESS, c->pool);
    }
    if (!record->refund && record->refusal == PAY_REFUND_OPENED) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00242) "the idempotency record of a refund of charge %s holds neither a "
                                "refund nor a refusal",
                c->request->reference);
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_SUCCESS, c->pool);
    }
    *replayed = !record->refund || record->refund->decided_state != PAY_REFUND_PENDING;
    *out = record->refund;
    return record->refund ? NULL : problem_of_verdict(record->refusal, NULL, c->pool);
}

/* From here on the refund is on record: whatever fails now, it is pending, never a 5xx. */
static pay_refund_t *resolve(pay_refund_t *refund, const pay_outcome_t *outcome, const counter_t *c)
{
    pay_store_t *store = c->service->store;
    pay_refund_t *resolved = NULL;
    apr_time_t due_at = 0;
    apr_status_t rv;
    int changed;

    if (outcome->kind == PAY_OUTCOME_UNKNOWN) {
        due_at = pay_time_now() + ASK_AGAIN_AFTER;
    }
    rv = pay_store_refund_resolve(&resolved, &changed, store, &refund->scope,
                                  refund->refund_reference, outcome, due_at, c->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00210) "the outcome of refund %s could not be stored: it stays pending "
                                "until reconciliation has asked the acquirer",
                refund->refund_reference);
        return refund;
    }
    return resolved;
}

/* A refund that provably was not sent has failed: the record says so and the amount is free. */
static pay_refund_t *refund_send(pay_refund_t *refund, const pay_charge_t *charge,
                                 pay_acquiring_t *acquiring, const counter_t *c)
{
    static const pay_outcome_t not_sent = {.kind = PAY_OUTCOME_DECLINED,
                                           .message = "The refund was not sent to the acquirer."};
    pay_outcome_t outcome;
    apr_status_t rv;

    if (pay_time_boot_ms() > refund->send_before_ms) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00211) "refund %s was opened too late to be sent: it failed",
                refund->refund_reference);
        return resolve(refund, &not_sent, c);
    }
    /* No transaction is open here: the acquirer may take seconds, and LMDB has one writer. */
    rv = pay_acquiring_refund(&outcome, acquiring, refund, charge, c->pool);
    if (rv == PAYMENTS_NOT_SENT) {
        pay_log(PAY_LOG_WARNING, rv,
                PAYLOGNO(00212) "refund %s could not be sent to acquirer %s: it failed",
                refund->refund_reference, refund->acquirer);
        return resolve(refund, &not_sent, c);
    }
    return resolve(refund, &outcome, c);
}

/* `acquiring` NULL: the server sends it. */
static const pay_problem_t *open_and_send(pay_refund_t **out, int *replayed,
                                          pay_acquiring_t *acquiring, const counter_t *c)
{
    pay_store_t *store = c->service->store;
    pay_refund_t *proposal, *refund = NULL;
    pay_charge_t *charge_now = NULL;
    pay_idempotency_record_t *record = NULL;
    const pay_problem_t *problem;
    pay_refund_verdict_t verdict;
    apr_status_t rv;

    rv = propose(&proposal, c);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, c->pool);
    }
    rv = pay_store_refund_open(&refund, &charge_now, &verdict, &record, store, proposal, c->use,
                               c->service->policy.refund_repeat_window, c->pool);
    if (rv == APR_NOTFOUND) {
        return pay_problem_of_reference(c->request->reference, c->pool);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, c->pool);
    }
    if (record) { /* another request with the key was faster */
        return answer_recorded(out, replayed, record, c);
    }
    problem = problem_of_verdict(verdict, refund, c->pool);
    if (problem) {
        return problem;
    }
    *out = refund->waiting ? refund : refund_send(refund, charge_now, acquiring, c);
    return NULL;
}

static const pay_problem_t *enter_and_refund(pay_refund_t **out, int *replayed, const counter_t *c)
{
    pay_acquiring_t acquiring;
    const pay_problem_t *problem;

    if (is_deferred(c)) {
        return open_and_send(out, replayed, NULL, c);
    }
    problem = pay_acquiring_enter(&acquiring, c->service, &c->caller->scope, c->acquirer, c->pool);
    if (!problem) {
        problem = open_and_send(out, replayed, &acquiring, c);
        pay_acquiring_leave(&acquiring);
    }
    return problem;
}

const pay_problem_t *pay_refund_create(pay_refund_t **out, int *replayed, pay_service_t *service,
                                       const pay_caller_t *caller,
                                       const pay_refund_request_t *request, apr_pool_t *p)
{
    pay_service_t own = *service; /* a person's: its first change leaves an entry in the audit */
    counter_t c = {.service = &own, .caller = caller, .request = request, .pool = p};
    const pay_problem_t *problem;
    pay_idempotency_record_t *record = NULL;
    apr_status_t rv;

    *out = NULL;
    *replayed = 0;
    rv = pay_change_begin(&own.store, service, PAY_CHANGE_REFUND_CREATE, caller->scope.account, "",
                          "", p);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    problem = judge_form(&c);
    if (problem) {
        return problem;
    }
    problem = use_of(&c.use, &c);
    if (problem) {
        return problem;
    }
    problem = pay_service_recall(&record, service, &caller->scope, c.use, p);
    if (problem) {
        return problem;
    }
    if (record) {
        return answer_recorded(out, replayed, record, &c);
    }
    problem = judge(&c);
    if (problem) {
        return problem;
    }
    return enter_and_refund(out, replayed, &c);
}

const pay_problem_t *pay_refund_get(pay_refund_t **out, pay_service_t *service,
                                    const pay_scope_t *scope, const char *refund_reference,
                                    apr_pool_t *p)
{
    pay_refund_t *refund = NULL;
    apr_status_t rv;

    *out = NULL;
    rv = pay_reference_check(refund_reference);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_reference(refund_reference, p);
    }
    rv = pay_store_refund_find(&refund, service->store, scope, refund_reference, p);
    if (rv == APR_NOTFOUND) {
        return pay_problem_of_reference(refund_reference, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    *out = refund;
    return NULL;
}

const pay_problem_t *pay_refunds_scan(pay_refund_cursor_t *cursor, apr_size_t *len,
                                      apr_size_t *count, pay_service_t *service,
                                      const pay_scope_t *scope, const pay_time_range_t *range,
                                      char *buffer, apr_size_t size, apr_pool_t *p)
{
    apr_status_t rv;

    *len = 0;
    *count = 0;
    rv = pay_store_refund_scan(cursor, len, count, service->store, scope, range, buffer, size);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    return NULL;
}
