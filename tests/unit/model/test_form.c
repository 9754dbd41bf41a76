/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/problem.h"
#include "base/text/json.h"
#include "model/form.h"

#include <string.h>

#define R10 "a.b%c-1_2~"
#define R100 R10 R10 R10 R10 R10 R10 R10 R10 R10 R10

static pay_form_t form_of(const char *member)
{
    const char *text = apr_psprintf(unit_pool, "{\"other\":1%s%s}", *member ? "," : "", member);
    pay_form_t form = {NULL, NULL, unit_pool, NULL};
    const char *reason;

    ck_assert_msg(pay_json_parse(&form.body, &reason, text, strlen(text), unit_pool) == APR_SUCCESS,
                  "%s: %s", text, reason);
    return form;
}

/* The reason of the form's only fault, "" if it has none. */
static const char *reason_of(const pay_form_t *form, const char *field)
{
    const pay_field_error_t *fault;

    if (!form->problem) {
        return "";
    }
    ck_assert_int_eq(form->problem->error, PAY_ERR_INVALID);
    ck_assert_int_eq(form->problem->fields->nelts, 1);
    fault = &APR_ARRAY_IDX(form->problem->fields, 0, pay_field_error_t);
    ck_assert_str_eq(fault->field, field);
    return fault->reason;
}

static const struct {
    const char *name;
    const char *member;
    const char *want;   /* NULL: at fault */
    const char *reason; /* its beginning */
} reference_cases[] = {
    {"plain", "\"r\":\"order-1\"", "order-1", ""},
    {"one character", "\"r\":\"!\"", "!", ""},
    {"100 characters, dots and percent signs", "\"r\":\"" R100 "\"", R100, ""},
    {"a 13-digit time", "\"r\":\"1763701200000\"", "1763701200000", ""},
    {"a phone number", "\"r\":\"+2348012345678\"", "+2348012345678", ""},
    {"dots", "\"r\":\"...\"", "...", ""},
    {"absent", "", NULL, "is required"},
    {"null", "\"r\":null", NULL, "is required"},
    {"empty", "\"r\":\"\"", NULL, "is required"},
    {"a number", "\"r\":5", NULL, "must be a string"},
    {"an object", "\"r\":{}", NULL, "must be a string"},
    {"101 characters", "\"r\":\"" R100 "x\"", NULL, "must be 1 to 100"},
    {"a dot", "\"r\":\".\"", NULL, "must be 1 to 100"},
    {"two dots", "\"r\":\"..\"", NULL, "must be 1 to 100"},
    {"a slash", "\"r\":\"a/b\"", NULL, "must be 1 to 100"},
    {"a backslash", "\"r\":\"a\\\\b\"", NULL, "must be 1 to 100"},
    {"a question mark", "\"r\":\"a?b\"", NULL, "must be 1 to 100"},
    {"a hash", "\"r\":\"a#b\"", NULL, "must be 1 to 100"},
    {"a blank", "\"r\":\"a b\"", NULL, "must be 1 to 100"},
    {"a control character", "\"r\":\"a\\u0001\"", NULL, "must be 1 to 100"},
    {"DEL", "\"r\":\"a\\u007f\"", NULL, "must be 1 to 100"},
    {"not ASCII", "\"r\":\"caf\\u00e9\"", NULL, "must be 1 to 100"},
    {"a card number", "\"r\":\"4111111111111111\"", NULL, "must not be a card number"},
    {"a card number in groups", "\"r\":\"4111-1111-1111-1111\"", NULL, "must not be a card number"},
};

START_TEST(test_reference)
{
    pay_form_t form = form_of(reference_cases[_i].member);
    const char *got = pay_form_reference(&form, "r"), *name = reference_cases[_i].name;
    const char *reason = reason_of(&form, "/r"), *want = reference_cases[_i].reason;

    ck_assert_msg((got != NULL) == (reference_cases[_i].want != NULL), "%s: %s", name, reason);
    ck_assert_msg(!strncmp(reason, want, strlen(want)) && !*reason == !*want, "%s: %s", name,
                  reason);
    if (got) {
        ck_assert_str_eq(got, reference_cases[_i].want);
    }
}
END_TEST

static const struct {
    const char *name;
    const char *member;
    const char *want; /* NULL: none */
    int faulty;
} amount_cases[] = {
    {"a number", "\"n\":10.50", "10.50", 0},
    {"its text", "\"n\":\"10.50\"", "10.50", 0},
    {"four decimals", "\"n\":0.0001", "0.0001", 0},
    {"an exponent", "\"n\":1e1", "1e1", 0},
    {"the largest", "\"n\":999999999999.99", "999999999999.99", 0},
    {"absent", "", NULL, 0},
    {"null", "\"n\":null", NULL, 0},
    {"empty", "\"n\":\"\"", NULL, 1},
    {"no number", "\"n\":\"ten\"", NULL, 1},
    {"blanks around", "\"n\":\" 10\"", NULL, 1},
    {"grouped", "\"n\":\"1,000\"", NULL, 1},
    {"true", "\"n\":true", NULL, 1},
    {"an array", "\"n\":[1]", NULL, 1},
    {"zero", "\"n\":0", NULL, 1},
    {"zero in text", "\"n\":\"0.00\"", NULL, 1},
    {"negative", "\"n\":-1", NULL, 1},
    {"five decimals", "\"n\":0.00001", NULL, 1},
    {"above the largest", "\"n\":1000000000000", NULL, 1},
    {"beyond any type", "\"n\":1e300", NULL, 1},
};

START_TEST(test_amount)
{
    pay_form_t form = form_of(amount_cases[_i].member);
    const char *got = pay_form_amount(&form, "n"), *name = amount_cases[_i].name;

    ck_assert_msg((form.problem != NULL) == amount_cases[_i].faulty, "%s", name);
    ck_assert_msg(!!*reason_of(&form, "/n") == amount_cases[_i].faulty, "%s", name);
    ck_assert_msg((got != NULL) == (amount_cases[_i].want != NULL), "%s: %s", name, got);
    if (got) {
        ck_assert_str_eq(got, amount_cases[_i].want);
    }
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *currency;
    apr_int64_t minor;
    const char *reason; /* NULL: none */
} fault_cases[] = {
    {"two decimals", "1.05", "NGN", 105, NULL},
    {"no decimals", "5", "JPY", 5, NULL},
    {"three decimals", "1.005", "KWD", 1005, NULL},
    {"four decimals, currency unknown", "1.0005", NULL, 10005, NULL},
    {"too many for it", "1.005", "NGN", 0, "must be a number with at most 2 decimals"},
    {"none allowed", "1.5", "JPY", 0, "must be a number with at most 0 decimals"},
    {"no currency has so many", "1.00005", NULL, 0,
     "must be a number with no more decimals than the currency has"},
    {"zero", "0", "NGN", 0, "must be more than 0 and at most 999999999999.99"},
};

START_TEST(test_amount_fault)
{
    pay_money_t money;
    const char *reason =
        pay_amount_fault(&money, fault_cases[_i].text, fault_cases[_i].currency, unit_pool);

    ck_assert_pstr_eq(reason, fault_cases[_i].reason);
    ck_assert_int_eq(money.amount_minor, fault_cases[_i].minor);
}
END_TEST

START_TEST(test_string)
{
    pay_form_t form = form_of("\"s\":\"x\",\"empty\":\"\",\"null\":null,\"n\":1");

    ck_assert_str_eq(pay_form_string(&form, "s"), "x");
    ck_assert_str_eq(pay_form_string(&form, "empty"), "");
    ck_assert_ptr_null(pay_form_string(&form, "null"));
    ck_assert_ptr_null(pay_form_string(&form, "absent"));
    ck_assert_ptr_null(form.problem);
    ck_assert_int_eq(pay_form_is_given(&form, "empty"), 1);
    ck_assert_int_eq(pay_form_is_given(&form, "null"), 0);
    ck_assert_int_eq(pay_form_is_given(&form, "absent"), 0);
    ck_assert_ptr_null(pay_form_string(&form, "n"));
    ck_assert_str_eq(reason_of(&form, "/n"), "must be a string or null");
}
END_TEST

START_TEST(test_bool)
{
    pay_form_t form = form_of("\"yes\":true,\"no\":false,\"null\":null,\"text\":\"true\"");

    ck_assert_int_eq(pay_form_bool(&form, "yes"), 1);
    ck_assert_int_eq(pay_form_bool(&form, "no"), 0);
    ck_assert_int_eq(pay_form_bool(&form, "null"), -1);
    ck_assert_int_eq(pay_form_bool(&form, "absent"), -1);
    ck_assert_ptr_null(form.problem);
    ck_assert_int_eq(pay_form_bool(&form, "text"), -1);
    ck_assert_str_eq(reason_of(&form, "/text"), "must be true or false");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_reference, 0, UNIT_ROWS(reference_cases));
    tcase_add_loop_test(tcase, test_amount, 0, UNIT_ROWS(amount_cases));
    tcase_add_loop_test(tcase, test_amount_fault, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_string);
    tcase_add_test(tcase, test_bool);
}

UNIT_PROGRAM(add)
