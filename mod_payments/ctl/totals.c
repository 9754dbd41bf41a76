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
    const period_t *period;
    const pay_total_t *total;
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

static const char *const titles[] = {"PERIOD",  "CURRENCY", "CHARGED", "REFUNDED", "NET",
                                     "CHARGES", "REFUNDS",  "FAILED",  "FEES",     NULL};

static const char *const csv_titles[] = {"period",  "currency", "charged", "refunded",        "net",
                                         "charges", "refunds",  "failed",  "transactionFees", NULL};

static const char *net_text(char out[PAY_SUM_TEXT_MAX], const pay_total_t *total)
{
    pay_sum_t net = total->charged;

    pay_sum_subtract_sum(&net, &total->refunded);
    return pay_sum_format(out, &net, total->currency);
}

static void total_cells(ctl_table_t *table, const void *data)
{
    const row_t *row = data;
    const pay_total_t *total = row->total;
    char text[PAY_SUM_TEXT_MAX];

    ctl_table_cell(table, row->period->name);
    ctl_table_cell(table, total->currency);
    ctl_table_cell(table, pay_sum_format(text, &total->charged, total->currency));
    ctl_table_cell(table, pay_sum_format(text, &total->refunded, total->currency));
    ctl_table_cell(table, net_text(text, total));
    ctl_table_number(table, total->charges);
    ctl_table_number(table, total->refunds);
    ctl_table_number(table, total->failed);
    ctl_table_cell(table, pay_sum_format(text, &total->fees, total->currency));
}

/* Sums are strings, as a refund's amount is: readers of JSON may round long numbers. */
static void total_json(pay_writer_t *w, const void *data)
{
    const row_t *row = data;
    const pay_total_t *total = row->total;
    char text[PAY_SUM_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "period", row->period->name);
    pay_writer_string(w, "currency", total->currency);
    pay_writer_string(w, "charged", pay_sum_format(text, &total->charged, total->currency));
    pay_writer_string(w, "refunded", pay_sum_format(text, &total->refunded, total->currency));
    pay_writer_string(w, "net", net_text(text, total));
    pay_writer_integer(w, "charges", (apr_int64_t)total->charges);
    pay_writer_integer(w, "refunds", (apr_int64_t)total->refunds);
    pay_writer_integer(w, "failed", (apr_int64_t)total->failed);
    pay_writer_string(w, "transactionFees", pay_sum_format(text, &total->fees, total->currency));
    pay_writer_object_close(w);
}

static void total_csv(pay_csv_t *csv, const void *data)
{
    const row_t *row = data;
    const pay_total_t *total = row->total;
    char text[PAY_SUM_TEXT_MAX];

    pay_csv_text(csv, row->period->name);
    pay_csv_text(csv, total->currency);
    pay_csv_decimal(csv, pay_sum_format(text, &total->charged, total->currency));
    pay_csv_decimal(csv, pay_sum_format(text, &total->refunded, total->currency));
    pay_csv_decimal(csv, net_text(text, total));
    pay_csv_number(csv, total->charges);
    pay_csv_number(csv, total->refunds);
    pay_csv_number(csv, total->failed);
    pay_csv_decimal(csv, pay_sum_format(text, &total->fees, total->currency));
}

static const ctl_view_t total_view = {.titles = titles,
                                      .cells = total_cells,
                                      .json = total_json,
                                      .csv_titles = csv_titles,
                                      .csv = total_csv};

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
    row_t row = {.period = &totals->period};
    int i;

    for (i = 0; i < totals->rows->nelts; i++) {
        row.total = &APR_ARRAY_IDX(totals->rows, i, pay_total_t);
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

    return pay_store_total_list(rows, totals->ctl->store, &totals->scope, &totals->range, after,
                                PAY_STORE_ROWS_MAX, p);
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
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot sum up"); /* the array stays open: no list */
    }
    period_print(&totals);
    ctl_list_close(totals.list);
    return CTL_OK;
}
