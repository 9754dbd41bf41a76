/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/handler.h"

#include "httpd/api/cors.h"
#include "httpd/api/routes.h"
#include "httpd/call/accept.h"
#include "httpd/call/body.h"
#include "httpd/call/claim.h"
#include "httpd/call/gate.h"
#include "httpd/call/rates.h"
#include "httpd/call/reply.h"
#include "httpd/page/page.h"
#include "httpd/page/reply.h"
#include "httpd/path/refused.h"

#include <apr_general.h>
#include <http_config.h>

#define IDEMPOTENCY_KEY "Idempotency-Key"

static int answer(request_rec *r, pay_error_t error)
{
    return pay_reply_problem(r, pay_problem_make(error, NULL, APR_SUCCESS, r->pool));
}

static int may_call(const request_rec *r, const pay_route_t *route, const pay_call_t *call)
{
    if (call->key->kind == PAY_KEY_PUBLIC) {
        return route->public_too;
    }
    return !apr_table_get(r->headers_in, "Origin"); /* a secret key must not be used in a browser */
}

static const pay_problem_t *read_idempotency_key(request_rec *r, pay_call_t *call)
{
    const char *value = apr_table_get(r->headers_in, IDEMPOTENCY_KEY);
    pay_problem_t *problem = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (value) {
        rv = pay_idempotency_key_parse(&call->idempotency_key, value, r->pool);
    }
    if (rv != APR_SUCCESS) {
        pay_problem_add(&problem, IDEMPOTENCY_KEY,
                        "must be one key of 1 to " APR_STRINGIFY(
                            PAY_IDEMPOTENCY_KEY_MAX) " printable ASCII characters, bare or quoted",
                        r->pool);
    }
    return problem;
}

static const pay_problem_t *read_request(request_rec *r, pay_call_t *call)
{
    const pay_problem_t *problem;

    if (r->method_number == M_GET) {
        return pay_body_discard(r);
    }
    problem = pay_body_read_json(&call->body, r);
    if (problem) {
        return problem;
    }
    return read_idempotency_key(r, call);
}

/* The order of judgement, the same for every operation: transport and key, path, method, kind of
 * key, rate, Accept, media type and size of the body, its form. */
static int serve(request_rec *r, pay_call_t *call)
{
    const pay_problem_t *problem;
    const pay_route_t *route;
    const char *allow;

    call->media_type = pay_accept_choose(apr_table_get(r->headers_in, "Accept"));
    if (call->cors_preflight) {
        return pay_cors_answer(r);
    }
    problem = pay_gate_judge(r);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    route = pay_route_find(&allow, call->segment, call->path, r->method_number, r->pool);
    problem = pay_route_is_written(call->path) ? NULL : pay_refused_problem(call->path, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (!allow || (r->prev && r->method_number != M_GET)) {
        return answer(r, PAY_ERR_PATH_UNKNOWN); /* a redirect inside the server never charges */
    }
    if (r->method_number == M_OPTIONS) {
        apr_table_setn(r->headers_out, "Allow", allow);
        return pay_reply_empty(r, HTTP_NO_CONTENT);
    }
    if (!route) {
        apr_table_setn(r->headers_out, "Allow", allow);
        return answer(r, PAY_ERR_METHOD);
    }
    call->operation = pay_route_number(route);
    if (!may_call(r, route, call)) {
        return answer(r, PAY_ERR_FORBIDDEN);
    }
    problem = pay_rates_judge_call(r, call);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    if (!call->media_type) {
        return answer(r, PAY_ERR_NOT_ACCEPTABLE);
    }
    problem = read_request(r, call);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    return route->handle(r, call);
}

static int handler(request_rec *r)
{
    pay_call_t *call = pay_call_get(r);

    if (!call || !call->path) {
        return DECLINED;
    }
    if (r->main) {
        return HTTP_FORBIDDEN;
    }
    if (call->is_page && !call->shows_error) {
        return pay_page_serve(r, call);
    }
    if (call->is_page) {
        return pay_page_problem(r, pay_problem_from_status(call->shows_error, r->pool));
    }
    if (call->shows_error) {
        return pay_reply_problem(r, pay_problem_from_status(call->shows_error, r->pool));
    }
    return serve(r, call);
}

void pay_handler_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_FIRST);
}
