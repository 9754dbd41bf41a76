/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_dashboard.h"
#include "httpd/pay_dashboard_files.h"
#include "httpd/pay_dashboard_guard.h"
#include "httpd/pay_dashboard_reply.h"
#include "httpd/pay_gate.h"

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

int pay_dashboard_serve(request_rec *r, pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;

    problem = pay_gate_judge_transport(r); /* Satisfy Any lets in whom check_access refused */
    if (!problem) {
        problem = pay_dashboard_judge_user(r, dashboard);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    if (!*dashboard->path && r->method_number == M_GET) {
        return redirect(r);
    }
    return pay_dashboard_files_serve(r, dashboard);
}
