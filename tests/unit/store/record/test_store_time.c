/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/record/time.h"

#define MS APR_TIME_C(1000)

static const struct {
    const char *name;
    apr_time_t when;
    apr_time_t want;
} cut_cases[] = {
    {"whole milliseconds stay", TILL_NOW, TILL_NOW},
    {"the last microsecond of one", TILL_NOW + 999, TILL_NOW},
    {"zero", 0, 0},
    {"before 1970, towards the past", -1, -MS},
    {"before 1970, whole milliseconds stay", -MS, -MS},
};

START_TEST(test_cut)
{
    apr_time_t got = pay_store_time_cut(cut_cases[_i].when);

    ck_assert_msg(got == cut_cases[_i].want, "%s: got %" APR_INT64_T_FMT, cut_cases[_i].name, got);
}
END_TEST

START_TEST(test_now_is_in_whole_milliseconds)
{
    till_clock = TILL_NOW + 1;
    ck_assert_int_eq(pay_store_time_now(), TILL_NOW);
}
END_TEST

START_TEST(test_updated_at_is_not_before_the_row)
{
    till_clock = TILL_NOW + 1;
    ck_assert_int_eq(pay_store_time_not_before(0), TILL_NOW);
    ck_assert_int_eq(pay_store_time_not_before(TILL_NOW + 7 * MS), TILL_NOW + 7 * MS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_cut, 0, UNIT_ROWS(cut_cases));
    tcase_add_test(tcase, test_now_is_in_whole_milliseconds);
    tcase_add_test(tcase, test_updated_at_is_not_before_the_row);
}

UNIT_PROGRAM(add)
