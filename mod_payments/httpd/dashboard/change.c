/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/change.h"

#include "httpd/dashboard/reply.h"
#include "service/account/keys.h"

#define SIZE_HINT 2048

pay_form_t pay_dashboard_form(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_form_t form = {.body = dashboard->body, .p = r->pool};

    return form;
}

pay_writer_t *pay_dashboard_answer_open(request_rec *r)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);

    pay_writer_object_open(w, NULL);
    return w;
}

int pay_dashboard_answer(request_rec *r, pay_writer_t *w)
{
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}

int pay_dashboard_failed(request_rec *r, const pay_dashboard_t *dashboard, apr_status_t rv,
                         const char *missing)
{
    if (rv == APR_NOTFOUND) {
        return pay_dashboard_problem(
            r, dashboard, pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, r->pool, "%s", missing));
    }
    return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
}

void pay_dashboard_overlap(apr_interval_time_t *out, pay_form_t *form, const char *name,
                           apr_interval_time_t otherwise)
{
    const char *text = pay_form_string(form, name);

    *out = otherwise;
    if (text && pay_overlap_parse(out, text) != APR_SUCCESS) {
        pay_form_fault(form, name, PAY_OVERLAP_FAULT);
    }
}
