/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/problem.h"
#include "base/text/json.h"
#include "base/text/writer.h"
#include "model/charge_request.h"
#include "model/email.h"
#include "model/refund.h"
#include "model/text.h"
#include "model/token.h"
#include "model/transaction.h"

#include <jansson.h>

/* A request's body, read as each operation reads it, and as a record of an import. */

static void check_problem(const pay_problem_t *problem)
{
    const pay_field_error_t *field;
    int i;

    CHECK(problem->status == 400 && problem->fields && problem->fields->nelts >= 1);
    for (i = 0; i < problem->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        CHECK(field->field[0] == '/' && field->field[1]);
        CHECK(*field->reason && pay_text_is_plain(field->reason, ""));
    }
}

static const pay_json_t *parse(const char *text, size_t len, apr_pool_t *p)
{
    const pay_json_t *json;
    const char *reason;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, text, len, p);
    CHECK((rv == APR_SUCCESS) == (json != NULL) && (json != NULL) == (reason == NULL));
    CHECK(json || pay_text_is_plain(reason, ""));
    return json;
}

/* Each member as jansson sees it; the literals of numbers are our own reading of the text. */
static void check_members(const pay_json_t *json, const char *text, size_t len)
{
    json_t *root = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, NULL), *value;
    const char *name, *literal;
    char *end;

    CHECK(root && json_object_size(root) == pay_json_count(json));
    json_object_foreach(root, name, value)
    {
        literal = pay_json_number(json, name);
        CHECK((literal != NULL) == json_is_real(value));
        CHECK((literal != NULL) == (pay_json_type(json, name) == PAY_JSON_NUMBER));
        CHECK((pay_json_string(json, name) != NULL) == json_is_string(value));
        if (literal) {
            CHECK(strtod(literal, &end) == json_real_value(value) && !*end);
        }
    }
    json_decref(root);
}

static void check_charge(const pay_json_t *json, const char *currency, apr_pool_t *p)
{
    pay_charge_request_t *request, *rebased;
    const pay_problem_t *problem;
    const char *email;

    problem = pay_charge_request_from_json(&request, json, currency, p);
    CHECK((problem == NULL) == (request != NULL));
    if (problem) {
        check_problem(problem);
        return;
    }
    CHECK(pay_reference_check(request->reference) == APR_SUCCESS);
    CHECK(pay_token_text_check(request->token) == APR_SUCCESS);
    CHECK(pay_email_normalize(&email, request->email, p) == APR_SUCCESS);
    CHECK(!strcmp(email, request->email) && strlen(email) <= PAY_EMAIL_MAX);
    CHECK(pay_text_is_plain(request->first_name, "") && pay_text_is_plain(request->last_name, ""));
    CHECK(pay_text_length(request->first_name) <= PAY_NAME_MAX);
    CHECK(pay_text_length(request->last_name) <= PAY_NAME_MAX);
    if (request->amount_fault) {
        check_problem(request->amount_fault);
        CHECK(request->currency_defaulted);
        return;
    }
    CHECK(request->money.amount_minor > 0 && pay_currency_digits(request->money.currency) >= 0);
    CHECK(pay_charge_request_rebase(&rebased, request, request->money.currency, p) == APR_SUCCESS);
    CHECK(rebased->money.amount_minor == request->money.amount_minor);
    CHECK(!memcmp(rebased->digest, request->digest, sizeof(request->digest)));
}

static const char *record_text(const pay_refund_t *refund, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(0, p);

    pay_refund_to_json(w, NULL, refund);
    return w->text;
}

/* A record that was accepted is written in an acceptable form, and is written the same again. */
static void check_record(const pay_json_t *json, pay_mode_t mode, apr_pool_t *p)
{
    pay_refund_t *refund, *back;
    const pay_problem_t *problem;
    const char *text;

    problem = pay_refund_from_json(&refund, json, mode, p);
    CHECK((problem == NULL) == (refund != NULL));
    if (problem) {
        check_problem(problem);
        return;
    }
    text = record_text(refund, p);
    CHECK(strlen(text) <= PAY_REFUND_TEXT_MAX);
    json = parse(text, strlen(text), p);
    CHECK(json && pay_json_count(json) == 12);
    CHECK(!pay_refund_from_json(&back, json, mode, p));
    CHECK(!strcmp(record_text(back, p), text));
}

static void check_refund(const pay_json_t *json, int partial, apr_pool_t *p)
{
    pay_refund_request_t *request;
    const pay_problem_t *problem;
    pay_money_t money;

    problem = pay_refund_request_from_json(&request, json, partial, p);
    CHECK((problem == NULL) == (request != NULL));
    if (problem) {
        check_problem(problem);
        return;
    }
    CHECK(pay_reference_check(request->reference) == APR_SUCCESS);
    CHECK(!pay_note_fault(request->customer_note) && !pay_note_fault(request->merchant_note));
    CHECK(request->amount || !partial);
    /* Four decimals are the most that a currency has. */
    CHECK(!request->amount || pay_money_parse(&money, request->amount, "CLF") == APR_SUCCESS);
}

static void check_transaction(const pay_json_t *json, apr_pool_t *p)
{
    pay_verify_request_t *request;
    const pay_problem_t *problem;
    const char *reference;
    pay_money_t money;

    problem = pay_verify_request_from_json(&request, json, p);
    CHECK((problem == NULL) == (request != NULL));
    if (problem) {
        check_problem(problem);
    } else {
        CHECK(pay_reference_check(request->reference) == APR_SUCCESS);
        CHECK(!request->amount || pay_money_parse(&money, request->amount, "CLF") == APR_SUCCESS);
    }
    problem = pay_void_reference_from_json(&reference, json, p);
    CHECK((problem == NULL) == (reference != NULL));
    if (problem) {
        check_problem(problem);
    } else {
        CHECK(pay_reference_check(reference) == APR_SUCCESS);
    }
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *text = fuzz_copy(data, size);
    const pay_json_t *json = parse(text, size, p);

    if (!json) {
        return;
    }
    check_members(json, text, size);
    check_charge(json, "NGN", p);
    check_charge(json, "JPY", p);
    check_record(json, PAY_TEST, p);
    check_record(json, PAY_LIVE, p);
    check_refund(json, 0, p);
    check_refund(json, 1, p);
    check_transaction(json, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
