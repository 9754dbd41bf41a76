/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/hide.h"

#include "httpd/call/call.h"
#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"
#include "model/api_key.h"

#include <apr_escape.h>
#include <apr_strings.h>
#include <scoreboard.h>
#include <string.h>

#define HIDDEN "-" /* in place of a key or an id; neither has this form */
#define KEY_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Returns the first secret key in `text`; NULL if none exists. */
static const char *secret_in(const char *text, apr_pool_t *p)
{
    pay_mode_t mode;
    pay_key_kind_t kind;
    const char *run;
    apr_size_t len;

    for (; *text; text += len) {
        text += strcspn(text, KEY_CHARS);
        len = strspn(text, KEY_CHARS);
        run =
            len >= PAY_KEY_TEXT_MIN && len <= PAY_KEY_TEXT_MAX ? apr_pstrmemdup(p, text, len) : "";
        if (pay_api_key_parse(&mode, &kind, run) == APR_SUCCESS && kind == PAY_KEY_SECRET) {
            return run;
        }
    }
    return NULL;
}

/* Does the same, whether it is percent-encoded or not. */
static const char *secret_of(const char *text, apr_pool_t *p)
{
    const char *decoded;
    const char *key;

    if (!text) {
        return NULL;
    }
    key = secret_in(text, p);
    decoded = key ? NULL : apr_punescape_url(p, text, NULL, NULL, 0);
    return decoded ? secret_in(decoded, p) : key;
}

void pay_key_hide(request_rec *r)
{
    const char *in_query = secret_of(r->args, r->pool);
    const char *in_path = secret_of(r->parsed_uri.path, r->pool);
    const char *path;

    if (!in_query && !in_path) {
        return;
    }
    pay_call_make(r)->url_key = in_query ? in_query : in_path;
    path = in_path ? "/" HIDDEN : r->parsed_uri.path;
    if (in_query) {
        r->args = apr_pstrdup(r->pool, HIDDEN);
        r->parsed_uri.query = r->args;
    }
    r->unparsed_uri = apr_pstrcat(r->pool, path ? path : "", r->args ? "?" : NULL, r->args, NULL);
    r->the_request = apr_pstrcat(r->pool, r->method, " ", r->unparsed_uri, " ", r->protocol, NULL);
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_LOG, r); /* mod_status shows the line */
}

void pay_key_hide_path(request_rec *r)
{
    if (secret_of(r->uri, r->pool)) {
        r->uri = apr_pstrdup(r->pool, "/" HIDDEN);
    }
}

/* ---- ids of pages */

char *pay_page_hidden_path(const request_rec *r)
{
    return apr_pstrcat(r->pool, pay_conf_get(r->server)->base_path, PAY_OWN_PATH_PAGES HIDDEN,
                       NULL);
}

void pay_page_hide(request_rec *r)
{
    char *line = apr_pstrcat(r->pool, r->method ? r->method : "-", " ", pay_page_hidden_path(r),
                             " ", r->protocol, NULL);

    if (r->the_request && !strcmp(r->the_request, line)) {
        return;
    }
    r->the_request = line;
    /* Forms and links of a page send its whole URL in this header, and httpd's error log shows
     * it. */
    apr_table_unset(r->headers_in, "Referer");
    /* mod_status already has the line if the request was too malformed to be read. */
    ap_update_child_status(r->connection->sbh, SERVER_BUSY_LOG, r);
}
