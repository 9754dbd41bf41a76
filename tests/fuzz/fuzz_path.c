/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/problem.h"
#include "base/text/time.h"
#include "base/text/timezone.h"
#include "model/charge.h"
#include "model/refund.h"
#include "model/text.h"

/* The variable part of a request's path: two dates with a slash between them, or a reference. */

#define DAYS_MAX 366

/* Ahead, behind, with summer time, with a skipped day, with a skipped midnight. */
static const char *const zone_names[] = {"UTC",          "Africa/Lagos", "America/New_York",
                                         "Asia/Kolkata", "Pacific/Apia", "America/Sao_Paulo"};
#define ZONES (sizeof(zone_names) / sizeof(zone_names[0]))

static const pay_timezone_t *zones[ZONES];

static void load_zones(void)
{
    apr_pool_t *pool;
    size_t i;

    CHECK(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < ZONES; i++) {
        CHECK(pay_timezone_load(&zones[i], zone_names[i], pool) == APR_SUCCESS);
    }
}

static void check_problem(const pay_problem_t *problem)
{
    const pay_field_error_t *field;
    int i;

    CHECK(problem->status == 400 && problem->fields && problem->fields->nelts >= 1);
    for (i = 0; i < problem->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        CHECK(!strcmp(field->field, "/startDate") || !strcmp(field->field, "/endDate"));
        CHECK(pay_text_is_plain(field->reason, ""));
    }
}

/* A whole day has its start, and ends just before the next one starts. */
static void check_days(const pay_time_range_t *range, const char *start, const char *end,
                       const pay_timezone_t *zone)
{
    pay_date_t day;

    if (pay_date_parse(&day, start) == APR_SUCCESS) {
        CHECK(pay_timezone_day_start(zone, day) == range->from);
        CHECK(pay_timezone_day_start(zone, pay_date_next(day)) >= range->from);
        CHECK(pay_date_days(pay_date_next(day)) == pay_date_days(day) + 1);
    }
    if (pay_date_parse(&day, end) == APR_SUCCESS) {
        CHECK(pay_timezone_day_start(zone, pay_date_next(day)) == range->to + 1);
    }
}

/* A written instant reads as the same one, to the millisecond. */
static void check_instant(const char *text)
{
    char written[PAY_TIME_TEXT_LEN + 1], again[PAY_TIME_TEXT_LEN + 1];
    apr_time_t when, back;

    if (pay_time_parse(&when, text) != APR_SUCCESS) {
        CHECK(when == 0);
        return;
    }
    (void)pay_time_format(written, when);
    CHECK(strlen(written) == PAY_TIME_TEXT_LEN);
    CHECK(pay_time_parse(&back, written) == APR_SUCCESS);
    CHECK(!strcmp(pay_time_format(again, back), written));
}

static void check_range(const char *start, const char *end, const pay_timezone_t *zone,
                        apr_pool_t *p)
{
    const pay_problem_t *any, *bounded;
    pay_time_range_t range, narrow;

    any = pay_refund_range_parse(&range, start, end, zone, 0, p);
    bounded = pay_refund_range_parse(&narrow, start, end, zone, DAYS_MAX, p);
    if (any) {
        check_problem(any);
        CHECK(bounded && range.from == 0 && range.to == 0);
        return;
    }
    CHECK(range.from <= range.to + 1); /* a day that the zone lacks has no length */
    check_days(&range, start, end, zone);
    if (bounded) {
        check_problem(bounded);
        CHECK(narrow.from == 0 && narrow.to == 0);
        CHECK(range.to - range.from > apr_time_from_sec((apr_time_t)(DAYS_MAX - 1) * 86400));
    } else {
        CHECK(narrow.from == range.from && narrow.to == range.to);
    }
}

/* The rule of docs/api.md once more, in other words. */
static void check_reference(const char *text)
{
    size_t len = strlen(text), i;
    int good = len >= 1 && len <= PAY_REFERENCE_MAX && strcspn(text, "/\\?#") == len
               && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;

    for (i = 0; i < len; i++) {
        good = good && (unsigned char)text[i] > 0x20 && (unsigned char)text[i] < 0x7f;
    }
    CHECK((pay_reference_check(text) == APR_SUCCESS) == good);
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *text = fuzz_text(data, size), *slash = strchr(text, '/');
    const char *start, *end;
    size_t i;

    if (!zones[0]) {
        load_zones();
    }
    check_reference(text);
    start = slash ? fuzz_copy(text, (size_t)(slash - text)) : text;
    end = slash ? slash + 1 : text;
    check_reference(start);
    check_reference(end);
    check_instant(start);
    check_instant(end);
    for (i = 0; i < ZONES; i++) {
        check_range(start, end, zones[i], p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
