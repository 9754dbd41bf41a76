/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/body.h"

#include "base/crypto/crypto.h"
#include "base/shared/clock.h"
#include "httpd/call/accept.h"
#include "httpd/conf/conf.h"
#include "model/text.h"

#include <apr_buckets.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#define DISCARD_MAX (1 << 20)
#define DISCARD_TIME_MAX apr_time_from_sec(10)
#define DISCARD_WAIT apr_time_from_sec(2)
#define FORM_TYPE "application/x-www-form-urlencoded"
#define FIRST_SIZE 8192 /* of the buffer for a body of unknown length */

typedef struct body_t {
    char *text; /* NULL: the body is discarded */
    apr_size_t len;
    apr_size_t size;
    apr_size_t max;   /* reading stops once len is above it */
    apr_time_t until; /* or pay_clock_us has passed this, 0: no limit except the server's own */
    int wiped;        /* httpd's buffers are zeroed after they were copied */
} body_t;

/* Always leaves room for the NUL at the end. */
static void append(body_t *body, const char *data, apr_size_t len, apr_pool_t *p)
{
    char *larger;

    if (body->text && body->len + len >= body->size) {
        while (body->size <= body->len + len) {
            body->size *= 2;
        }
        larger = apr_palloc(p, body->size);
        memcpy(larger, body->text, body->len);
        if (body->wiped) {
            pay_wipe(body->text, body->len);
        }
        body->text = larger;
    }
    if (body->text) {
        memcpy(body->text + body->len, data, len);
    }
    body->len += len;
}

static apr_status_t take(body_t *body, pay_call_t *call, apr_bucket_brigade *bb, apr_pool_t *p)
{
    apr_bucket *bucket;
    const char *data;
    apr_size_t len;
    apr_status_t rv;

    for (bucket = APR_BRIGADE_FIRST(bb); bucket != APR_BRIGADE_SENTINEL(bb);
         bucket = APR_BUCKET_NEXT(bucket)) {
        if (APR_BUCKET_IS_EOS(bucket)) {
            call->body_done = 1;
            return APR_SUCCESS;
        }
        if (APR_BUCKET_IS_METADATA(bucket)) {
            continue;
        }
        rv = apr_bucket_read(bucket, &data, &len, APR_BLOCK_READ);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        append(body, data, len, p);
        if (body->wiped && APR_BUCKET_IS_HEAP(bucket)) {
            pay_wipe((void *)data, len); /* a part of the connection's buffer, and ours alone */
        }
    }
    return APR_SUCCESS;
}

static apr_size_t part_size(const body_t *body)
{
    apr_size_t left = body->max + 1 - body->len;

    return left < HUGE_STRING_LEN ? left : HUGE_STRING_LEN;
}

/* Reads to the end of the body or to one of the limits of `body`. */
static const pay_problem_t *pull(body_t *body, request_rec *r, pay_call_t *call)
{
    apr_bucket_brigade *bb;
    apr_status_t rv = APR_SUCCESS;
    int status;

    bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    while (rv == APR_SUCCESS && !call->body_done && body->len <= body->max
           && (!body->until || pay_clock_us() < body->until)) {
        rv = ap_get_brigade(r->input_filters, bb, AP_MODE_READBYTES, APR_BLOCK_READ,
                            (apr_off_t)part_size(body));
        if (rv == APR_SUCCESS) {
            rv = take(body, call, bb, r->pool);
        }
        apr_brigade_cleanup(bb);
    }
    apr_brigade_destroy(bb);
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    call->body_done = 1;
    r->connection->keepalive = AP_CONN_CLOSE;
    status = ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
    if (status == AP_FILTER_ERROR) {
        call->answered = 1;
        status = HTTP_BAD_REQUEST;
    }
    return pay_problem_from_status(status, r->pool);
}

/* Returns the Content-Length, -1 without one (chunked, or HTTP/2). */
static apr_off_t stated_length(const request_rec *r)
{
    const char *text = apr_table_get(r->headers_in, "Content-Length");
    apr_off_t length;
    char *end;

    if (!text || apr_strtoff(&length, text, &end, 10) != APR_SUCCESS || *end || length < 0) {
        return -1;
    }
    return length;
}

static const pay_problem_t *read_text(body_t *body, request_rec *r, pay_call_t *call)
{
    apr_off_t limit = ap_get_limit_req_body(r);
    apr_off_t length = stated_length(r);
    const pay_problem_t *problem;

    if (limit > 0 && (apr_uint64_t)limit < body->max) {
        body->max = (apr_size_t)limit;
    }
    if (length > (apr_off_t)body->max) {
        body->len = body->max + 1;
        return NULL;
    }
    body->size = length >= 0 ? (apr_size_t)length + 1 : FIRST_SIZE;
    body->text = apr_palloc(r->pool, body->size);
    problem = pull(body, r, call);
    body->text[body->len] = '\0'; /* append() has left room for it */
    return problem;
}

/* Called after reading: an input filter that decodes removes the header. */
static int is_encoded(const request_rec *r)
{
    const char *encoding = apr_table_get(r->headers_in, "Content-Encoding");

    return encoding && *encoding && strcasecmp(encoding, "identity") != 0;
}

/* Returns the body as a JSON object, or why it is not one. */
static const pay_problem_t *judge_json(const pay_json_t **out, const body_t *body,
                                       const char *content_type, request_rec *r)
{
    pay_problem_t *invalid = NULL;
    const char *reason;

    if ((!content_type && body->len > 0) || is_encoded(r)) {
        return pay_problem_make(PAY_ERR_MEDIA_TYPE, NULL, APR_SUCCESS, r->pool);
    }
    if (body->len > body->max) {
        return pay_problem_make(PAY_ERR_BODY_TOO_LARGE, NULL, APR_SUCCESS, r->pool);
    }
    if (body->len == 0) {
        return pay_problem_make(PAY_ERR_EMPTY, NULL, APR_SUCCESS, r->pool);
    }
    if (pay_json_parse(out, &reason, body->text, body->len, r->pool) != APR_SUCCESS) {
        pay_problem_add(&invalid, "", reason, r->pool);
        return invalid;
    }
    return NULL;
}

const pay_problem_t *pay_body_read_json(const pay_json_t **out, request_rec *r)
{
    pay_call_t *call = pay_call_make(r);
    const char *content_type = apr_table_get(r->headers_in, "Content-Type");
    body_t body = {
        .max = (apr_size_t)pay_conf_get(r->server)->body_max,
        .wiped = call->dashboard != NULL, /* whose changes are confirmed by passwords */
    };
    const pay_problem_t *problem;

    *out = NULL;
    if (content_type && !pay_accept_is_json(content_type)) {
        return pay_problem_make(PAY_ERR_MEDIA_TYPE, NULL, APR_SUCCESS, r->pool);
    }
    problem = read_text(&body, r, call);
    if (!problem) {
        problem = judge_json(out, &body, content_type, r);
    }
    if (body.wiped && body.text) {
        pay_wipe(body.text, body.len);
    }
    return problem;
}

static int is_form(const char *content_type)
{
    const apr_size_t len = content_type ? strcspn(content_type, "; \t") : 0;

    return len == sizeof(FORM_TYPE) - 1 && !strncasecmp(content_type, FORM_TYPE, len);
}

static int are_plain(const pay_fields_t *fields)
{
    int i;

    for (i = 0; i < fields->count; i++) {
        if (!pay_text_is_plain(fields->name[i], "") || !pay_text_is_plain(fields->value[i], "")) {
            return 0;
        }
    }
    return 1;
}

/* Returns the body as a form, or why it is not one. */
static const pay_problem_t *judge_fields(pay_fields_t *out, const body_t *body, request_rec *r)
{
    if (is_encoded(r)) {
        return pay_problem_make(PAY_ERR_MEDIA_TYPE, NULL, APR_SUCCESS, r->pool);
    }
    if (body->len > body->max) {
        return pay_problem_make(PAY_ERR_BODY_TOO_LARGE, NULL, APR_SUCCESS, r->pool);
    }
    if (pay_fields_parse(out, body->text, body->len) != APR_SUCCESS || !are_plain(out)) {
        return pay_problem_make(PAY_ERR_INVALID, NULL, APR_SUCCESS, r->pool);
    }
    return NULL;
}

const pay_problem_t *pay_body_read_fields(pay_fields_t *out, request_rec *r)
{
    body_t body = {.max = PAY_FIELDS_LEN_MAX, .wiped = 1};
    const pay_problem_t *problem;

    memset(out, 0, sizeof(*out));
    if (!is_form(apr_table_get(r->headers_in, "Content-Type"))) {
        return pay_problem_make(PAY_ERR_MEDIA_TYPE, NULL, APR_SUCCESS, r->pool);
    }
    problem = read_text(&body, r, pay_call_make(r));
    if (!problem) {
        problem = judge_fields(out, &body, r);
    }
    if (problem && body.text) {
        pay_wipe(body.text, body.len);
        out->count = 0;
    }
    return problem;
}

/*
 * Does not wait long for data that nobody needs: each read gets DISCARD_WAIT of the client's time.
 */
static const pay_problem_t *pull_soon(body_t *body, request_rec *r, pay_call_t *call)
{
    apr_socket_t *socket = r->connection->master ? NULL : ap_get_conn_socket(r->connection);
    apr_interval_time_t timeout = 0;
    const pay_problem_t *problem;

    if (socket) {
        apr_socket_timeout_get(socket, &timeout);
        if (timeout < 0 || timeout > DISCARD_WAIT) {
            apr_socket_timeout_set(socket, DISCARD_WAIT);
        }
    }
    problem = pull(body, r, call);
    if (socket) {
        apr_socket_timeout_set(socket, timeout);
    }
    return problem;
}

const pay_problem_t *pay_body_discard(request_rec *r)
{
    pay_call_t *call = pay_call_make(r);
    body_t body = {.max = DISCARD_MAX};
    apr_off_t limit = ap_get_limit_req_body(r);
    const pay_problem_t *problem = NULL;

    if (call->body_done) {
        return NULL;
    }
    if (limit > 0 && limit <= DISCARD_MAX) {
        body.max = (apr_size_t)limit - 1; /* with one more byte httpd answers 413 by itself */
    }
    body.until = pay_clock_us() + DISCARD_TIME_MAX;
    if (stated_length(r) <= (apr_off_t)body.max + 1) {
        problem = pull_soon(&body, r, call);
    }
    if (!call->body_done) {
        r->connection->keepalive = AP_CONN_CLOSE;
    }
    return problem;
}
