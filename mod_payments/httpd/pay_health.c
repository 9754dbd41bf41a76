/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_health.h"

#include "httpd/pay_body.h"
#include "httpd/pay_call.h"
#include "httpd/pay_claim.h"
#include "httpd/pay_conf.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#define HANDLER_NAME "payments-health"
#define FILTER_NAME "PAYMENTS_HEALTH"

static int is_claimed(const request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    return call && call->is_health;
}

static int translate_name(request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);

    if (!conf->engine || !conf->health_path || !r->uri || r->proxyreq
        || strcmp(r->uri, conf->health_path) != 0) {
        return DECLINED;
    }
    pay_call_make(r)->is_health = 1;
    pay_claim_forget_error_documents(r);
    /* Whoever logs headers finds no key; and there is no part of nothing. */
    apr_table_unset(r->headers_in, "Authorization");
    apr_table_unset(r->headers_in, "Range");
    r->filename = apr_pstrdup(r->pool, "payments:"); /* without the URL: AddHandler looks at it */
    r->handler = HANDLER_NAME;
    return OK;
}

static int map_to_storage(request_rec *r)
{
    if (!is_claimed(r)) {
        return DECLINED;
    }
    return r->main ? HTTP_FORBIDDEN : OK;
}

/* After mod_mime, mod_rewrite and SetHandler had their say. */
static int fixups(request_rec *r)
{
    if (!is_claimed(r)) {
        return DECLINED;
    }
    r->handler = HANDLER_NAME;
    return OK;
}

/* Why it is not well stands in the log once: the store says it, not each question. */
static int judge(request_rec *r)
{
    const pay_service_t *service = pay_conf_get(r->server)->service;

    if (!service || pay_store_probe(service->store) != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    return HTTP_OK;
}

static int handler(request_rec *r)
{
    if (!is_claimed(r)) {
        return DECLINED;
    }
    if (r->method_number == M_GET) {
        r->status = judge(r);
    } else {
        r->status = HTTP_METHOD_NOT_ALLOWED;
        apr_table_setn(r->headers_out, "Allow", "GET, HEAD");
    }
    r->status_line = NULL;
    (void)pay_body_discard(r);
    if (pay_call_make(r)->answered) {
        return AP_FILTER_ERROR;
    }
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    r->content_type = NULL;
    return OK;
}

/* An error of httpd's own here, such as an administrator's rule, has no page either. */
static apr_status_t health_filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apr_bucket *bucket = APR_BRIGADE_FIRST(bb);
    apr_bucket *next;

    for (; bucket != APR_BRIGADE_SENTINEL(bb); bucket = next) {
        next = APR_BUCKET_NEXT(bucket);
        if (!APR_BUCKET_IS_METADATA(bucket)) {
            apr_bucket_delete(bucket);
        }
    }
    f->r->content_type = NULL;
    apr_table_unset(f->r->headers_out, "Content-Length");
    apr_table_setn(f->r->headers_out, "Cache-Control", "no-store");
    return ap_pass_brigade(f->next, bb);
}

static void insert_error_filter(request_rec *r)
{
    if (is_claimed(r)) {
        ap_add_output_filter(FILTER_NAME, NULL, r, r->connection);
    }
}

void pay_health_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_rewrite.c", "mod_alias.c", "mod_proxy.c", NULL};

    (void)p;
    ap_hook_translate_name(translate_name, NULL, before, APR_HOOK_FIRST);
    ap_hook_map_to_storage(map_to_storage, NULL, before, APR_HOOK_FIRST);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_FIRST);
    ap_register_output_filter(FILTER_NAME, health_filter, NULL, AP_FTYPE_RESOURCE);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL, APR_HOOK_LAST);
}
