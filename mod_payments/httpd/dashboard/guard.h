/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_GUARD_H
#define PAY_HTTPD_DASHBOARD_GUARD_H

/* Identifies the user of the dashboard, and checks that changes come from its own pages. */

#include "httpd/dashboard/dashboard.h"

/* Called in the parent: makes the secret of the tokens, which outlives graceful restarts. */
void pay_dashboard_guard_share(server_rec *main_server);

/* Sets user and host. 403 unless the site has authenticated a user; the log says what to do. */
const pay_problem_t *pay_dashboard_judge_user(request_rec *r, pay_dashboard_t *dashboard);

/* Makes the user's token on this host, the same in all processes. */
const pay_problem_t *pay_dashboard_token(const char **out, const pay_dashboard_t *dashboard,
                                         apr_pool_t *p);

/* Returns 403 C2 if a page of another site sends the request (Sec-Fetch-Site). */
const pay_problem_t *pay_dashboard_judge_site(const request_rec *r);

/* As above; also 403 C2 with another Origin or without any sign of our own, and 403 C1 without the
 * token. */
const pay_problem_t *pay_dashboard_judge_change(request_rec *r, const pay_dashboard_t *dashboard);

#endif
