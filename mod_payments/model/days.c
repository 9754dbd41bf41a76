/* SPDX-License-Identifier: Apache-2.0 */
#include "model/days.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

pay_days_t *pay_days_make(const pay_timezone_t *zone, apr_time_t now, apr_pool_t *p)
{
    const apr_int64_t today = pay_date_days(pay_timezone_day(zone, now));
    pay_days_t *days = apr_pcalloc(p, sizeof(*days));
    int i;

    for (i = 0; i < PAY_DAYS; i++) {
        days->date[i] = pay_date_of_days(today - (PAY_DAYS - 1) + i);
        days->begin[i] = pay_timezone_day_start(zone, days->date[i]);
    }
    days->range.from = days->begin[0];
    days->range.to = pay_timezone_day_start(zone, pay_date_of_days(today + 1)) - 1;
    days->currencies = apr_array_make(p, 4, sizeof(pay_days_currency_t *));
    return days;
}

static pay_days_currency_t *currency_of(pay_days_t *days, const char *code)
{
    apr_array_header_t *list = days->currencies;
    pay_days_currency_t *currency;
    int order = -1;
    int at = 0, i;

    for (; at < list->nelts; at++) {
        currency = APR_ARRAY_IDX(list, at, pay_days_currency_t *);
        order = strcmp(currency->day[0].currency, code);
        if (order >= 0) {
            break;
        }
    }
    if (order == 0) {
        return currency;
    }
    currency = apr_pcalloc(list->pool, sizeof(*currency));
    for (i = 0; i < PAY_DAYS; i++) {
        apr_cpystrn(currency->day[i].currency, code, sizeof(currency->day[i].currency));
    }
    (void)apr_array_push(list);
    memmove(&APR_ARRAY_IDX(list, at + 1, pay_days_currency_t *),
            &APR_ARRAY_IDX(list, at, pay_days_currency_t *),
            (size_t)(list->nelts - 1 - at) * sizeof(currency));
    APR_ARRAY_IDX(list, at, pay_days_currency_t *) = currency;
    return currency;
}

void pay_days_add(pay_days_t *days, const pay_total_t *step)
{
    int day = 0;

    assert(step->from >= days->range.from);
    assert(step->from <= days->range.to);
    while (day < PAY_DAYS - 1 && step->from >= days->begin[day + 1]) {
        day++;
    }
    pay_total_add(&currency_of(days, step->currency)->day[day], step);
}

void pay_days_sum(pay_total_t *out, const pay_days_currency_t *currency, int count)
{
    int day;

    assert(count >= 1);
    assert(count <= PAY_DAYS);
    memset(out, 0, sizeof(*out));
    memcpy(out->currency, currency->day[0].currency, sizeof(out->currency));
    for (day = PAY_DAYS - count; day < PAY_DAYS; day++) {
        pay_total_add(out, &currency->day[day]);
    }
}
