/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/guard.h"
#include "httpd/dashboard/reply.h"

#include <string.h>

#define SIZE_HINT 1024

static void accounts_to_json(pay_writer_t *w, const pay_dashboard_t *dashboard,
                             const apr_array_header_t *grants)
{
    const char *only = dashboard->service->account_name;
    const pay_grant_t *grant;
    int i;

    pay_writer_array_open(w, "accounts");
    for (i = 0; i < grants->nelts; i++) {
        grant = APR_ARRAY_IDX(grants, i, const pay_grant_t *);
        if (only && strcmp(only, grant->account->name) != 0) {
            continue;
        }
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "name", grant->account->name);
        pay_writer_string(w, "role", pay_role_name(grant->role));
        pay_writer_string(w, "mode", pay_mode_name(grant->account->mode));
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
}

int pay_dashboard_session_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    pay_store_t *store = dashboard->service->store;
    const pay_problem_t *problem;
    apr_array_header_t *grants;
    const char *token;
    apr_status_t rv;

    problem = pay_dashboard_token(&token, dashboard, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_grant_list_user(&grants, store, dashboard->host, dashboard->user, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_problem(r, dashboard, pay_problem_of_store(rv, r->pool));
    }
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "user", dashboard->user);
    pay_writer_string(w, "host", dashboard->host);
    pay_writer_string(w, "csrf", token);
    pay_writer_string(w, "version", PAYMENTS_VERSION);
    accounts_to_json(w, dashboard, grants);
    pay_writer_object_close(w);
    return pay_dashboard_json(r, HTTP_OK, w);
}
