/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_log.h"
#include "base/pay_writer.h"
#include "httpd/pay_api.h"
#include "httpd/pay_httpd_log.h"
#include "httpd/pay_reply.h"
#include "httpd/pay_zones.h"
#include "service/pay_refunds.h"

#include <apr_buckets.h>
#include <http_log.h>
#include <http_protocol.h>
#include <util_filter.h>

APLOG_USE_MODULE(payments);

#define RECORD_SIZE_HINT 1024

/* A refund list on its way: one chunk of it in memory at a time. */
typedef struct list_t {
    request_rec *r;
    const pay_call_t *call;
    pay_time_range_t range;
    pay_refund_cursor_t cursor;
    char *chunk; /* from the connection's bucket allocator; NULL once it was handed on */
    apr_size_t chunk_len;
} list_t;

int pay_api_refund_get(request_rec *r, const pay_call_t *call)
{
    const pay_problem_t *problem;
    pay_refund_t *refund;
    pay_writer_t *w;

    problem = pay_refund_get(&refund, call->service, &call->key->scope, call->segment[0], r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", refund->refund_reference);
    w = pay_writer_make(RECORD_SIZE_HINT, r->pool);
    pay_refund_to_json(w, NULL, refund);
    return pay_reply_json(r, HTTP_OK, w);
}

static int create(request_rec *r, const pay_call_t *call, int partial)
{
    const pay_caller_t caller = pay_caller_of_key(call->key, call->idempotency_key);
    pay_refund_request_t *request;
    const pay_problem_t *problem;
    pay_refund_t *refund;
    pay_writer_t *w;
    int replayed;

    problem = pay_refund_request_from_json(&request, call->body, partial, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", request->reference);
    problem = pay_refund_create(&refund, &replayed, call->service, &caller, request, r->pool);
    if (replayed) {
        pay_reply_mark_replayed(r); /* refusals are given again too */
    }
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    w = pay_writer_make(RECORD_SIZE_HINT, r->pool);
    /* The first answer too: the acquirer may have taken the refund back before it is written. */
    pay_refund_answer_to_json(w, refund);
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_refund_create(request_rec *r, const pay_call_t *call)
{
    return create(r, call, 0);
}

int pay_api_refund_create_partial(request_rec *r, const pay_call_t *call)
{
    return create(r, call, 1);
}

/* Reads the next chunk, no transaction open afterwards. `p` for what the call itself needs. */
static const pay_problem_t *read_chunk(list_t *list, apr_pool_t *p)
{
    apr_bucket_alloc_t *alloc = list->r->connection->bucket_alloc;
    const pay_problem_t *problem;
    apr_size_t count;

    list->chunk = apr_bucket_alloc(PAY_STORE_CHUNK_SIZE, alloc);
    problem = pay_refunds_scan(&list->cursor, &list->chunk_len, &count, list->call->service,
                               &list->call->key->scope, &list->range, list->chunk,
                               PAY_STORE_CHUNK_SIZE, p);
    if (problem) {
        apr_bucket_free(list->chunk);
        list->chunk = NULL;
    }
    return problem;
}

/* Appends the chunk itself, not a copy. */
static void append_chunk(list_t *list, apr_bucket_brigade *bb)
{
    apr_bucket *bucket;

    bucket =
        apr_bucket_heap_create(list->chunk, list->chunk_len, apr_bucket_free, bb->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(bb, bucket);
    list->chunk = NULL;
}

static void append_text(apr_bucket_brigade *bb, const char *text)
{
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_immortal_create(text, strlen(text), bb->bucket_alloc));
}

/* The array cannot become an error any more, and must not look whole: the connection is cut. */
static void append_cut(list_t *list, apr_bucket_brigade *bb, const pay_problem_t *problem)
{
    request_rec *r = list->r;
    apr_status_t status = problem->cause;
    const char *cause;

    cause = pay_httpd_log_cause(&status, problem->message);
    ap_log_rerror(APLOG_MARK, APLOG_ERR, status, r, PAYLOGNO(00330) "a refund list was cut: %s",
                  cause);
    r->connection->keepalive = AP_CONN_CLOSE;
    APR_BRIGADE_INSERT_TAIL(
        bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool, bb->bucket_alloc));
}

/* Sends the list, whose first chunk was read, chunk by chunk. */
static void stream(list_t *list)
{
    request_rec *r = list->r;
    const pay_problem_t *problem = NULL;
    apr_bucket_brigade *bb;
    apr_pool_t *chunk_pool;
    apr_status_t rv;

    apr_pool_create(&chunk_pool, r->pool);
    bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    append_text(bb, "[");
    append_chunk(list, bb);
    while (!list->cursor.done && !problem) {
        rv = ap_pass_brigade(r->output_filters, bb);
        apr_brigade_cleanup(bb);
        if (rv != APR_SUCCESS || r->connection->aborted) {
            break; /* the client has left */
        }
        apr_pool_clear(chunk_pool);
        problem = read_chunk(list, chunk_pool);
        if (problem) {
            append_cut(list, bb, problem);
        } else {
            append_chunk(list, bb);
        }
    }
    if (list->cursor.done) {
        append_text(bb, "]");
    }
    ap_pass_brigade(r->output_filters, bb);
    apr_brigade_cleanup(bb);
    apr_pool_destroy(chunk_pool);
}

static int send_list(list_t *list)
{
    request_rec *r = list->r;
    int rc;

    rc = pay_reply_begin(r, HTTP_OK);
    if (rc != OK) {
        apr_bucket_free(list->chunk);
        return rc;
    }
    if (list->cursor.done) {
        ap_set_content_length(r, (apr_off_t)list->chunk_len + 2);
    }
    if (r->header_only) {
        apr_bucket_free(list->chunk);
        return OK;
    }
    stream(list);
    return OK;
}

int pay_api_refund_list(request_rec *r, const pay_call_t *call)
{
    list_t list = {.r = r, .call = call};
    const char *zone_name = call->key->account->settings.timezone;
    const pay_timezone_t *zone;
    const pay_problem_t *problem;
    apr_status_t rv;

    rv = pay_zones_get(&zone, zone_name, r->pool);
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r,
                      PAYLOGNO(00331) "time zone %s of account %s cannot be read: install the "
                                      "system's time zone data (tzdata)",
                      zone_name, call->key->account->name);
        return pay_reply_problem(r, pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, r->pool));
    }
    problem = pay_refund_range_parse(&list.range, call->segment[0], call->segment[1], zone,
                                     call->service->policy.refund_days_max, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    problem = read_chunk(&list, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    return send_list(&list);
}
