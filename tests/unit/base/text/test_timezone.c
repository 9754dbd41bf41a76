/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/timezone.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define HOUR 3600
#define DAY (24 * HOUR)
#define FILE_LEN_MAX 4096

static const struct {
    const char *zone;
    const char *date;
    const char *want;
} start_rows[] = {
    {"UTC", "2026-01-01", "2026-01-01T00:00:00Z"},
    {"Africa/Lagos", "2026-01-01", "2025-12-31T23:00:00Z"},
    {"Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z"},
    {"Etc/GMT+5", "2026-01-01", "2026-01-01T05:00:00Z"},
    {"America/Argentina/Buenos_Aires", "2026-01-01", "2026-01-01T03:00:00Z"},
    /* Days on which clocks change after midnight. */
    {"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z"},
    {"America/New_York", "2026-03-09", "2026-03-09T04:00:00Z"},
    {"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z"},
    {"America/New_York", "2026-11-02", "2026-11-02T05:00:00Z"},
    /* Midnight is skipped. */
    {"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},
    {"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"},
    /* Midnight comes twice: at once, and one minute after the day began. */
    {"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},
    {"America/St_Johns", "2009-11-01", "2009-11-01T02:30:00Z"},
    /* A whole day is skipped. */
    {"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z"},
    {"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},
    {"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
    /* After the last change in the file. */
    {"America/New_York", "2038-03-15", "2038-03-15T04:00:00Z"},
    {"America/New_York", "2100-07-04", "2100-07-04T04:00:00Z"},
    {"Australia/Sydney", "2100-01-01", "2099-12-31T13:00:00Z"},
    {"Australia/Sydney", "2100-07-01", "2100-06-30T14:00:00Z"},
    {"Europe/Dublin", "2100-01-01", "2100-01-01T00:00:00Z"},
    {"Europe/Dublin", "2100-07-01", "2100-06-30T23:00:00Z"},
    {"America/Nuuk", "2100-07-01", "2100-07-01T01:00:00Z"},
    {"Antarctica/Troll", "2100-07-01", "2100-06-30T22:00:00Z"},
    {"Europe/London", "9999-06-30", "9999-06-29T23:00:00Z"},
    {"Europe/London", "9999-12-31", "9999-12-31T00:00:00Z"},
    /* Before the first change, and odd offsets. */
    {"Europe/London", "1000-01-01", "1000-01-01T00:01:15Z"},
    {"Africa/Monrovia", "1960-05-05", "1960-05-05T00:44:30Z"},
};

START_TEST(test_start)
{
    const pay_timezone_t *zone;
    pay_date_t date;
    apr_time_t want, start;

    ck_assert_int_eq(pay_timezone_load(&zone, start_rows[_i].zone, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_date_parse(&date, start_rows[_i].date), APR_SUCCESS);
    ck_assert_int_eq(pay_time_parse(&want, start_rows[_i].want), APR_SUCCESS);
    start = pay_timezone_day_start(zone, date);
    ck_assert_msg(start == want, "%s %s: %lld s off", start_rows[_i].zone, start_rows[_i].date,
                  (long long)apr_time_sec(start - want));
}
END_TEST

/* Days never overlap nor leave a gap: each begins after the one before, or with it if skipped. */
START_TEST(test_order)
{
    const pay_timezone_t *zone;
    pay_date_t date = {1840, 1, 1};
    apr_time_t before, start;
    int skipped = 0;

    ck_assert_int_eq(pay_timezone_load(&zone, "Pacific/Apia", unit_pool), APR_SUCCESS);
    before = pay_timezone_day_start(zone, date);
    while (date.year < 2110) {
        date = pay_date_next(date);
        start = pay_timezone_day_start(zone, date);
        if (start == before) {
            skipped++;
        } else if (start < before || start - before > apr_time_from_sec(50 * HOUR)) {
            ck_abort_msg("%d-%d-%d", date.year, date.month, date.day);
        }
        before = start;
    }
    ck_assert_int_eq(skipped, 1);
}
END_TEST

static const struct {
    const char *name;
    const char *zone;
    apr_status_t want;
} name_rows[] = {
    {"longest name in use", "America/Argentina/ComodRivadavia", APR_SUCCESS},
    {"capitals", "EST5EDT", APR_SUCCESS},
    {"dash", "America/Port-au-Prince", APR_SUCCESS},
    {"empty", "", APR_EINVAL},
    {"unknown", "Africa/Atlantis", APR_EINVAL},
    {"directory", "Africa", APR_EINVAL},
    {"directory with slash", "Africa/", APR_EINVAL},
    {"below a file", "Africa/Lagos/Ikeja", APR_EINVAL},
    {"wrong case", "africa/lagos", APR_EINVAL},
    {"other case of UTC", "utc", APR_EINVAL},
    {"absolute", "/usr/share/zoneinfo/UTC", APR_EINVAL},
    {"parent", "../zoneinfo/UTC", APR_EINVAL},
    {"parent inside", "Africa/../Africa/Lagos", APR_EINVAL},
    {"dot", "./Africa/Lagos", APR_EINVAL},
    {"doubled slash", "Africa//Lagos", APR_EINVAL},
    {"blank", "Africa/Lagos ", APR_EINVAL},
    {"link out of the directory", "localtime", APR_EINVAL},
    {"rules of an old libc", "posixrules", APR_EINVAL},
    {"with leap seconds", "right/Africa/Lagos", APR_EINVAL},
    {"table of zones", "zone.tab", APR_EINVAL},
    {"rule", "WAT-1,", APR_EINVAL},
    {"file name of libc", ":Africa/Lagos", APR_EINVAL},
    {"64 characters", "A234567890123456789012345678901234567890123456789012345678901234",
     APR_EINVAL},
};

START_TEST(test_name)
{
    const pay_timezone_t *zone;
    apr_status_t rv;

    rv = pay_timezone_load(&zone, name_rows[_i].zone, unit_pool);
    ck_assert_msg(rv == name_rows[_i].want, "%s: status %d", name_rows[_i].name, rv);
    ck_assert_msg((zone != NULL) == (rv == APR_SUCCESS), "%s: out", name_rows[_i].name);
}
END_TEST

START_TEST(test_environment)
{
    const pay_timezone_t *zone;
    pay_date_t date = {1970, 1, 2};

    ck_assert_int_eq(setenv("TZDIR", unit_dir(), 1), 0);
    ck_assert_int_eq(setenv("TZ", "Asia/Kathmandu", 1), 0);
    ck_assert_int_eq(pay_timezone_load(&zone, "Africa/Lagos", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_timezone_day_start(zone, date), apr_time_from_sec(DAY - HOUR));
    unsetenv("TZDIR");
    unsetenv("TZ");
}
END_TEST

/* A TZif file made by hand: from `at` on, an hour east instead of Greenwich's time. */
typedef struct file_t {
    unsigned char bytes[FILE_LEN_MAX];
    apr_size_t len;
} file_t;

static void put(file_t *file, apr_int64_t value, int len)
{
    while (len-- > 0) {
        file->bytes[file->len++] = (unsigned char)((apr_uint64_t)value >> (len * 8));
    }
}

static void put_block(file_t *file, char version, int time_len, int times, apr_int64_t at)
{
    int i;

    memcpy(file->bytes + file->len, "TZif", 4);
    file->len += 4;
    put(file, version, 1);
    memset(file->bytes + file->len, 0, 15);
    file->len += 15;
    put(file, 0, 4); /* UT indicators */
    put(file, 0, 4); /* standard indicators */
    put(file, 0, 4); /* leap seconds */
    put(file, times, 4);
    put(file, 2, 4); /* types */
    put(file, 4, 4); /* characters */
    for (i = 0; i < times; i++) {
        put(file, at + i * DAY, time_len);
    }
    for (i = 0; i < times; i++) {
        put(file, (i + 1) % 2, 1);
    }
    put(file, 0, 4);
    put(file, 0, 2);
    put(file, HOUR, 4);
    put(file, 0, 2);
    put(file, 0x58585800, 4); /* "XXX" */
}

static void put_text(file_t *file, const char *text)
{
    memcpy(file->bytes + file->len, text, strlen(text));
    file->len += strlen(text);
}

static const struct {
    const char *name;
    char version; /* 0: version 1 */
    int times;
    const char *footer;
    pay_date_t date;
    apr_int64_t want;
} file_rows[] = {
    {"version 1, before", 0, 1, NULL, {1970, 1, 3}, 2 * DAY},
    {"version 1, after", 0, 1, NULL, {2026, 1, 1}, APR_INT64_C(1767225600) - HOUR},
    {"version 1, no change", 0, 0, NULL, {2026, 1, 1}, APR_INT64_C(1767225600)},
    {"version 2, before", '2', 1, "\n\n", {1970, 1, 3}, 2 * DAY},
    {"version 2, after", '2', 1, "\n\n", {2026, 1, 1}, APR_INT64_C(1767225600) - HOUR},
    {"version 2, no rule, no change", '2', 0, "\n\n", {2026, 1, 1}, APR_INT64_C(1767225600)},
    {"version 2, rule only", '2', 0, "\nXXX-1\n", {2026, 1, 1}, APR_INT64_C(1767225600) - HOUR},
    {"version 2, rule of winter only",
     '2',
     0,
     "\nXXX0YYY,M3.5.0,M10.5.0\n",
     {2026, 1, 1},
     APR_INT64_C(1767225600)},
    {"version 2, rule of summer only",
     '2',
     0,
     "\nXXX0YYY,M3.5.0,M10.5.0\n",
     {2026, 7, 1},
     APR_INT64_C(1782864000) - HOUR},
    {"version 3, summer all year",
     '3',
     0,
     "\nXXX0YYY,0/0,J365/25\n",
     {2026, 1, 1},
     APR_INT64_C(1767225600) - HOUR},
    {"version 3, summer all year after a change",
     '3',
     1,
     "\nXXX0YYY,0/0,J365/25\n",
     {2026, 1, 1},
     APR_INT64_C(1767225600) - HOUR},
    {"version 4", '4', 1, "\nXXX-1\n", {2026, 1, 1}, APR_INT64_C(1767225600) - HOUR},
};

static void make_file(file_t *file, char version, int times, const char *footer)
{
    file->len = 0;
    put_block(file, version, 4, times, 10 * DAY);
    if (version) {
        put_block(file, version, 8, times, 10 * DAY);
        put_text(file, footer);
    }
}

START_TEST(test_file)
{
    const char *name = file_rows[_i].name;
    const pay_timezone_t *zone;
    file_t file;
    apr_time_t start;

    make_file(&file, file_rows[_i].version, file_rows[_i].times, file_rows[_i].footer);
    ck_assert_msg(pay_timezone_parse(&zone, file.bytes, file.len, unit_pool) == APR_SUCCESS, "%s",
                  name);
    start = pay_timezone_day_start(zone, file_rows[_i].date);
    ck_assert_msg(start == apr_time_from_sec(file_rows[_i].want), "%s: %lld s off", name,
                  (long long)(apr_time_sec(start) - file_rows[_i].want));
}
END_TEST

/* Offsets count from the second header, the one that is read from version 2 on. */
static const struct {
    const char *name;
    int at;
    unsigned char value;
} bad_rows[] = {
    {"magic", 0, 'X'},
    {"version 1 in digits", 4, '1'},
    {"version below", 4, '/'},
    {"a leap second", 31, 1},
    {"far too many leap seconds", 28, 0xff},
    {"no type", 39, 0},
    {"too many types", 38, 0x7f},
    {"far too many types", 36, 0xff},
    {"one change more", 35, 3},
    {"far too many changes", 32, 0xff},
    {"far too many characters", 40, 0xff},
    {"one character more", 43, 5},
    {"far too many UT indicators", 20, 0xff},
    {"changes not ascending", 48, 0xff},
    {"type out of range", 60, 2},
    {"offset of days", 62, 0x7f},
    {"offset of the future", 63, 0x02},
    {"no footer", 78, 'X'},
    {"not a rule", 79, '!'},
    {"NUL in the rule", 79, 0},
};

START_TEST(test_bad_file)
{
    const pay_timezone_t *zone;
    apr_size_t second;
    file_t file;

    file.len = 0;
    put_block(&file, '2', 4, 2, 10 * DAY);
    second = file.len;
    make_file(&file, '2', 2, "\nXXX-1\n");
    ck_assert_int_eq(pay_timezone_parse(&zone, file.bytes, file.len, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(second + 78 + 7, file.len);
    file.bytes[second + (apr_size_t)bad_rows[_i].at] = bad_rows[_i].value;
    ck_assert_msg(pay_timezone_parse(&zone, file.bytes, file.len, unit_pool) == APR_EGENERAL, "%s",
                  bad_rows[_i].name);
    ck_assert_ptr_null(zone);
}
END_TEST

/* Cut anywhere, read from memory that ends there. */
START_TEST(test_cut_file)
{
    const pay_timezone_t *zone;
    unsigned char *copy;
    apr_size_t len;
    file_t file;

    make_file(&file, _i ? '3' : 0, 2, "\nXXX-1\n");
    for (len = 0; len < file.len; len++) {
        copy = malloc(len + !len);
        memcpy(copy, file.bytes, len);
        ck_assert_int_eq(pay_timezone_parse(&zone, copy, len, unit_pool), APR_EGENERAL);
        free(copy);
    }
}
END_TEST

static const struct {
    const char *zone;
    const char *when;
    int want; /* seconds */
} offset_rows[] = {
    {"UTC", "2026-07-01T00:00:00Z", 0},
    {"Africa/Lagos", "2026-07-01T00:00:00Z", HOUR},
    {"Asia/Kathmandu", "2026-07-01T00:00:00Z", 5 * HOUR + 45 * 60},
    {"America/Argentina/Buenos_Aires", "2026-07-01T00:00:00Z", -3 * HOUR},
    /* To the second of a change, by the file or by its rule. */
    {"America/New_York", "2026-03-08T06:59:59.999Z", -5 * HOUR},
    {"America/New_York", "2026-03-08T07:00:00Z", -4 * HOUR},
    {"America/New_York", "2026-11-01T05:59:59.999Z", -4 * HOUR},
    {"America/New_York", "2026-11-01T06:00:00Z", -5 * HOUR},
    {"America/New_York", "2100-03-14T06:59:59.999Z", -5 * HOUR},
    {"America/New_York", "2100-03-14T07:00:00Z", -4 * HOUR},
    {"Australia/Sydney", "2100-01-01T00:00:00Z", 11 * HOUR},
    {"Australia/Sydney", "2099-12-31T23:59:59Z", 11 * HOUR},
    {"Australia/Sydney", "2100-07-01T00:00:00Z", 10 * HOUR},
    {"Europe/Dublin", "2100-01-01T00:00:00Z", 0},
    {"Europe/Dublin", "2100-07-01T00:00:00Z", HOUR},
    {"Pacific/Apia", "2011-12-30T09:59:59.999Z", -10 * HOUR},
    {"Pacific/Apia", "2011-12-30T10:00:00Z", 14 * HOUR},
    /* Before 1970, where seconds round down, and before the first change. */
    {"Africa/Monrovia", "1960-05-05T00:00:00.5Z", -(44 * 60 + 30)},
    {"Europe/London", "1000-01-01T00:00:00Z", -75},
};

START_TEST(test_offset)
{
    const pay_timezone_t *zone;
    apr_time_t when;

    ck_assert_int_eq(pay_timezone_load(&zone, offset_rows[_i].zone, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_time_parse(&when, offset_rows[_i].when), APR_SUCCESS);
    ck_assert_msg(pay_timezone_offset(zone, when) == offset_rows[_i].want, "%s %s: %lld",
                  offset_rows[_i].zone, offset_rows[_i].when,
                  (long long)pay_timezone_offset(zone, when));
}
END_TEST

/*
 * A day's start is the same instant by its offset and by its date, except where midnight is
 * skipped.
 */
START_TEST(test_offset_of_day_start)
{
    static const char *const zones[] = {"America/New_York", "Africa/Lagos", "America/Los_Angeles",
                                        "Europe/Dublin"};
    const pay_timezone_t *zone;
    pay_date_t date = {1950, 1, 1};
    apr_time_t start;

    ck_assert_int_eq(pay_timezone_load(&zone, zones[_i], unit_pool), APR_SUCCESS);
    for (; date.year < 2110; date = pay_date_next(date)) {
        start = pay_timezone_day_start(zone, date);
        ck_assert_msg(apr_time_sec(start) + pay_timezone_offset(zone, start)
                          == pay_date_days(date) * DAY,
                      "%s %d-%d-%d", zones[_i], date.year, date.month, date.day);
        ck_assert_int_eq(pay_date_days(pay_timezone_day(zone, start)), pay_date_days(date));
        ck_assert_int_eq(pay_date_days(pay_timezone_day(zone, start - 1)), pay_date_days(date) - 1);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_start, 0, UNIT_ROWS(start_rows));
    tcase_add_test(tcase, test_order);
    tcase_add_loop_test(tcase, test_offset, 0, UNIT_ROWS(offset_rows));
    tcase_add_loop_test(tcase, test_offset_of_day_start, 0, 4);
    tcase_add_loop_test(tcase, test_name, 0, UNIT_ROWS(name_rows));
    tcase_add_test(tcase, test_environment);
    tcase_add_loop_test(tcase, test_file, 0, UNIT_ROWS(file_rows));
    tcase_add_loop_test(tcase, test_bad_file, 0, UNIT_ROWS(bad_rows));
    tcase_add_loop_test(tcase, test_cut_file, 0, 2);
}

UNIT_PROGRAM(add)
