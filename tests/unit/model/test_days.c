/* SPDX-License-Identifier: Apache-2.0 */
#include "model/days.h"

#include "unit.h"

#define TODAY (PAY_DAYS - 1)

static apr_time_t time_of(const char *text)
{
    apr_time_t when;

    ck_assert_int_eq(pay_time_parse(&when, text), APR_SUCCESS);
    return when;
}

static pay_days_t *days_of(const char *name, const char *now)
{
    const pay_timezone_t *zone;

    ck_assert_int_eq(pay_timezone_load(&zone, name, unit_pool), APR_SUCCESS);
    return pay_days_make(zone, time_of(now), unit_pool);
}

static const char *date_text(const pay_date_t *date)
{
    return apr_psprintf(unit_pool, "%04d-%02d-%02d", date->year, date->month, date->day);
}

/* ---- which days */

static const struct {
    const char *name, *zone, *now;
    const char *today;       /* its date */
    const char *begin, *end; /* of today; `end` is tomorrow's first instant */
    const char *first;       /* the oldest day */
} border_rows[] = {
    {"midnight is the new day's", "UTC", "2026-03-15T00:00:00Z", "2026-03-15",
     "2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z", "2026-02-14"},
    {"the instant before is the old one's", "UTC", "2026-03-14T23:59:59.999999Z", "2026-03-14",
     "2026-03-14T00:00:00Z", "2026-03-15T00:00:00Z", "2026-02-13"},
    {"over a leap day", "UTC", "2028-03-15T12:00:00Z", "2028-03-15", "2028-03-15T00:00:00Z",
     "2028-03-16T00:00:00Z", "2028-02-15"},
    {"over the year's end", "UTC", "2026-01-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00Z",
     "2026-01-02T00:00:00Z", "2025-12-03"},
    {"before 1970", "UTC", "1969-12-31T12:00:00Z", "1969-12-31", "1969-12-31T00:00:00Z",
     "1970-01-01T00:00:00Z", "1969-12-02"},
    {"ahead of UTC", "Africa/Lagos", "2026-03-14T23:00:00Z", "2026-03-15", "2026-03-14T23:00:00Z",
     "2026-03-15T23:00:00Z", "2026-02-14"},
    {"its last instant", "Africa/Lagos", "2026-03-14T22:59:59.999999Z", "2026-03-14",
     "2026-03-13T23:00:00Z", "2026-03-14T23:00:00Z", "2026-02-13"},
    {"behind UTC", "America/Los_Angeles", "2026-01-15T07:59:59Z", "2026-01-14",
     "2026-01-14T08:00:00Z", "2026-01-15T08:00:00Z", "2025-12-16"},
    {"as far ahead as any", "Pacific/Kiritimati", "2026-03-14T10:00:00Z", "2026-03-15",
     "2026-03-14T10:00:00Z", "2026-03-15T10:00:00Z", "2026-02-14"},
    {"as far behind as any", "Pacific/Pago_Pago", "2026-03-15T10:59:59Z", "2026-03-14",
     "2026-03-14T11:00:00Z", "2026-03-15T11:00:00Z", "2026-02-13"},
    {"quarters of an hour", "Asia/Kathmandu", "2026-03-14T18:15:00Z", "2026-03-15",
     "2026-03-14T18:15:00Z", "2026-03-15T18:15:00Z", "2026-02-14"},
    {"a day of 23 hours", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29",
     "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-02-28"},
    {"a day of 25 hours", "Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25",
     "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "2026-09-26"},
    {"a midnight that is skipped", "Africa/Cairo", "2025-04-24T22:00:00Z", "2025-04-25",
     "2025-04-24T22:00:00Z", "2025-04-25T21:00:00Z", "2025-03-27"},
    {"a day that is skipped", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31",
     "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z", "2011-12-02"},
};

START_TEST(test_borders)
{
    const char *name = border_rows[_i].name;
    const pay_days_t *days = days_of(border_rows[_i].zone, border_rows[_i].now);

    ck_assert_msg(!strcmp(date_text(&days->date[TODAY]), border_rows[_i].today), "%s: %s", name,
                  date_text(&days->date[TODAY]));
    ck_assert_msg(!strcmp(date_text(&days->date[0]), border_rows[_i].first), "%s: %s", name,
                  date_text(&days->date[0]));
    ck_assert_msg(days->begin[TODAY] == time_of(border_rows[_i].begin), "%s: begins", name);
    ck_assert_msg(days->range.to == time_of(border_rows[_i].end) - 1, "%s: ends", name);
    ck_assert_msg(days->range.from == days->begin[0], "%s: first", name);
    ck_assert_int_eq(days->currencies->nelts, 0);
}
END_TEST

START_TEST(test_each_day_follows_the_one_before)
{
    const pay_days_t *days = days_of("Europe/Berlin", "2026-04-10T12:00:00Z");
    pay_date_t next;
    int i;

    for (i = 1; i < PAY_DAYS; i++) {
        next = pay_date_next(days->date[i - 1]);
        ck_assert_str_eq(date_text(&days->date[i]), date_text(&next));
        ck_assert_int_eq(apr_time_sec(days->begin[i] - days->begin[i - 1]) / 3600,
                         strcmp(date_text(&days->date[i - 1]), "2026-03-29") ? 24 : 23);
    }
}
END_TEST

/* ---- what is counted on them */

static void count(pay_days_t *days, const char *from, const char *currency, apr_uint64_t charges)
{
    pay_total_t step = {.from = time_of(from), .charges = charges, .refunds = 1};

    apr_cpystrn(step.currency, currency, sizeof(step.currency));
    pay_sum_add(&step.charged, (apr_int64_t)charges * 100);
    pay_days_add(days, &step);
}

static const pay_days_currency_t *currency_at(const pay_days_t *days, int at)
{
    ck_assert_int_lt(at, days->currencies->nelts);
    return APR_ARRAY_IDX(days->currencies, at, const pay_days_currency_t *);
}

static const struct {
    const char *name, *zone, *from;
    int day; /* counted back from today, the 15th */
} step_rows[] = {
    {"the first instant of today", "UTC", "2026-03-15T00:00:00Z", 0},
    {"the last step of it", "UTC", "2026-03-15T23:45:00Z", 0},
    {"the last step of yesterday", "UTC", "2026-03-14T23:45:00Z", 1},
    {"the first instant of yesterday", "UTC", "2026-03-14T00:00:00Z", 1},
    {"the first instant of all", "UTC", "2026-02-14T00:00:00Z", 29},
    {"the last step of the first day", "UTC", "2026-02-14T23:45:00Z", 29},
    {"the first of the second", "UTC", "2026-02-15T00:00:00Z", 28},
    {"midnight in Lagos", "Africa/Lagos", "2026-03-14T23:00:00Z", 0},
    {"before midnight in Lagos", "Africa/Lagos", "2026-03-14T22:45:00Z", 1},
    {"midnight in Kathmandu", "Asia/Kathmandu", "2026-03-14T18:15:00Z", 0},
    {"before midnight in Kathmandu", "Asia/Kathmandu", "2026-03-14T18:00:00Z", 1},
};

START_TEST(test_steps)
{
    pay_days_t *days = days_of(step_rows[_i].zone, "2026-03-15T13:00:00Z");
    int i;

    count(days, step_rows[_i].from, "NGN", 3);
    for (i = 0; i < PAY_DAYS; i++) {
        ck_assert_msg(currency_at(days, 0)->day[TODAY - i].charges
                          == (i == step_rows[_i].day ? 3 : 0),
                      "%s: %d", step_rows[_i].name, i);
    }
}
END_TEST

START_TEST(test_a_skipped_day_has_nothing)
{
    pay_days_t *days = days_of("Pacific/Apia", "2012-01-10T12:00:00Z");
    int i;

    count(days, "2011-12-30T10:00:00Z", "WST", 1); /* the 31st: there is no 30th */
    for (i = 0; strcmp(date_text(&days->date[i]), "2011-12-30") != 0; i++) {
    }
    ck_assert_uint_eq(currency_at(days, 0)->day[i].charges, 0);
    ck_assert_uint_eq(currency_at(days, 0)->day[i + 1].charges, 1);
}
END_TEST

START_TEST(test_currencies)
{
    static const char *const given[] = {"NGN", "EUR", "USD", "EUR", "AED", "ZAR", "NGN", "GBP"};
    static const struct {
        const char *code;
        apr_uint64_t charges;
    } want[] = {{"AED", 16}, {"EUR", 10}, {"GBP", 128}, {"NGN", 65}, {"USD", 4}, {"ZAR", 32}};
    pay_days_t *days = days_of("UTC", "2026-03-15T13:00:00Z");
    int i, day;

    for (i = 0; i < UNIT_ROWS(given); i++) {
        count(days, "2026-03-15T00:00:00Z", given[i], APR_UINT64_C(1) << i);
    }
    ck_assert_int_eq(days->currencies->nelts, UNIT_ROWS(want));
    for (i = 0; i < UNIT_ROWS(want); i++) {
        for (day = 0; day < PAY_DAYS; day++) {
            ck_assert_str_eq(currency_at(days, i)->day[day].currency, want[i].code);
        }
        ck_assert_uint_eq(currency_at(days, i)->day[TODAY].charges, want[i].charges);
    }
}
END_TEST

START_TEST(test_sums)
{
    pay_days_t *days = days_of("UTC", "2026-03-15T13:00:00Z");
    char text[PAY_SUM_TEXT_MAX];
    pay_total_t sum;

    count(days, "2026-03-15T00:00:00Z", "NGN", 1);
    count(days, "2026-03-14T23:45:00Z", "NGN", 10);
    count(days, "2026-02-15T00:00:00Z", "NGN", 100);
    count(days, "2026-02-14T00:00:00Z", "NGN", 1000);
    pay_days_sum(&sum, currency_at(days, 0), 1);
    ck_assert_uint_eq(sum.charges, 1);
    ck_assert_uint_eq(sum.refunds, 1);
    ck_assert_str_eq(sum.currency, "NGN");
    ck_assert_str_eq(pay_sum_format(text, &sum.charged, "NGN"), "1.00");
    pay_days_sum(&sum, currency_at(days, 0), 2);
    ck_assert_uint_eq(sum.charges, 11);
    pay_days_sum(&sum, currency_at(days, 0), PAY_DAYS - 1);
    ck_assert_uint_eq(sum.charges, 111);
    pay_days_sum(&sum, currency_at(days, 0), PAY_DAYS);
    ck_assert_uint_eq(sum.charges, 1111);
    ck_assert_uint_eq(sum.refunds, 4);
    ck_assert_str_eq(pay_sum_format(text, &sum.charged, "NGN"), "1111.00");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_borders, 0, UNIT_ROWS(border_rows));
    tcase_add_test(tcase, test_each_day_follows_the_one_before);
    tcase_add_loop_test(tcase, test_steps, 0, UNIT_ROWS(step_rows));
    tcase_add_test(tcase, test_a_skipped_day_has_nothing);
    tcase_add_test(tcase, test_currencies);
    tcase_add_test(tcase, test_sums);
}

UNIT_PROGRAM(add)
