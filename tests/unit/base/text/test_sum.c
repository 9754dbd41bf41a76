/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/sum.h"

#include "unit.h"

#include <string.h>

#define LARGEST APR_INT64_MAX
#define SMALLEST APR_INT64_MIN
#define PART (PAY_SUM_LOW_END / 2)

static const struct {
    const char *name;
    apr_int64_t amounts[4];
    const char *currency;
    const char *want;
} rows[] = {
    {"nothing", {0}, "EUR", "0.00"},
    {"nothing in yen", {0}, "JPY", "0"},
    {"one cent", {1}, "EUR", "0.01"},
    {"three decimals", {1, 999}, "KWD", "1.000"},
    {"four decimals", {5}, "CLF", "0.0005"},
    {"unknown currency", {12}, "", "12"},
    {"minus one cent", {-1}, "EUR", "-0.01"},
    {"below zero and back", {-5, 7}, "EUR", "0.02"},
    {"to zero again", {5, -5}, "EUR", "0.00"},
    {"up to the end of low", {PART, PART - 1}, "JPY", "999999999999999999"},
    {"one past the end of low", {PART, PART - 1, 1}, "JPY", "1000000000000000000"},
    {"and back", {PART, PART, -1}, "JPY", "999999999999999999"},
    {"the end of low below zero", {-PART, -PART}, "JPY", "-1000000000000000000"},
    {"one past it", {-PART, -PART, -1}, "JPY", "-1000000000000000001"},
    {"largest", {LARGEST}, "JPY", "9223372036854775807"},
    {"smallest", {SMALLEST}, "EUR", "-92233720368547758.08"},
    {"largest four times", {LARGEST, LARGEST, LARGEST, LARGEST}, "EUR", "368934881474191032.28"},
    {"smallest four times",
     {SMALLEST, SMALLEST, SMALLEST, SMALLEST},
     "JPY",
     "-36893488147419103232"},
    {"largest and smallest", {LARGEST, SMALLEST}, "EUR", "-0.01"},
};

START_TEST(test_format)
{
    char text[PAY_SUM_TEXT_MAX];
    pay_sum_t sum = {0, 0}, parts = {0, 0}, rest = {0, 0};
    int i;

    for (i = 0; i < 4; i++) {
        pay_sum_t one = {0, 0};

        pay_sum_add(&sum, rows[_i].amounts[i]);
        pay_sum_add(&one, rows[_i].amounts[i]);
        pay_sum_add_sum(&parts, &one);
        ck_assert_msg(sum.low >= 0 && sum.low < PAY_SUM_LOW_END, "%s", rows[_i].name);
    }
    ck_assert_ptr_eq(pay_sum_format(text, &sum, rows[_i].currency), text);
    ck_assert_msg(strcmp(text, rows[_i].want) == 0, "%s: '%s'", rows[_i].name, text);
    ck_assert_msg(pay_sum_compare(&sum, &parts) == 0, "%s: its parts differ", rows[_i].name);
    pay_sum_subtract_sum(&sum, &parts);
    ck_assert_msg(pay_sum_compare(&sum, &rest) == 0, "%s: something is left", rows[_i].name);
    pay_sum_subtract_sum(&rest, &parts); /* as for a net sum if more was refunded */
    ck_assert_msg(rest.low >= 0 && rest.low < PAY_SUM_LOW_END, "%s: no borrow", rows[_i].name);
    pay_sum_add_sum(&rest, &parts);
    ck_assert_msg(pay_sum_compare(&sum, &rest) == 0, "%s: not back at nothing", rows[_i].name);
}
END_TEST

/* In ascending order. */
static const pay_sum_t order[] = {
    {APR_INT64_MIN, 0},
    {-2, PAY_SUM_LOW_END - 1},
    {-1, 0},
    {-1, PAY_SUM_LOW_END - 1},
    {0, 0},
    {0, 1},
    {1, 0},
    {1, 1},
    {APR_INT64_MAX, 0},
};

START_TEST(test_compare)
{
    int i;

    for (i = 0; i < UNIT_ROWS(order); i++) {
        int got = pay_sum_compare(&order[_i], &order[i]);

        ck_assert_msg((got > 0) - (got < 0) == (_i > i) - (_i < i), "row %d against %d: %d", _i, i,
                      got);
    }
}
END_TEST

/* The widest texts fit. */
static const struct {
    const char *name;
    pay_sum_t sum;
    const char *want;
} widest[] = {
    {"largest", {APR_INT64_MAX, PAY_SUM_LOW_END - 1}, "922337203685477580799999999999999.9999"},
    {"smallest", {APR_INT64_MIN, 0}, "-922337203685477580800000000000000.0000"},
    {"one above the smallest", {APR_INT64_MIN, 1}, "-922337203685477580799999999999999.9999"},
};

START_TEST(test_widest)
{
    char text[PAY_SUM_TEXT_MAX];

    memset(text, 'x', sizeof(text));
    (void)pay_sum_format(text, &widest[_i].sum, "0000"); /* no currency: no decimals */
    ck_assert_ptr_null(strchr(text, '.'));
    (void)pay_sum_format(text, &widest[_i].sum, "CLF");
    ck_assert_msg(strlen(text) == strlen(widest[_i].want), "%s: '%s'", widest[_i].name, text);
    ck_assert_msg(strcmp(text, widest[_i].want) == 0, "%s: '%s'", widest[_i].name, text);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_format, 0, UNIT_ROWS(rows));
    tcase_add_loop_test(tcase, test_compare, 0, UNIT_ROWS(order));
    tcase_add_loop_test(tcase, test_widest, 0, UNIT_ROWS(widest));
}

UNIT_PROGRAM(add)
