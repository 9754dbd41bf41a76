/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "model/days.h"
#include "service/account/accounts.h"
#include "service/failures.h"

#include <apr_strings.h>
#include <string.h>

#define COUNT_MAX 1000
#define SIZE_HINT 8192

typedef struct overview_t {
    const char *zone_name;
    pay_days_t *days;
    pay_waiting_t waiting;
    pay_account_setup_t setup;
    int blocked; /* by PaymentsFailureLimit */
} overview_t;

/* Totals by time: at most one row for each quarter of an hour and currency. */
static apr_status_t add_totals(pay_days_t *days, const pay_dashboard_t *dashboard, apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    const pay_total_t *after = NULL;
    apr_array_header_t *steps;
    pay_total_t last;
    apr_pool_t *batch;
    apr_status_t rv;
    int i;

    apr_pool_create(&batch, p);
    do {
        apr_pool_clear(batch);
        rv = pay_store_total_list(&steps, store, &dashboard->scope, &days->range, after,
                                  PAY_STORE_ROWS_MAX, batch);
        for (i = 0; rv == APR_SUCCESS && i < steps->nelts; i++) {
            last = APR_ARRAY_IDX(steps, i, pay_total_t);
            pay_days_add(days, &last);
            after = &last;
        }
    } while (rv == APR_SUCCESS && steps->nelts > 0);
    apr_pool_destroy(batch);
    return rv;
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

/* Writes the sums of the last `count` days; leaves out a currency without any in that time. */
static void sums_to_json(pay_writer_t *w, const char *name, const pay_days_t *days, int count)
{
    pay_total_t sum;
    int i;

    pay_writer_array_open(w, name);
    for (i = 0; i < days->currencies->nelts; i++) {
        pay_days_sum(&sum, APR_ARRAY_IDX(days->currencies, i, const pay_days_currency_t *), count);
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

static void chart_to_json(pay_writer_t *w, const pay_days_t *days)
{
    const pay_days_currency_t *currency;
    int i, day;

    pay_writer_array_open(w, "chart");
    for (i = 0; i < days->currencies->nelts; i++) {
        currency = APR_ARRAY_IDX(days->currencies, i, const pay_days_currency_t *);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "currency", currency->day[0].currency);
        pay_writer_array_open(w, "days");
        for (day = 0; day < PAY_DAYS; day++) {
            day_to_json(w, &days->date[day], &currency->day[day]);
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
    sums_to_json(w, "today", overview->days, 1);
    sums_to_json(w, "days30", overview->days, PAY_DAYS);
    chart_to_json(w, overview->days);
    pay_writer_integer(w, "pending", waiting->pending);
    pay_writer_integer(w, "openCheckouts", waiting->open);
    pay_writer_integer(w, "held", waiting->held);
    pay_writer_integer(w, "blocked", overview->blocked);
    pay_writer_integer(w, "openWebhooks", waiting->webhooks);
    pay_writer_integer(w, "parkedWebhooks", waiting->parked);
    pay_writer_bool(w, "hasKeys", overview->setup.has_key);
    pay_writer_bool(w, "hasCharges", waiting->charges);
    pay_writer_bool(w, "hasWebhook", overview->setup.has_webhook);
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}

int pay_dashboard_overview_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_store_t *store = dashboard->service->store;
    const struct pay_timezone_t *zone;
    const pay_problem_t *problem;
    overview_t overview = {0};
    apr_status_t rv;

    problem = pay_dashboard_zone(&zone, &overview.zone_name, dashboard, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    overview.days = pay_days_make(zone, pay_time_now(), r->pool);
    rv = add_totals(overview.days, dashboard, r->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_store_waiting_count(&overview.waiting, store, &dashboard->scope, COUNT_MAX);
    }
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    problem = pay_account_setup(&overview.setup, dashboard->service, dashboard->account,
                                dashboard->scope.mode, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    (void)pay_failures_list(&overview.blocked, dashboard->service, &dashboard->scope, r->pool);
    return reply(r, &overview);
}
