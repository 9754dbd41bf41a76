/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "service/reconcile/reconcile.h"

#define NOW APR_TIME_C(1800000000000000)
#define SECOND apr_time_from_sec(1)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static const struct {
    const char *name;
    apr_interval_time_t age;
    apr_uint32_t attempts;
    apr_interval_time_t wait;
} next_cases[] = {
    {"none asked", 0, 0, SECOND},
    {"first", 2 * SECOND, 1, SECOND},
    {"second", 3 * SECOND, 2, 2 * SECOND},
    {"sixth", MINUTE, 6, 32 * SECOND},
    {"seventh", 2 * MINUTE, 7, MINUTE},
    {"many", HOUR - SECOND, 0xffffffffu, MINUTE},
    {"an hour", HOUR, 60, HOUR},
    {"an hour, few asked", HOUR, 1, HOUR},
    {"weeks", 90 * DAY - SECOND, 2000, HOUR},
    {"90 days", 90 * DAY, 2200, DAY},
    {"years", 4000 * DAY, 0xffffffffu, DAY},
    {"a clock that stepped back", -DAY, 1, SECOND},
};

START_TEST(test_next)
{
    apr_time_t next = pay_reconcile_next(NOW, NOW - next_cases[_i].age, next_cases[_i].attempts);

    ck_assert_msg(next == NOW + next_cases[_i].wait, "%s: %d s", next_cases[_i].name,
                  (int)apr_time_sec(next - NOW));
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t now, next; /* counted from the decision; next 0: no more */
} late_cases[] = {
    {"decided just now", 0, 6 * HOUR},
    {"a clock that stepped back counts from now", -DAY, 6 * HOUR - DAY},
    {"just before the first", 6 * HOUR - 1, 6 * HOUR},
    {"the first", 6 * HOUR, DAY},
    {"the second", DAY, 3 * DAY},
    {"the third", 3 * DAY, 7 * DAY},
    {"one was left out", 2 * DAY, 3 * DAY},
    {"just before the last", 7 * DAY - 1, 7 * DAY},
    {"the last", 7 * DAY, 0},
    {"years", 4000 * DAY, 0},
};

START_TEST(test_next_late)
{
    apr_time_t next = pay_reconcile_next_late(NOW + late_cases[_i].now, NOW);

    ck_assert_msg(next == (late_cases[_i].next ? NOW + late_cases[_i].next : 0), "%s: %d s",
                  late_cases[_i].name, (int)apr_time_sec(next - NOW));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_next, 0, UNIT_ROWS(next_cases));
    tcase_add_loop_test(tcase, test_next_late, 0, UNIT_ROWS(late_cases));
}

UNIT_PROGRAM(add)
