/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/shared/moment.h"
#include "base/shared/worker.h"
#include "base/text/time.h"

#define NOW APR_TIME_C(1800000000000000)
#define SECOND apr_time_from_sec(1)

static apr_time_t clock_read(void)
{
    return NOW;
}

static pay_moment_t moment_read(void)
{
    return (pay_moment_t){7, 5000};
}

static const struct {
    const char *name;
    pay_moment_t moment;
    int known;
    apr_interval_time_t age;
} rows[] = {
    {"now", {7, 5000}, 1, 0},
    {"four seconds ago", {7, 1000}, 1, 4 * SECOND},
    {"when the machine was started", {7, 0}, 1, 5 * SECOND},
    {"of another boot", {8, 1000}, 0, 0},
    {"none", {0, 0}, 0, 0},
    {"ahead: another machine's", {7, 5001}, 0, 0},
};

START_TEST(test_age)
{
    apr_interval_time_t age = 1;

    pay_time_set_source(clock_read);
    pay_moment_set_source(moment_read);
    ck_assert_msg(pay_moment_age(&age, &rows[_i].moment) == rows[_i].known, "%s", rows[_i].name);
    ck_assert_int_eq(age, rows[_i].age);
    ck_assert_int_eq(pay_moment_wall(&rows[_i].moment, 42), rows[_i].known ? NOW - age : 42);
}
END_TEST

START_TEST(test_of_this_boot)
{
    const pay_moment_t moment = (pay_moment_set_source(NULL), pay_moment_now());
    apr_interval_time_t age;

    ck_assert_int_eq(moment.boot_id, pay_worker_self().boot_id);
    ck_assert_int_ne(moment.boot_id, 0);
    ck_assert_int_eq(pay_moment_age(&age, &moment), 1);
    ck_assert_int_lt(age, 600 * SECOND);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_age, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_of_this_boot);
}

UNIT_PROGRAM(add)
