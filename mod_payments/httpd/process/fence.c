/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/fence.h"

#include "base/log.h"
#include "httpd/process/fence_table.h"
#include "httpd/process/store_host.h"

#include <apr_buckets.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <sys/stat.h>
#include <util_filter.h>

APLOG_USE_MODULE(payments);

/*
 * Ahead of every filter that may read a file (mod_include, mod_deflate); and after them, where a
 * filter may have replaced the answer by another file (X-Sendfile).
 */
#define FIRST_FILTER "PAYMENTS_FENCE_FIRST"
#define FIRST_TYPE ((ap_filter_type)(AP_FTYPE_RESOURCE - 1))
#define LAST_FILTER "PAYMENTS_FENCE_LAST"
#define LAST_TYPE ((ap_filter_type)(AP_FTYPE_PROTOCOL - 1))

#define OTHERS_RIGHTS                                                                              \
    (APR_FPROT_GREAD | APR_FPROT_GWRITE | APR_FPROT_GEXECUTE | APR_FPROT_WREAD | APR_FPROT_WWRITE  \
     | APR_FPROT_WEXECUTE)

static pay_fence_table_t *table; /* NULL: there are no stores */
static ap_filter_rec_t *first_filter, *last_filter;

/* Of one request: the file that the first filter has judged and is passing on. */
typedef struct passing_t {
    const apr_file_t *file;
} passing_t;

/* Returns the client's request that led to this one. */
static const request_rec *origin(const request_rec *r)
{
    while (r->main || r->prev) {
        r = r->main ? r->main : r->prev;
    }
    return r;
}

static void say(const request_rec *r, const pay_fence_match_t *match)
{
    const request_rec *asked = origin(r);
    const char *also = "";

    if (!match->may_be_said) {
        return;
    }
    if (match->unsaid > 0) {
        also = apr_psprintf(r->pool, " (%u more since the last line like this)", match->unsaid);
    }
    ap_log_rerror(
        APLOG_MARK, APLOG_WARNING, 0, r,
        PAYLOGNO(00660) "%s of PaymentsStore %s was requested and is not served: \"%s %.256s\" of "
                        "host %s leads there by way of %.256s%s. Remove that link or script, and "
                        "follow docs/operations.md, \"Shared hosting\"",
        match->path, match->url, asked->method, asked->uri ? asked->uri : "-",
        asked->server->server_hostname ? asked->server->server_hostname : "-",
        r->filename ? r->filename : "-", also);
}

/* Returns 1 if `file` must not be served, which is logged. */
static int is_fenced(const request_rec *r, const pay_fence_file_t *file)
{
    pay_fence_match_t match;

    if (!pay_fence_table_find(&match, table, file)) {
        return 0;
    }
    say(r, &match);
    return 1;
}

/* Runs in two places: before a module opens the file to find its type (mod_mime_magic), and after
 * that stage has chosen another file (mod_negotiation). */
static int judge(request_rec *r)
{
    const pay_fence_file_t file = {
        .dev = (dev_t)r->finfo.device,
        .ino = (ino_t)r->finfo.inode,
        .uid = (uid_t)r->finfo.user,
        .is_private = !(r->finfo.protection & OTHERS_RIGHTS),
    };

    if (!table || r->finfo.filetype == APR_NOFILE) {
        return DECLINED;
    }
    return is_fenced(r, &file) ? HTTP_FORBIDDEN : DECLINED;
}

/* ---- files that a handler has opened */

static int is_fenced_open(const request_rec *r, apr_file_t *opened)
{
    pay_fence_file_t file;
    struct stat info;
    apr_os_file_t fd;

    if (apr_os_file_get(&fd, opened) != APR_SUCCESS || fstat(fd, &info) != 0) {
        return 0; /* nor can it be sent */
    }
    file.dev = info.st_dev;
    file.ino = info.st_ino;
    file.uid = info.st_uid;
    file.is_private = !(info.st_mode & (S_IRWXG | S_IRWXO));
    return is_fenced(r, &file);
}

/* Sends 403 in place of the rest; leaves out the part of another page, with everything after it. */
static apr_status_t refuse(ap_filter_t *f, apr_bucket_brigade *bb)
{
    request_rec *r = f->r;
    apr_bucket *bucket;

    apr_brigade_cleanup(bb);
    if (r->main) {
        r->status = HTTP_FORBIDDEN;
        return AP_FILTER_ERROR;
    }
    bucket = ap_bucket_error_create(HTTP_FORBIDDEN, NULL, r->pool, bb->bucket_alloc);
    APR_BRIGADE_INSERT_TAIL(bb, bucket);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
    return ap_pass_brigade(f->next, bb);
}

static apr_status_t filter(ap_filter_t *f, apr_bucket_brigade *bb)
{
    passing_t *passing = f->ctx;
    const apr_file_t *judged = passing->file; /* by the other filter, further out */
    apr_bucket *bucket;
    apr_file_t *file;
    apr_status_t rv;

    for (bucket = APR_BRIGADE_FIRST(bb); bucket != APR_BRIGADE_SENTINEL(bb);
         bucket = APR_BUCKET_NEXT(bucket)) {
        if (!APR_BUCKET_IS_FILE(bucket)) {
            continue;
        }
        file = ((apr_bucket_file *)bucket->data)->fd;
        if (file != judged && is_fenced_open(f->r, file)) {
            return refuse(f, bb);
        }
        judged = file;
    }
    if (f->frec == last_filter) {
        return ap_pass_brigade(f->next, bb);
    }
    /* As long as this call lasts its bucket keeps the file open: no other file has that handle. */
    passing->file = judged;
    rv = ap_pass_brigade(f->next, bb);
    passing->file = NULL;
    return rv;
}

static void insert_filter(request_rec *r)
{
    passing_t *passing;

    if (table) {
        passing = apr_pcalloc(r->pool, sizeof(*passing));
        ap_add_output_filter_handle(first_filter, passing, r, r->connection);
        ap_add_output_filter_handle(last_filter, passing, r, r->connection);
    }
}

/* ---- start */

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *main_server)
{
    (void)plog;
    (void)ptemp;
    (void)main_server;
    table = NULL;
    if (ap_state_query(AP_SQ_MAIN_STATE) != AP_SQ_MS_CREATE_PRE_CONFIG && pay_store_hosts()) {
        table = pay_fence_table_make(pay_store_hosts(), pconf);
    }
    return OK;
}

void pay_fence_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_LAST); /* the stores are known by then */
    ap_hook_type_checker(judge, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(judge, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_insert_filter(insert_filter, NULL, NULL, APR_HOOK_REALLY_LAST);
    first_filter = ap_register_output_filter(FIRST_FILTER, filter, NULL, FIRST_TYPE);
    last_filter = ap_register_output_filter(LAST_FILTER, filter, NULL, LAST_TYPE);
}
