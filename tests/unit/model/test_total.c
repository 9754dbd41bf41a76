/* SPDX-License-Identifier: Apache-2.0 */
#include "model/total.h"

#include "unit.h"

#include <string.h>

#define STEP PAY_TOTAL_STEP

static const struct {
    const char *name;
    apr_time_t when;
    apr_time_t want;
} steps[] = {
    {"the epoch", 0, 0},
    {"its last microsecond", STEP - 1, 0},
    {"the next one", STEP, STEP},
    {"before the epoch", -1, -STEP},
    {"a step before the epoch", -STEP, -STEP},
    {"beyond that", -STEP - 1, -2 * STEP},
    {"today", APR_TIME_C(1795243660123000), APR_TIME_C(1795243500000000)},
    {"the last time of all", APR_INT64_MAX, APR_INT64_MAX / STEP *STEP},
    {"the first time of all", APR_INT64_MIN, APR_INT64_MIN},
    {"the first step of all", APR_INT64_MIN / STEP *STEP, APR_INT64_MIN / STEP *STEP},
    {"just before it", APR_INT64_MIN / STEP *STEP - 1, APR_INT64_MIN},
};

START_TEST(test_step)
{
    apr_time_t step = pay_total_step(steps[_i].when);

    ck_assert_msg(step == steps[_i].want, "%s: %lld", steps[_i].name, (long long)step);
}
END_TEST

START_TEST(test_add)
{
    pay_total_t total = {.from = STEP, .currency = "EUR", .charges = 1, .charged = {0, 5}};
    const pay_total_t more = {.from = 2 * STEP,
                              .currency = "NGN",
                              .charges = 2,
                              .charged = {1, PAY_SUM_LOW_END - 1},
                              .failed = 3,
                              .refunds = 4,
                              .refunded = {0, 6},
                              .fees = {0, 7}};

    pay_total_add(&total, &more);
    ck_assert(total.from == STEP);
    ck_assert_str_eq(total.currency, "EUR");
    ck_assert(total.charges == 3 && total.failed == 3 && total.refunds == 4);
    ck_assert(total.charged.high == 2 && total.charged.low == 4);
    ck_assert(total.refunded.high == 0 && total.refunded.low == 6);
    ck_assert(total.fees.high == 0 && total.fees.low == 7);
}
END_TEST

static const struct {
    const char *name;
    pay_total_t total;
    int want;
} zeros[] = {
    {"nothing", {.from = 0}, 1},
    {"time and currency count nothing", {.from = STEP, .currency = "EUR"}, 1},
    {"charges", {.charges = 1}, 0},
    {"charged", {.charged = {0, 1}}, 0},
    {"much charged", {.charged = {1, 0}}, 0},
    {"failed", {.failed = 1}, 0},
    {"refunds", {.refunds = 1}, 0},
    {"refunded", {.refunded = {0, 1}}, 0},
    {"fees", {.fees = {0, 1}}, 0},
};

START_TEST(test_is_zero)
{
    ck_assert_msg(pay_total_is_zero(&zeros[_i].total) == zeros[_i].want, "%s", zeros[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_step, 0, UNIT_ROWS(steps));
    tcase_add_test(tcase, test_add);
    tcase_add_loop_test(tcase, test_is_zero, 0, UNIT_ROWS(zeros));
}

UNIT_PROGRAM(add)
