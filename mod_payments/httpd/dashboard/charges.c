/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/events.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "model/checkout.h"
#include "model/email.h"
#include "service/charge/decisions.h"

#include <apr_strings.h>
#include <string.h>

#define SIZE_HINT 16384

/* ---- the list */

static const char *amount(pay_writer_t *w, apr_int64_t amount_minor, const pay_charge_t *charge)
{
    char text[PAY_MONEY_TEXT_MAX];

    return apr_pstrdup(w->pool, pay_money_format(text, amount_minor, charge->money.currency));
}

static void item_to_json(pay_writer_t *w, const char *name, const pay_charge_t *charge)
{
    pay_writer_object_open(w, name);
    pay_writer_integer(w, "id", (apr_int64_t)charge->seq);
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_time(w, "createdAt", charge->created_at);
    pay_writer_string(w, "amount", amount(w, charge->money.amount_minor, charge));
    pay_writer_string(w, "currency", charge->money.currency);
    pay_writer_string(w, "status", pay_charge_status_name(charge->state));
    pay_writer_string(w, "paymentStatus", pay_charge_state_name(charge->state));
    pay_writer_bool(w, "open", pay_checkout_is_open(charge));
    pay_writer_string(w, "email", charge->email);
    pay_writer_string(w, "name",
                      apr_pstrcat(w->pool, charge->first_name,
                                  *charge->first_name && *charge->last_name ? " " : "",
                                  charge->last_name, NULL));
    pay_writer_object_open(w, "card");
    pay_writer_string(w, "last4Digits", charge->card.last4);
    pay_writer_string(w, "issuer", charge->card.issuer ? charge->card.issuer : "");
    pay_writer_object_close(w);
    pay_writer_string(w, "channel", pay_channel_name(charge->channel));
    pay_writer_string(w, "refundedAmount", amount(w, pay_charge_refunded_minor(charge), charge));
    pay_writer_string(w, "held", pay_held_name(charge->held));
    pay_writer_object_close(w);
}

/* Reads state=, one word or several with commas between. */
static int read_words(unsigned int *out, const char *text, apr_pool_t *p)
{
    char *rest = apr_pstrdup(p, text);
    unsigned int word;
    char *name;

    *out = 0;
    for (name = apr_strtok(rest, ",", &rest); name; name = apr_strtok(NULL, ",", &rest)) {
        if (pay_charge_word_parse(&word, name) != APR_SUCCESS) {
            return 0;
        }
        *out |= 1U << word;
    }
    return *out != 0;
}

static const pay_problem_t *read_filter(pay_charge_filter_t *out, const pay_dashboard_t *dashboard,
                                        apr_pool_t *p)
{
    const char *reference = pay_dashboard_query(dashboard, "reference");
    const char *email = pay_dashboard_query(dashboard, "email");
    const char *states = pay_dashboard_query(dashboard, "state");
    const char *currency = pay_dashboard_query(dashboard, "currency");
    char code[PAY_CURRENCY_LEN + 1];
    pay_problem_t *problem = NULL;

    memset(out, 0, sizeof(*out));
    if (reference && pay_reference_check(reference) != APR_SUCCESS) {
        pay_problem_add(&problem, "/reference", "must be the whole reference of a charge", p);
    }
    if (email && pay_email_normalize(&out->email, email, p) != APR_SUCCESS) {
        pay_problem_add(&problem, "/email", "must be one whole e-mail address", p);
    }
    if (states && !read_words(&out->words, states, p)) {
        pay_problem_add(&problem, "/state",
                        "must be " PAY_CHARGE_WORDS ", or several with commas between", p);
    }
    if (currency && pay_currency_normalize(code, currency) != APR_SUCCESS) {
        pay_problem_add(&problem, "/currency", "must be an ISO 4217 currency such as NGN", p);
    }
    if (problem) {
        return problem;
    }
    out->reference = reference;
    out->currency = currency ? apr_pstrdup(p, code) : NULL;
    return pay_dashboard_range(&out->range, dashboard, p);
}

int pay_dashboard_charges_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    pay_store_t *store = dashboard->service->store;
    pay_charge_cursor_t cursor = {.started = 0};
    const pay_problem_t *problem;
    pay_charge_filter_t filter;
    apr_array_header_t *rows;
    apr_status_t rv;
    int limit, i;

    problem = pay_dashboard_limit(&limit, dashboard, r->pool);
    if (!problem) {
        problem = read_filter(&filter, dashboard, r->pool);
    }
    if (!problem) {
        problem = pay_dashboard_cursor(&cursor.created_at, &cursor.seq, &cursor.started, dashboard,
                                       r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_charge_search(&rows, &cursor, store, &dashboard->scope, &filter, limit, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    pay_dashboard_items_open(w);
    for (i = 0; i < rows->nelts; i++) {
        item_to_json(w, NULL, APR_ARRAY_IDX(rows, i, const pay_charge_t *));
    }
    return pay_dashboard_items(
        r, w, cursor.done ? NULL : pay_query_cursor_text(cursor.created_at, cursor.seq, r->pool));
}

/* ---- one charge */

static void step_to_json(pay_writer_t *w, apr_time_t at, const char *what, const char *text)
{
    if (at) {
        pay_writer_object_open(w, NULL);
        pay_writer_time(w, "at", at);
        pay_writer_string(w, "what", what);
        pay_writer_string(w, "text", text ? text : "");
        pay_writer_object_close(w);
    }
}

static void charge_steps(pay_writer_t *w, const pay_charge_t *charge)
{
    step_to_json(w, charge->created_at, "opened", charge->reference);
    step_to_json(w, charge->absent_since, "absent", "The acquirer does not know this charge.");
    if (charge->decided_state != PAY_CHARGE_PENDING) {
        step_to_json(w, charge->decided_at, "decided",
                     apr_pstrcat(w->pool, pay_charge_state_name(charge->decided_state),
                                 charge->message && *charge->message ? ": " : "", charge->message,
                                 NULL));
    }
    if (charge->contradiction && *charge->contradiction) {
        step_to_json(w, charge->updated_at, "contradicted", charge->contradiction);
    }
    if (*charge->resolution) { /* refunds, which only a successful one has, move updated_at */
        step_to_json(w, pay_charge_was_approved(charge) ? charge->decided_at : charge->updated_at,
                     "resolved", charge->resolution);
    }
}

static void refund_steps(pay_writer_t *w, const pay_refund_t *refund)
{
    step_to_json(w, refund->created_at, "refund-opened", refund->refund_reference);
    if (refund->state != PAY_REFUND_PENDING) {
        step_to_json(w, refund->updated_at,
                     refund->state == PAY_REFUND_PROCESSED ? "refund-processed" : "refund-failed",
                     refund->refund_reference);
    }
}

/* Returns the amount that can still be refunded. */
static apr_int64_t refundable(const pay_charge_t *charge)
{
    if (charge->state != PAY_CHARGE_SUCCESSFUL || charge->spent) {
        return 0;
    }
    return charge->money.amount_minor - pay_charge_refunded_minor(charge)
           - charge->refunds_pending_minor;
}

static apr_status_t read_refunds(apr_array_header_t **out, const pay_dashboard_t *dashboard,
                                 const pay_transaction_t *transaction, apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    pay_refund_t *refund;
    apr_status_t rv;
    int i;

    *out = apr_array_make(p, 4, sizeof(const pay_refund_t *));
    for (i = 0; i < transaction->refunds->nelts; i++) {
        rv = pay_store_refund_find(&refund, store, &dashboard->scope,
                                   APR_ARRAY_IDX(transaction->refunds, i, const char *), p);
        if (rv == APR_SUCCESS) {
            APR_ARRAY_PUSH(*out, const pay_refund_t *) = refund;
        } else if (rv != APR_NOTFOUND) {
            return rv;
        }
    }
    return APR_SUCCESS;
}

static void held_to_json(pay_writer_t *w, pay_held_t held)
{
    if (held == PAY_NOT_HELD) {
        pay_writer_null(w, "held");
        return;
    }
    pay_writer_object_open(w, "held");
    pay_writer_string(w, "reason", pay_held_name(held));
    pay_writer_string(w, "sentence", pay_held_text(held));
    pay_writer_object_close(w);
}

static apr_status_t detail_to_json(pay_writer_t *w, const pay_dashboard_t *dashboard,
                                   const pay_transaction_t *transaction,
                                   const apr_array_header_t *refunds, apr_pool_t *p)
{
    const pay_charge_t *charge = transaction->charge;
    apr_status_t rv;
    int i;

    pay_writer_object_open(w, NULL);
    pay_charge_to_json(w, "charge", charge, PAY_VIEW_SECRET);
    item_to_json(w, "item", charge);
    pay_writer_array_open(w, "refunds");
    for (i = 0; i < refunds->nelts; i++) {
        pay_refund_to_json(w, NULL, APR_ARRAY_IDX(refunds, i, const pay_refund_t *));
    }
    pay_writer_array_close(w);
    pay_writer_bool(w, "refundsComplete", transaction->refunds_complete);
    pay_writer_string(w, "refundable", amount(w, refundable(charge), charge));
    held_to_json(w, charge->held);
    pay_writer_array_open(w, "timeline");
    charge_steps(w, charge);
    for (i = 0; i < refunds->nelts; i++) {
        refund_steps(w, APR_ARRAY_IDX(refunds, i, const pay_refund_t *));
    }
    pay_writer_array_close(w);
    rv = pay_dashboard_events_of(w, "events", dashboard, charge->seq, p);
    pay_writer_object_close(w);
    return rv;
}

int pay_dashboard_charge_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    pay_store_t *store = dashboard->service->store;
    pay_transaction_t transaction;
    apr_array_header_t *refunds;
    apr_status_t rv = APR_NOTFOUND;
    apr_uint64_t seq;

    if (pay_query_number(&seq, dashboard->segment[0])) {
        rv = pay_store_transaction_get(&transaction, store, &dashboard->scope, seq, r->pool);
    }
    if (rv == APR_NOTFOUND) {
        return pay_dashboard_problem(
            r, dashboard,
            pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, r->pool, "There is no such charge."));
    }
    if (rv == APR_SUCCESS) {
        rv = read_refunds(&refunds, dashboard, &transaction, r->pool);
    }
    if (rv == APR_SUCCESS) {
        rv = detail_to_json(w, dashboard, &transaction, refunds, r->pool);
    }
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    return pay_dashboard_json(r, HTTP_OK, w);
}
