/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_timezone.h"
#include "httpd/pay_dashboard_query.h"
#include "httpd/pay_dashboard_reply.h"
#include "service/pay_failures.h"

#include <apr_strings.h>
#include <string.h>

#define DAYS 30 /* today is the last of them */
#define COUNT_MAX 1000
#define SIZE_HINT 8192
#define SECONDS_PER_DAY 86400
#define DAYS_BEHIND 2 /* no zone is further from UTC */

/* One currency's days. */
typedef struct currency_t {
    pay_total_t day[DAYS];
} currency_t;

typedef struct overview_t {
    const pay_timezone_t *zone;
    const char *zone_name;
    pay_date_t date[DAYS];
    apr_time_t begin[DAYS + 1];     /* of each day; the last one: of tomorrow */
    apr_array_header_t *currencies; /* of currency_t *, by code */
    pay_waiting_t waiting;
    int has_keys, has_webhook;
    int blocked; /* by PaymentsFailureLimit */
} overview_t;

/* The days that end with the one that `now` lies in. */
static void find_days(overview_t *overview, apr_time_t now)
{
    apr_int64_t today = now / apr_time_from_sec((apr_int64_t)SECONDS_PER_DAY) + DAYS_BEHIND;
    int i;

    while (pay_timezone_day_start(overview->zone, pay_date_of_days(today)) > now) {
        today--;
    }
    for (i = 0; i < DAYS; i++) {
        overview->date[i] = pay_date_of_days(today - (DAYS - 1) + i);
        overview->begin[i] = pay_timezone_day_start(overview->zone, overview->date[i]);
    }
    overview->begin[DAYS] = pay_timezone_day_start(overview->zone, pay_date_of_days(today + 1));
}

static currency_t *currency_of(overview_t *overview, const char *code)
{
    apr_array_header_t *list = overview->currencies;
    currency_t *currency;
    int at = 0, i;

    while (at < list->nelts
           && strcmp(APR_ARRAY_IDX(list, at, currency_t *)->day[0].currency, code) < 0) {
        at++;
    }
    if (at < list->nelts && !strcmp(APR_ARRAY_IDX(list, at, currency_t *)->day[0].currency, code)) {
        return APR_ARRAY_IDX(list, at, currency_t *);
    }
    currency = apr_pcalloc(list->pool, sizeof(*currency));
    for (i = 0; i < DAYS; i++) {
        apr_cpystrn(currency->day[i].currency, code, sizeof(currency->day[i].currency));
    }
    (void)apr_array_push(list);
    memmove(&APR_ARRAY_IDX(list, at + 1, currency_t *), &APR_ARRAY_IDX(list, at, currency_t *),
            (size_t)(list->nelts - 1 - at) * sizeof(currency));
    APR_ARRAY_IDX(list, at, currency_t *) = currency;
    return currency;
}

/* Totals by time: at most a row for each quarter of an hour and currency. */
static apr_status_t add_totals(overview_t *overview, const pay_dashboard_t *dashboard,
                               apr_pool_t *p)
{
    const pay_time_range_t range = {overview->begin[0], overview->begin[DAYS] - 1};
    pay_store_t *store = dashboard->service->store;
    const pay_total_t *after = NULL;
    apr_array_header_t *steps;
    pay_total_t last;
    apr_pool_t *batch;
    apr_status_t rv;
    int day = 0;
    int i;

    apr_pool_create(&batch, p);
    do {
        apr_pool_clear(batch);
        rv = store->ops->total_list(&steps, store, &dashboard->scope, &range, after,
                                    PAY_STORE_ROWS_MAX, batch);
        for (i = 0; rv == APR_SUCCESS && i < steps->nelts; i++) {
            last = APR_ARRAY_IDX(steps, i, pay_total_t);
            while (day < DAYS - 1 && last.from >= overview->begin[day + 1]) {
                day++;
            }
            pay_total_add(&currency_of(overview, last.currency)->day[day], &last);
            after = &last;
        }
    } while (rv == APR_SUCCESS && steps->nelts > 0);
    apr_pool_destroy(batch);
    return rv;
}

static apr_status_t look_at_settings(overview_t *overview, const pay_dashboard_t *dashboard,
                                     apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    const apr_time_t now = pay_time_now();
    const pay_api_key_t *key;
    pay_endpoint_t *webhook;
    apr_array_header_t *keys;
    apr_status_t rv;
    int i;

    rv = store->ops->key_list(&keys, store, dashboard->account->name, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < keys->nelts; i++) {
        key = APR_ARRAY_IDX(keys, i, const pay_api_key_t *);
        overview->has_keys |=
            key->scope.mode == dashboard->scope.mode && pay_api_key_is_valid(key, now);
    }
    rv = store->ops->endpoint_get(&webhook, store, &dashboard->scope, PAY_ENDPOINT_WEBHOOK, p);
    overview->has_webhook = rv == APR_SUCCESS && webhook->enabled;
    return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
}

static void total_members(pay_writer_t *w, const pay_total_t *total)
{
    const double decided = (double)total->charges + (double)total->failed;
    char text[PAY_SUM_TEXT_MAX];

    pay_writer_string(w, "currency", total->currency);
    pay_writer_integer(w, "charges", (apr_int64_t)total->charges);
    pay_writer_string(w, "volume", pay_sum_format(text, &total->charged, total->currency));
    pay_writer_integer(w, "failed", (apr_int64_t)total->failed);
    if (decided > 0) {
        pay_writer_raw(w, "successRate",
                       apr_psprintf(w->pool, "%.4f", (double)total->charges / decided));
    } else {
        pay_writer_null(w, "successRate");
    }
    pay_writer_integer(w, "refunds", (apr_int64_t)total->refunds);
    pay_writer_string(w, "refundVolume", pay_sum_format(text, &total->refunded, total->currency));
}

/* The sums of the last `days` days; a currency of which nothing is counted then is left out. */
static void sums_to_json(pay_writer_t *w, const char *name, const overview_t *overview, int days)
{
    const currency_t *currency;
    pay_total_t sum;
    int i, day;

    pay_writer_array_open(w, name);
    for (i = 0; i < overview->currencies->nelts; i++) {
        currency = APR_ARRAY_IDX(overview->currencies, i, const currency_t *);
        memset(&sum, 0, sizeof(sum));
        memcpy(sum.currency, currency->day[0].currency, sizeof(sum.currency));
        for (day = DAYS - days; day < DAYS; day++) {
            pay_total_add(&sum, &currency->day[day]);
        }
        if (!pay_total_is_zero(&sum)) {
            pay_writer_object_open(w, NULL);
            total_members(w, &sum);
            pay_writer_object_close(w);
        }
    }
    pay_writer_array_close(w);
}

static void day_to_json(pay_writer_t *w, const pay_date_t *date, const pay_total_t *total)
{
    char text[PAY_SUM_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "date",
                      apr_psprintf(w->pool, "%04d-%02d-%02d", date->year, date->month, date->day));
    pay_writer_string(w, "volume", pay_sum_format(text, &total->charged, total->currency));
    pay_writer_integer(w, "charges", (apr_int64_t)total->charges);
    pay_writer_integer(w, "failed", (apr_int64_t)total->failed);
    pay_writer_integer(w, "refunds", (apr_int64_t)total->refunds);
    pay_writer_string(w, "refundVolume", pay_sum_format(text, &total->refunded, total->currency));
    pay_writer_object_close(w);
}

static void chart_to_json(pay_writer_t *w, const overview_t *overview)
{
    const currency_t *currency;
    int i, day;

    pay_writer_array_open(w, "chart");
    for (i = 0; i < overview->currencies->nelts; i++) {
        currency = APR_ARRAY_IDX(overview->currencies, i, const currency_t *);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "currency", currency->day[0].currency);
        pay_writer_array_open(w, "days");
        for (day = 0; day < DAYS; day++) {
            day_to_json(w, &overview->date[day], &currency->day[day]);
        }
        pay_writer_array_close(w);
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
}

static int reply(request_rec *r, const overview_t *overview)
{
    const pay_waiting_t *waiting = &overview->waiting;
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "timezone", overview->zone_name);
    sums_to_json(w, "today", overview, 1);
    sums_to_json(w, "days30", overview, DAYS);
    chart_to_json(w, overview);
    pay_writer_integer(w, "pending", waiting->pending);
    pay_writer_integer(w, "openCheckouts", waiting->open);
    pay_writer_integer(w, "held", waiting->held);
    pay_writer_integer(w, "blocked", overview->blocked);
    pay_writer_integer(w, "openWebhooks", waiting->webhooks);
    pay_writer_integer(w, "parkedWebhooks", waiting->parked);
    pay_writer_bool(w, "hasKeys", overview->has_keys);
    pay_writer_bool(w, "hasCharges", waiting->charges);
    pay_writer_bool(w, "hasWebhook", overview->has_webhook);
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}

int pay_dashboard_overview_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_store_t *store = dashboard->service->store;
    overview_t overview = {.currencies = apr_array_make(r->pool, 4, sizeof(currency_t *))};
    const pay_problem_t *problem;
    apr_status_t rv;

    problem = pay_dashboard_zone(&overview.zone, &overview.zone_name, dashboard, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    find_days(&overview, pay_time_now());
    rv = add_totals(&overview, dashboard, r->pool);
    if (rv == APR_SUCCESS) {
        rv = store->ops->waiting_count(&overview.waiting, store, &dashboard->scope, COUNT_MAX);
    }
    if (rv == APR_SUCCESS) {
        rv = look_at_settings(&overview, dashboard, r->pool);
    }
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    (void)pay_failures_list(&overview.blocked, dashboard->service, &dashboard->scope, r->pool);
    return reply(r, &overview);
}
