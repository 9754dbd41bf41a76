/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/reply.h"

#include "base/log.h"
#include "httpd/call/httpd_log.h"
#include "httpd/call/reply.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(payments);

#define TYPE_JSON "application/json; charset=utf-8"
#define TYPE_TEXT "text/plain; charset=utf-8"

/*
 * On err_headers_out, which httpd sends with every status. No inline script or style, nothing from
 * elsewhere, in nobody's frame; no browser or proxy stores anything.
 */
static const struct {
    const char *name;
    const char *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"X-Frame-Options", "DENY"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

void pay_dashboard_headers(request_rec *r)
{
    apr_size_t i;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        apr_table_setn(r->err_headers_out, headers[i].name, headers[i].value);
    }
}

void pay_dashboard_forget_headers(request_rec *r)
{
    apr_size_t i;

    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        apr_table_unset(r->err_headers_out, headers[i].name);
    }
}

int pay_dashboard_is_api(const pay_dashboard_t *dashboard)
{
    return !strncmp(dashboard->path, PAY_DASHBOARD_API, sizeof(PAY_DASHBOARD_API) - 1);
}

/* Sentences for people where the page itself cannot show any. */
static const char *sentence(int status, const char *otherwise)
{
    switch (status) {
    case HTTP_UNAUTHORIZED:
        return "Sign in to see this page.";
    case HTTP_TOO_MANY_REQUESTS:
        return "Too many sign-ins failed. Wait a while, then try again.";
    case HTTP_FORBIDDEN:
        return "This page is not for you. If it should be, ask the server's administrator: the "
               "error log gives the reason.";
    case HTTP_NOT_FOUND:
        return "There is no such page.";
    default:
        return otherwise;
    }
}

const char *pay_dashboard_status_text(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_problem_t *problem = pay_problem_from_status(r->status, r->pool);

    problem->message = sentence(r->status, problem->message);
    if (apr_table_get(r->headers_out, "Retry-After")) {
        problem->retry_after = 0; /* the function that refused it knows better */
    }
    if (pay_dashboard_is_api(dashboard)) {
        ap_set_content_type(r, TYPE_JSON);
        return pay_reply_problem_text(r, problem)->text;
    }
    ap_set_content_type(r, TYPE_TEXT);
    return apr_pstrcat(r->pool, problem->message, "\n", NULL);
}

int pay_dashboard_begin(request_rec *r, int status, const char *type)
{
    apr_size_t i;
    int rc;

    rc = pay_reply_begin(r, status);
    if (rc != OK) {
        return rc;
    }
    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        apr_table_unset(r->headers_out, headers[i].name); /* it is sent once */
    }
    apr_table_unset(r->headers_out, "Vary");
    ap_set_content_type(r, type);
    return OK;
}

static int reply_bytes(request_rec *r, int status, const char *type, const char *text,
                       apr_size_t len)
{
    int rc;

    rc = pay_dashboard_begin(r, status, type);
    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)len);
    ap_rwrite(text, (int)len, r);
    return OK;
}

int pay_dashboard_json(request_rec *r, int status, const pay_writer_t *body)
{
    /* The length of a compressed answer would reveal the token and secrets (BREACH). */
    apr_table_setn(r->subprocess_env, "no-gzip", "1");
    apr_table_setn(r->subprocess_env, "no-brotli", "1");
    return reply_bytes(r, status, TYPE_JSON, body->text, body->len);
}

void pay_dashboard_items_open(pay_writer_t *w)
{
    pay_writer_object_open(w, NULL);
    pay_writer_array_open(w, "items");
}

int pay_dashboard_items(request_rec *r, pay_writer_t *w, const char *next)
{
    pay_writer_array_close(w);
    pay_writer_string(w, "next", next);
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}

void pay_dashboard_charge_id(pay_writer_t *w, apr_uint64_t charge_seq)
{
    if (charge_seq) {
        pay_writer_integer(w, "chargeId", (apr_int64_t)charge_seq);
    } else {
        pay_writer_null(w, "chargeId");
    }
}

int pay_dashboard_problem(request_rec *r, const pay_dashboard_t *dashboard,
                          const pay_problem_t *problem)
{
    apr_status_t status = problem->cause;
    const char *cause, *line;

    if (problem->status >= HTTP_INTERNAL_SERVER_ERROR) {
        cause = pay_httpd_log_cause(&status, problem->message);
        ap_log_rerror(APLOG_MARK, APLOG_INFO, status, r,
                      PAYLOGNO(00540) "the dashboard answers %d %s: %s", problem->status,
                      problem->code, cause);
    }
    if (pay_dashboard_is_api(dashboard)) {
        return pay_dashboard_json(r, problem->status, pay_reply_problem_text(r, problem));
    }
    line = apr_pstrcat(r->pool, problem->message, "\n", NULL);
    return reply_bytes(r, problem->status, TYPE_TEXT, line, strlen(line));
}
