/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/query.h"
#include "httpd/call/reply.h"
#include "httpd/call/stream.h"
#include "model/checkout.h"
#include "model/email.h"
#include "service/charge/transactions.h"

#include <apr_strings.h>
#include <string.h>

#define BATCH 200 /* transactions of one read transaction of the store */
#define SIZE_HINT (64 * 1024)

/* ---- all of a period, oldest first */

typedef struct report_t {
    pay_stream_t stream; /* must be the first member */
    const pay_call_t *call;
    pay_time_range_t range;
    pay_charge_t last;         /* createdAt and seq of the last one read */
    const pay_charge_t *after; /* &last, or NULL before the first batch */
} report_t;

static const pay_problem_t *next_batch(pay_stream_t *stream, apr_bucket_brigade *bb, apr_pool_t *p)
{
    report_t *report = (report_t *)stream;
    pay_writer_t *w = pay_writer_make(SIZE_HINT, p);
    const pay_problem_t *problem;
    const pay_charge_t *charge;
    apr_array_header_t *rows;
    int i;

    problem = pay_transactions_scan(&rows, report->call->service, &report->call->key->scope,
                                    &report->range, report->after, BATCH, p);
    if (problem) {
        return problem;
    }
    w->comma = report->after != NULL;
    for (i = 0; i < rows->nelts; i++) {
        charge = APR_ARRAY_IDX(rows, i, const pay_charge_t *);
        pay_charge_to_json(w, NULL, charge, PAY_VIEW_SECRET);
        report->last.created_at = charge->created_at;
        report->last.seq = charge->seq;
        report->after = &report->last;
    }
    stream->length = w->len;
    stream->done = rows->nelts < BATCH;
    return apr_brigade_write(bb, NULL, NULL, w->text, w->len) == APR_SUCCESS
               ? NULL
               : pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_ENOMEM, p);
}

/*
 * The array has an end: transactions made after the call began do not appear. The end is by the
 * clock, or by the newest transaction if that was made while the clock was ahead.
 */
static const pay_problem_t *set_end(report_t *report, apr_pool_t *p)
{
    const pay_charge_filter_t any = {.range = {-APR_INT64_MAX, APR_INT64_MAX}};
    pay_charge_cursor_t cursor = {.started = 0};
    const pay_problem_t *problem;
    apr_array_header_t *newest;
    apr_time_t end = pay_time_now();

    problem = pay_transactions_search(&newest, &cursor, report->call->service,
                                      &report->call->key->scope, &any, 1, p);
    if (problem) {
        return problem;
    }
    if (newest->nelts > 0 && APR_ARRAY_IDX(newest, 0, const pay_charge_t *)->created_at > end) {
        end = APR_ARRAY_IDX(newest, 0, const pay_charge_t *)->created_at;
    }
    if (report->range.to > end) {
        report->range.to = end;
    }
    return NULL;
}

int pay_api_report(request_rec *r, const pay_call_t *call)
{
    report_t report = {.stream = {.r = r, .what = "a report", .next = next_batch}, .call = call};
    const pay_problem_t *problem;

    problem = pay_api_range(&report.range, r, call, 0);
    if (!problem) {
        problem = set_end(&report, r->pool);
    }
    return problem ? pay_reply_problem(r, problem) : pay_stream_send(&report.stream);
}

/* ---- found, newest first, in parts */

/* The words of `status` and `paymentStatus`, and the charges that they mean. */
static const struct {
    const char *name;
    unsigned int words;
} statuses[] = {
    {"pending", 1U << PAY_CHARGE_PENDING | 1U << PAY_CHARGE_WORD_OPEN},
    {"successful", 1U << PAY_CHARGE_SUCCESSFUL},
    {"failed", 1U << PAY_CHARGE_FAILED | 1U << PAY_CHARGE_VOID | 1U << PAY_CHARGE_ABANDONED},
    {"reversed", 1U << PAY_CHARGE_REVERSED},
    {"void", 1U << PAY_CHARGE_VOID},
    {"abandoned", 1U << PAY_CHARGE_ABANDONED},
};

/* Returns 0 if it is not one of these words. */
static unsigned int words_of(const char *status)
{
    apr_size_t i;

    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (!strcmp(statuses[i].name, status)) {
            return statuses[i].words;
        }
    }
    return 0;
}

static const pay_problem_t *read_filter(pay_charge_filter_t *out, const pay_query_t *query,
                                        apr_pool_t *p)
{
    const char *email = pay_query_value(query, "email");
    const char *status = pay_query_value(query, "status");
    const char *currency = pay_query_value(query, "currency");
    char *code = apr_palloc(p, PAY_CURRENCY_LEN + 1);
    pay_problem_t *problem = NULL;

    memset(out, 0, sizeof(*out));
    if (email && pay_email_normalize(&out->email, email, p) != APR_SUCCESS) {
        pay_problem_add(&problem, "/email", "must be one whole e-mail address", p);
    }
    if (status) {
        out->words = words_of(status);
    }
    if (status && !out->words) {
        pay_problem_add(&problem, "/status",
                        "must be pending, successful, failed, reversed, void or abandoned", p);
    }
    if (currency && pay_currency_normalize(code, currency) != APR_SUCCESS) {
        pay_problem_add(&problem, "/currency", "must be an ISO 4217 currency code", p);
    }
    if (problem) {
        return problem;
    }
    out->currency = currency ? code : NULL;
    return pay_query_range(&out->range, query, p);
}

static int reply(request_rec *r, const apr_array_header_t *rows, const pay_charge_cursor_t *cursor)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    int i;

    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", 1);
    pay_writer_string(w, "message", "Transactions retrieved successfully");
    pay_writer_object_open(w, "data");
    pay_writer_array_open(w, "transactions");
    for (i = 0; i < rows->nelts; i++) {
        pay_charge_to_json(w, NULL, APR_ARRAY_IDX(rows, i, const pay_charge_t *), PAY_VIEW_SECRET);
    }
    pay_writer_array_close(w);
    pay_writer_string(
        w, "cursor",
        cursor->done ? NULL : pay_query_cursor_text(cursor->created_at, cursor->seq, r->pool));
    pay_writer_object_close(w);
    pay_writer_object_close(w);
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_transaction_list(request_rec *r, const pay_call_t *call)
{
    pay_query_t query = {.account = call->key->account};
    pay_charge_cursor_t cursor = {.started = 0};
    const pay_problem_t *problem;
    pay_charge_filter_t filter;
    apr_array_header_t *rows;
    int limit;

    problem = pay_query_parse(&query.table, r->args, r->pool);
    if (!problem) {
        problem = pay_query_limit(&limit, &query, r->pool);
    }
    if (!problem) {
        problem = read_filter(&filter, &query, r->pool);
    }
    if (!problem) {
        problem = pay_query_cursor(&cursor.created_at, &cursor.seq, &cursor.started, &query,
                                   "cursor", r->pool);
    }
    if (!problem) {
        problem = pay_transactions_search(&rows, &cursor, call->service, &call->key->scope, &filter,
                                          limit, r->pool);
    }
    return problem ? pay_reply_problem(r, problem) : reply(r, rows, &cursor);
}
