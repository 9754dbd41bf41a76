/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/link.h"

#include "base/log.h"
#include "base/text/fields.h"
#include "base/text/time.h"
#include "httpd/call/body.h"
#include "httpd/call/page_root.h"
#include "httpd/page/origin.h"
#include "httpd/page/reply.h"

#include <apr_strings.h>
#include <http_log.h>

APLOG_USE_MODULE(payments);

static pay_page_link_view_t view_of(request_rec *r, const pay_page_t *page)
{
    const pay_page_link_view_t view = {
        .page = page, .authority = pay_page_authority(r), .now = pay_time_now()};

    return view;
}

/*
 * Goes on to the page of the payer's own checkout. In Live Mode that one leads on to the
 * acquirer's, and a browser does not follow there from a form that may be sent to our own origin
 * only: a page is in between.
 */
static int go_on(request_rec *r, const pay_page_t *page, const pay_charge_t *charge)
{
    const char *page_id = charge->checkout->page_id;
    const pay_page_link_view_t view = view_of(r, page);

    if (charge->scope.mode != PAY_LIVE) {
        return pay_page_redirect(r, page_id);
    }
    apr_table_setn(r->headers_out, "Refresh", apr_pstrcat(r->pool, "0; url=", page_id, NULL));
    return pay_page_send(r, HTTP_OK, pay_page_link_onward(&view, page_id, r->pool));
}

static int serve_fields(request_rec *r, pay_service_t *service, const pay_page_t *page,
                        const pay_fields_t *fields)
{
    const pay_link_payer_t payer = {
        .amount = pay_fields_get(fields, "amount"),
        .email = pay_fields_get(fields, "email"),
        .first_name = pay_fields_get(fields, "firstName"),
        .last_name = pay_fields_get(fields, "lastName"),
    };
    pay_page_link_view_t view = view_of(r, page);
    const pay_problem_t *problem;
    const pay_charge_t *charge;

    problem = pay_link_page_pay(&charge, service, page, &payer, pay_page_root(r), r->useragent_ip,
                                r->pool);
    if (!problem) {
        return go_on(r, page, charge);
    }
    if (problem->error == PAY_ERR_NOT_VOIDABLE) {
        return pay_page_refuse(r, problem->status, "This link cannot be paid", problem->message);
    }
    if (problem->status != HTTP_BAD_REQUEST || !problem->fields) {
        return pay_page_problem(r, problem);
    }
    view.faults = problem;
    view.payer = &payer;
    return pay_page_send(r, HTTP_BAD_REQUEST, pay_page_link_html(&view, r->pool));
}

static int serve_post(request_rec *r, pay_service_t *service, const pay_page_t *page)
{
    const pay_problem_t *problem;
    pay_fields_t fields;
    int rc;

    if (!pay_page_origin_is_own(r)) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                      PAYLOGNO(00600) "refused: the form of a payment link's page was sent from a "
                                      "page of another origin");
        return pay_page_refuse(r, HTTP_FORBIDDEN, "This was not sent by the payment page",
                               "Nothing was paid. Open the link again and pay there.");
    }
    problem = pay_body_read_fields(&fields, r);
    if (problem) {
        return pay_page_problem(r, problem);
    }
    rc = serve_fields(r, service, page, &fields);
    pay_fields_wipe(&fields);
    return rc;
}

int pay_page_link_serve(request_rec *r, pay_service_t *service, const pay_page_t *page)
{
    const pay_page_link_view_t view = view_of(r, page);

    if (r->method_number == M_POST) {
        return serve_post(r, service, page);
    }
    return pay_page_send(r, HTTP_OK, pay_page_link_html(&view, r->pool));
}
