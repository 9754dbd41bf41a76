/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/body.h"
#include "httpd/call/gate.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/audit.h"
#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/dashboard.h"
#include "httpd/dashboard/files.h"
#include "httpd/dashboard/guard.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "httpd/dashboard/routes.h"

#include <apr_strings.h>
#include <http_protocol.h>

/* The pages' own links are relative to the directory. */
static int redirect(request_rec *r)
{
    int rc;

    rc = pay_dashboard_begin(r, HTTP_PERMANENT_REDIRECT, NULL);
    apr_table_setn(r->headers_out, "Location", apr_pstrcat(r->pool, r->uri, "/", NULL));
    return rc;
}

/* The same answer for an account that does not exist and for one that is not this user's. */
static const pay_problem_t *no_account(apr_pool_t *p)
{
    return pay_problem_makef(PAY_ERR_PATH_UNKNOWN, p,
                             "You have no account of this name here. The server's administrator "
                             "can grant it: paymentsctl account grant ACCOUNT USER --host HOST "
                             "--role ROLE");
}

/* Finds account and role of this user on this host. */
static const pay_problem_t *judge_account(request_rec *r, pay_dashboard_t *dashboard,
                                          const pay_dashboard_way_t *way)
{
    const char *only = dashboard->service->account_name;
    pay_store_t *store = dashboard->service->store;
    pay_grant_t *grant;
    apr_status_t rv;

    if (pay_account_name_check(way->account) != APR_SUCCESS
        || (only && strcmp(only, way->account) != 0)) {
        return no_account(r->pool);
    }
    rv =
        pay_store_grant_get(&grant, store, way->account, dashboard->host, dashboard->user, r->pool);
    if (rv == APR_NOTFOUND) {
        return no_account(r->pool);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, r->pool);
    }
    dashboard->account = grant->account;
    dashboard->role = grant->role;
    dashboard->scope.account = grant->account->number;
    dashboard->scope.mode = way->mode;
    if (grant->role < way->route->role) {
        return pay_problem_makef(PAY_ERR_FORBIDDEN, r->pool,
                                 "Your role for this account is %s; this needs the role %s. An "
                                 "owner gives it under Settings, Team.",
                                 pay_role_name(grant->role), pay_role_name(way->route->role));
    }
    return NULL;
}

/* This person's changes through the host's service leave entries in the audit. */
static void set_actor(request_rec *r, pay_dashboard_t *dashboard, const pay_service_t *service)
{
    pay_actor_t *actor = apr_palloc(r->pool, sizeof(*actor));

    actor->who = dashboard->user;
    actor->from = apr_pstrcat(r->pool, "dashboard ", dashboard->host, " ", r->useragent_ip, NULL);
    actor->has_quota = 1;
    dashboard->actor = actor;
    dashboard->service = apr_pmemdup(r->pool, service, sizeof(*service));
    dashboard->service->actor = actor;
}

static const pay_problem_t *find_way(pay_dashboard_way_t *way, request_rec *r,
                                     pay_dashboard_t *dashboard)
{
    const pay_service_t *service = pay_conf_get(r->server)->service;

    pay_dashboard_route_find(way, dashboard->path + sizeof(PAY_DASHBOARD_API) - 1, r->method_number,
                             r->pool);
    if (!way->allow) {
        return pay_problem_makef(PAY_ERR_PATH_UNKNOWN, r->pool,
                                 "The dashboard has no such operation.");
    }
    if (!way->route) {
        apr_table_setn(r->headers_out, "Allow", way->allow);
        return pay_problem_make(PAY_ERR_METHOD, NULL, APR_SUCCESS, r->pool);
    }
    memcpy(dashboard->segment, way->segment, sizeof(dashboard->segment));
    if (!service) {
        return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, APR_SUCCESS, r->pool);
    }
    set_actor(r, dashboard, service);
    return NULL;
}

/* Judges the origin before anything is read; then reads the query, or the body. */
static const pay_problem_t *read_request(request_rec *r, pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;

    if (r->method_number == M_GET) {
        return pay_query_parse(&dashboard->query, r->args, r->pool);
    }
    problem = pay_query_parse(&dashboard->query, NULL, r->pool);
    if (!problem) {
        problem = pay_dashboard_judge_change(r, dashboard);
    }
    if (!problem) {
        problem = pay_body_read_json(&dashboard->body, r);
    }
    return problem;
}

/* A change that was refused to an unauthorised user; a malformed one is not an attempt. */
static void enter_refusal(request_rec *r, const pay_dashboard_t *dashboard,
                          const pay_dashboard_way_t *way, const pay_problem_t *problem)
{
    if (r->method_number == M_GET || !dashboard->service || !way->account) {
        return;
    }
    if (problem->status == HTTP_FORBIDDEN) {
        pay_dashboard_audit_refused(r, dashboard,
                                    dashboard->account ? "the role does not allow it"
                                                       : "it did not come from a page of the "
                                                         "dashboard");
    } else if (dashboard->body && problem->status == HTTP_NOT_FOUND) {
        pay_dashboard_audit_refused(r, dashboard, "the user has no such account");
    }
}

/* The order of judgement: origin, path, method, the change's token and body, then account and
 * role. */
static int serve_api(request_rec *r, pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_dashboard_way_t way = {.route = NULL};
    int rc;

    problem = pay_dashboard_judge_site(r);
    if (!problem) {
        problem = find_way(&way, r, dashboard);
    }
    if (!problem) {
        problem = read_request(r, dashboard);
    }
    if (!problem && way.account) {
        problem = judge_account(r, dashboard, &way);
    }
    if (problem) {
        enter_refusal(r, dashboard, &way, problem);
    }
    rc = problem ? pay_dashboard_problem(r, dashboard, problem) : way.route->handle(r, dashboard);
    if (dashboard->body) {
        pay_json_wipe(dashboard->body, PAY_DASHBOARD_CONFIRM);
    }
    return rc;
}

int pay_dashboard_serve(request_rec *r, pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;

    problem = pay_gate_judge_transport(r); /* Satisfy Any lets in clients that check_access
                                            * refused */
    if (!problem) {
        problem = pay_dashboard_judge_user(r, dashboard);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    if (pay_dashboard_is_api(dashboard)) {
        return serve_api(r, dashboard);
    }
    if (!*dashboard->path && r->method_number == M_GET) {
        return redirect(r);
    }
    return pay_dashboard_files_serve(r, dashboard);
}
