/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/problem.h"
#include "base/text/timezone.h"
#include "model/refund.h"

#include <string.h>

#define DAY APR_INT64_C(86400000000)
#define HOUR APR_INT64_C(3600000000)
#define JAN_1 APR_INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

static const struct {
    const char *name;
    const char *zone;
    const char *start, *end;
    apr_time_t from, to;
} range_cases[] = {
    {"the end date's whole day is in", "UTC", "2026-01-01", "2026-01-01", JAN_1, JAN_1 + DAY - 1},
    {"two days", "UTC", "2026-01-01", "2026-01-02", JAN_1, JAN_1 + 2 * DAY - 1},
    {"days of Lagos begin an hour earlier", "Africa/Lagos", "2026-01-01", "2026-01-01",
     JAN_1 - HOUR, JAN_1 - HOUR + DAY - 1},
    {"a day of 23 hours", "Europe/Berlin", "2026-03-29", "2026-03-29", JAN_1 + 87 * DAY - HOUR,
     JAN_1 + 87 * DAY + 22 * HOUR - 1},
    {"date-times are instants in any zone", "Africa/Lagos", "2026-01-01T00:00:00Z",
     "2026-01-01T01:00:00Z", JAN_1, JAN_1 + HOUR},
    {"one instant", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", JAN_1, JAN_1},
    {"offset with a plus sign", "UTC", "2026-01-01T01:00:00+01:00", "2026-01-01T02:00:00+01:00",
     JAN_1, JAN_1 + HOUR},
    {"milliseconds", "UTC", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.002Z", JAN_1 + 1000,
     JAN_1 + 2000},
    {"from an instant to a day", "UTC", "2026-01-01T12:00:00Z", "2026-01-01", JAN_1 + 12 * HOUR,
     JAN_1 + DAY - 1},
    {"from a day to an instant", "UTC", "2026-01-01", "2026-01-02T00:00:00Z", JAN_1, JAN_1 + DAY},
    {"a day that the zone has not is empty", "Pacific/Apia", "2011-12-30", "2011-12-30",
     JAN_1 - 5116 * DAY + 10 * HOUR, JAN_1 - 5116 * DAY + 10 * HOUR - 1},
    {"a range over it", "Pacific/Apia", "2011-12-29", "2011-12-31", JAN_1 - 5117 * DAY + 10 * HOUR,
     JAN_1 - 5115 * DAY + 10 * HOUR - 1},
    {"leap day", "UTC", "2024-02-29", "2024-02-29", JAN_1 - 672 * DAY, JAN_1 - 671 * DAY - 1},
};

START_TEST(test_range)
{
    const pay_timezone_t *zone;
    const pay_problem_t *problem;
    pay_time_range_t range;

    ck_assert_int_eq(pay_timezone_load(&zone, range_cases[_i].zone, unit_pool), APR_SUCCESS);
    problem = pay_refund_range_parse(&range, range_cases[_i].start, range_cases[_i].end, zone, 0,
                                     unit_pool);
    ck_assert_msg(problem == NULL, "%s", range_cases[_i].name);
    ck_assert_msg(range.from == range_cases[_i].from, "%s: from %" APR_INT64_T_FMT,
                  range_cases[_i].name, range.from);
    ck_assert_msg(range.to == range_cases[_i].to, "%s: to %" APR_INT64_T_FMT, range_cases[_i].name,
                  range.to);
}
END_TEST

static const struct {
    const char *name;
    const char *start, *end;
    int days_max;
    const char *want; /* fields at fault */
} fault_cases[] = {
    {"the widest of dates", "0001-01-01", "9999-12-31", 0, ""},
    {"the widest of instants", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", 0, ""},
    {"end before start", "2026-01-02", "2026-01-01", 0, "/endDate"},
    {"end an instant before start", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00Z", 0,
     "/endDate"},
    {"the day ended before the instant", "2026-01-02T00:00:00Z", "2026-01-01", 0, "/endDate"},
    {"no such day", "2026-02-30", "2026-03-01", 0, "/startDate"},
    {"no leap year", "2025-01-01", "2025-02-29", 0, "/endDate"},
    {"both", "01-01-2026", "2026-13-01", 0, "/startDate /endDate"},
    {"empty", "", "", 0, "/startDate /endDate"},
    {"without zeros", "2026-1-1", "2026-01-01", 0, "/startDate"},
    {"date-time without an offset", "2026-01-01T00:00:00", "2026-01-02", 0, "/startDate"},
    {"a plus sign that became a blank", "2026-01-01T00:00:00 01:00", "2026-01-02", 0, "/startDate"},
    {"blank behind", "2026-01-01 ", "2026-01-02", 0, "/startDate"},
    {"more behind", "2026-01-01", "2026-01-02x", 0, "/endDate"},
    {"seconds", "1767225600", "2026-01-02", 0, "/startDate"},

    {"at the longest span of days", "2026-01-01", "2026-01-08", 7, ""},
    {"one day longer", "2026-01-01", "2026-01-09", 7, "/endDate"},
    {"at the longest span of time", "2026-01-01T00:00:00Z", "2026-01-08T00:00:00Z", 7, ""},
    {"one microsecond longer", "2026-01-01T00:00:00Z", "2026-01-08T00:00:00.000001Z", 7,
     "/endDate"},
    {"mixed, within", "2026-01-01T12:00:00Z", "2026-01-07", 7, ""},
    {"mixed, one day longer", "2026-01-01T12:00:00Z", "2026-01-08", 7, "/endDate"},
    {"any span", "2020-01-01", "2026-01-01", 0, ""},
};

START_TEST(test_faults)
{
    const pay_timezone_t *zone;
    const pay_problem_t *problem;
    pay_time_range_t range = {1, 1};
    const char *got = "";
    int i;

    ck_assert_int_eq(pay_timezone_load(&zone, "UTC", unit_pool), APR_SUCCESS);
    problem = pay_refund_range_parse(&range, fault_cases[_i].start, fault_cases[_i].end, zone,
                                     fault_cases[_i].days_max, unit_pool);
    for (i = 0; problem && i < problem->fields->nelts; i++) {
        got = apr_pstrcat(unit_pool, got, *got ? " " : "",
                          APR_ARRAY_IDX(problem->fields, i, pay_field_error_t).field, NULL);
    }
    ck_assert_msg(!strcmp(got, fault_cases[_i].want), "%s: %s", fault_cases[_i].name, got);
    if (problem) {
        ck_assert_int_eq(problem->error, PAY_ERR_INVALID);
        ck_assert_msg(range.from == 0 && range.to == 0, "%s", fault_cases[_i].name);
    }
}
END_TEST

/* Eight local days are accepted when the clock is put back, although they last an hour longer. */
START_TEST(test_span_counts_local_days)
{
    const pay_timezone_t *zone;
    pay_time_range_t range;

    ck_assert_int_eq(pay_timezone_load(&zone, "Europe/Berlin", unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(
        pay_refund_range_parse(&range, "2026-10-20", "2026-10-27", zone, 7, unit_pool));
    ck_assert_int_eq(range.to - range.from, 8 * DAY + HOUR - 1);
    ck_assert_ptr_nonnull(
        pay_refund_range_parse(&range, "2026-10-20", "2026-10-28", zone, 7, unit_pool));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_range, 0, UNIT_ROWS(range_cases));
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_span_counts_local_days);
}

UNIT_PROGRAM(add)
