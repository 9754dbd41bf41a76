/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/outcome.h"

static const struct {
    pay_held_t held;
    const char *want;
} held_cases[] = {
    {PAY_NOT_HELD, ""},
    {PAY_HELD_OVERDUE, "overdue"},
    {PAY_HELD_NO_ACQUIRER, "no-acquirer"},
    {PAY_HELD_DIFFERENT, "different"},
    {PAY_HELD_LATE, "late"},
    {(pay_held_t)PAY_HELD_COUNT, "unknown"},
};

START_TEST(test_held_name)
{
    ck_assert_str_eq(pay_held_name(held_cases[_i].held), held_cases[_i].want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_held_name, 0, UNIT_ROWS(held_cases));
}

UNIT_PROGRAM(add)
