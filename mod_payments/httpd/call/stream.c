/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/stream.h"

#include "base/log.h"
#include "httpd/call/httpd_log.h"
#include "httpd/call/reply.h"

#include <http_log.h>
#include <http_protocol.h>
#include <string.h>
#include <util_filter.h>

APLOG_USE_MODULE(payments);

static void append_text(apr_bucket_brigade *bb, const char *text)
{
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_immortal_create(text, strlen(text), bb->bucket_alloc));
}

static void append_cut(const pay_stream_t *stream, apr_bucket_brigade *bb,
                       const pay_problem_t *problem)
{
    request_rec *r = stream->r;
    apr_status_t status = problem->cause;
    const char *cause;

    cause = pay_httpd_log_cause(&status, problem->message);
    ap_log_rerror(APLOG_MARK, APLOG_ERR, status, r, PAYLOGNO(00330) "%s was cut short: %s",
                  stream->what, cause);
    r->connection->keepalive = AP_CONN_CLOSE;
    APR_BRIGADE_INSERT_TAIL(
        bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, r->pool, bb->bucket_alloc));
}

/* Sends the content of the brigade, and the rest piece by piece. */
static void send_rest(pay_stream_t *stream, apr_bucket_brigade *bb)
{
    request_rec *r = stream->r;
    const pay_problem_t *problem = NULL;
    apr_pool_t *pool;
    apr_status_t rv;

    apr_pool_create(&pool, r->pool);
    while (!stream->done && !problem) {
        rv = ap_pass_brigade(r->output_filters, bb);
        apr_brigade_cleanup(bb);
        if (rv != APR_SUCCESS || r->connection->aborted) {
            break; /* the client has left */
        }
        apr_pool_clear(pool);
        problem = stream->next(stream, bb, pool);
        if (problem) {
            append_cut(stream, bb, problem);
        }
    }
    if (stream->done) {
        append_text(bb, "]");
    }
    ap_pass_brigade(r->output_filters, bb);
    apr_brigade_cleanup(bb);
    apr_pool_destroy(pool);
}

int pay_stream_send(pay_stream_t *stream)
{
    request_rec *r = stream->r;
    apr_bucket_brigade *bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    const pay_problem_t *problem;
    int rc;

    append_text(bb, "[");
    problem = stream->next(stream, bb, r->pool);
    if (problem) {
        apr_brigade_cleanup(bb);
        return pay_reply_problem(r, problem);
    }
    rc = pay_reply_begin(r, HTTP_OK);
    if (rc == OK && stream->done) {
        ap_set_content_length(r, (apr_off_t)stream->length + 2);
    }
    if (rc != OK || r->header_only) {
        apr_brigade_cleanup(bb);
        return rc;
    }
    send_rest(stream, bb);
    return OK;
}
