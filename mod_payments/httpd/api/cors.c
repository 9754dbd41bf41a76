/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/cors.h"

#include "httpd/api/routes.h"
#include "httpd/call/gate.h"
#include "httpd/call/reply.h"
#include "httpd/conf/conf.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#define FILTER_NAME "PAYMENTS_CORS"
#define ALLOW_HEADERS "Authorization, api-key, Content-Type, Accept, Idempotency-Key"
#define EXPOSE_HEADERS "Request-Id, Retry-After, Idempotent-Replayed, WWW-Authenticate"
#define MAX_AGE "600" /* seconds; calls from a removed origin are refused sooner */

/*
 * Returns the methods by which a public key may call `path`, as a list; "" if none exist.
 * *asked is 1 if `method` is among them; names of methods are case-sensitive.
 */
static const char *public_methods(int *asked, const char *path, const char *method, apr_pool_t *p)
{
    static const struct {
        const char *name;
        int number;
    } methods[] = {{"GET", M_GET}, {"HEAD", M_GET}, {"POST", M_POST}};
    const char *segment[PAY_PATH_SEGMENTS_MAX];
    const pay_route_t *route;
    const char *list = "";
    const char *allow;
    apr_size_t i;

    *asked = 0;
    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        route = pay_route_find(&allow, segment, path, methods[i].number, p);
        if (route && route->public_too) {
            list = apr_pstrcat(p, list, *list ? ", " : "", methods[i].name, NULL);
            *asked = *asked || !strcmp(method, methods[i].name);
        }
    }
    return list;
}

/*
 * Returns the configured origin that matches the call's byte for byte: browsers send exactly that
 * spelling.
 */
static const char *allowed_origin(const request_rec *r, const apr_array_header_t *origins)
{
    const char *given = apr_table_get(r->headers_in, "Origin");
    const char *origin;
    int i;

    for (i = 0; given && i < origins->nelts; i++) {
        origin = APR_ARRAY_IDX(origins, i, const char *);
        if (!strcmp(given, origin)) {
            return origin;
        }
    }
    return NULL;
}

void pay_cors_begin(request_rec *r)
{
    const char *wanted = apr_table_get(r->headers_in, "Access-Control-Request-Method");
    const int is_preflight = r->method_number == M_OPTIONS && wanted;
    const pay_conf_t *conf = pay_conf_get(r->server);
    pay_call_t *call = pay_call_make(r);
    const char *methods;
    int asked;

    if (!conf->cors_origins || r->main) {
        return;
    }
    methods = public_methods(&asked, call->path, is_preflight ? wanted : r->method, r->pool);
    if (!*methods) {
        return;
    }
    call->cors_varies = 1;
    if (!asked || (is_preflight && r->prev)) {
        return;
    }
    call->cors_origin = allowed_origin(r, conf->cors_origins);
    if (call->cors_origin && is_preflight) {
        call->cors_preflight = methods;
    }
}

int pay_cors_answer(request_rec *r)
{
    const pay_problem_t *problem;

    problem = pay_gate_judge_transport(r);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    return pay_reply_empty(r, HTTP_NO_CONTENT);
}

/* The site's own CORS headers would make two of each, which browsers refuse. */
static void forget_headers(request_rec *r)
{
    static const char *const names[] = {
        "Access-Control-Allow-Origin",
        "Access-Control-Allow-Credentials",
        "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers",
        "Access-Control-Max-Age",
        "Access-Control-Expose-Headers",
        NULL,
    };
    int i;

    for (i = 0; names[i]; i++) {
        apr_table_unset(r->headers_out, names[i]);
        apr_table_unset(r->err_headers_out, names[i]);
    }
}

static void set_headers(request_rec *r, const pay_call_t *call)
{
    apr_table_mergen(r->headers_out, "Vary", "Origin");
    if (!call->cors_origin) {
        return;
    }
    forget_headers(r);
    apr_table_setn(r->headers_out, "Access-Control-Allow-Origin", call->cors_origin);
    if (!call->cors_preflight) {
        apr_table_setn(r->headers_out, "Access-Control-Expose-Headers", EXPOSE_HEADERS);
        return;
    }
    apr_table_mergen(r->headers_out, "Vary",
                     "Access-Control-Request-Method, Access-Control-Request-Headers");
    apr_table_setn(r->headers_out, "Access-Control-Allow-Methods", call->cors_preflight);
    apr_table_setn(r->headers_out, "Access-Control-Allow-Headers", ALLOW_HEADERS);
    apr_table_setn(r->headers_out, "Access-Control-Max-Age", MAX_AGE);
}

/*
 * After mod_headers, ahead of the filter that writes the headers: one place for answers of every
 * kind.
 */
static apr_status_t cors_filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    ap_filter_t *next = f->next;

    set_headers(f->r, pay_call_make(f->r));
    ap_remove_output_filter(f);
    return ap_pass_brigade(next, bb);
}

static void insert_filter(request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    if (call && call->cors_varies) {
        ap_add_output_filter(FILTER_NAME, NULL, r, r->connection);
    }
}

/* After the claim, ahead of everything that can refuse a call. */
static int map_to_storage(request_rec *r)
{
    if (pay_call_is_claimed(r) && !pay_call_get(r)->shows_error) {
        pay_cors_begin(r);
    }
    return DECLINED;
}

void pay_cors_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_register_output_filter(FILTER_NAME, cors_filter, NULL, AP_FTYPE_CONTENT_SET + 5);
    ap_hook_map_to_storage(map_to_storage, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_insert_error_filter(insert_filter, NULL, NULL, APR_HOOK_MIDDLE);
}
