/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/text/csv.h"
#include "base/text/json_list.h"
#include "httpd/call/httpd_log.h"
#include "httpd/dashboard/audit.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"

#include <apr_buckets.h>
#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>
#include <string.h>
#include <util_filter.h>

APLOG_USE_MODULE(payments);

#define BATCH 500 /* charges of one read transaction */
#define SIZE_HINT (64 * 1024)

/* An export while it is sent: one batch of rows in memory at a time. */
typedef struct export_t {
    request_rec *r;
    const pay_dashboard_t *dashboard;
    pay_time_range_t range;
    apr_bucket_brigade *bb;
    pay_csv_t csv; /* columns 0: JSON */
    apr_uint64_t rows;
    apr_status_t sent; /* of the last write */

    /* The position. */
    int done;
    pay_charge_t last;
    const pay_charge_t *after; /* &last, or NULL before the first batch */
    pay_refund_cursor_t cursor;
    char *chunk; /* of refunds: PAY_STORE_CHUNK_SIZE + 1 bytes */
} export_t;

typedef apr_status_t (*batch_t)(export_t *export, apr_pool_t *p);

static void put(void *baton, const char *text, apr_size_t len)
{
    export_t *export = baton;

    if (export->sent == APR_SUCCESS) {
        export->sent =
            apr_brigade_write(export->bb, ap_filter_flush, export->r->output_filters, text, len);
    }
}

static apr_status_t charges_batch(export_t *export, apr_pool_t *p)
{
    const pay_dashboard_t *dashboard = export->dashboard;
    pay_store_t *store = dashboard->service->store;
    const pay_charge_t *charge;
    apr_array_header_t *rows;
    pay_writer_t *w;
    apr_status_t rv;
    int i;

    rv = pay_store_charge_list(&rows, store, &dashboard->scope, &export->range, export->after,
                               BATCH, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    w = pay_writer_make(SIZE_HINT, p);
    w->comma = export->rows > 0;
    for (i = 0; i < rows->nelts; i++) {
        charge = APR_ARRAY_IDX(rows, i, const pay_charge_t *);
        if (export->csv.columns) {
            pay_charge_to_csv(&export->csv, charge);
        } else {
            pay_charge_to_json(w, NULL, charge, PAY_VIEW_SECRET);
        }
        export->last.created_at = charge->created_at;
        export->last.seq = charge->seq;
        export->after = &export->last;
        export->rows++;
    }
    put(export, w->text, w->len);
    export->done = rows->nelts < BATCH;
    return APR_SUCCESS;
}

/* Writes the records of a chunk, "{...},{...}" with a leading comma or none, as rows. */
static apr_status_t refunds_csv(export_t *export, apr_pool_t *p)
{
    const char *text = export->chunk + (*export->chunk == ',');
    const pay_json_t *record;
    pay_json_list_t list;
    pay_refund_t *refund;
    apr_status_t rv;

    if (!*text) {
        return APR_SUCCESS;
    }
    text = apr_pstrcat(p, "[", text, "]", NULL);
    pay_json_list_begin(&list, text, strlen(text));
    for (rv = pay_json_list_next(&record, &list, p); rv == APR_SUCCESS;
         rv = pay_json_list_next(&record, &list, p)) {
        if (pay_refund_from_json(&refund, record, export->dashboard->scope.mode, p)) {
            return PAY_STORE_ECORRUPT;
        }
        refund->scope.mode = export->dashboard->scope.mode; /* not part of the record's text */
        pay_refund_to_csv(&export->csv, refund);
    }
    return rv == APR_EOF ? APR_SUCCESS : PAY_STORE_ECORRUPT;
}

static apr_status_t refunds_batch(export_t *export, apr_pool_t *p)
{
    const pay_dashboard_t *dashboard = export->dashboard;
    pay_store_t *store = dashboard->service->store;
    apr_size_t len, count;
    apr_status_t rv;

    rv = pay_store_refund_scan(&export->cursor, &len, &count, store, &dashboard->scope,
                               &export->range, export->chunk, PAY_STORE_CHUNK_SIZE);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    export->chunk[len] = '\0';
    export->done = export->cursor.done;
    if (export->csv.columns) {
        return refunds_csv(export, p);
    }
    put(export, export->chunk, len);
    return APR_SUCCESS;
}

/* The file can no longer become an error, and must not look complete: the connection is cut. */
static void cut(const export_t *export, apr_status_t rv)
{
    request_rec *r = export->r;
    apr_status_t status = rv;
    const char *cause = pay_httpd_log_cause(&status, "it failed");

    ap_log_rerror(APLOG_MARK, APLOG_ERR, status, r, PAYLOGNO(00544) "an export was cut short: %s",
                  cause);
    r->connection->keepalive = AP_CONN_CLOSE;
    APR_BRIGADE_INSERT_TAIL(export->bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool,
                                                               export->bb->bucket_alloc));
    ap_pass_brigade(r->output_filters, export->bb);
}

/* Sends all batches, as far as they can be read and the client takes them; then `tail`. */
static apr_status_t send_batches(export_t *export, batch_t batch, const char *tail)
{
    request_rec *r = export->r;
    apr_status_t rv = APR_SUCCESS;
    apr_pool_t *p;

    apr_pool_create(&p, r->pool);
    while (!export->done && rv == APR_SUCCESS && export->sent == APR_SUCCESS
           && !r->connection->aborted) {
        apr_pool_clear(p);
        rv = batch(export, p);
    }
    apr_pool_destroy(p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    put(export, tail, strlen(tail));
    return export->sent == APR_SUCCESS ? ap_pass_brigade(r->output_filters, export->bb)
                                       : export->sent;
}

static void stream(export_t *export, batch_t batch, const char *const *titles)
{
    request_rec *r = export->r;
    apr_status_t rv;

    export->bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    if (titles) {
        pay_csv_open(&export->csv, put, export, titles);
    } else {
        put(export, "[", 1);
    }
    rv = send_batches(export, batch, titles ? "" : "]");
    if (rv != APR_SUCCESS && !r->connection->aborted) {
        cut(export, rv);
    }
    apr_brigade_cleanup(export->bb);
}

/* "CSV, 2026-01-01 to 2026-01-31", in the audit's words. */
static const char *extent(request_rec *r, const pay_dashboard_t *dashboard,
                          const char *const *titles)
{
    const char *from = pay_dashboard_query(dashboard, "from");
    const char *to = pay_dashboard_query(dashboard, "to");

    return apr_pstrcat(r->pool, titles ? "CSV, " : "JSON, ", from ? from : "the first", " to ",
                       to ? to : "the last", NULL);
}

/* `titles` NULL: JSON. */
static int send_export(request_rec *r, const pay_dashboard_t *dashboard, const char *what,
                       batch_t batch, const char *const *titles)
{
    export_t export = {.r = r, .dashboard = dashboard};
    const pay_change_t change =
        batch == charges_batch ? PAY_CHANGE_EXPORT_CHARGES : PAY_CHANGE_EXPORT_REFUNDS;
    const pay_problem_t *problem;
    int rc;

    problem = pay_dashboard_range(&export.range, dashboard, r->pool);
    if (!problem && !r->header_only) {
        problem = pay_dashboard_audit_export(r, dashboard, change, extent(r, dashboard, titles));
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rc = pay_dashboard_begin(
        r, HTTP_OK, titles ? "text/csv; charset=utf-8" : "application/json; charset=utf-8");
    if (rc != OK) {
        return rc;
    }
    apr_table_setn(r->headers_out, "Content-Disposition",
                   apr_psprintf(r->pool, "attachment; filename=\"%s-%s-%s.%s\"", what,
                                dashboard->account->name, pay_mode_name(dashboard->scope.mode),
                                titles ? "csv" : "json"));
    if (!r->header_only) {
        export.chunk = apr_palloc(r->pool, PAY_STORE_CHUNK_SIZE + 1);
        stream(&export, batch, titles);
    }
    return OK;
}

int pay_dashboard_charges_export_csv(request_rec *r, const pay_dashboard_t *dashboard)
{
    return send_export(r, dashboard, "charges", charges_batch, pay_charge_csv_titles);
}

int pay_dashboard_charges_export_json(request_rec *r, const pay_dashboard_t *dashboard)
{
    return send_export(r, dashboard, "charges", charges_batch, NULL);
}

int pay_dashboard_refunds_export_csv(request_rec *r, const pay_dashboard_t *dashboard)
{
    return send_export(r, dashboard, "refunds", refunds_batch, pay_refund_csv_titles);
}

int pay_dashboard_refunds_export_json(request_rec *r, const pay_dashboard_t *dashboard)
{
    return send_export(r, dashboard, "refunds", refunds_batch, NULL);
}
