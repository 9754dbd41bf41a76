/* SPDX-License-Identifier: Apache-2.0 */
#include "model/form.h"

#include "base/problem.h"
#include "base/text/json.h"
#include "model/card.h"
#include "model/charge.h"
#include "model/email.h"

#include <apr_strings.h>

/* Stands for a currency that is not known yet: no other has more decimals. */
#define CURRENCY_LENIENT "CLF"

#define REASON_REQUIRED "is required"

void pay_form_fault(pay_form_t *form, const char *name, const char *reason)
{
    pay_problem_add(&form->problem,
                    apr_pstrcat(form->p, "/", form->within ? form->within : "", name, NULL), reason,
                    form->p);
}

int pay_form_is_given(const pay_form_t *form, const char *name)
{
    pay_json_type_t type = pay_json_type(form->body, name);

    return type != PAY_JSON_ABSENT && type != PAY_JSON_NULL;
}

const char *pay_form_string(pay_form_t *form, const char *name)
{
    const char *text = pay_json_string(form->body, name);

    if (!text && pay_form_is_given(form, name)) {
        pay_form_fault(form, name, "must be a string or null");
    }
    return text ? apr_pstrdup(form->p, text) : NULL;
}

int pay_form_bool(pay_form_t *form, const char *name)
{
    const int value = pay_json_bool(form->body, name);

    if (value < 0 && pay_form_is_given(form, name)) {
        pay_form_fault(form, name, "must be true or false");
    }
    return value;
}

const char *pay_form_required(pay_form_t *form, const char *name)
{
    const char *text = pay_json_string(form->body, name);

    if (!pay_form_is_given(form, name) || (text && !*text)) {
        pay_form_fault(form, name, REASON_REQUIRED);
        return NULL;
    }
    if (!text) {
        pay_form_fault(form, name, "must be a string");
        return NULL;
    }
    if (pay_card_number_is(text)) {
        pay_form_fault(form, name, "must not be a card number");
        return NULL;
    }
    return apr_pstrdup(form->p, text);
}

const char *pay_form_email(pay_form_t *form, const char *name)
{
    const char *text = pay_form_required(form, name);
    const char *email;
    apr_status_t rv;

    if (!text) {
        return NULL;
    }
    if (pay_card_number_within(text)) {
        pay_form_fault(form, name, "must not hold a card number");
        return NULL;
    }
    rv = pay_email_normalize(&email, text, form->p);
    if (rv != APR_SUCCESS) {
        pay_form_fault(form, name, "must be one e-mail address");
        return NULL;
    }
    return email;
}

const char *pay_form_reference(pay_form_t *form, const char *name)
{
    const char *text = pay_form_required(form, name);
    apr_status_t rv;

    if (!text) {
        return NULL;
    }
    rv = pay_reference_check(text);
    if (rv != APR_SUCCESS) {
        pay_form_fault(form, name,
                       "must be 1 to " APR_STRINGIFY(
                           PAY_REFERENCE_MAX) " printable ASCII characters without "
                                              "blanks, / \\ ? #, neither . nor .., and "
                                              "not an API key");
        return NULL;
    }
    return text;
}

const char *pay_form_amount(pay_form_t *form, const char *name)
{
    const char *text = pay_json_number(form->body, name);
    const char *reason;
    pay_money_t money;

    if (!pay_form_is_given(form, name)) {
        return NULL;
    }
    if (!text) {
        text = pay_json_string(form->body, name);
    }
    reason = text ? pay_amount_fault(&money, text, NULL, form->p) : "must be a number";
    if (reason) {
        pay_form_fault(form, name, reason);
        return NULL;
    }
    return apr_pstrdup(form->p, text);
}

const char *pay_form_money(pay_money_t *out, pay_form_t *form, const char *default_currency)
{
    const char *text = default_currency, *amount, *fault;
    char currency[PAY_CURRENCY_LEN + 1];
    apr_status_t rv = APR_EINVAL;

    if (pay_form_is_given(form, "currency")) {
        text = pay_form_required(form, "currency");
    }
    if (text) {
        rv = pay_currency_normalize(currency, text);
        if (rv != APR_SUCCESS) {
            pay_form_fault(form, "currency", "must be an ISO 4217 currency code");
        }
    }
    if (!pay_form_is_given(form, "amount")) {
        pay_form_fault(form, "amount", REASON_REQUIRED);
        return NULL;
    }
    amount = pay_form_amount(form, "amount");
    if (!amount || rv != APR_SUCCESS) {
        return NULL;
    }
    if (pay_card_number_is(amount)) {
        pay_form_fault(form, "amount", "must not hold a card number");
        return NULL;
    }
    fault = pay_amount_fault(out, amount, currency, form->p);
    if (fault) {
        pay_form_fault(form, "amount", fault);
    }
    return amount;
}

const char *pay_amount_fault(pay_money_t *out, const char *text, const char *currency,
                             apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_money_parse(out, text, currency ? currency : CURRENCY_LENIENT);
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    if (rv == APR_ERANGE) {
        return "must be more than 0 and at most 999999999999.99";
    }
    if (!currency) {
        return "must be a number with no more decimals than the currency has";
    }
    return apr_psprintf(p, "must be a number with at most %d decimals",
                        pay_currency_digits(currency));
}
