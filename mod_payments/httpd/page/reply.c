/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/reply.h"

#include "base/log.h"
#include "httpd/call/body.h"
#include "httpd/call/httpd_log.h"
#include "httpd/page/view.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(payments);

#define STYLE_AGE "max-age=3600"
#define ONCE "Open the page again: it shows the state of the payment, and never takes it twice."
#define WAIT "Please wait a moment, then load this page again. A payment is never taken twice."
#define BACK "Nothing was paid. Go back to the payment page and try again."

/* The sentences for a payer by status; the last row stands for all others. */
static const struct {
    int status;
    const char *title;
    const char *advice;
} words[] = {
    {HTTP_UNAUTHORIZED, "This page asks for a sign-in",
     "Please ask the shop for a payment page that you can open."},
    {HTTP_FORBIDDEN, "This page cannot be opened in this way",
     "Nothing was paid. Open the payment page again from the shop, with an address that begins "
     "with https."},
    {HTTP_NOT_FOUND, "There is no such payment page",
     "Please check the address, or ask the shop for a new one."},
    {HTTP_METHOD_NOT_ALLOWED, "This page cannot be used in this way", ONCE},
    {HTTP_REQUEST_TIME_OUT, "The connection was too slow", ONCE},
    {HTTP_CONFLICT, "A payment is being started here just now",
     "The button was pressed twice, or the page is open in another window, too. " WAIT},
    {HTTP_REQUEST_ENTITY_TOO_LARGE, "Too much was sent", BACK},
    {HTTP_UNSUPPORTED_MEDIA_TYPE, "This was not sent by the form", BACK},
    {HTTP_TOO_MANY_REQUESTS, "There are too many requests at the moment", WAIT},
    {HTTP_INTERNAL_SERVER_ERROR, "This page does not work at the moment", WAIT},
    {HTTP_SERVICE_UNAVAILABLE, "This page is not available at the moment", WAIT},
    {0, "This request could not be read", ONCE},
};
#define WORDS (sizeof(words) / sizeof(words[0]))

void pay_page_headers(request_rec *r)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy",
         "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
         "frame-ancestors 'none'; base-uri 'none'"},
        {"X-Frame-Options", "DENY"},
        /* Browsers request /favicon.ico and go on to a shop on this host: the address contains the
         * id. no-referrer would make them send "Origin: null" with our own forms. */
        {"Referrer-Policy", "strict-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"X-Robots-Tag", "noindex, nofollow"},
    };
    apr_size_t i;

    ap_set_content_type(r, "text/html; charset=utf-8");
    for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        apr_table_setn(r->headers_out, headers[i][0], headers[i][1]);
    }
    apr_table_setn(r->headers_out, "Request-Id", pay_call_request_id(r));
    apr_table_setn(r->subprocess_env, "no-gzip", "1"); /* a secret beside a payer's words: BREACH */
}

/* Reads and discards the body, then sets status and headers. OK: send it. */
static int begin(request_rec *r, int status)
{
    r->status = status; /* first: with an error's status httpd does not request the body */
    r->status_line = NULL;
    (void)pay_body_discard(r);
    if (pay_call_make(r)->answered) {
        return AP_FILTER_ERROR;
    }
    pay_page_headers(r);
    return OK;
}

int pay_page_send(request_rec *r, int status, const pay_html_t *html)
{
    int rc = begin(r, status);

    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)html->len);
    ap_rwrite(html->text, (int)html->len, r);
    return OK;
}

/* The style sheet of hosted pages, which the Makefile generates from
 * share/dashboard/assets/tokens.css, then share/checkout/checkout.css. */
static const unsigned char style[] = {
#include "httpd/page/style_text.inc"
};
_Static_assert(sizeof(style) > 1, "the style sheet was not there to be built in");

int pay_page_send_style(request_rec *r)
{
    int rc = begin(r, HTTP_OK);

    if (rc != OK) {
        return rc;
    }
    ap_set_content_type(r, "text/css; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", STYLE_AGE);
    ap_set_content_length(r, (apr_off_t)sizeof(style));
    ap_rwrite(style, (int)sizeof(style), r);
    return OK;
}

int pay_page_redirect(request_rec *r, const char *location)
{
    int rc = begin(r, HTTP_SEE_OTHER);

    if (rc != OK) {
        return rc;
    }
    apr_table_setn(r->headers_out, "Location", location);
    r->content_type = NULL;
    ap_set_content_length(r, 0);
    return OK;
}

const pay_html_t *pay_page_problem_html(request_rec *r, const pay_problem_t *problem)
{
    const char *title, *advice;
    apr_size_t i;

    for (i = 0; i < WORDS - 1 && words[i].status != problem->status; i++) {
    }
    if (problem->retry_after > 0) {
        apr_table_setn(r->headers_out, "Retry-After", apr_itoa(r->pool, problem->retry_after));
    }
    title = words[i].title;
    advice = words[i].advice;
    if (problem->error == PAY_ERR_FAILURES) {
        title = "Too many payments failed";
        advice = "Nothing was paid. Please try again later, or ask the shop.";
    }
    return pay_page_notice(title, advice, pay_call_request_id(r), r->pool);
}

int pay_page_problem(request_rec *r, const pay_problem_t *problem)
{
    apr_status_t status = problem->cause;
    const char *cause;

    if (problem->status >= HTTP_INTERNAL_SERVER_ERROR) {
        cause = pay_httpd_log_cause(&status, problem->message);
        ap_log_rerror(APLOG_MARK, APLOG_INFO, status, r,
                      PAYLOGNO(00590) "a payment page answers %d %s: %s", problem->status,
                      problem->code, cause);
    }
    return pay_page_send(r, problem->status, pay_page_problem_html(r, problem));
}

int pay_page_refuse(request_rec *r, int status, const char *title, const char *advice)
{
    return pay_page_send(r, status,
                         pay_page_notice(title, advice, pay_call_request_id(r), r->pool));
}
