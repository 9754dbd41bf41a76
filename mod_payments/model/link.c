/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link.h"

#include "base/net/url.h"
#include "base/problem.h"
#include "base/text/writer.h"
#include "model/card.h"
#include "model/form.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define REASON_CARD "must not hold a card number"

static const char *const state_names[] = {
    [PAY_LINK_ACTIVE] = "active",
    [PAY_LINK_EXPIRED] = "expired",
    [PAY_LINK_DISABLED] = "disabled",
    [PAY_LINK_USED] = "used",
};
_Static_assert(sizeof(state_names) / sizeof(state_names[0]) == PAY_LINK_STATE_COUNT, "a name each");

const char *pay_link_state_name(pay_link_state_t state)
{
    return (unsigned int)state < PAY_LINK_STATE_COUNT ? state_names[state] : "unknown";
}

pay_link_state_t pay_link_state(const pay_link_t *link, apr_time_t now)
{
    if (link->once && link->paid > 0) {
        return PAY_LINK_USED;
    }
    if (link->disabled_at != 0) {
        return PAY_LINK_DISABLED;
    }
    if (link->expires_at != 0 && now >= link->expires_at) {
        return PAY_LINK_EXPIRED;
    }
    return PAY_LINK_ACTIVE;
}

int pay_link_reference_is(const char *text)
{
    return strlen(text) <= PAY_LINK_REFERENCE_MAX && pay_reference_check(text) == APR_SUCCESS;
}

static const char *given(const char *text)
{
    return text ? text : "";
}

static const char *reference_fault(const char *text)
{
    if (!*text) {
        return NULL;
    }
    if (pay_card_number_is(text)) {
        return REASON_CARD;
    }
    return pay_link_reference_is(text)
               ? NULL
               : "must be 1 to " APR_STRINGIFY(
                   PAY_LINK_REFERENCE_MAX) " characters from ! to ~ without / \\ ? #";
}

static const char *text_fault(const char *text)
{
    if (pay_card_number_within(text)) {
        return REASON_CARD;
    }
    return pay_text_length(text) <= PAY_CHECKOUT_TEXT_MAX && pay_text_is_visible(text, "")
               ? NULL
               : "must be at most " APR_STRINGIFY(
                   PAY_CHECKOUT_TEXT_MAX) " characters of UTF-8 without control or invisible "
                                          "characters";
}

static const char *url_fault(const char *text, apr_pool_t *p)
{
    const char *fault;
    pay_url_t *url;

    if (!*text) {
        return NULL;
    }
    if (pay_card_number_in_url(text)) {
        return REASON_CARD;
    }
    return strlen(text) <= PAY_CHECKOUT_URL_MAX
                   && pay_url_parse(&url, &fault, text, "https http", p) == APR_SUCCESS
               ? NULL
               : "must be an absolute http or https URL";
}

static void add(pay_problem_t **faults, const char *field, const char *reason, apr_pool_t *p)
{
    if (reason) {
        pay_problem_add(faults, field, reason, p);
    }
}

/* The rules of an amount are those of its currency. */
static void read_money(pay_link_t *link, pay_problem_t **faults, const pay_link_form_t *form,
                       const char *currency, apr_pool_t *p)
{
    const char *amount = given(form->amount);
    apr_status_t rv;

    rv = pay_currency_normalize(link->money.currency,
                                *given(form->currency) ? form->currency : currency);
    if (rv != APR_SUCCESS) {
        pay_problem_add(faults, "/currency", "must be an ISO 4217 currency code", p);
        return;
    }
    if (!*amount) {
        return;
    }
    if (pay_card_number_is(amount)) {
        pay_problem_add(faults, "/amount", REASON_CARD, p);
        return;
    }
    add(faults, "/amount",
        pay_amount_fault(&link->money, amount, apr_pstrdup(p, link->money.currency), p), p);
}

const pay_problem_t *pay_link_read(pay_link_t **out, const pay_link_form_t *form,
                                   const char *currency, apr_time_t now, apr_pool_t *p)
{
    pay_link_t *link = apr_pcalloc(p, sizeof(*link));
    pay_problem_t *faults = NULL;

    *out = NULL;
    link->reference = given(form->reference);
    link->page_id = "";
    link->title = given(form->title);
    link->description = given(form->description);
    link->redirect_url = given(form->redirect_url);
    link->once = form->once != 0;
    link->expires_at = form->expires_at;
    add(&faults, "/reference", reference_fault(link->reference), p);
    read_money(link, &faults, form, currency, p);
    add(&faults, "/title", text_fault(link->title), p);
    add(&faults, "/description", text_fault(link->description), p);
    add(&faults, "/redirectUrl", url_fault(link->redirect_url, p), p);
    if (link->expires_at != 0 && link->expires_at <= now) {
        pay_problem_add(&faults, "/expiresAt", "must be in the future", p);
    }
    if (!faults) {
        *out = link;
    }
    return faults;
}

void pay_link_to_json(pay_writer_t *w, const char *name, const pay_link_t *link, const char *url,
                      apr_time_t now)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "reference", link->reference);
    pay_writer_string(w, "title", link->title);
    pay_writer_string(w, "description", link->description);
    if (link->money.amount_minor > 0) {
        pay_writer_amount(w, "amount", link->money.amount_minor, link->money.currency);
    } else {
        pay_writer_null(w, "amount");
    }
    pay_writer_string(w, "currency", link->money.currency);
    pay_writer_bool(w, "reusable", !link->once);
    pay_writer_time(w, "expiresAt", link->expires_at);
    pay_writer_time(w, "disabledAt", link->disabled_at);
    pay_writer_time(w, "createdAt", link->created_at);
    pay_writer_integer(w, "paid", (apr_int64_t)link->paid);
    pay_writer_string(w, "url", url);
    pay_writer_string(w, "state", pay_link_state_name(pay_link_state(link, now)));
    pay_writer_object_close(w);
}
