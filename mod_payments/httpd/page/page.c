/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/page.h"

#include "base/crypto/crypto.h"
#include "base/log.h"
#include "base/net/url.h"
#include "base/text/fields.h"
#include "base/text/time.h"
#include "httpd/call/body.h"
#include "httpd/call/gate.h"
#include "httpd/call/rates.h"
#include "httpd/conf/conf.h"
#include "httpd/page/link.h"
#include "httpd/page/origin.h"
#include "httpd/page/reply.h"
#include "httpd/page/view.h"
#include "httpd/path/own_path.h"
#include "model/return_hosts.h"
#include "service/checkout/checkout_create.h"
#include "service/checkout/checkouts.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

APLOG_USE_MODULE(payments);

#define RELOAD_SECONDS "3" /* a waiting page reloads itself */
#define RETURN_SECONDS "5" /* a result is shown before the payer returns to the shop */
#define UNREADY_RETRY 30   /* seconds, for the header Retry-After */

/* One request for a page. */
typedef struct visit_t {
    request_rec *r;
    pay_service_t *service;
    const char *id;
    int returning; /* {id}.return: from Live Mode's page of the acquirer */
    pay_page_t page;
} visit_t;

/* Returns 1 and its parts if `name` is a page's, or a page's with the suffix. */
static int read_name(visit_t *visit, const char *name)
{
    const apr_size_t len = strcspn(name, ".");

    visit->id = apr_pstrmemdup(visit->r->pool, name, len);
    visit->returning = !strcmp(name + len, PAY_PAGE_RETURN_SUFFIX);
    return pay_page_id_is(visit->id) && (visit->returning || name[len] == '\0');
}

/* Returns 0 to PAY_PAGE_RELOADS_MAX, from the query "n=7"; -1: absent, or another query. */
static int reloads_of(const char *args)
{
    int reloads = 0;
    int digits;

    if (!args || strncmp(args, "n=", 2) != 0) {
        return -1;
    }
    for (digits = 0; digits < 2 && args[2 + digits] >= '0' && args[2 + digits] <= '9'; digits++) {
        reloads = 10 * reloads + (args[2 + digits] - '0');
    }
    if (digits == 0 || args[2 + digits] != '\0') {
        return -1;
    }
    return reloads < PAY_PAGE_RELOADS_MAX ? reloads : PAY_PAGE_RELOADS_MAX;
}

/* Returns 1 for a URL that may stand in a header and in a link: only checked ones are stored. */
static int is_web_url(const char *url)
{
    const char *c;

    for (c = url; *c > ' ' && *c < 0x7f; c++) {
    }
    return *c == '\0' && (!strncasecmp(url, "https://", 8) || !strncasecmp(url, "http://", 7));
}

/* Returns the host for a payer; NULL if it cannot be shown. */
static const char *host_of(const char *text, apr_pool_t *p)
{
    const char *fault;
    pay_url_t *url;

    /* Reference and status may have made it longer than a URL of a request may be. */
    text = apr_pstrmemdup(p, text, strcspn(text, "?#"));
    return pay_url_parse(&url, &fault, text, "https http", p) == APR_SUCCESS
               ? pay_return_host_shown(url, p)
               : NULL;
}

static pay_page_view_t view_of(const visit_t *visit, const pay_charge_t *charge)
{
    const char *url;
    const int reloads = reloads_of(visit->r->args);
    pay_page_view_t view = {
        .account = visit->page.account,
        .charge = charge,
        .stage = pay_checkout_told(charge, pay_time_now()),
        .authority = pay_page_authority(visit->r),
        .reloads = reloads > 0 ? reloads : 0,
    };

    if (view.stage == PAY_STAGE_PAY && charge->scope.mode == PAY_LIVE && reloads >= 0
        && is_web_url(charge->checkout->acquirer_url)) {
        /* The payer is back from the acquirer's page, which would send the payer here again and
         * again. */
        view.stage = PAY_STAGE_WAITING;
        view.came_back = 1;
    }
    url = pay_checkout_return_url(charge, view.stage, visit->r->pool);
    view.return_url = is_web_url(url) ? url : "";
    if (!charge->checkout->return_trusted && *view.return_url) {
        view.return_host = host_of(url, visit->r->pool);
        view.return_url = view.return_host ? view.return_url : "";
    }
    return view;
}

/* Sets the browser's next address after a while: this page again, or the shop. */
static void set_refresh(request_rec *r, const pay_page_view_t *view)
{
    const char *value = NULL;

    if (view->stage == PAY_STAGE_WAITING && view->reloads < PAY_PAGE_RELOADS_MAX) {
        value = apr_psprintf(r->pool, RELOAD_SECONDS "; url=%s?n=%d",
                             view->charge->checkout->page_id, view->reloads + 1);
    } else if (view->stage > PAY_STAGE_WAITING && *view->return_url && !view->return_host) {
        value = apr_pstrcat(r->pool, RETURN_SECONDS "; url=", view->return_url, NULL);
    }
    if (value) {
        apr_table_setn(r->headers_out, "Refresh", value);
    }
}

/* Live Mode's payer pays on the acquirer's page. */
static int send_to_acquirer(const visit_t *visit, const pay_page_view_t *view)
{
    const char *url = view->charge->checkout->acquirer_url;
    request_rec *r = visit->r;

    if (is_web_url(url)) {
        return pay_page_redirect(r, url);
    }
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                  PAYLOGNO(00591) "the acquirer has no page for charge %s of %s: the payer is "
                                  "asked to come back later",
                  view->charge->reference, view->account->name);
    apr_table_setn(r->headers_out, "Retry-After", apr_itoa(r->pool, UNREADY_RETRY));
    return pay_page_send(r, HTTP_SERVICE_UNAVAILABLE, pay_page_unready(view, r->pool));
}

static int show(const visit_t *visit)
{
    pay_page_view_t view = view_of(visit, visit->page.charge);
    const pay_problem_t *problem;
    request_rec *r = visit->r;

    if (view.stage == PAY_STAGE_PAY && view.charge->scope.mode == PAY_LIVE) {
        problem = pay_checkout_judge_payer(visit->service, &visit->page, NULL, r->pool);
        return problem ? pay_page_problem(r, problem) : send_to_acquirer(visit, &view);
    }
    set_refresh(r, &view);
    return pay_page_send(r, HTTP_OK, pay_page_html(&view, r->pool));
}

static int come_back(const visit_t *visit)
{
    const pay_problem_t *problem;
    const pay_charge_t *charge;

    problem = pay_checkout_return(&charge, visit->service, &visit->page, visit->r->pool);
    if (problem) {
        return pay_page_problem(visit->r, problem);
    }
    /* Loading that again queries no acquirer. */
    return pay_page_redirect(visit->r, apr_pstrcat(visit->r->pool, visit->id, "?n=0", NULL));
}

static const pay_problem_t *act(const visit_t *visit, pay_page_action_t action,
                                const pay_fields_t *fields)
{
    const pay_card_entry_t entry = {
        .number = pay_fields_get(fields, "number"),
        .expiry = pay_fields_get(fields, "expiry"),
        .csc = pay_fields_get(fields, "csc"),
    };
    apr_pool_t *p = visit->r->pool;
    const char *code = pay_fields_get(fields, "code");
    const char *bank = pay_fields_get(fields, "bankCode");
    const char *number = pay_fields_get(fields, "accountNumber");
    const pay_charge_t *charge;

    switch (action) {
    case PAY_ACTION_CARD:
        return pay_checkout_pay_card(&charge, visit->service, &visit->page, &entry, p);
    case PAY_ACTION_CODE:
        return pay_checkout_pay_code(&charge, visit->service, &visit->page, code ? code : "", p);
    case PAY_ACTION_TRANSFER:
        return pay_checkout_pay_transfer(&charge, visit->service, &visit->page, bank ? bank : "",
                                         number ? number : "", p);
    default:
        return pay_checkout_cancel(&charge, visit->service, &visit->page, p);
    }
}

/* The service judges whether the page still accepts the action. Sends the form again, with its
 * faults; else the page itself, so that reloading it and going back send nothing twice. */
static int serve_action(const visit_t *visit, pay_page_action_t action, const pay_fields_t *fields)
{
    pay_page_view_t view = view_of(visit, visit->page.charge);
    request_rec *r = visit->r;
    const pay_problem_t *problem;

    problem = act(visit, action, fields);
    pay_wipe_traces();
    if (!problem) {
        return pay_page_redirect(r, visit->id);
    }
    if (problem->status != HTTP_BAD_REQUEST || !problem->fields) {
        return pay_page_problem(r, problem);
    }
    view.faults = problem;
    view.action = action;
    return pay_page_send(r, HTTP_BAD_REQUEST, pay_page_html(&view, r->pool));
}

static int serve_fields(const visit_t *visit, const pay_fields_t *fields)
{
    const char *name = pay_fields_get(fields, "action");
    int action;

    for (action = 0; name && action < PAY_ACTION_COUNT; action++) {
        if (!strcmp(name, pay_page_actions[action])) {
            return serve_action(visit, (pay_page_action_t)action, fields);
        }
    }
    return pay_page_problem(visit->r,
                            pay_problem_make(PAY_ERR_INVALID, NULL, APR_SUCCESS, visit->r->pool));
}

static int serve_post(const visit_t *visit)
{
    request_rec *r = visit->r;
    const pay_problem_t *problem;
    pay_fields_t fields;
    int rc;

    if (!pay_page_origin_is_own(r)) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                      PAYLOGNO(00592) "refused: the form of a payment page was sent from a page of "
                                      "another origin");
        return pay_page_refuse(r, HTTP_FORBIDDEN, "This was not sent by the payment page",
                               "Nothing was paid. Open the payment page again and pay there.");
    }
    if (visit->page.charge->scope.mode == PAY_LIVE) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                      PAYLOGNO(00593) "refused unread: a form was sent to a payment page of Live "
                                      "Mode, which has no form");
        return pay_page_refuse(r, HTTP_FORBIDDEN, "This page takes no card data",
                               "Nothing was paid. Open the payment page again: it leads to the "
                               "page where you can pay.");
    }
    problem = pay_body_read_fields(&fields, r);
    if (problem) {
        return pay_page_problem(r, problem);
    }
    rc = serve_fields(visit, &fields);
    pay_fields_wipe(&fields);
    return rc;
}

static int serve_style(request_rec *r)
{
    if (r->method_number != M_GET) {
        apr_table_setn(r->headers_out, "Allow", "GET, HEAD");
        return pay_page_problem(r, pay_problem_make(PAY_ERR_METHOD, NULL, APR_SUCCESS, r->pool));
    }
    return pay_page_send_style(r);
}

/* For the access log, in place of the page's id. */
static void tell(const visit_t *visit)
{
    apr_table_t *env = visit->r->subprocess_env;
    const pay_charge_t *charge = visit->page.charge;
    const pay_link_t *link = visit->page.link;

    apr_table_setn(env, "PAYMENTS_ACCOUNT", visit->page.account->name);
    apr_table_setn(env, "PAYMENTS_MODE",
                   pay_mode_name(link ? link->scope.mode : charge->scope.mode));
    apr_table_setn(env, "PAYMENTS_REFERENCE", link ? link->reference : charge->reference);
}

/* Returns NULL if there is such a page, and sets visit->page. */
static const pay_problem_t *find(visit_t *visit)
{
    const pay_problem_t *problem;

    problem = pay_rates_judge_page(visit->r);
    if (problem) {
        return problem;
    }
    visit->service = pay_conf_get(visit->r->server)->service;
    if (!visit->service) {
        return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, APR_SUCCESS, visit->r->pool);
    }
    problem = pay_page_get(&visit->page, visit->service, visit->id, visit->r->pool);
    if (problem) {
        return problem;
    }
    if (visit->page.link ? visit->returning : !visit->page.charge->checkout) {
        return pay_problem_make(PAY_ERR_PATH_UNKNOWN, NULL, APR_SUCCESS, visit->r->pool);
    }
    visit->page.address = visit->r->useragent_ip;
    tell(visit);
    return NULL;
}

/* The order of judgement is that of calls: transport, path, method, rate, then the page. */
int pay_page_serve(request_rec *r, pay_call_t *call)
{
    const char *name = call->path + sizeof(PAY_OWN_PATH_PAGES) - 1;
    visit_t visit = {.r = r};
    const pay_problem_t *problem;

    problem = pay_gate_judge_transport(r);
    if (problem) {
        return pay_page_problem(r, problem);
    }
    if (!strcmp(name, PAY_PAGE_STYLE)) {
        return serve_style(r);
    }
    if (!read_name(&visit, name) || (r->prev && r->method_number != M_GET)) {
        problem = pay_problem_make(PAY_ERR_PATH_UNKNOWN, NULL, APR_SUCCESS, r->pool);
        return pay_page_problem(r, problem);
    }
    if (r->method_number != M_GET && (visit.returning || r->method_number != M_POST)) {
        apr_table_setn(r->headers_out, "Allow", visit.returning ? "GET, HEAD" : "GET, HEAD, POST");
        problem = pay_problem_make(PAY_ERR_METHOD, NULL, APR_SUCCESS, r->pool);
        return pay_page_problem(r, problem);
    }
    problem = find(&visit);
    if (problem) {
        return pay_page_problem(r, problem);
    }
    if (visit.page.link) {
        return pay_page_link_serve(r, visit.service, &visit.page);
    }
    if (visit.returning) {
        return come_back(&visit);
    }
    return r->method_number == M_POST ? serve_post(&visit) : show(&visit);
}
