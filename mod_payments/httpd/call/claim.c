/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/claim.h"

#include "httpd/call/call.h"
#include "httpd/call/gate.h"
#include "httpd/call/hide.h"
#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>

/* Returns the URL's own part, also before httpd has decoded it; NULL if it is not ours. */
static const char *own_part_early(const request_rec *r)
{
    char *path = apr_pstrdup(r->pool, r->uri);

    ap_normalize_path(path, AP_NORMALIZE_NOT_ABOVE_ROOT | AP_NORMALIZE_DECODE_UNRESERVED
                                | AP_NORMALIZE_MERGE_SLASHES);
    return pay_own_path(path, pay_conf_get(r->server)->base_path);
}

int pay_claim_is_ours(request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    const pay_call_t *call = pay_call_get(r);

    if (!conf->engine || !r->uri || r->uri[0] != '/' || r->proxyreq) {
        return 0;
    }
    if (call && (call->path || call->read)) {
        return 1; /* it passed post_read_request, and decoding has failed since: an encoded slash */
    }
    return own_part_early(r) != NULL;
}

int pay_claim_is_page(request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);
    const char *path;

    if (call && (call->path || call->read)) {
        return call->is_page;
    }
    path = own_part_early(r);
    return path && pay_own_path_is_page(path);
}

void pay_claim_forget_error_documents(request_rec *r)
{
    static const int statuses[] = {400, 401, 403, 404, 405, 406, 408, 409, 411, 412,
                                   413, 414, 415, 416, 417, 421, 422, 426, 429, 431,
                                   500, 501, 502, 503, 504, 505, 507, 508, 510};
    core_request_config *core = ap_get_core_module_config(r->request_config);
    char **strings, *first;
    apr_size_t i;

    /* httpd makes the table, and all statuses share one text: as many texts as there are statuses
     * took a twentieth of a charge's time outside the kernel. */
    ap_custom_response(r, statuses[0], "x");
    strings = core->response_code_strings;
    first = strings[ap_index_of_response(statuses[0])];
    for (i = 1; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        strings[ap_index_of_response(statuses[i])] = first;
    }
}

/* The URL looked like ours before it was decoded, but is not: the site's documents apply again. */
static void remember_error_documents(request_rec *r)
{
    core_request_config *core = ap_get_core_module_config(r->request_config);
    pay_call_t *call = pay_call_get(r);

    if (call && call->read) {
        core->response_code_strings = NULL;
        call->read = 0;
        call->is_page = 0;
    }
}

/* Runs before the URL is decoded, which can fail by itself (an encoded slash). */
static int post_read_request(request_rec *r)
{
    const char *path;

    if (pay_claim_is_ours(r)) {
        path = own_part_early(r);
        pay_call_make(r)->read = 1;
        pay_call_make(r)->is_page = path && pay_own_path_is_page(path);
        pay_claim_forget_error_documents(r);
        pay_key_hide(r);
        if (pay_claim_is_page(r)) {
            pay_page_hide(r);
        }
    }
    return DECLINED;
}

static void claim(request_rec *r, const char *path, int page)
{
    pay_call_make(r)->path = path;
    pay_call_make(r)->is_page = page;
    apr_table_unset(r->headers_in, "Range");         /* a partial answer would hide the result */
    r->filename = apr_pstrdup(r->pool, "payments:"); /* without the URL: AddHandler looks at it */
    r->handler = PAY_CLAIM_HANDLER;
}

static int translate_name(request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    const char *path;
    char *merged;

    if (!conf->engine || !r->uri || r->uri[0] != '/' || r->proxyreq) {
        return DECLINED;
    }
    if (r->prev && ap_is_HTTP_ERROR(r->prev->status) && pay_claim_is_ours(r->prev)) {
        /* A malformed request fails before post_read_request: its ErrorDocument comes here. */
        claim(r, "", pay_claim_is_page(r->prev));
        pay_call_get(r)->shows_error = r->prev->status;
        return OK;
    }
    merged = apr_pstrdup(r->pool, r->uri);
    ap_no2slash(merged);
    path = pay_own_path(merged, conf->base_path);
    if (!path) {
        remember_error_documents(r);
        return DECLINED;
    }
    /* An administrator's <Location> must also apply to doubled slashes, with MergeSlashes Off. */
    r->uri = merged;
    claim(r, path, pay_own_path_is_page(path));
    if (!r->main && !pay_call_get(r)->read) { /* otherwise they were set aside when it was read */
        pay_claim_forget_error_documents(r);
    }
    return OK;
}

/* No directory, no file, no .htaccess; nor core's own answer to TRACE. */
static int map_to_storage(request_rec *r)
{
    if (!pay_call_is_claimed(r)) {
        return DECLINED;
    }
    if (r->main) {
        return HTTP_FORBIDDEN; /* mod_include and look-ups of other modules reach no operation */
    }
    return OK;
}

/* After mod_mime, mod_rewrite and SetHandler have run. */
static int fixups(request_rec *r)
{
    if (!pay_call_is_claimed(r)) {
        return DECLINED;
    }
    r->handler = PAY_CLAIM_HANDLER;
    return OK;
}

/* However a request of ours ended, modules that log headers find no key there. */
static int log_transaction(request_rec *r)
{
    if (pay_claim_is_ours(r)) {
        apr_table_unset(r->headers_in, "Authorization");
        apr_table_unset(r->headers_in, PAY_GATE_ORDER_KEY);
        pay_key_hide_path(r);
        if (pay_claim_is_page(r)) {
            pay_page_hide(r);
            r->uri = pay_page_hidden_path(r); /* %U */
        }
    }
    return DECLINED;
}

void pay_claim_register_hooks(apr_pool_t *p)
{
    static const char *const before[] = {"mod_rewrite.c", "mod_alias.c", "mod_proxy.c", NULL};

    (void)p;
    ap_hook_post_read_request(post_read_request, NULL, NULL, APR_HOOK_FIRST);
    ap_hook_translate_name(translate_name, NULL, before, APR_HOOK_FIRST);
    ap_hook_map_to_storage(map_to_storage, NULL, before, APR_HOOK_FIRST);
    ap_hook_fixups(fixups, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
