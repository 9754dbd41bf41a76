/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/range.h"

#include <apr_strings.h>
#include <string.h>

#define PERIOD_TEXT_MAX 16

/* A day or month of the account's time zone. */
typedef struct period_t {
    char name[PERIOD_TEXT_MAX]; /* yyyy-MM-dd or yyyy-MM */
    apr_time_t end;             /* the next one's first instant */
} period_t;

/* What is printed: a period's total in one currency. */
typedef struct row_t {
    const char *period; /* its name */
    pay_total_t total;
} row_t;

typedef struct totals_t {
    ctl_list_t *list;
    const pay_timezone_t *zone;
    int by_month;
    period_t period;
    apr_array_header_t *rows; /* of pay_total_t: the period's, by currency */
    ctl_t *ctl;
    pay_scope_t scope;
    pay_time_range_t range;
} totals_t;

static void sum_put(ctl_value_t *value, const pay_sum_t *sum, const row_t *row)
{
    char text[PAY_SUM_TEXT_MAX];

    value->text = apr_pstrdup(value->pool, pay_sum_format(text, sum, row->total.currency));
}

static void charged_get(ctl_value_t *value, const void *row)
{
    sum_put(value, &((const row_t *)row)->total.charged, row);
}

static void refunded_get(ctl_value_t *value, const void *row)
{
    sum_put(value, &((const row_t *)row)->total.refunded, row);
}

static void net_get(ctl_value_t *value, const void *row)
{
    const pay_total_t *total = &((const row_t *)row)->total;
    pay_sum_t net = total->charged;

    pay_sum_subtract_sum(&net, &total->refunded);
    sum_put(value, &net, row);
}

static void fees_get(ctl_value_t *value, const void *row)
{
    sum_put(value, &((const row_t *)row)->total.fees, row);
}

#define AT(member) CTL_FIELD(row_t, member)
#define ALL (CTL_TABLE | CTL_JSON | CTL_CSV)

/* Sums are strings in JSON, as a refund's amount is: its readers may round long numbers. */
static const ctl_column_t columns[] = {
    {ALL, "period", "period", CTL_TEXT, AT(period)},
    {ALL, "currency", "currency", CTL_TEXT, AT(total.currency)},
    {ALL, "charged", "charged", CTL_DECIMAL, .get = charged_get},
    {ALL, "refunded", "refunded", CTL_DECIMAL, .get = refunded_get},
    {ALL, "net", "net", CTL_DECIMAL, .get = net_get},
    {ALL, "charges", "charges", CTL_NUMBER, AT(total.charges)},
    {ALL, "refunds", "refunds", CTL_NUMBER, AT(total.refunds)},
    {ALL, "failed", "failed", CTL_NUMBER, AT(total.failed)},
    {ALL, "fees", "transactionFees", CTL_DECIMAL, .get = fees_get},
    {0},
};

static const ctl_view_t total_view = {.columns = columns};

/* The period that `when` lies in: days begin where lists by date begin them. */
static void period_find(totals_t *totals, apr_time_t when)
{
    period_t *period = &totals->period;
    const pay_date_t date = pay_timezone_day(totals->zone, when);
    pay_date_t next = pay_date_next(date);

    if (totals->by_month) {
        apr_snprintf(period->name, sizeof(period->name), "%04d-%02d", date.year, date.month);
        next.year = date.year + (date.month == 12);
        next.month = date.month % 12 + 1;
        next.day = 1;
    } else {
        apr_snprintf(period->name, sizeof(period->name), "%04d-%02d-%02d", date.year, date.month,
                     date.day);
    }
    period->end = pay_timezone_day_start(totals->zone, next);
}

static void period_print(totals_t *totals)
{
    row_t row = {.period = totals->period.name};
    int i;

    for (i = 0; i < totals->rows->nelts; i++) {
        row.total = APR_ARRAY_IDX(totals->rows, i, pay_total_t);
        ctl_list_row(totals->list, &row);
    }
    apr_array_clear(totals->rows);
}

/* Adds a step's total to the period's row of its currency; rows stay in the currencies' order. */
static void period_add(totals_t *totals, const pay_total_t *step)
{
    pay_total_t *rows;
    int at = 0;

    rows = (pay_total_t *)totals->rows->elts;
    while (at < totals->rows->nelts && strcmp(rows[at].currency, step->currency) < 0) {
        at++;
    }
    if (at < totals->rows->nelts && strcmp(rows[at].currency, step->currency) == 0) {
        pay_total_add(&rows[at], step);
        return;
    }
    (void)apr_array_push(totals->rows);
    rows = (pay_total_t *)totals->rows->elts;
    memmove(&rows[at + 1], &rows[at], (size_t)(totals->rows->nelts - 1 - at) * sizeof(rows[0]));
    rows[at] = *step;
}

static apr_status_t steps_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    const totals_t *totals = baton;

    return pay_store_total_list(rows, totals->ctl->service.store, &totals->scope, &totals->range,
                                after, PAY_STORE_ROWS_MAX, p);
}

static apr_status_t step_take(void *baton, const void *row, apr_pool_t *p)
{
    totals_t *totals = baton;
    const pay_total_t *step = row;

    (void)p;
    if (!*totals->period.name || step->from >= totals->period.end) {
        period_print(totals);
        period_find(totals, step->from);
    }
    period_add(totals, step);
    return APR_SUCCESS;
}

/* Whole days only: a total is kept for steps of time, not for its charges. */
static ctl_exit_t days_check(const ctl_t *ctl, ctl_option_id_t id)
{
    pay_date_t date;
    apr_status_t rv;

    if (!ctl->option[id]) {
        return CTL_OK;
    }
    rv = pay_date_parse(&date, ctl->option[id]);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--%s: want a date that exists, such as 2026-11-30",
                        ctl_options[id].name);
    }
    return CTL_OK;
}

static ctl_exit_t by_read(int *by_month, const ctl_t *ctl)
{
    const char *by = ctl->option[CTL_OPTION_BY];

    *by_month = strcmp(by, "month") == 0;
    if (!*by_month && strcmp(by, "day") != 0) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--by: want day or month");
    }
    return CTL_OK;
}

ctl_exit_t ctl_totals(ctl_t *ctl)
{
    static const pay_pager_t pager = {.list = steps_list, .each = step_take};
    totals_t totals = {.ctl = ctl, .rows = apr_array_make(ctl->pool, 4, sizeof(pay_total_t))};
    pay_account_t *account;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = by_read(&totals.by_month, ctl);
    if (!failed) {
        failed = days_check(ctl, CTL_OPTION_FROM);
    }
    if (!failed) {
        failed = days_check(ctl, CTL_OPTION_TO);
    }
    if (!failed) {
        failed = ctl_scope_find(&totals.scope, &account, ctl);
    }
    if (!failed) {
        failed = ctl_zone_load(&totals.zone, ctl, account);
    }
    if (!failed) {
        failed = ctl_range_read(&totals.range, ctl, account);
    }
    if (failed) {
        return failed;
    }
    totals.list = ctl_list_open(ctl, &total_view, 0);
    rv = pay_pager_walk(&pager, &totals, ctl->pool);
    if (rv == APR_SUCCESS) {
        period_print(&totals);
    }
    return ctl_list_end(totals.list, rv, "cannot sum up");
}
