/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/tzrule.h"

#include "base/text/time.h"
#include "unit.h"

#define HOUR 3600

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
    apr_int64_t offset;
    int has_summer;
    apr_int64_t summer_offset;
} parse_rows[] = {
    {"west", "EST5", APR_SUCCESS, -5 * HOUR, 0, 0},
    {"east", "WAT-1", APR_SUCCESS, HOUR, 0, 0},
    {"plus sign", "EST+5", APR_SUCCESS, -5 * HOUR, 0, 0},
    {"quoted name", "<+0545>-5:45", APR_SUCCESS, 5 * HOUR + 45 * 60, 0, 0},
    {"seconds", "LMT-0:19:32", APR_SUCCESS, 19 * 60 + 32, 0, 0},
    {"summer", "CET-1CEST,M3.5.0,M10.5.0/3", APR_SUCCESS, HOUR, 1, 2 * HOUR},
    {"own summer offset", "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", APR_SUCCESS, 0, 1, 2 * HOUR},
    {"winter time", "IST-1GMT0,M10.5.0,M3.5.0/1", APR_SUCCESS, HOUR, 1, 0},
    {"negative time", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", APR_SUCCESS, -2 * HOUR, 1, -HOUR},
    {"day counts", "XXX3YYY,J60/0,300/24", APR_SUCCESS, -3 * HOUR, 1, -2 * HOUR},
    {"largest offset", "XXX24", APR_SUCCESS, -24 * HOUR, 0, 0},
    {"offset one past it", "XXX25", APR_EINVAL, 0, 0, 0},
    {"largest time", "XXX3YYY,J1/167,J2/-167", APR_SUCCESS, -3 * HOUR, 1, -2 * HOUR},
    {"time one past it", "XXX3YYY,J1/168,J2", APR_EINVAL, 0, 0, 0},
    {"empty", "", APR_EINVAL, 0, 0, 0},
    {"name only", "EST", APR_EINVAL, 0, 0, 0},
    {"offset only", "5", APR_EINVAL, 0, 0, 0},
    {"short name", "ES5", APR_EINVAL, 0, 0, 0},
    {"short quoted name", "<+1>5", APR_EINVAL, 0, 0, 0},
    {"open quote", "<+01", APR_EINVAL, 0, 0, 0},
    {"quote not closed", "<+01-1", APR_EINVAL, 0, 0, 0},
    {"blank in quotes", "<+0 1>-1", APR_EINVAL, 0, 0, 0},
    {"minutes past 59", "XXX1:60", APR_EINVAL, 0, 0, 0},
    {"seconds past 59", "XXX1:00:60", APR_EINVAL, 0, 0, 0},
    {"no minutes", "XXX1:", APR_EINVAL, 0, 0, 0},
    {"no seconds", "XXX1:00:", APR_EINVAL, 0, 0, 0},
    {"text behind", "EST5 ", APR_EINVAL, 0, 0, 0},
    {"summer without dates", "EST5EDT", APR_EINVAL, 0, 0, 0},
    {"one date", "EST5EDT,M3.2.0", APR_EINVAL, 0, 0, 0},
    {"three dates", "EST5EDT,M3.2.0,M11.1.0,M12.1.0", APR_EINVAL, 0, 0, 0},
    {"month 0", "EST5EDT,M0.2.0,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"month 13", "EST5EDT,M13.2.0,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"week 0", "EST5EDT,M3.0.0,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"week 6", "EST5EDT,M3.6.0,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"weekday 7", "EST5EDT,M3.2.7,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"no weekday", "EST5EDT,M3.2,M11.1.0", APR_EINVAL, 0, 0, 0},
    {"day 0 of J", "EST5EDT,J0,J365", APR_EINVAL, 0, 0, 0},
    {"day 366 of J", "EST5EDT,J1,J366", APR_EINVAL, 0, 0, 0},
    {"day 366", "EST5EDT,0,366", APR_EINVAL, 0, 0, 0},
    {"number of four digits", "EST5EDT,0001,365", APR_EINVAL, 0, 0, 0},
    {"empty time", "EST5EDT,0/,365", APR_EINVAL, 0, 0, 0},
};

START_TEST(test_parse)
{
    pay_tzrule_t rule;
    apr_status_t rv;

    rv = pay_tzrule_parse(&rule, parse_rows[_i].text);
    ck_assert_msg(rv == parse_rows[_i].want, "%s: status %d", parse_rows[_i].name, rv);
    ck_assert_msg(rule.offset == parse_rows[_i].offset, "%s: offset %lld", parse_rows[_i].name,
                  (long long)rule.offset);
    ck_assert_msg(rule.has_summer == parse_rows[_i].has_summer, "%s: summer", parse_rows[_i].name);
    ck_assert_msg(rule.summer_offset == parse_rows[_i].summer_offset, "%s: summer offset %lld",
                  parse_rows[_i].name, (long long)rule.summer_offset);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int year;
    const char *first;
    apr_int64_t first_offset;
    const char *second;
    apr_int64_t second_offset;
} year_rows[] = {
    {"north", "EST5EDT,M3.2.0,M11.1.0", 2026, "2026-03-08T07:00:00Z", -4 * HOUR,
     "2026-11-01T06:00:00Z", -5 * HOUR},
    {"south", "AEST-10AEDT,M10.1.0,M4.1.0/3", 2026, "2026-04-04T16:00:00Z", 10 * HOUR,
     "2026-10-03T16:00:00Z", 11 * HOUR},
    {"last of a month", "CET-1CEST,M3.5.0,M10.5.0/3", 2026, "2026-03-29T01:00:00Z", 2 * HOUR,
     "2026-10-25T01:00:00Z", HOUR},
    {"fifth exists", "XXX0YYY,M3.5.0,M11.5.0", 2025, "2025-03-30T02:00:00Z", HOUR,
     "2025-11-30T01:00:00Z", 0},
    {"month begins on that day", "XXX0YYY,M2.1.0,M3.1.0", 2026, "2026-02-01T02:00:00Z", HOUR,
     "2026-03-01T01:00:00Z", 0},
    {"last day of the year", "XXX0YYY,M12.5.4,M1.1.4", 2026, "2026-01-01T01:00:00Z", 0,
     "2026-12-31T02:00:00Z", HOUR},
    {"days of no leap year", "XXX0YYY,J60/0,59/0", 2026, "2026-02-28T23:00:00Z", 0,
     "2026-03-01T00:00:00Z", HOUR},
    {"days of a leap year", "XXX0YYY,J60/0,59/0", 2024, "2024-02-28T23:00:00Z", 0,
     "2024-03-01T00:00:00Z", HOUR},
    {"J59 is 28 February", "XXX0YYY,J59/0,J365/0", 2024, "2024-02-28T00:00:00Z", HOUR,
     "2024-12-30T23:00:00Z", 0},
    {"time before midnight", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2026, "2026-03-29T01:00:00Z", -HOUR,
     "2026-10-25T01:00:00Z", -2 * HOUR},
    {"time of the next day", "IST-2IDT,M3.4.4/26,M10.5.0", 2026, "2026-03-27T00:00:00Z", 3 * HOUR,
     "2026-10-24T23:00:00Z", 2 * HOUR},
    {"summer all year", "EST5EDT,0/0,J365/25", 2026, "2026-01-01T05:00:00Z", -4 * HOUR,
     "2027-01-01T05:00:00Z", -5 * HOUR},
    {"winter time", "IST-1GMT0,M10.5.0,M3.5.0/1", 2026, "2026-03-29T01:00:00Z", HOUR,
     "2026-10-25T01:00:00Z", 0},
};

START_TEST(test_year)
{
    pay_tzrule_change_t changes[2];
    pay_tzrule_t rule;
    apr_time_t first, second;

    ck_assert_int_eq(pay_tzrule_parse(&rule, year_rows[_i].text), APR_SUCCESS);
    ck_assert_int_eq(pay_time_parse(&first, year_rows[_i].first), APR_SUCCESS);
    ck_assert_int_eq(pay_time_parse(&second, year_rows[_i].second), APR_SUCCESS);
    pay_tzrule_year(changes, &rule, year_rows[_i].year);
    ck_assert_msg(changes[0].at == apr_time_sec(first), "%s: first %lld off", year_rows[_i].name,
                  (long long)(changes[0].at - apr_time_sec(first)));
    ck_assert_msg(changes[1].at == apr_time_sec(second), "%s: second %lld off", year_rows[_i].name,
                  (long long)(changes[1].at - apr_time_sec(second)));
    ck_assert_msg(changes[0].offset == year_rows[_i].first_offset, "%s: first offset",
                  year_rows[_i].name);
    ck_assert_msg(changes[1].offset == year_rows[_i].second_offset, "%s: second offset",
                  year_rows[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(parse_rows));
    tcase_add_loop_test(tcase, test_year, 0, UNIT_ROWS(year_rows));
}

UNIT_PROGRAM(add)
