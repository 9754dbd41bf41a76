/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/reply.h"

#include "base/log.h"
#include "httpd/call/accept.h"
#include "httpd/call/body.h"
#include "httpd/call/gate.h"
#include "httpd/call/httpd_log.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(payments);

#define PROBLEM_SIZE_HINT 512

void pay_reply_headers(request_rec *r)
{
    const pay_call_t *call = pay_call_make(r);

    ap_set_content_type(r,
                        apr_pstrcat(r->pool, call->media_type ? call->media_type : PAY_MEDIA_JSON,
                                    "; charset=utf-8", NULL));
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    apr_table_setn(r->headers_out, "Request-Id", pay_call_request_id(r));
    apr_table_mergen(r->headers_out, "Vary", "Accept");
}

int pay_reply_begin(request_rec *r, int status)
{
    const pay_call_t *call = pay_call_make(r);

    /* Set first: with an error's status httpd does not request the body (100 Continue). */
    r->status = status;
    r->status_line = NULL;
    (void)pay_body_discard(r);
    if (call->answered) {
        return AP_FILTER_ERROR;
    }
    pay_reply_headers(r);
    return OK;
}

static int reply_bytes(request_rec *r, int status, const char *text, apr_size_t len)
{
    int rc;

    rc = pay_reply_begin(r, status);
    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)len);
    ap_rwrite(text, (int)len, r);
    return OK;
}

int pay_reply_json(request_rec *r, int status, const pay_writer_t *body)
{
    return reply_bytes(r, status, body->text, body->len);
}

int pay_reply_text(request_rec *r, int status, const char *json)
{
    return reply_bytes(r, status, json, strlen(json));
}

void pay_reply_mark_replayed(request_rec *r)
{
    apr_table_setn(r->headers_out, "Idempotent-Replayed", "true");
}

int pay_reply_empty(request_rec *r, int status)
{
    int rc;

    rc = pay_reply_begin(r, status);
    r->content_type = NULL;
    return rc;
}

static void write_fields(pay_writer_t *w, const apr_array_header_t *fields)
{
    const pay_field_error_t *field;
    int i;

    pay_writer_array_open(w, "errors");
    for (i = 0; i < fields->nelts; i++) {
        field = &APR_ARRAY_IDX(fields, i, pay_field_error_t);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "field", field->field);
        pay_writer_string(w, "reason", field->reason);
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
}

const pay_writer_t *pay_reply_problem_text(request_rec *r, const pay_problem_t *problem)
{
    pay_writer_t *w = pay_writer_make(PROBLEM_SIZE_HINT, r->pool);

    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", 0);
    pay_writer_string(w, "message", problem->message);
    pay_writer_object_open(w, "data");
    pay_writer_string(w, "responseCode", problem->code);
    pay_writer_string(w, "responseMessage", problem->message);
    pay_writer_string(w, "responseDescription", problem->message);
    pay_writer_string(w, "requestId", pay_call_request_id(r));
    if (problem->fields) {
        write_fields(w, problem->fields);
    }
    pay_writer_object_close(w);
    pay_writer_object_close(w);
    if (problem->retry_after > 0) {
        apr_table_setn(r->headers_out, "Retry-After", apr_itoa(r->pool, problem->retry_after));
    }
    return w;
}

int pay_reply_problem(request_rec *r, const pay_problem_t *problem)
{
    const pay_writer_t *text = pay_reply_problem_text(r, problem);
    apr_status_t status = problem->cause;
    const char *cause;

    if (problem->status == HTTP_UNAUTHORIZED || problem->status == HTTP_FORBIDDEN) {
        pay_gate_challenge(r, problem->status);
    }
    if (problem->status >= HTTP_INTERNAL_SERVER_ERROR) {
        cause = pay_httpd_log_cause(&status, problem->message);
        ap_log_rerror(APLOG_MARK, APLOG_INFO, status, r, PAYLOGNO(00320) "answers %d %s: %s",
                      problem->status, problem->code, cause);
    }
    return pay_reply_json(r, problem->status, text);
}
