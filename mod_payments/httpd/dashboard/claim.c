/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/claim.h"

#include "httpd/call/body.h"
#include "httpd/call/claim.h"
#include "httpd/call/gate.h"
#include "httpd/call/rates.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/dashboard.h"
#include "httpd/dashboard/reply.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#define HANDLER "payments-dashboard"
#define FILTER_NAME "PAYMENTS_DASHBOARD"

static pay_dashboard_t *claimed(const request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    return call ? call->dashboard : NULL;
}

/* Returns the rest of `path` after the directive's, or NULL if it is not ours. */
static const char *own_part(const char *path, const request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    apr_size_t len;

    if (!conf->engine || !conf->dashboard_path || r->proxyreq) {
        return NULL;
    }
    len = strlen(conf->dashboard_path);
    if (strncmp(path, conf->dashboard_path, len) != 0 || (path[len] != '\0' && path[len] != '/')) {
        return NULL;
    }
    return path + len;
}

static void mark(request_rec *r, const char *path, int is_early)
{
    pay_dashboard_t *dashboard = apr_pcalloc(r->pool, sizeof(*dashboard));

    dashboard->path = path;
    dashboard->is_early = is_early;
    pay_call_make(r)->dashboard = dashboard;
    pay_claim_forget_error_documents(r);
    pay_dashboard_headers(r);
}

/*
 * Runs before the URL is decoded, which can fail by itself: that is answered like everything else
 * here.
 */
static const char *own_part_early(const request_rec *r)
{
    char *path;

    if (!r->uri || r->uri[0] != '/') {
        return NULL;
    }
    path = apr_pstrdup(r->pool, r->uri);
    ap_normalize_path(path, AP_NORMALIZE_NOT_ABOVE_ROOT | AP_NORMALIZE_DECODE_UNRESERVED
                                | AP_NORMALIZE_MERGE_SLASHES);
    return own_part(path, r);
}

static void mark_early(request_rec *r)
{
    const char *own = own_part_early(r);

    if (own) {
        mark(r, own, 1);
    }
}

static int post_read_request(request_rec *r)
{
    mark_early(r);
    return DECLINED;
}

/* The URL looked like ours before it was decoded, but is not: it is the site's. */
static void unmark(request_rec *r)
{
    core_request_config *core = ap_get_core_module_config(r->request_config);
    const pay_dashboard_t *dashboard = claimed(r);

    if (dashboard && dashboard->is_early) {
        core->response_code_strings = NULL;
        pay_call_get(r)->dashboard = NULL;
        pay_dashboard_forget_headers(r);
    }
}

static int translate_name(request_rec *r)
{
    static const char *const unread[] = {"Range", "If-Range", NULL};
    const char *path;
    char *merged;
    int i;

    if (!r->uri || r->uri[0] != '/') {
        return DECLINED;
    }
    if (r->prev && ap_is_HTTP_ERROR(r->prev->status) && own_part_early(r->prev)) {
        /* A request that failed before post_read_request comes to the site's document: it goes
         * back. */
        return r->prev->status;
    }
    merged = apr_pstrdup(r->pool, r->uri);
    ap_no2slash(merged);
    path = own_part(merged, r);
    if (!path) {
        unmark(r);
        return DECLINED;
    }
    /* An administrator's <Location> must also apply to doubled slashes, with MergeSlashes Off. */
    r->uri = merged;
    mark(r, path, 0);
    for (i = 0; unread[i]; i++) {
        apr_table_unset(r->headers_in, unread[i]); /* a partial answer is useless */
    }
    r->filename = apr_pstrdup(r->pool, "payments:"); /* without the URL: AddHandler looks at it */
    r->handler = HANDLER;
    return OK;
}

/* No directory, no file, no .htaccess; nor subrequests of another page or an ErrorDocument. */
static int map_to_storage(request_rec *r)
{
    if (!claimed(r)) {
        return DECLINED;
    }
    return r->main || r->prev ? HTTP_FORBIDDEN : OK;
}

/*
 * A client that tries passwords is stopped before the next one is judged, also under Satisfy Any,
 * which runs none of the access checks. Other 401s are a browser's first request.
 */
static int header_parser(request_rec *r)
{
    pay_dashboard_t *dashboard = claimed(r);
    const pay_problem_t *problem;

    if (!dashboard || r->prev || !apr_table_get(r->headers_in, "Authorization")) {
        return DECLINED;
    }
    problem = pay_rates_judge_sign_in(r);
    if (problem) {
        apr_table_setn(r->err_headers_out, "Retry-After", apr_itoa(r->pool, problem->retry_after));
        return problem->status;
    }
    dashboard->signs_in = 1;
    return DECLINED;
}

/* Ahead of the site's authentication, which would ask for a password that everybody can read. */
static int check_access(request_rec *r)
{
    if (!claimed(r) || !pay_gate_judge_transport(r)) {
        return DECLINED;
    }
    return HTTP_FORBIDDEN;
}

/* After mod_mime, mod_rewrite and SetHandler have run. */
static int fixups(request_rec *r)
{
    pay_dashboard_t *dashboard = claimed(r);

    if (!dashboard) {
        return DECLINED;
    }
    if (dashboard->signs_in) { /* it was let in */
        dashboard->signs_in = 0;
        pay_rates_signed_in(r);
    }
    r->handler = HANDLER;
    return OK;
}

static int handler(request_rec *r)
{
    pay_dashboard_t *dashboard = claimed(r);

    if (!dashboard) {
        return DECLINED;
    }
    if (r->main || r->prev) {
        return HTTP_FORBIDDEN;
    }
    return pay_dashboard_serve(r, dashboard);
}

/* Replaces httpd's own page by ours. */
static apr_status_t error_filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    request_rec *r = f->r;
    apr_bucket *bucket = APR_BRIGADE_FIRST(bb);
    apr_bucket *next;
    const char *text;

    for (; bucket != APR_BRIGADE_SENTINEL(bb); bucket = next) {
        next = APR_BUCKET_NEXT(bucket);
        if (!APR_BUCKET_IS_METADATA(bucket)) {
            apr_bucket_delete(bucket);
        }
    }
    if (!f->ctx) {
        f->ctx = r;
        apr_table_setn(r->headers_out, "Request-Id", pay_call_request_id(r));
        text = pay_dashboard_status_text(r, claimed(r));
        ap_set_content_length(r, (apr_off_t)strlen(text));
        bucket = apr_bucket_pool_create(text, strlen(text), r->pool, bb->bucket_alloc);
        APR_BRIGADE_INSERT_HEAD(bb, bucket);
    }
    return ap_pass_brigade(f->next, bb);
}

static void insert_error_filter(request_rec *r)
{
    if (!pay_call_get(r) && ap_is_HTTP_ERROR(r->status)) {
        mark_early(r); /* it failed before post_read_request */
    }
    if (!claimed(r) || !ap_is_HTTP_ERROR(r->status)) {
        return;
    }
    if (r->connection->master) {
        (void)pay_body_discard(r); /* a client of HTTP/2 loses an answer that comes before its
                                    * body's end */
    }
    ap_add_output_filter(FILTER_NAME, NULL, r, r->connection);
}

void pay_dashboard_claim_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_rewrite.c", "mod_alias.c", "mod_proxy.c", NULL};

    (void)p;
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_translate_name(translate_name, NULL, before, APR_HOOK_FIRST);
    ap_hook_map_to_storage(map_to_storage, NULL, before, APR_HOOK_FIRST);
    ap_hook_header_parser(header_parser, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_check_access(check_access, NULL, NULL, APR_HOOK_FIRST, AP_AUTH_INTERNAL_PER_CONF);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_FIRST);
    ap_register_output_filter(FILTER_NAME, error_filter, NULL, AP_FTYPE_RESOURCE);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL, APR_HOOK_LAST);
}
