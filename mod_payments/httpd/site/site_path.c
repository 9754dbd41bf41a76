/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/site/site_path.h"

#include "httpd/call/body.h"
#include "httpd/call/call.h"
#include "httpd/call/claim.h"
#include "httpd/site/health.h"
#include "httpd/site/metrics.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#define FILTER_NAME "PAYMENTS_SITE_PATH"

static const pay_site_path_t *const site_paths[] = {&pay_health, &pay_metrics};

/* Returns the path that `r` requests, or NULL. */
static const pay_site_path_t *claimed(const request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    return call ? call->site_path : NULL;
}

static const pay_site_path_t *find(const request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    const char *path;
    apr_size_t i;

    if (!conf->engine || !r->uri || r->proxyreq) {
        return NULL;
    }
    for (i = 0; i < sizeof(site_paths) / sizeof(site_paths[0]); i++) {
        path = site_paths[i]->path(conf);
        if (path && !strcmp(r->uri, path)) {
            return site_paths[i];
        }
    }
    return NULL;
}

static int translate_name(request_rec *r)
{
    const pay_site_path_t *site_path = find(r);

    if (!site_path) {
        return DECLINED;
    }
    pay_call_make(r)->site_path = site_path;
    pay_claim_forget_error_documents(r);
    if (site_path->ignores_key) {
        apr_table_unset(r->headers_in, "Authorization"); /* modules that log headers find no key */
    }
    apr_table_unset(r->headers_in, "Range");
    r->filename = apr_pstrdup(r->pool, "payments:"); /* without the URL: AddHandler looks at it */
    r->handler = site_path->handler;
    return OK;
}

static int map_to_storage(request_rec *r)
{
    if (!claimed(r)) {
        return DECLINED;
    }
    return r->main ? HTTP_FORBIDDEN : OK;
}

/* After mod_mime, mod_rewrite and SetHandler have run. */
static int fixups(request_rec *r)
{
    const pay_site_path_t *site_path = claimed(r);

    if (!site_path) {
        return DECLINED;
    }
    r->handler = site_path->handler;
    return OK;
}

static void send_text(request_rec *r, const char *text, const char *type)
{
    if (!text) {
        r->content_type = NULL;
        return;
    }
    ap_set_content_type(r, type);
    ap_set_content_length(r, (apr_off_t)strlen(text));
    if (!r->header_only) {
        ap_rputs(text, r);
    }
}

static int handler(request_rec *r)
{
    const pay_site_path_t *site_path = claimed(r);
    const char *text = NULL;
    const char *type = NULL;

    if (!site_path) {
        return DECLINED;
    }
    if (r->method_number == M_GET) {
        r->status = site_path->answer(&text, &type, r);
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
    send_text(r, text, type);
    return OK;
}

/* An error that httpd raises here, such as by an administrator's rule, has no body either. */
static apr_status_t bare_filter(ap_filter_t *f, apr_bucket_brigade *bb)
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
    if (claimed(r)) {
        ap_add_output_filter(FILTER_NAME, NULL, r, r->connection);
    }
}

void pay_site_path_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_rewrite.c", "mod_alias.c", "mod_proxy.c", NULL};

    (void)p;
    ap_hook_translate_name(translate_name, NULL, before, APR_HOOK_FIRST);
    ap_hook_map_to_storage(map_to_storage, NULL, before, APR_HOOK_FIRST);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_FIRST);
    ap_register_output_filter(FILTER_NAME, bare_filter, NULL, AP_FTYPE_RESOURCE);
    ap_hook_insert_error_filter(insert_error_filter, NULL, NULL, APR_HOOK_LAST);
}
