/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The peer that does nothing: reads the request like any handler, and answers with the bytes of the
 * file that BenchNoopAnswer names, with the status of BenchNoopStatus. Its cost is that of httpd
 * itself.
 */

#include <httpd.h>
#include <apr_file_io.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_protocol.h>

#define HANDLER "bench-noop"

typedef struct answer_t {
    char *text;
    apr_size_t len;
    int status;
} answer_t;

module AP_MODULE_DECLARE_DATA bench_noop_module;

static void *create_answer(apr_pool_t *p, char *dir)
{
    answer_t *answer = apr_pcalloc(p, sizeof(*answer));

    (void)dir;
    answer->status = HTTP_OK;
    return answer;
}

static const char *set_answer(cmd_parms *cmd, void *dir_conf, const char *path)
{
    answer_t *answer = dir_conf;
    apr_finfo_t finfo;
    apr_file_t *file;
    apr_status_t rv;

    rv = apr_file_open(&file, path, APR_READ, APR_OS_DEFAULT, cmd->temp_pool);
    if (rv == APR_SUCCESS) {
        rv = apr_file_info_get(&finfo, APR_FINFO_SIZE, file);
    }
    if (rv == APR_SUCCESS) {
        answer->len = (apr_size_t)finfo.size;
        answer->text = apr_palloc(cmd->pool, answer->len + 1);
        rv = apr_file_read_full(file, answer->text, answer->len, NULL);
    }
    if (rv != APR_SUCCESS) {
        return apr_psprintf(cmd->pool, "%s: %s cannot be read", cmd->cmd->name, path);
    }
    return NULL;
}

static const char *set_status(cmd_parms *cmd, void *dir_conf, const char *value)
{
    answer_t *answer = dir_conf;

    (void)cmd;
    answer->status = atoi(value);
    return NULL;
}

/* The same headers as the module's answers, for the same bytes on the wire. */
static void set_headers(request_rec *r)
{
    ap_set_content_type(r, "application/json; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    apr_table_setn(r->headers_out, "Request-Id", "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    apr_table_setn(r->headers_out, "Vary", "Accept");
}

static int handler(request_rec *r)
{
    const answer_t *answer = ap_get_module_config(r->per_dir_config, &bench_noop_module);
    int rc;

    if (!r->handler || strcmp(r->handler, HANDLER) != 0) {
        return DECLINED;
    }
    rc = ap_discard_request_body(r);
    if (rc != OK) {
        return rc;
    }
    r->status = answer->status;
    set_headers(r);
    ap_set_content_length(r, (apr_off_t)answer->len);
    ap_rwrite(answer->text, (int)answer->len, r);
    return OK;
}

static const command_rec directives[] = {
    AP_INIT_TAKE1("BenchNoopAnswer", set_answer, NULL, ACCESS_CONF, "File with the answer"),
    AP_INIT_TAKE1("BenchNoopStatus", set_status, NULL, ACCESS_CONF, "Status of the answer"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) bench_noop_module = {
    STANDARD20_MODULE_STUFF, create_answer, NULL, NULL, NULL, directives, register_hooks, 0,
};
