/* SPDX-License-Identifier: Apache-2.0 */
#include "service/checkout/checkout_create.h"

#include "base/log.h"
#include "base/net/url.h"
#include "base/text/id.h"
#include "base/text/time.h"
#include "model/return_hosts.h"
#include "service/acquiring.h"
#include "service/charge/charge_rules.h"
#include "service/checkout/links.h"
#include "service/failures.h"
#include "service/reconcile/reconcile.h"

#include <apr_strings.h>
#include <string.h>

#define REFERENCE_PREFIX "link_"
#define ASK_AFTER apr_time_from_sec(30) /* the payer has just been sent to the acquirer's page */

/* The state of one checkout request. */
typedef struct call_t {
    pay_service_t *service;
    const pay_caller_t *caller;
    const pay_checkout_request_t *request;
    const char *page_root;
    const char *request_ip;
    const pay_idempotency_t *use; /* NULL: no key */
    apr_pool_t *pool;
    int return_trusted; /* as in pay_checkout_t */
} call_t;

static const pay_operation_t operations[] = {
    [PAY_CHECKOUT_FORM_INITIATE] = PAY_OPERATION_INITIATE,
    [PAY_CHECKOUT_FORM_LINK] = PAY_OPERATION_LINK_INITIATE,
    [PAY_CHECKOUT_FORM_ORDER] = PAY_OPERATION_ORDER,
};

static const pay_problem_t *use_of(call_t *d)
{
    const char *values[] = {d->request->reference,
                            pay_hex(d->request->digest, PAY_SHA256_LEN, d->pool)};

    return pay_caller_use(&d->use, d->caller, operations[d->request->form], values,
                          sizeof(values) / sizeof(values[0]), d->pool);
}

/*
 * Returns 1 if the request is the one that made the charge. Without a currency of its own it is
 * read in the charge's: the account's default may have changed since, and a link has one.
 */
static int is_same_request(const pay_charge_t *known, const call_t *d)
{
    const pay_checkout_request_t *request = d->request;
    pay_checkout_request_t *rebased;

    if (!memcmp(known->request_digest, request->digest, PAY_SHA256_LEN)) {
        return 1;
    }
    return request->currency_defaulted
           && pay_checkout_request_rebase(&rebased, request, known->money.currency, d->pool)
                  == APR_SUCCESS
           && !memcmp(known->request_digest, rebased->digest, PAY_SHA256_LEN);
}

/* Answers for a reference that already has a charge. */
static const pay_problem_t *answer_known(const pay_charge_t **out, int *replayed,
                                         const pay_charge_t *known, const call_t *d)
{
    if (known->kind != PAY_CHARGE_CHECKOUT || !known->checkout || !is_same_request(known, d)) {
        return pay_problem_make(PAY_ERR_REFERENCE_REUSED, NULL, APR_SUCCESS, d->pool);
    }
    if (pay_charge_in_flight(known)) {
        return pay_problem_make(PAY_ERR_IN_PROGRESS, NULL, APR_SUCCESS, d->pool);
    }
    *replayed = 1;
    *out = known;
    return NULL;
}

/* Finds an earlier checkout by reference or by Idempotency-Key; *out is NULL if none exists. */
static const pay_problem_t *find_known(const pay_charge_t **out, int *replayed, const call_t *d)
{
    pay_store_t *store = d->service->store;
    const pay_scope_t *scope = &d->caller->scope;
    const pay_problem_t *problem;
    pay_charge_t *known = NULL;
    pay_idempotency_record_t *record = NULL;
    apr_status_t rv = APR_NOTFOUND;

    if (*d->request->reference) {
        rv = pay_store_charge_find(&known, store, scope, d->request->reference, d->pool);
    }
    if (rv == APR_SUCCESS) {
        return answer_known(out, replayed, known, d);
    }
    if (rv != APR_NOTFOUND) {
        return pay_problem_of_store(rv, d->pool);
    }
    problem = pay_service_recall(&record, d->service, scope, d->use, d->pool);
    if (problem || !record) {
        return problem;
    }
    if (!record->charge) {
        return pay_problem_of_key(d->pool);
    }
    return answer_known(out, replayed, record->charge, d);
}

/*
 * Judges the payer's return address. A public key is known to everybody: it may name hosts that the
 * shop has listed, and if none is listed any host, and the payer is asked before going there. The
 * word of a secret key or of the link itself is the shop's.
 */
static const pay_problem_t *judge_return(call_t *d)
{
    const char *text = d->request->redirect_url, *fault;
    const char *of_account = d->caller->account->settings.return_hosts;
    const char *of_host = d->service->policy.return_hosts;
    const char *field =
        d->request->form == PAY_CHECKOUT_FORM_ORDER ? "/payment/RedirectUrl" : "/redirectUrl";
    pay_problem_t *faults = NULL;
    pay_url_t *url;

    d->return_trusted = 1;
    if (d->caller->key_kind != PAY_KEY_PUBLIC || !*text) {
        return NULL;
    }
    of_host = of_host ? of_host : "";
    if (pay_url_parse(&url, &fault, text, "https http", d->pool) != APR_SUCCESS) {
        pay_problem_add(&faults, field, "must be an absolute http or https URL", d->pool);
        return faults;
    }
    d->return_trusted = pay_return_hosts_has(of_account, url, d->pool)
                        || pay_return_hosts_has(of_host, url, d->pool);
    if (d->return_trusted) {
        return NULL;
    }
    if (*of_account || *of_host) {
        pay_problem_add(&faults, field, "must name a host that the shop has listed", d->pool);
    } else if (d->caller->scope.mode == PAY_LIVE && strcmp(url->scheme, "https") != 0) {
        pay_problem_add(&faults, field, "must be an https URL", d->pool);
    }
    return faults;
}

static const pay_problem_t *judge(const call_t *d)
{
    const pay_mode_t mode = d->caller->scope.mode;
    const pay_problem_t *refusal;
    pay_problem_t *faults = NULL;

    refusal = pay_service_judge_mode(d->service, d->caller->account, mode, d->pool);
    if (refusal) {
        return refusal;
    }
    if (!pay_charge_currency_is_allowed(d->service, d->request->money.currency)) {
        pay_problem_add(
            &faults, d->request->form == PAY_CHECKOUT_FORM_ORDER ? "/order/currency" : "/currency",
            "is not accepted here", d->pool);
        return faults;
    }
    if (mode == PAY_LIVE && !pay_acquirer_has_checkout(d->service->acquirer[mode])) {
        return pay_problem_makef(PAY_ERR_NOT_IMPLEMENTED, d->pool,
                                 "The acquirer of this service has no payment pages.");
    }
    return NULL;
}

/* For a visitor with a public key, or on a link's page, the request's address is the payer's. */
static const pay_problem_t *judge_failures(const call_t *d)
{
    const int is_visitor = d->caller->key_kind == PAY_KEY_PUBLIC;
    const pay_attempt_t attempt = {.scope = d->caller->scope,
                                   .is_visitor = is_visitor,
                                   .address = is_visitor ? d->request_ip : NULL,
                                   .email = d->request->email,
                                   .link = d->request->link};

    return pay_failures_judge(d->service, &attempt, d->pool);
}

static apr_status_t checkout_make(const pay_checkout_t **out, const call_t *d)
{
    const pay_checkout_request_t *request = d->request;
    pay_checkout_t *checkout = apr_pcalloc(d->pool, sizeof(*checkout));

    *out = checkout;
    checkout->link = request->link;
    checkout->phone = request->phone;
    checkout->redirect_url = request->redirect_url;
    checkout->metadata = request->metadata;
    checkout->logo_url = request->logo_url;
    checkout->title = request->title;
    checkout->description = request->description;
    checkout->expires_at = pay_time_now() + d->service->policy.checkout_lifetime;
    checkout->step = PAY_CHECKOUT_OPEN;
    checkout->acquirer_url = "";
    checkout->return_trusted = d->return_trusted;
    return pay_id_make(&checkout->page_id, "", PAY_PAGE_ID_BITS, d->pool);
}

static apr_status_t name_it(pay_charge_t *proposal, const call_t *d)
{
    apr_status_t rv;

    proposal->reference = d->request->reference;
    if (!*proposal->reference) {
        rv = pay_id_make(&proposal->reference, REFERENCE_PREFIX, PAY_ID_BITS, d->pool);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return pay_charge_acquirer_name(&proposal->acquirer_reference, d->caller->account,
                                    d->caller->scope.mode, proposal->reference, d->pool);
}

static apr_status_t propose(pay_charge_t **out, const call_t *d)
{
    pay_charge_t *proposal = apr_palloc(d->pool, sizeof(*proposal));
    const pay_acquirer_t *acquirer = d->service->acquirer[d->caller->scope.mode];
    pay_deadline_t deadline;
    apr_status_t rv;

    *out = proposal;
    pay_charge_init(proposal);
    rv = name_it(proposal, d);
    if (rv == APR_SUCCESS) {
        rv = checkout_make(&proposal->checkout, d);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    proposal->scope = d->caller->scope;
    proposal->kind = PAY_CHARGE_CHECKOUT;
    memcpy(proposal->request_digest, d->request->digest, PAY_SHA256_LEN);
    proposal->money = d->request->money;
    proposal->email = d->request->email;
    proposal->first_name = d->request->first_name;
    proposal->last_name = d->request->last_name;
    proposal->request_ip = d->request_ip ? d->request_ip : "";
    proposal->acquirer = acquirer->name;
    proposal->key_id = d->caller->key_id;
    /* In Test Mode nothing happens until the payer pays, or fails to pay in time. */
    proposal->due_at = proposal->checkout->expires_at;
    if (d->caller->scope.mode == PAY_LIVE) {
        deadline = pay_deadline_make(acquirer);
        proposal->worker = deadline.worker;
        proposal->send_before_ms = deadline.send_before_ms;
        proposal->wait_until_ms = deadline.wait_until_ms;
        proposal->due_at = deadline.due_at;
    }
    return APR_SUCCESS;
}

/* Returns why the link opens no checkout; but a payer who has begun to pay it goes on. */
static const pay_problem_t *answer_link(const pay_charge_t **out, int *replayed, pay_claim_t claim,
                                        const pay_charge_t *begun, const call_t *d)
{
    if (claim != PAY_CLAIM_LINK_AGAIN) {
        return pay_problem_of_link(claim, d->request->link, d->pool);
    }
    if (pay_charge_in_flight(begun)) {
        return pay_problem_make(PAY_ERR_IN_PROGRESS, NULL, APR_SUCCESS, d->pool);
    }
    *replayed = 1;
    *out = begun;
    return NULL;
}

/* The Idempotency-Key was stored after the lookup: by the same request in another thread, by
 * another request, or by one that was withdrawn since. */
static const pay_problem_t *answer_meanwhile(const pay_charge_t **out, int *replayed,
                                             const call_t *d)
{
    const pay_problem_t *problem;

    problem = find_known(out, replayed, d);
    if (!problem && !*out) {
        problem = pay_problem_make(PAY_ERR_IN_PROGRESS, NULL, APR_SUCCESS, d->pool);
    }
    return problem;
}

/* *charge is new, or *out is the existing one. */
static const pay_problem_t *open_row(pay_charge_t **charge, const pay_charge_t **out, int *replayed,
                                     const call_t *d)
{
    pay_store_t *store = d->service->store;
    pay_charge_t *proposal;
    pay_claim_t claim;
    apr_status_t rv;

    *charge = NULL;
    rv = propose(&proposal, d);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_ACQUIRER_UNAVAILABLE, NULL, rv, d->pool);
    }
    rv = pay_store_charge_open(charge, &claim, store, proposal, NULL, d->use, d->pool);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, d->pool);
    }
    if (claim == PAY_CLAIM_KEY_USED) {
        return answer_meanwhile(out, replayed, d);
    }
    if (claim >= PAY_CLAIM_LINK_AGAIN) {
        return answer_link(out, replayed, claim, *charge, d);
    }
    if (claim != PAY_CLAIM_NEW) {
        return answer_known(out, replayed, *charge, d);
    }
    *out = *charge;
    return NULL;
}

/* ---- Live Mode: the acquirer's page */

static const pay_problem_t *withdraw(const pay_charge_t *charge, pay_error_t error,
                                     apr_status_t cause, const call_t *d)
{
    pay_store_t *store = d->service->store;
    apr_status_t rv;

    rv = pay_store_charge_withdraw(store, &charge->scope, charge->seq, d->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00571) "checkout %s was not sent, but could not be withdrawn: it fails "
                                "when its time is over",
                charge->reference);
    }
    return pay_problem_make(error, NULL, cause, d->pool);
}

static void decide(const pay_charge_t **out, const pay_outcome_t *outcome, const call_t *d)
{
    pay_store_t *store = d->service->store;
    pay_charge_t *resolved = NULL;
    int changed = 0;
    apr_status_t rv;

    rv = pay_store_charge_resolve(&resolved, &changed, store, &(*out)->scope, (*out)->seq, outcome,
                                  0, d->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00572) "checkout %s has no page, and this could not be stored: "
                                "reconciliation stores it",
                (*out)->reference);
        return;
    }
    if (changed) {
        pay_service_count(resolved);
    }
    *out = resolved;
}

/* The address of a page is unknown, so nobody can pay; if the acquirer later reports otherwise, it
 * is found like any late approval. */
static void fail(const pay_charge_t **out, const call_t *d)
{
    const apr_time_t now = pay_time_now();
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_DECLINED,
                                   .message = PAY_CHECKOUT_UNOPENED,
                                   .late_check_at = pay_reconcile_next_late(now, now)};

    decide(out, &outcome, d);
}

/* The acquirer knows the checkout, and this store does not: it was restored. Its outcome is queried
 * at once, because its payer may have paid. */
static void take_known(const pay_charge_t **out, const pay_acquiring_t *acquiring, const call_t *d)
{
    const pay_charge_t *asked = pay_service_asked(d->service->store, *out, d->pool);
    pay_outcome_t outcome;

    (void)pay_acquiring_visitor_query(&outcome, acquiring, asked, d->pool);
    if (outcome.kind == PAY_OUTCOME_UNKNOWN) {
        fail(out, d);
    } else {
        decide(out, &outcome, d);
    }
}

/* The page's address is durable before anybody learns it. */
static void keep_page(const pay_charge_t **out, const char *page_url, const call_t *d)
{
    const apr_time_t now = pay_time_now(), expires_at = (*out)->checkout->expires_at;
    const pay_checkout_move_t move = {.from = PAY_CHECKOUT_OPEN,
                                      .to = PAY_CHECKOUT_OPEN,
                                      .now = now,
                                      .acquirer_url = page_url,
                                      .due_at = expires_at < now + ASK_AFTER ? expires_at
                                                                             : now + ASK_AFTER};
    pay_store_t *store = d->service->store;
    pay_charge_t *stored = NULL;
    int changed = 0;
    apr_status_t rv;

    rv = pay_store_checkout_move(&stored, &changed, store, &(*out)->scope, (*out)->seq, &move,
                                 d->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00573) "the page of checkout %s could not be stored: it cannot be paid",
                (*out)->reference);
        return;
    }
    *out = stored;
}

static const pay_problem_t *ask_page(const pay_charge_t **out, pay_acquiring_t *acquiring,
                                     const call_t *d)
{
    const char *back =
        apr_pstrcat(d->pool, d->page_root, (*out)->checkout->page_id, PAY_PAGE_RETURN_SUFFIX, NULL);
    const char *page_url;
    apr_status_t rv;

    if (pay_time_boot_ms() > (*out)->send_before_ms) {
        return withdraw(*out, PAY_ERR_BUSY, APR_SUCCESS, d);
    }
    rv = pay_acquiring_checkout(&page_url, acquiring, *out, back, d->pool);
    if (rv == PAYMENTS_NOT_SENT) {
        return withdraw(*out, PAY_ERR_ACQUIRER_UNAVAILABLE, rv, d);
    }
    if (rv == APR_SUCCESS) {
        keep_page(out, page_url, d);
    } else if (rv == APR_EEXIST) {
        take_known(out, acquiring, d);
    } else {
        fail(out, d);
    }
    return NULL;
}

static const pay_problem_t *open_live(const pay_charge_t **out, int *replayed, const call_t *d)
{
    const pay_problem_t *problem;
    pay_acquiring_t acquiring;
    pay_charge_t *charge;

    problem = d->caller->key_kind == PAY_KEY_PUBLIC
                  ? pay_acquiring_enter_visitor(&acquiring, d->service, &d->caller->scope,
                                                d->service->acquirer[PAY_LIVE], d->pool)
                  : pay_acquiring_enter(&acquiring, d->service, &d->caller->scope,
                                        d->service->acquirer[PAY_LIVE], d->pool);
    if (problem) {
        return problem;
    }
    problem = open_row(&charge, out, replayed, d);
    if (!problem && !*replayed) {
        problem = ask_page(out, &acquiring, d);
    }
    pay_acquiring_leave(&acquiring);
    return problem;
}

const pay_problem_t *pay_checkout_create(const pay_charge_t **out, int *replayed,
                                         pay_service_t *service, const pay_caller_t *caller,
                                         const pay_checkout_request_t *request,
                                         const char *page_root, const char *request_ip,
                                         apr_pool_t *p)
{
    call_t d = {service, caller, request, page_root, request_ip, NULL, p, 0};
    const pay_problem_t *problem;
    pay_charge_t *charge;

    *out = NULL;
    *replayed = 0;
    problem = use_of(&d);
    if (!problem) {
        problem = find_known(out, replayed, &d);
    }
    if (problem || *out) {
        return problem;
    }
    problem = judge(&d);
    if (!problem) {
        problem = judge_return(&d);
    }
    if (!problem) {
        problem = judge_failures(&d);
    }
    if (!problem && request->form == PAY_CHECKOUT_FORM_LINK) {
        problem = pay_link_apply(&d.request, service->store, &caller->scope, request, p);
    }
    if (problem) {
        return problem;
    }
    return caller->scope.mode == PAY_LIVE ? open_live(out, replayed, &d)
                                          : open_row(&charge, out, replayed, &d);
}
