/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_TIME_H
#define PAY_BASE_TEXT_TIME_H

/* Clocks, dates and RFC 3339 date-times. Pure except for the two clocks; thread-safe. */

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

/* Returns 1 if `when` has come, or if it is further ahead than `longest`, the longest possible
 * wait: it was then set while the clock was ahead, and waiting for it would mean standing still. */
int pay_time_is_over(apr_time_t when, apr_time_t now, apr_interval_time_t longest);

/* Milliseconds since boot, including time asleep (CLOCK_BOOTTIME). Never steps. Tests may replace
 * it like the wall clock. */
apr_int64_t pay_time_boot_ms(void);
void pay_time_set_boot_source(apr_int64_t (*source)(void));

/* Writes RFC 3339, UTC, milliseconds, "Z". Years 0000 to 9999. Returns `out`. */
const char *pay_time_format(char out[PAY_TIME_TEXT_LEN + 1], apr_time_t when);

/*
 * Parses a whole RFC 3339 date-time ("T" or "t", any fraction, "Z", "z" or a numeric offset). A "+"
 * that arrived as a blank (form decoding of a path) is not an offset. Fractions below a microsecond
 * are cut. A leap second (:60) is read as the start of the next second. APR_EINVAL for any other
 * form or an impossible date.
 */
apr_status_t pay_time_parse(apr_time_t *out, const char *text);

/* Parses exactly "yyyy-MM-dd", an existing date, years 1 to 9999; else APR_EINVAL. */
apr_status_t pay_date_parse(pay_date_t *out, const char *text);

/* Returns the day after. */
pay_date_t pay_date_next(pay_date_t date);

/* Returns the days since 1970-01-01, negative before. */
apr_int64_t pay_date_days(pay_date_t date);

/* Returns the day that many days after 1970-01-01. */
pay_date_t pay_date_of_days(apr_int64_t days);

#endif
