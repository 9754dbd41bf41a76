/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_TIME_H
#define PAY_BASE_TEXT_TIME_H

/* Clocks, dates and RFC 3339 date-times. Pure but for the two clocks; thread-safe. */

#include <apr_errno.h>
#include <apr_time.h>

#define PAY_TIME_TEXT_LEN 24 /* "2026-01-31T23:59:59.999Z" */

/* Both ends inclusive. */
typedef struct pay_time_range_t {
    apr_time_t from;
    apr_time_t to;
} pay_time_range_t;

typedef struct pay_date_t {
    int year, month, day; /* proleptic Gregorian; month and day from 1 */
} pay_date_t;

/* The wall clock. Tests may replace it (NULL restores the real one) while single-threaded. */
apr_time_t pay_time_now(void);
void pay_time_set_source(apr_time_t (*source)(void));

/* 1: `when` has come, or lies further ahead than `longest`, the longest wait there is: it was noted
 * while the clock was ahead, and to wait for it would be to stand still. */
int pay_time_is_over(apr_time_t when, apr_time_t now, apr_interval_time_t longest);

/* Milliseconds since boot, time asleep included (CLOCK_BOOTTIME). Never steps. Tests may replace it
 * as the wall clock. */
apr_int64_t pay_time_boot_ms(void);
void pay_time_set_boot_source(apr_int64_t (*source)(void));

/* RFC 3339, UTC, milliseconds, "Z". Years 0000 to 9999. Returns `out`. */
const char *pay_time_format(char out[PAY_TIME_TEXT_LEN + 1], apr_time_t when);

/*
 * A whole RFC 3339 date-time ("T" or "t", any fraction, "Z", "z" or a numeric offset). A "+" that
 * arrived as a blank (form decoding of a path) is no offset. Fractions below a microsecond are cut.
 * A leap second (:60) reads as the next second's start. APR_EINVAL on any other form or an
 * impossible date.
 */
apr_status_t pay_time_parse(apr_time_t *out, const char *text);

/* Exactly "yyyy-MM-dd", a date that exists, years 1 to 9999; else APR_EINVAL. */
apr_status_t pay_date_parse(pay_date_t *out, const char *text);

/* The day after. */
pay_date_t pay_date_next(pay_date_t date);

/* Days since 1970-01-01, negative before. */
apr_int64_t pay_date_days(pay_date_t date);

/* The day that many days after 1970-01-01. */
pay_date_t pay_date_of_days(apr_int64_t days);

#endif
