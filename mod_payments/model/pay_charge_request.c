/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_json.h"
#include "base/pay_problem.h"
#include "model/pay_charge_request.h"
#include "model/pay_email.h"
#include "model/pay_text.h"
#include "model/pay_token.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

/* Stands in for a currency at fault while the amount is judged: it has the most decimals. */
#define CURRENCY_LENIENT "CLF"

#define REASON_REQUIRED "is required"
#define REASON_STRING "must be a string"
#define REASON_CARD "must not be a card number"
#define REASON_STRING_OR_NULL "must be a string or null"

/* One body being read: faults are gathered, so that the client learns all of them at once. */
typedef struct reader_t {
    const pay_json_t *body;
    pay_problem_t *problem;
    apr_pool_t *p;
} reader_t;

static void fault(reader_t *reader, const char *name, const char *reason)
{
    pay_problem_add(&reader->problem, apr_pstrcat(reader->p, "/", name, NULL), reason, reader->p);
}

/* The member, or NULL with its fault noted. */
static const char *required_string(reader_t *reader, const char *name)
{
    const char *text = pay_json_string(reader->body, name);
    pay_json_type_t type = pay_json_type(reader->body, name);

    if (type == PAY_JSON_ABSENT || type == PAY_JSON_NULL) {
        fault(reader, name, REASON_REQUIRED);
        return NULL;
    }
    if (!text) {
        fault(reader, name, REASON_STRING);
        return NULL;
    }
    if (!*text) {
        fault(reader, name, REASON_REQUIRED);
        return NULL;
    }
    if (pay_card_number_is(text)) {
        fault(reader, name, REASON_CARD);
        return NULL;
    }
    return text;
}

static void read_token(pay_charge_request_t *request, reader_t *reader)
{
    const char *token = required_string(reader, "token");
    apr_status_t rv;

    if (!token) {
        return;
    }
    rv = pay_token_text_check(token);
    if (rv != APR_SUCCESS) {
        fault(reader, "token",
              "must be 1 to " APR_STRINGIFY(PAY_TOKEN_TEXT_MAX) " printable ASCII characters"
                                                                " without blanks");
        return;
    }
    request->token = apr_pstrdup(reader->p, token);
}

static void read_email(pay_charge_request_t *request, reader_t *reader)
{
    const char *email = required_string(reader, "email");
    apr_status_t rv;

    if (!email) {
        return;
    }
    rv = pay_email_normalize(&request->email, email, reader->p);
    if (rv != APR_SUCCESS) {
        fault(reader, "email", "must be one e-mail address");
    }
}

static void read_reference(pay_charge_request_t *request, reader_t *reader)
{
    const char *reference = required_string(reader, "reference");
    apr_status_t rv;

    if (!reference) {
        return;
    }
    rv = pay_reference_check(reference);
    if (rv != APR_SUCCESS) {
        fault(reader, "reference",
              "must be 1 to " APR_STRINGIFY(PAY_REFERENCE_MAX) " printable ASCII characters without"
                                                               " blanks, / \\ ? #, and neither ."
                                                               " nor ..");
        return;
    }
    request->reference = apr_pstrdup(reader->p, reference);
}

/* The currency in upper case; when it is at fault, one that lets the amount still be judged. */
static void read_currency(pay_charge_request_t *request, char currency[PAY_CURRENCY_LEN + 1],
                          reader_t *reader, const char *default_currency)
{
    const char *text = pay_json_string(reader->body, "currency");
    pay_json_type_t type = pay_json_type(reader->body, "currency");
    apr_status_t rv;

    apr_cpystrn(currency, CURRENCY_LENIENT, PAY_CURRENCY_LEN + 1);
    if (type == PAY_JSON_ABSENT || type == PAY_JSON_NULL) {
        text = default_currency;
        request->currency_defaulted = 1;
    }
    if (!text) {
        fault(reader, "currency", REASON_STRING_OR_NULL);
        return;
    }
    if (pay_card_number_is(text)) {
        fault(reader, "currency", REASON_CARD);
        return;
    }
    rv = pay_currency_normalize(currency, text);
    if (rv != APR_SUCCESS) {
        fault(reader, "currency", "must be an ISO 4217 currency code");
        apr_cpystrn(currency, CURRENCY_LENIENT, PAY_CURRENCY_LEN + 1);
    }
}

/* A number, or its literal in a string; `currency` is of ISO 4217. */
static void read_amount(pay_charge_request_t *request, reader_t *reader, const char *currency)
{
    pay_json_type_t type = pay_json_type(reader->body, "amount");
    const char *text;
    apr_status_t rv;

    text = type == PAY_JSON_NUMBER ? pay_json_number(reader->body, "amount")
                                   : pay_json_string(reader->body, "amount");
    if (type == PAY_JSON_ABSENT || type == PAY_JSON_NULL || (text && !*text)) {
        fault(reader, "amount", REASON_REQUIRED);
        return;
    }
    if (!text) {
        fault(reader, "amount", "must be a number");
        return;
    }
    if (pay_card_number_is(text)) {
        fault(reader, "amount", REASON_CARD);
        return;
    }
    request->amount_text = apr_pstrdup(reader->p, text);
    rv = pay_money_parse(&request->money, text, currency);
    if (rv == APR_ERANGE) {
        fault(reader, "amount", "must be more than 0 and at most 999999999999.99");
    } else if (rv != APR_SUCCESS) {
        fault(reader, "amount",
              apr_psprintf(reader->p, "must be a number with at most %d decimals",
                           pay_currency_digits(currency)));
    }
}

static const char *read_name(reader_t *reader, const char *name)
{
    const char *text = pay_json_string(reader->body, name);
    pay_json_type_t type = pay_json_type(reader->body, name);

    if (type == PAY_JSON_ABSENT || type == PAY_JSON_NULL) {
        return "";
    }
    if (!text) {
        fault(reader, name, REASON_STRING_OR_NULL);
        return "";
    }
    if (pay_card_number_is(text)) {
        fault(reader, name, REASON_CARD);
        return "";
    }
    if (strlen(text) > PAY_NAME_MAX || !pay_text_is_plain(text, "")) {
        fault(reader, name,
              "must be at most " APR_STRINGIFY(PAY_NAME_MAX) " bytes without control characters");
        return "";
    }
    return apr_pstrdup(reader->p, text);
}

/*
 * "The same request" is the same token, amount, currency and payer. Each part is led by its
 * length, so that no two different requests have one encoding.
 */
static apr_status_t request_digest(pay_charge_request_t *request, apr_pool_t *p)
{
    const char *amount = apr_psprintf(p, "%" APR_INT64_T_FMT, request->money.amount_minor);
    const char *parts[] = {request->token, amount, request->money.currency, request->email};
    const char *text = "";
    apr_size_t i;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        text = apr_psprintf(p, "%s%" APR_SIZE_T_FMT ":%s,", text, strlen(parts[i]), parts[i]);
    }
    return pay_sha256(request->digest, text, strlen(text));
}

/* 1 when the amount alone is at fault, and only because of the default currency's decimals. */
static int fault_is_of_default(const pay_charge_request_t *request, const pay_problem_t *problem)
{
    pay_money_t money;

    return request->currency_defaulted && request->amount_text && !request->money.amount_minor
           && problem->fields->nelts == 1
           && pay_money_parse(&money, request->amount_text, CURRENCY_LENIENT) == APR_SUCCESS;
}

apr_status_t pay_reference_check(const char *reference)
{
    apr_size_t len;

    for (len = 0; reference[len]; len++) {
        if (len == PAY_REFERENCE_MAX || reference[len] < '!' || reference[len] > '~'
            || strchr("/\\?#", reference[len])) {
            return APR_EINVAL;
        }
    }
    if (len == 0 || !strcmp(reference, ".") || !strcmp(reference, "..")) {
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

const pay_problem_t *pay_charge_request_from_json(pay_charge_request_t **out,
                                                  const pay_json_t *body,
                                                  const char *default_currency, apr_pool_t *p)
{
    pay_charge_request_t *request = apr_pcalloc(p, sizeof(*request));
    reader_t reader = {body, NULL, p};
    char currency[PAY_CURRENCY_LEN + 1];
    apr_status_t rv;

    assert(default_currency);
    *out = NULL;
    read_token(request, &reader);
    read_currency(request, currency, &reader, default_currency);
    read_amount(request, &reader, currency);
    read_email(request, &reader);
    read_reference(request, &reader);
    request->first_name = read_name(&reader, "firstName");
    request->last_name = read_name(&reader, "lastName");
    if (reader.problem && !fault_is_of_default(request, reader.problem)) {
        return reader.problem;
    }
    request->amount_fault = reader.problem;
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
