/* SPDX-License-Identifier: Apache-2.0 */

/* The users of the account, and their changes. */

#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "service/account/accounts.h"

#include <apr_strings.h>

#define SIZE_HINT 8192

static int reply_team(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_store_t *store = dashboard->service->store;
    const pay_grant_t *grant;
    apr_array_header_t *grants;
    apr_status_t rv;
    pay_writer_t *w;
    int i;

    rv = pay_store_grant_list(&grants, store, dashboard->account->name, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, "This account no longer exists.");
    }
    w = pay_dashboard_answer_open(r);
    pay_writer_array_open(w, "grants");
    for (i = 0; i < grants->nelts; i++) {
        grant = APR_ARRAY_IDX(grants, i, const pay_grant_t *);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "user", grant->user);
        pay_writer_string(w, "host", grant->host);
        pay_writer_string(w, "role", pay_role_name(grant->role));
        pay_writer_time(w, "grantedAt", grant->created_at);
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_team_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    return reply_team(r, dashboard);
}

static const char *read_user(pay_form_t *form)
{
    const char *user = pay_form_string(form, "user");
    const char *fault = pay_grant_user_fault(user);

    if (fault) {
        pay_form_fault(form, "user", fault);
    }
    return user;
}

int pay_dashboard_team_grant(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *account = dashboard->account->name;
    const char *user = read_user(&form);
    const char *name = pay_form_string(&form, "role");
    const pay_problem_t *problem;
    pay_role_t role = PAY_ROLE_VIEWER;
    pay_dashboard_ask_t ask;
    pay_grant_t *grant;

    if (!name || pay_role_parse(&role, name) != APR_SUCCESS) {
        pay_form_fault(&form, "role", "must be viewer, operator or owner");
    }
    problem = form.problem;
    if (!problem) {
        ask.change =
            apr_pstrcat(r->pool, "grant the role ", name, " for ", account, " to ", user, NULL);
        ask.command = apr_pstrcat(r->pool, "account grant ", account, " USER --host ",
                                  dashboard->host, " --role ", name, NULL);
        problem = pay_dashboard_confirm(r, dashboard, &ask);
    }
    if (!problem) {
        problem = pay_grant_give(&grant, dashboard->service, dashboard->account, dashboard->host,
                                 user, role, 1, r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem) : reply_team(r, dashboard);
}

int pay_dashboard_team_revoke(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *user = read_user(&form);
    const pay_problem_t *problem = form.problem;
    pay_grant_t *grant;

    if (!problem) {
        problem = pay_grant_take(&grant, dashboard->service, dashboard->account, dashboard->host,
                                 user, 1, r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem) : reply_team(r, dashboard);
}

int pay_dashboard_audit_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    const char *after = pay_dashboard_query(dashboard, "after");
    pay_store_t *store = dashboard->service->store;
    const pay_audit_t *entry = NULL;
    const pay_problem_t *problem;
    pay_problem_t *fault = NULL;
    apr_array_header_t *entries;
    apr_uint64_t before = 0;
    apr_status_t rv;
    int limit, i;

    problem = pay_dashboard_limit(&limit, dashboard, r->pool);
    if (!problem && after && (!pay_query_number(&before, after) || before == 0)) {
        pay_problem_add(&fault, "/after", "must be the value of next in the previous page",
                        r->pool);
        problem = fault;
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_audit_list(&entries, store, dashboard->scope.account, before, limit, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, "");
    }
    pay_dashboard_items_open(w);
    for (i = 0; i < entries->nelts; i++) {
        entry = APR_ARRAY_IDX(entries, i, const pay_audit_t *);
        pay_audit_to_json(w, NULL, entry, dashboard->account->name);
    }
    return pay_dashboard_items(r, w,
                               entries->nelts == limit && entry && entry->seq > 1
                                   ? apr_psprintf(r->pool, "%" APR_UINT64_T_FMT, entry->seq)
                                   : NULL);
}
