/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_GUARD_H
#define PAY_HTTPD_DASHBOARD_GUARD_H

/* Who asks the dashboard, and whether a change was asked for by its own pages. */

#include "httpd/dashboard/dashboard.h"

/* In the parent: makes the secret of the tokens, which outlives graceful restarts. */
void pay_dashboard_guard_share(server_rec *main_server);

/* Sets user and host. 403 unless the site has authenticated somebody; the log says what to do. */
const pay_problem_t *pay_dashboard_judge_user(request_rec *r, pay_dashboard_t *dashboard);

/* The user's token on this host, the same in all processes. */
const pay_problem_t *pay_dashboard_token(const char **out, const pay_dashboard_t *dashboard,
                                         apr_pool_t *p);

/* 403 C2 when a page of another site asks (Sec-Fetch-Site). */
const pay_problem_t *pay_dashboard_judge_site(const request_rec *r);

/* As above, 403 C2 with another's Origin or without any sign of ours, and 403 C1 without the token.
 */
const pay_problem_t *pay_dashboard_judge_change(request_rec *r, const pay_dashboard_t *dashboard);

#endif
