/* SPDX-License-Identifier: Apache-2.0 */
#include "model/charge_request.h"

#include "base/problem.h"
#include "base/text/json.h"
#include "model/card.h"
#include "model/form.h"
#include "model/text.h"
#include "model/token.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define REASON_REQUIRED "is required"
#define REASON_CARD "must not be a card number"
#define REASON_STRING_OR_NULL "must be a string or null"

static void read_token(pay_charge_request_t *request, pay_form_t *form)
{
    const char *token = pay_form_required(form, "token");
    apr_status_t rv;

    if (!token) {
        return;
    }
    rv = pay_token_text_check(token);
    if (rv != APR_SUCCESS) {
        pay_form_fault(
            form, "token",
            "must be 1 to " APR_STRINGIFY(PAY_TOKEN_TEXT_MAX) " printable ASCII characters"
                                                              " without blanks");
        return;
    }
    request->token = token;
}

/*
 * Returns the currency in upper case; else notes its fault and returns NULL: the amount is still
 * judged then.
 */
static const char *read_currency(pay_charge_request_t *request, pay_form_t *form,
                                 const char *default_currency)
{
    const char *text = pay_json_string(form->body, "currency");
    char *currency = apr_palloc(form->p, PAY_CURRENCY_LEN + 1);
    apr_status_t rv;

    if (!pay_form_is_given(form, "currency")) {
        text = default_currency;
        request->currency_defaulted = 1;
    }
    if (!text) {
        pay_form_fault(form, "currency", REASON_STRING_OR_NULL);
        return NULL;
    }
    if (pay_card_number_is(text)) {
        pay_form_fault(form, "currency", REASON_CARD);
        return NULL;
    }
    rv = pay_currency_normalize(currency, text);
    if (rv != APR_SUCCESS) {
        pay_form_fault(form, "currency", "must be an ISO 4217 currency code");
        return NULL;
    }
    return currency;
}

/* Reads a number, or its literal in a string; `currency` as for pay_amount_fault. */
static void read_amount(pay_charge_request_t *request, pay_form_t *form, const char *currency)
{
    const char *text = pay_json_number(form->body, "amount");
    const char *reason;

    if (!text) {
        text = pay_json_string(form->body, "amount");
    }
    if (!pay_form_is_given(form, "amount") || (text && !*text)) {
        pay_form_fault(form, "amount", REASON_REQUIRED);
        return;
    }
    if (!text) {
        pay_form_fault(form, "amount", "must be a number");
        return;
    }
    if (pay_card_number_is(text)) {
        pay_form_fault(form, "amount", REASON_CARD);
        return;
    }
    request->amount_text = apr_pstrdup(form->p, text);
    reason = pay_amount_fault(&request->money, text, currency, form->p);
    if (reason) {
        pay_form_fault(form, "amount", reason);
    }
}

static const char *read_name(pay_form_t *form, const char *name)
{
    const char *text = pay_json_string(form->body, name);

    if (!pay_form_is_given(form, name)) {
        return "";
    }
    if (!text) {
        pay_form_fault(form, name, REASON_STRING_OR_NULL);
        return "";
    }
    if (pay_card_number_within(text)) {
        pay_form_fault(form, name, "must not hold a card number");
        return "";
    }
    if (pay_text_length(text) > PAY_NAME_MAX || !pay_text_is_visible(text, "")) {
        pay_form_fault(form, name,
                       "must be at most " APR_STRINGIFY(
                           PAY_NAME_MAX) " characters without control or invisible characters");
        return "";
    }
    return apr_pstrdup(form->p, text);
}

/*
 * "The same request" has the same token, amount, currency and payer. Each part is preceded by its
 * length, so that no two different requests have one encoding.
 */
static apr_status_t request_digest(pay_charge_request_t *request, apr_pool_t *p)
{
    const char *amount = apr_psprintf(p, "%" APR_INT64_T_FMT, request->money.amount_minor);
    const char *token = request->token, *currency = request->money.currency;
    const char *email = request->email;
    const char *text;

    text = apr_psprintf(p,
                        "%" APR_SIZE_T_FMT ":%s,%" APR_SIZE_T_FMT ":%s,%" APR_SIZE_T_FMT
                        ":%s,%" APR_SIZE_T_FMT ":%s,",
                        strlen(token), token, strlen(amount), amount, strlen(currency), currency,
                        strlen(email), email);
    return pay_sha256(request->digest, text, strlen(text));
}

/* Returns 1 if only the amount is at fault, and only because of the default currency's decimals. */
static int fault_is_of_default(const pay_charge_request_t *request, const pay_problem_t *problem,
                               apr_pool_t *p)
{
    pay_money_t money;

    return request->currency_defaulted && request->amount_text && !request->money.amount_minor
           && problem->fields->nelts == 1
           && !pay_amount_fault(&money, request->amount_text, NULL, p);
}

const pay_problem_t *pay_charge_request_from_json(pay_charge_request_t **out,
                                                  const pay_json_t *body,
                                                  const char *default_currency, apr_pool_t *p)
{
    pay_charge_request_t *request = apr_pcalloc(p, sizeof(*request));
    pay_form_t form = {body, NULL, p, NULL};
    const char *currency, *fault;
    apr_status_t rv;

    assert(default_currency);
    *out = NULL;
    read_token(request, &form);
    currency = read_currency(request, &form, default_currency);
    read_amount(request, &form, currency);
    request->email = pay_form_email(&form, "email");
    request->reference = pay_form_reference(&form, "reference");
    request->first_name = read_name(&form, "firstName");
    request->last_name = read_name(&form, "lastName");
    fault = pay_charge_names_fault(request->first_name, request->last_name);
    if (fault) {
        pay_form_fault(&form, "lastName", fault);
    }
    if (form.problem && !fault_is_of_default(request, form.problem, p)) {
        return form.problem;
    }
    request->amount_fault = form.problem;
    rv = request_digest(request, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    *out = request;
    return NULL;
}

apr_status_t pay_charge_request_rebase(pay_charge_request_t **out,
                                       const pay_charge_request_t *request, const char *currency,
                                       apr_pool_t *p)
{
    pay_charge_request_t *rebased = apr_pmemdup(p, request, sizeof(*request));
    apr_status_t rv;

    *out = NULL;
    rv = pay_money_parse(&rebased->money, request->amount_text, currency);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rebased->amount_fault = NULL;
    rv = request_digest(rebased, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = rebased;
    return APR_SUCCESS;
}
