/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/time.h"

#include "unit.h"

#include <string.h>
#include <time.h>

#define DAY APR_INT64_C(86400)
#define NEW_YEAR_2026 APR_INT64_C(1767225600000000)
#define YEAR_0000 APR_INT64_C(-62167219200000000)
#define YEAR_10000 APR_INT64_C(253402300800000000)

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
    apr_time_t want_time;
} parse_rows[] = {
    {"epoch", "1970-01-01T00:00:00Z", APR_SUCCESS, 0},
    {"zulu", "2026-01-01T00:00:00Z", APR_SUCCESS, NEW_YEAR_2026},
    {"small letters", "2026-01-01t00:00:00z", APR_SUCCESS, NEW_YEAR_2026},
    {"east", "2026-01-01T01:00:00+01:00", APR_SUCCESS, NEW_YEAR_2026},
    {"west", "2025-12-31T19:30:00-04:30", APR_SUCCESS, NEW_YEAR_2026},
    {"unknown offset", "2026-01-01T00:00:00-00:00", APR_SUCCESS, NEW_YEAR_2026},
    {"milliseconds", "2026-01-01T00:00:00.123Z", APR_SUCCESS, NEW_YEAR_2026 + 123000},
    {"one digit", "2026-01-01T00:00:00.5Z", APR_SUCCESS, NEW_YEAR_2026 + 500000},
    {"microseconds", "2026-01-01T00:00:00.000001Z", APR_SUCCESS, NEW_YEAR_2026 + 1},
    {"nanoseconds are cut", "2026-01-01T00:00:00.000001999Z", APR_SUCCESS, NEW_YEAR_2026 + 1},
    {"long fraction", "2026-01-01T00:00:00.00000000000000000000000001Z", APR_SUCCESS,
     NEW_YEAR_2026},
    {"leap day", "2024-02-29T00:00:00Z", APR_SUCCESS, APR_INT64_C(1709164800000000)},
    {"leap second", "2025-12-31T23:59:60Z", APR_SUCCESS, NEW_YEAR_2026},
    {"leap second's fraction", "2025-12-31T23:59:60.9Z", APR_SUCCESS, NEW_YEAR_2026},
    {"leap second elsewhere", "2026-01-01T00:59:60+01:00", APR_SUCCESS, NEW_YEAR_2026},
    {"no leap second at noon", "2025-12-31T12:00:60Z", APR_EINVAL, 0},
    {"before 1970", "1969-12-31T23:59:59.5Z", APR_SUCCESS, -500000},
    {"first", "0000-01-01T00:00:00Z", APR_SUCCESS, YEAR_0000},
    {"last", "9999-12-31T23:59:59.999999Z", APR_SUCCESS, YEAR_10000 - 1},
    {"largest offset", "2026-01-01T23:59:00+23:59", APR_SUCCESS, NEW_YEAR_2026},
    {"blank offset", "2026-01-01T01:00:00 01:00", APR_EINVAL, 0},
    {"no offset", "2026-01-01T00:00:00", APR_EINVAL, 0},
    {"offset without colon", "2026-01-01T00:00:00+0100", APR_EINVAL, 0},
    {"offset of hours", "2026-01-01T00:00:00+01", APR_EINVAL, 0},
    {"offset of 24 hours", "2026-01-01T00:00:00+24:00", APR_EINVAL, 0},
    {"offset of 60 minutes", "2026-01-01T00:00:00+00:60", APR_EINVAL, 0},
    {"empty fraction", "2026-01-01T00:00:00.Z", APR_EINVAL, 0},
    {"comma", "2026-01-01T00:00:00,5Z", APR_EINVAL, 0},
    {"blank for T", "2026-01-01 00:00:00Z", APR_EINVAL, 0},
    {"no seconds", "2026-01-01T00:00Z", APR_EINVAL, 0},
    {"24 hours", "2026-01-01T24:00:00Z", APR_EINVAL, 0},
    {"60 minutes", "2026-01-01T00:60:00Z", APR_EINVAL, 0},
    {"61 seconds", "2026-01-01T00:00:61Z", APR_EINVAL, 0},
    {"30 February", "2026-02-30T00:00:00Z", APR_EINVAL, 0},
    {"29 February of no leap year", "2026-02-29T00:00:00Z", APR_EINVAL, 0},
    {"29 February 1900", "1900-02-29T00:00:00Z", APR_EINVAL, 0},
    {"29 February 2000", "2000-02-29T00:00:00Z", APR_SUCCESS, APR_INT64_C(951782400000000)},
    {"month 13", "2026-13-01T00:00:00Z", APR_EINVAL, 0},
    {"month 0", "2026-00-01T00:00:00Z", APR_EINVAL, 0},
    {"day 0", "2026-01-00T00:00:00Z", APR_EINVAL, 0},
    {"day 32", "2026-01-32T00:00:00Z", APR_EINVAL, 0},
    {"text behind", "2026-01-01T00:00:00Zx", APR_EINVAL, 0},
    {"blank behind", "2026-01-01T00:00:00Z ", APR_EINVAL, 0},
    {"blank before", " 2026-01-01T00:00:00Z", APR_EINVAL, 0},
    {"date only", "2026-01-01", APR_EINVAL, 0},
    {"year of five", "12026-01-01T00:00:00Z", APR_EINVAL, 0},
    {"sign", "-026-01-01T00:00:00Z", APR_EINVAL, 0},
    {"empty", "", APR_EINVAL, 0},
};

START_TEST(test_parse)
{
    apr_time_t when = 42;
    apr_status_t rv;

    rv = pay_time_parse(&when, parse_rows[_i].text);
    ck_assert_msg(rv == parse_rows[_i].want, "%s: status %d", parse_rows[_i].name, rv);
    ck_assert_msg(when == parse_rows[_i].want_time, "%s: %lld", parse_rows[_i].name,
                  (long long)when);
}
END_TEST

static const struct {
    const char *name;
    apr_time_t when;
    const char *want;
} format_rows[] = {
    {"epoch", 0, "1970-01-01T00:00:00.000Z"},
    {"milliseconds", NEW_YEAR_2026 + 7000, "2026-01-01T00:00:00.007Z"},
    {"microseconds are cut", NEW_YEAR_2026 + 7999, "2026-01-01T00:00:00.007Z"},
    {"just before", NEW_YEAR_2026 - 1, "2025-12-31T23:59:59.999Z"},
    {"just before 1970", -1, "1969-12-31T23:59:59.999Z"},
    {"a millisecond before 1970", -1000, "1969-12-31T23:59:59.999Z"},
    {"leap day", APR_INT64_C(1709210096789000), "2024-02-29T12:34:56.789Z"},
    {"first", YEAR_0000, "0000-01-01T00:00:00.000Z"},
    {"before the first", YEAR_0000 - 1, "0000-01-01T00:00:00.000Z"},
    {"last", YEAR_10000 - 1, "9999-12-31T23:59:59.999Z"},
    {"after the last", YEAR_10000, "9999-12-31T23:59:59.999Z"},
    {"smallest", APR_INT64_MIN, "0000-01-01T00:00:00.000Z"},
    {"largest", APR_INT64_MAX, "9999-12-31T23:59:59.999Z"},
};

START_TEST(test_format)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    ck_assert_ptr_eq(pay_time_format(text, format_rows[_i].when), text);
    ck_assert_msg(strcmp(text, format_rows[_i].want) == 0, "%s: '%s'", format_rows[_i].name, text);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
    pay_date_t date;
} date_rows[] = {
    {"plain", "2026-01-31", APR_SUCCESS, {2026, 1, 31}},
    {"leap day", "2024-02-29", APR_SUCCESS, {2024, 2, 29}},
    {"no leap day", "2026-02-29", APR_EINVAL, {0, 0, 0}},
    {"31 April", "2026-04-31", APR_EINVAL, {0, 0, 0}},
    {"first", "0001-01-01", APR_SUCCESS, {1, 1, 1}},
    {"before the first", "0000-12-31", APR_EINVAL, {0, 0, 0}},
    {"last", "9999-12-31", APR_SUCCESS, {9999, 12, 31}},
    {"year of five", "10000-01-01", APR_EINVAL, {0, 0, 0}},
    {"short month", "2026-1-31", APR_EINVAL, {0, 0, 0}},
    {"no dashes", "20260131", APR_EINVAL, {0, 0, 0}},
    {"slashes", "2026/01/31", APR_EINVAL, {0, 0, 0}},
    {"day first", "31-01-2026", APR_EINVAL, {0, 0, 0}},
    {"text behind", "2026-01-31T", APR_EINVAL, {0, 0, 0}},
    {"sign", "+026-01-31", APR_EINVAL, {0, 0, 0}},
    {"blank", "2026-01- 1", APR_EINVAL, {0, 0, 0}},
    {"empty", "", APR_EINVAL, {0, 0, 0}},
};

START_TEST(test_date)
{
    pay_date_t date = {7, 7, 7};
    apr_status_t rv;

    rv = pay_date_parse(&date, date_rows[_i].text);
    ck_assert_msg(rv == date_rows[_i].want, "%s: status %d", date_rows[_i].name, rv);
    ck_assert_msg(memcmp(&date, &date_rows[_i].date, sizeof(date)) == 0, "%s: %d-%d-%d",
                  date_rows[_i].name, date.year, date.month, date.day);
}
END_TEST

/* Every day from 0001-01-01 to 10000-01-01 against libc's calendar. */
START_TEST(test_days)
{
    pay_date_t date = {1, 1, 1};
    apr_int64_t days = pay_date_days(date);
    struct tm parts;
    time_t at;

    ck_assert_int_eq(days, -719162);
    while (date.year < 10000) {
        at = (time_t)(days * DAY);
        if (!gmtime_r(&at, &parts) || parts.tm_year + 1900 != date.year
            || parts.tm_mon + 1 != date.month || parts.tm_mday != date.day
            || pay_date_days(date) != days || pay_date_days(pay_date_of_days(days)) != days) {
            ck_abort_msg("day %lld: %d-%d-%d", (long long)days, date.year, date.month, date.day);
        }
        date = pay_date_next(date);
        days++;
    }
    ck_assert_int_eq(days, 2932897);
    ck_assert_int_eq(date.month, 1);
    ck_assert_int_eq(date.day, 1);
}
END_TEST

static apr_time_t source(void)
{
    return NEW_YEAR_2026;
}

START_TEST(test_clock)
{
    apr_time_t before = apr_time_now();
    apr_time_t now = pay_time_now();

    ck_assert_int_ge(now, before);
    ck_assert_int_le(now, apr_time_now());
    pay_time_set_source(source);
    ck_assert_int_eq(pay_time_now(), NEW_YEAR_2026);
    pay_time_set_source(NULL);
    ck_assert_int_ge(pay_time_now(), now);
}
END_TEST

/* A time further ahead than the longest wait was set by a clock that was ahead. */
START_TEST(test_is_over)
{
    ck_assert_int_eq(pay_time_is_over(99, 100, 10), 1);
    ck_assert_int_eq(pay_time_is_over(100, 100, 10), 1);
    ck_assert_int_eq(pay_time_is_over(101, 100, 10), 0);
    ck_assert_int_eq(pay_time_is_over(110, 100, 10), 0);
    ck_assert_int_eq(pay_time_is_over(111, 100, 10), 1);
}
END_TEST

START_TEST(test_boot_clock)
{
    struct timespec boot;
    apr_int64_t before, now;

    ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
    before = (apr_int64_t)boot.tv_sec * 1000 + boot.tv_nsec / 1000000;
    now = pay_time_boot_ms();
    ck_assert_int_ge(now, before);
    ck_assert_int_lt(now, before + 60000);
    ck_assert_int_ge(pay_time_boot_ms(), now);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(parse_rows));
    tcase_add_loop_test(tcase, test_format, 0, UNIT_ROWS(format_rows));
    tcase_add_loop_test(tcase, test_date, 0, UNIT_ROWS(date_rows));
    tcase_add_test(tcase, test_days);
    tcase_add_test(tcase, test_clock);
    tcase_add_test(tcase, test_is_over);
    tcase_add_test(tcase, test_boot_clock);
}

UNIT_PROGRAM(add)
