/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/error_filter.h"

#include "httpd/call/body.h"
#include "httpd/call/claim.h"
#include "httpd/call/gate.h"
#include "httpd/call/reply.h"
#include "httpd/page/reply.h"

#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#define FILTER_NAME "PAYMENTS_ERROR"

/* Returns the reason of the refusal if one of our own stages refused it, else the status alone. */
static const pay_problem_t *problem_of(request_rec *r)
{
    const pay_call_t *call = pay_call_make(r);

    if (call->problem && call->problem->status == r->status) {
        return call->problem;
    }
    return pay_problem_from_status(r->status, r->pool);
}

static void set_headers(request_rec *r)
{
    static const char *const gone[] = {"Content-Length", "Content-Encoding", "ETag",
                                       "Last-Modified",  "Location",         NULL};
    int i;

    for (i = 0; gone[i]; i++) {
        apr_table_unset(r->headers_out, gone[i]);
        apr_table_unset(r->err_headers_out, gone[i]);
    }
    if (pay_claim_is_page(r)) {
        pay_page_headers(r); /* a challenge is the site's own: pages need no key */
        return;
    }
    pay_reply_headers(r);
    if (r->status == HTTP_FORBIDDEN
        || (r->status == HTTP_UNAUTHORIZED && !apr_table_get(r->headers_out, "WWW-Authenticate")
            && !apr_table_get(r->err_headers_out, "WWW-Authenticate"))) {
        apr_table_unset(r->headers_out, "WWW-Authenticate");
        pay_gate_challenge(r, r->status);
    }
}

static apr_bucket *body_of(request_rec *r, apr_bucket_alloc_t *alloc)
{
    const pay_problem_t *problem = problem_of(r);
    const pay_writer_t *json;
    const pay_html_t *html;

    if (pay_claim_is_page(r)) {
        html = pay_page_problem_html(r, problem);
        return apr_bucket_pool_create(html->text, html->len, r->pool, alloc);
    }
    json = pay_reply_problem_text(r, problem);
    return apr_bucket_pool_create(json->text, json->len, r->pool, alloc);
}

/* httpd has set text/html by now and passes its page on: the page is replaced by the envelope. */
static apr_status_t error_filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    request_rec *r = f->r;
    apr_bucket *bucket = APR_BRIGADE_FIRST(bb);
    apr_bucket *next;

    for (; bucket != APR_BRIGADE_SENTINEL(bb); bucket = next) {
        next = APR_BUCKET_NEXT(bucket);
        if (!APR_BUCKET_IS_METADATA(bucket)) {
            apr_bucket_delete(bucket);
        }
    }
    if (!f->ctx) {
        f->ctx = r;
        set_headers(r);
        bucket = body_of(r, bb->bucket_alloc);
        ap_set_content_length(r, (apr_off_t)bucket->length);
        APR_BRIGADE_INSERT_HEAD(bb, bucket);
    }
    return ap_pass_brigade(f->next, bb);
}

/*
 * A request that failed before post_read_request meets the site's ErrorDocument: one that is a
 * whole URL has made it a redirect by now. httpd no longer knows the original error.
 */
static void undo_redirect(request_rec *r)
{
    const char *expect = apr_table_get(r->headers_in, "Expect");

    r->status = expect && strcasecmp(expect, "100-continue") != 0 ? HTTP_EXPECTATION_FAILED
                                                                  : HTTP_BAD_REQUEST;
    r->status_line = NULL;
}

static void insert_error_filter(request_rec *r)
{
    const pay_call_t *call;

    if (!pay_claim_is_ours(r)) {
        return;
    }
    call = pay_call_make(r);
    if (r->status == HTTP_MOVED_TEMPORARILY && !call->read && !call->path) {
        undo_redirect(r);
    }
    if (!ap_is_HTTP_ERROR(r->status)) {
        return;
    }
    if (r->connection->master) {
        (void)pay_body_discard(r); /* a client of HTTP/2 loses an answer that comes before its
                                    * body's end */
    }
    ap_add_output_filter(FILTER_NAME, NULL, r, r->connection);
}

void pay_error_filter_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_register_output_filter(FILTER_NAME, error_filter, NULL, AP_FTYPE_RESOURCE);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL, APR_HOOK_LAST);
}
