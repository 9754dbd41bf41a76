/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/page_root.h"
#include "httpd/dashboard/change.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "service/checkout/links.h"

#include <apr_strings.h>

#define NO_LINK "There is no such payment link."
#define SIZE_HINT 4096

static void link_to_json(pay_writer_t *w, const char *name, const pay_link_t *link, request_rec *r)
{
    const char *url = apr_pstrcat(r->pool, pay_page_root(r), link->page_id, NULL);

    pay_link_to_json(w, name, link, url, pay_time_now());
}

int pay_dashboard_links_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    const char *after = pay_dashboard_query(dashboard, "after");
    pay_store_t *store = dashboard->service->store;
    const pay_problem_t *problem;
    pay_problem_t *fault = NULL;
    apr_array_header_t *links;
    const pay_link_t *link = NULL;
    apr_status_t rv;
    int i, limit;

    problem = pay_dashboard_limit(&limit, dashboard, r->pool);
    if (!problem && after && !pay_link_reference_is(after)) {
        pay_problem_add(&fault, "/after", "must be the value of next in the previous page",
                        r->pool);
        problem = fault;
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_link_list(&links, store, &dashboard->scope, after, limit, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, NO_LINK);
    }
    pay_dashboard_items_open(w);
    for (i = 0; i < links->nelts; i++) {
        link = APR_ARRAY_IDX(links, i, const pay_link_t *);
        link_to_json(w, NULL, link, r);
    }
    return pay_dashboard_items(r, w, links->nelts == limit ? link->reference : NULL);
}

/* Returns the time at which it ends; 0: never. */
static apr_time_t read_expiry(pay_form_t *form)
{
    const char *text = pay_form_string(form, "expiresAt");
    apr_time_t when = 0;
    apr_status_t rv;

    if (!text || !*text) {
        return 0;
    }
    rv = pay_time_parse(&when, text);
    if (rv != APR_SUCCESS) {
        pay_form_fault(form, "expiresAt", "must be an RFC 3339 time, or null");
    }
    return when;
}

static int answer(request_rec *r, const pay_link_t *link)
{
    pay_writer_t *w = pay_dashboard_answer_open(r);

    link_to_json(w, "link", link, r);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_link_create(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    pay_link_form_t wanted = {.title = pay_form_string(&form, "title"),
                              .description = pay_form_string(&form, "description"),
                              .redirect_url = pay_form_string(&form, "redirectUrl"),
                              .reference = pay_form_string(&form, "reference"),
                              .amount = pay_form_amount(&form, "amount"),
                              .currency = pay_form_string(&form, "currency"),
                              .once = pay_form_bool(&form, "reusable") != 1,
                              .expires_at = read_expiry(&form)};
    const pay_problem_t *problem = form.problem;
    const pay_link_t *link;

    if (!problem) {
        problem = pay_link_make(&link, dashboard->service, dashboard->account,
                                dashboard->scope.mode, &wanted, r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem) : answer(r, link);
}

int pay_dashboard_link_disable(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    const pay_link_t *link;

    problem = pay_link_disable(&link, dashboard->service, &dashboard->scope, dashboard->segment[0],
                               r->pool);
    return problem ? pay_dashboard_problem(r, dashboard, problem) : answer(r, link);
}
