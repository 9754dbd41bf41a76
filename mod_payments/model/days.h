/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_DAYS_H
#define PAY_MODEL_DAYS_H

/* The last days in a time zone, and the totals of each by currency: the dashboard's chart. Pure. */

#include "base/text/timezone.h"
#include "model/total.h"

#include <apr_tables.h>

#define PAY_DAYS 30 /* the last of them is today */

/* One currency's days. */
typedef struct pay_days_currency_t {
    pay_total_t day[PAY_DAYS];
} pay_days_currency_t;

typedef struct pay_days_t {
    pay_date_t date[PAY_DAYS];
    pay_time_range_t range;         /* from the first instant of all days to the last */
    apr_time_t begin[PAY_DAYS];     /* of each day */
    apr_array_header_t *currencies; /* of pay_days_currency_t *, by code; empty at first */
} pay_days_t;

/* Makes the days that end with the day of `now`. */
pay_days_t *pay_days_make(const pay_timezone_t *zone, apr_time_t now, apr_pool_t *p);

/* Adds a step of time, which begins within the range, to its day. */
void pay_days_add(pay_days_t *days, const pay_total_t *step);

/* Sets *out to the sum of the last `count` days, 1 to PAY_DAYS. */
void pay_days_sum(pay_total_t *out, const pay_days_currency_t *currency, int count);

#endif
