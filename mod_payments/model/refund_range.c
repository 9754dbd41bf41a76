/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"
#include "base/text/timezone.h"
#include "model/refund.h"

#include <apr_strings.h>

#define REASON_FORM "must be a date that exists (yyyy-MM-dd) or an RFC 3339 date-time"
#define SECONDS_PER_DAY 86400

/* One end of the range: a day of the zone, or an instant. */
typedef struct end_t {
    int is_day;
    pay_date_t day;
    apr_time_t at;
} end_t;

static apr_status_t end_parse(end_t *out, const char *text)
{
    apr_status_t rv;

    out->at = 0;
    rv = pay_date_parse(&out->day, text);
    out->is_day = rv == APR_SUCCESS;
    if (!out->is_day) {
        rv = pay_time_parse(&out->at, text);
    }
    return rv;
}

/*
 * The distance between the two: calendar days between two days, whatever clocks were set in
 * between, and days of 24 hours if one of them is an instant.
 */
static int is_wider(const end_t *start, const end_t *end, const pay_time_range_t *range,
                    int days_max)
{
    if (start->is_day && end->is_day) {
        return pay_date_days(end->day) - pay_date_days(start->day) > days_max;
    }
    return range->to - range->from > apr_time_from_sec((apr_time_t)days_max * SECONDS_PER_DAY);
}

static int is_in_order(const end_t *start, const end_t *end)
{
    return pay_date_days(start->day) <= pay_date_days(end->day);
}

const pay_problem_t *pay_refund_range_parse(pay_time_range_t *out, const char *start,
                                            const char *end, const pay_timezone_t *zone,
                                            int days_max, apr_pool_t *p)
{
    pay_problem_t *problem = NULL;
    pay_time_range_t range;
    end_t first;
    end_t last;
    apr_status_t rv;

    out->from = 0;
    out->to = 0;
    rv = end_parse(&first, start);
    if (rv != APR_SUCCESS) {
        pay_problem_add(&problem, "/startDate", REASON_FORM, p);
    }
    rv = end_parse(&last, end);
    if (rv != APR_SUCCESS) {
        pay_problem_add(&problem, "/endDate", REASON_FORM, p);
    }
    if (problem) {
        return problem;
    }
    range.from = first.is_day ? pay_timezone_day_start(zone, first.day) : first.at;
    /* The whole day of the end is included: up to the last instant before the next day begins. */
    range.to = last.is_day ? pay_timezone_day_start(zone, pay_date_next(last.day)) - 1 : last.at;
    /* A day that the zone lacks is a day of no length: it began when the next one did. */
    if (range.to < range.from && !(first.is_day && last.is_day && is_in_order(&first, &last))) {
        pay_problem_add(&problem, "/endDate", "must not be before the start date", p);
        return problem;
    }
    if (days_max > 0 && is_wider(&first, &last, &range, days_max)) {
        pay_problem_add(&problem, "/endDate",
                        apr_psprintf(p, "must be at most %d days after the start date", days_max),
                        p);
        return problem;
    }
    *out = range;
    return NULL;
}
