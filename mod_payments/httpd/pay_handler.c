/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_handler.h"

#include "httpd/pay_accept.h"
#include "httpd/pay_api.h"
#include "httpd/pay_body.h"
#include "httpd/pay_claim.h"
#include "httpd/pay_gate.h"
#include "httpd/pay_reply.h"

#include <apr_strings.h>
#include <http_config.h>

typedef struct route_t {
    const char *path; /* "*" stands for one segment that is not empty */
    int method;       /* M_GET serves HEAD too */
    int public_too;   /* 0: secret keys only */
    int (*handle)(request_rec *r, const pay_call_t *call);
} route_t;

static const route_t routes[] = {
    {"/api/v1/tokenized-card-charge", M_POST, 0, pay_api_charge_create},
    {"/api/v1/refund/*", M_GET, 0, pay_api_refund_get},
    {"/api/v1/refund/*/*", M_GET, 0, pay_api_refund_list},
    {"/api/v1/paymentlink/initiate", M_POST, 1, pay_api_paymentlink_initiate},
    {"/payment/order/create", M_POST, 1, pay_api_order_create},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

/* 1 when `path` has the form of `pattern`; its variable segments go to `segment`. */
static int path_matches(const char *pattern, const char *path, const char **segment, apr_pool_t *p)
{
    apr_size_t len;
    int count = 0;

    while (*pattern) {
        if (*pattern != '*') {
            if (*pattern++ != *path++) {
                return 0;
            }
            continue;
        }
        len = strcspn(path, "/");
        if (len == 0 || count == PAY_CALL_SEGMENTS_MAX) {
            return 0;
        }
        segment[count++] = apr_pstrmemdup(p, path, len);
        path += len;
        pattern++;
    }
    return *path == '\0';
}

/* The route for path and method. `*allow` is NULL when the path is unknown. */
static const route_t *find_route(const char **allow, request_rec *r, pay_call_t *call)
{
    const route_t *found = NULL;
    apr_size_t i;

    *allow = NULL;
    for (i = 0; i < ROUTES; i++) {
        if (!path_matches(routes[i].path, call->path, call->segment, r->pool)) {
            continue;
        }
        *allow = apr_pstrcat(r->pool, *allow ? *allow : "", *allow ? ", " : "",
                             routes[i].method == M_GET ? "GET, HEAD" : "POST", NULL);
        if (routes[i].method == r->method_number) {
            found = &routes[i];
        }
    }
    if (*allow) {
        *allow = apr_pstrcat(r->pool, *allow, ", OPTIONS", NULL);
    }
    return found;
}

static int answer(request_rec *r, pay_error_t error)
{
    return pay_reply_problem(r, pay_problem_make(error, NULL, APR_SUCCESS, r->pool));
}

static int may_call(const request_rec *r, const route_t *route, const pay_call_t *call)
{
    if (call->key->kind == PAY_KEY_PUBLIC) {
        return route->public_too;
    }
    return !apr_table_get(r->headers_in, "Origin"); /* a secret key has no business in a browser */
}

/* The order of judgement: transport and key, path, method, kind of key, Accept; then the operation
 * itself judges media type, size and form of the body. */
static int serve(request_rec *r, pay_call_t *call)
{
    const pay_problem_t *problem;
    const route_t *route;
    const char *allow;

    call->media_type = pay_accept_choose(apr_table_get(r->headers_in, "Accept"));
    problem = pay_gate_judge(r);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    route = find_route(&allow, r, call);
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
    if (!may_call(r, route, call)) {
        return answer(r, PAY_ERR_FORBIDDEN);
    }
    if (!call->media_type) {
        return answer(r, PAY_ERR_NOT_ACCEPTABLE);
    }
    if (r->method_number == M_GET) {
        problem = pay_body_discard(r);
        if (problem) {
            return pay_reply_problem(r, problem);
        }
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
