/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/change.h"

#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"

#include <apr_strings.h>
#include <string.h>

#define SIZE_HINT 2048
#define OVERLAP_DAYS_MAX 366

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
    static const struct {
        char unit;
        apr_uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    const char *text = pay_form_string(form, name);
    const apr_uint64_t max = OVERLAP_DAYS_MAX * (apr_uint64_t)86400;
    apr_size_t digits = text ? strspn(text, "0123456789") : 0;
    apr_uint64_t number;
    apr_size_t i;

    *out = otherwise;
    if (!text) {
        return;
    }
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (text[digits] == units[i].unit && !text[digits + 1]
            && pay_query_number(&number, apr_pstrmemdup(form->p, text, digits))
            && number <= max / units[i].seconds) {
            *out = apr_time_from_sec((apr_interval_time_t)(number * units[i].seconds));
            return;
        }
    }
    pay_form_fault(form, name, "must be a duration such as 0s, 30m, 24h or 7d, at most 366d");
}
