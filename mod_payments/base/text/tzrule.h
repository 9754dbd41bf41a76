/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_TZRULE_H
#define PAY_BASE_TEXT_TZRULE_H

/*
 * The rule after a TZif file's last transition: a POSIX TZ string with the extension of RFC 8536
 * section 3.3.1 (hours from -167 to 167). Pure.
 */

#include <apr.h>
#include <apr_errno.h>

typedef enum pay_tzrule_day_t {
    PAY_TZRULE_JULIAN,  /* Jn: day 1 to 365, 29 February never counted */
    PAY_TZRULE_ORDINAL, /* n: day 0 to 365 */
    PAY_TZRULE_WEEKDAY  /* Mm.w.d: the w-th (5: last) weekday d (0: Sunday) of month m */
} pay_tzrule_day_t;

typedef struct pay_tzrule_date_t {
    pay_tzrule_day_t kind;
    int month, week, day;
    apr_int64_t time; /* seconds of local time after that day's midnight */
} pay_tzrule_date_t;

typedef struct pay_tzrule_t {
    apr_int64_t offset; /* seconds east of Greenwich */
    int has_summer;
    apr_int64_t summer_offset;
    pay_tzrule_date_t summer_start; /* given in standard time */
    pay_tzrule_date_t summer_end;   /* given in summer time */
} pay_tzrule_t;

/* `offset` is in force from `at` on. */
typedef struct pay_tzrule_change_t {
    apr_int64_t at; /* seconds since 1970-01-01T00:00:00Z */
    apr_int64_t offset;
} pay_tzrule_change_t;

/* APR_EINVAL for any other text, also for summer time without its dates. */
apr_status_t pay_tzrule_parse(pay_tzrule_t *out, const char *text);

/* Returns the two changes of the year in the order of time. Only for a rule with summer time. */
void pay_tzrule_year(pay_tzrule_change_t out[2], const pay_tzrule_t *rule, int year);

#endif
