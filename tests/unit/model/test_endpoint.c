/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/endpoint.h"

#include <string.h>

static const struct {
    const char *name;
    pay_endpoint_kind_t kind; /* 0: no such name */
} kind_cases[] = {
    {"webhook", PAY_ENDPOINT_WEBHOOK},
    {"receipt", PAY_ENDPOINT_RECEIPT},
    {"notice", PAY_ENDPOINT_NOTICE},
    {"", 0},
    {"Webhook", 0},
    {"webhooks", 0},
    {"unknown", 0},
};

START_TEST(test_kind)
{
    const char *name = kind_cases[_i].name;
    pay_endpoint_kind_t kind;

    if (kind_cases[_i].kind) {
        ck_assert_msg(pay_endpoint_kind_parse(&kind, name) == APR_SUCCESS, "%s", name);
        ck_assert_msg(kind == kind_cases[_i].kind, "%s", name);
        ck_assert_str_eq(pay_endpoint_kind_name(kind), name);
    } else {
        ck_assert_msg(pay_endpoint_kind_parse(&kind, name) == APR_EINVAL, "%s", name);
    }
}
END_TEST

START_TEST(test_kind_of_no_name)
{
    ck_assert_str_eq(pay_endpoint_kind_name((pay_endpoint_kind_t)0), "unknown");
    ck_assert_str_eq(pay_endpoint_kind_name((pay_endpoint_kind_t)(PAY_ENDPOINT_KIND_LAST + 1)),
                     "unknown");
}
END_TEST

static const struct {
    apr_uint32_t probes;
    int seconds;
} wait_cases[] = {
    {0, 5},         {1, 5},         {2, 5},          {3, 60},
    {4, 5 * 60},    {5, 30 * 60},   {6, 2 * 3600},   {7, 6 * 3600},
    {8, 12 * 3600}, {9, 12 * 3600}, {10, 12 * 3600}, {APR_UINT32_MAX, 12 * 3600},
};

START_TEST(test_wait)
{
    ck_assert_int_eq(pay_endpoint_wait(wait_cases[_i].probes),
                     apr_time_from_sec(wait_cases[_i].seconds));
}
END_TEST

START_TEST(test_failing)
{
    pay_endpoint_t endpoint = {.failures = PAY_ENDPOINT_FAILURES_MAX - 1};

    ck_assert_int_eq(PAY_ENDPOINT_FAILURES_MAX, 5);
    ck_assert(!pay_endpoint_is_failing(&endpoint));
    endpoint.failures++;
    ck_assert(pay_endpoint_is_failing(&endpoint));
    endpoint.failures = APR_UINT32_MAX;
    ck_assert(pay_endpoint_is_failing(&endpoint));
}
END_TEST

START_TEST(test_secret_context)
{
    static const pay_scope_t test = {12, PAY_TEST}, live = {12, PAY_LIVE};

    ck_assert_str_eq(pay_endpoint_secret_context(&test, unit_pool), "webhook account 12 test");
    ck_assert_str_eq(pay_endpoint_secret_context(&live, unit_pool), "webhook account 12 live");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_kind, 0, UNIT_ROWS(kind_cases));
    tcase_add_test(tcase, test_kind_of_no_name);
    tcase_add_loop_test(tcase, test_wait, 0, UNIT_ROWS(wait_cases));
    tcase_add_test(tcase, test_failing);
    tcase_add_test(tcase, test_secret_context);
}

UNIT_PROGRAM(add)
