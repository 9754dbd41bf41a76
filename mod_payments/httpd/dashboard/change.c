/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/change.h"

#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"

#include <apr_strings.h>
#include <string.h>

#define SIZE_HINT 2048
#define OVERLAP_DAYS_MAX 366

/* Changes that end something or decide about money: an account at its quota still makes them. */
static const struct {
    const char *what;
    const char *detail_end; /* NULL: any detail */
} unbounded[] = {
    {"refund create", NULL}, {"charge resolve", NULL}, {"refund resolve", NULL},
    {"key revoke", NULL},    {"account revoke", NULL}, {"link disable", NULL},
    {"event drop", NULL},    {"webhook set", "off"},   {"account mode", "-> test"},
};

static int ends_with(const char *text, const char *end)
{
    const apr_size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static pay_audit_bound_t bound_of(const char *what, const char *detail)
{
    apr_size_t i;

    for (i = 0; i < sizeof(unbounded) / sizeof(unbounded[0]); i++) {
        if (strcmp(unbounded[i].what, what) == 0
            && (!unbounded[i].detail_end || ends_with(detail, unbounded[i].detail_end))) {
            return PAY_AUDIT_UNBOUNDED;
        }
    }
    return PAY_AUDIT_OF_CHANGE;
}

pay_audit_t *pay_dashboard_entry(request_rec *r, const pay_dashboard_t *dashboard, const char *what,
                                 const char *subject, const char *detail)
{
    pay_audit_t *entry = apr_pcalloc(r->pool, sizeof(*entry));

    entry->account = dashboard->account ? dashboard->account->number : 0;
    entry->who = dashboard->user;
    entry->from = apr_pstrcat(r->pool, "dashboard ", dashboard->host, " ", r->useragent_ip, NULL);
    entry->what = what;
    entry->subject = subject;
    entry->detail = detail ? detail : "";
    return entry;
}

const pay_problem_t *pay_dashboard_change_from(pay_service_t *out, request_rec *r,
                                               const pay_dashboard_t *dashboard, const char *how,
                                               const char *what, const char *subject,
                                               const char *detail)
{
    pay_audit_t *entry = pay_dashboard_entry(r, dashboard, what, subject, detail);
    apr_status_t rv;

    *out = *dashboard->service;
    out->actor = NULL; /* the store has the entry already */
    if (*how) {
        entry->from = apr_pstrcat(r->pool, entry->from, ", ", how, NULL);
    }
    entry->bound = bound_of(what, entry->detail);
    rv = pay_store_audited(&out->store, dashboard->service->store, entry, r->pool);
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, r->pool);
}

const pay_problem_t *pay_dashboard_change(pay_service_t *out, request_rec *r,
                                          const pay_dashboard_t *dashboard, const char *what,
                                          const char *subject, const char *detail)
{
    return pay_dashboard_change_from(out, r, dashboard, "", what, subject, detail);
}

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
