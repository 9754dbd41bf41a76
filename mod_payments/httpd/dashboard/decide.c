/* SPDX-License-Identifier: Apache-2.0 */

/* Refunds charges, and decides payments that wait for a person. */

#include "httpd/dashboard/change.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "service/charge/decisions.h"
#include "service/refund/refunds.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define REQUEST_ID_MAX 100
#define KEY_PREFIX "dashboard " /* no client of the API can have such an Idempotency-Key */

#define NO_CHARGE "There is no such charge."

static apr_status_t find_charge(pay_charge_t **out, const pay_dashboard_t *dashboard, apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    pay_transaction_t transaction;
    apr_status_t rv;
    apr_uint64_t seq;

    *out = NULL;
    if (!pay_query_number(&seq, dashboard->segment[0])) {
        return APR_NOTFOUND;
    }
    rv = pay_store_transaction_get(&transaction, store, &dashboard->scope, seq, p);
    *out = transaction.charge;
    return rv;
}

static const char *read_note(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    const char *fault = pay_note_fault(text);

    if (fault) {
        pay_form_fault(form, name, fault);
    }
    return text;
}

/* Made by the page for each refund that a person requests: a second click is the same request. */
static const char *read_request_id(pay_form_t *form)
{
    const char *text = pay_form_string(form, "requestId");
    apr_size_t len = text ? strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")
                          : 0;

    if (!text || len == 0 || len > REQUEST_ID_MAX || text[len]) {
        pay_form_fault(form, "requestId",
                       "must be 1 to 100 letters, digits and dashes, new for each refund");
        return NULL;
    }
    return apr_pstrcat(form->p, KEY_PREFIX, text, NULL);
}

static const pay_problem_t *read_refund(pay_refund_request_t *out, pay_caller_t *caller,
                                        request_rec *r, const pay_dashboard_t *dashboard,
                                        const pay_charge_t *charge)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);

    memset(out, 0, sizeof(*out));
    out->reference = charge->reference;
    out->amount = pay_form_amount(&form, "amount");
    out->customer_note = read_note(&form, "customerNote");
    out->merchant_note = read_note(&form, "merchantNote");
    out->channel = "dashboard";
    memset(caller, 0, sizeof(*caller));
    caller->account = dashboard->account;
    caller->scope = dashboard->scope;
    caller->key_kind = PAY_KEY_SECRET;
    caller->key_id = "";
    caller->idempotency_key = read_request_id(&form);
    return form.problem;
}

/* The API's words are about keys. */
static const pay_problem_t *in_our_words(const pay_problem_t *problem, apr_pool_t *p)
{
    if (problem->error != PAY_ERR_FORBIDDEN) {
        return problem;
    }
    return pay_problem_makef(PAY_ERR_FORBIDDEN, p,
                             "Live Mode is switched off for this account, or has no acquirer on "
                             "this host: see Settings, Account.");
}

int pay_dashboard_charge_refund(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_refund_request_t request;
    const pay_problem_t *problem;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_caller_t caller;
    apr_status_t rv;
    pay_writer_t *w;
    int replayed;

    rv = find_charge(&charge, dashboard, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, NO_CHARGE);
    }
    problem = read_refund(&request, &caller, r, dashboard, charge);
    if (!problem) {
        problem =
            pay_refund_create(&refund, &replayed, dashboard->service, &caller, &request, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, in_our_words(problem, r->pool));
    }
    w = pay_dashboard_answer_open(r);
    pay_refund_to_json(w, "refund", refund);
    return pay_dashboard_answer(r, w);
}

/* Reads "approved" or "declined" (of refunds "processed" or "failed"), and the reason. */
static const pay_problem_t *read_outcome(pay_outcome_t *out, request_rec *r,
                                         const pay_dashboard_t *dashboard, const char *approved,
                                         const char *declined)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *word = pay_form_string(&form, "outcome");
    const char *reason = pay_form_string(&form, "reason");
    const char *code = pay_form_string(&form, "code");
    const char *fault = pay_decision_reason_fault(reason ? reason : "");
    const char *at;

    if (!word || (strcmp(word, approved) != 0 && strcmp(word, declined) != 0)) {
        pay_form_fault(&form, "outcome",
                       apr_psprintf(r->pool, "must be %s or %s", approved, declined));
        word = "";
    }
    if (fault) {
        pay_form_fault(&form, "reason", fault);
    }
    for (at = code; at && *at && apr_isalnum(*at); at++) {
    }
    if (code && (*at || at - code > PAY_OUTCOME_CODE_MAX)) {
        pay_form_fault(&form, "code", "must be at most 8 letters and digits");
    }
    *out = pay_decision_outcome(!strcmp(word, approved), reason);
    out->code = code;
    return form.problem;
}

int pay_dashboard_charge_resolve(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_charge_t *charge, *decided;
    pay_outcome_t outcome;
    apr_status_t rv;
    pay_writer_t *w;

    rv = find_charge(&charge, dashboard, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, NO_CHARGE);
    }
    problem = read_outcome(&outcome, r, dashboard, "approved", "declined");
    if (!problem) {
        problem = pay_charge_resolve(&decided, dashboard->service, charge, &outcome, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    pay_charge_to_json(w, "charge", decided, PAY_VIEW_SECRET);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_refund_resolve(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_store_t *store = dashboard->service->store;
    const pay_problem_t *problem;
    pay_refund_t *refund, *decided;
    pay_outcome_t outcome;
    apr_status_t rv;
    pay_writer_t *w;

    rv = pay_store_refund_find(&refund, store, &dashboard->scope, dashboard->segment[0], r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, "There is no such refund.");
    }
    problem = read_outcome(&outcome, r, dashboard, "processed", "failed");
    if (!problem) {
        problem = pay_refund_resolve(&decided, dashboard->service, refund, &outcome, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    pay_refund_to_json(w, "refund", decided);
    return pay_dashboard_answer(r, w);
}
