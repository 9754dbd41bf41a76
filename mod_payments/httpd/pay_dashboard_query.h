/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_DASHBOARD_QUERY_H
#define PAY_DASHBOARD_QUERY_H

/* The query of a URL, and what the lists have in common of it. Faults name a parameter: "/from". */

#include "base/pay_time.h"
#include "httpd/pay_dashboard.h"

struct pay_timezone_t;

#define PAY_DASHBOARD_QUERY_MAX 16 /* parameters */
#define PAY_DASHBOARD_PAGE_DEFAULT 50
#define PAY_DASHBOARD_PAGE_MAX 200 /* rows */

/* Each name once, values plain text in UTF-8. */
const pay_problem_t *pay_dashboard_query_parse(const apr_table_t **out, const char *args,
                                               apr_pool_t *p);

/* NULL: it is not given, or empty. */
const char *pay_dashboard_query(const pay_dashboard_t *dashboard, const char *name);

/* limit= */
const pay_problem_t *pay_dashboard_limit(int *out, const pay_dashboard_t *dashboard, apr_pool_t *p);

/* tz=, by default the account's zone. */
const pay_problem_t *pay_dashboard_zone(const struct pay_timezone_t **out, const char **name,
                                        const pay_dashboard_t *dashboard, apr_pool_t *p);

/* from=, to= and tz=; each end is open when it is not given. */
const pay_problem_t *pay_dashboard_range(pay_time_range_t *out, const pay_dashboard_t *dashboard,
                                         apr_pool_t *p);

/* after=: two numbers, as pay_dashboard_cursor_text wrote them; *given 0: from the start. */
const pay_problem_t *pay_dashboard_cursor(apr_int64_t *first, apr_uint64_t *second, int *given,
                                          const pay_dashboard_t *dashboard, apr_pool_t *p);
const char *pay_dashboard_cursor_text(apr_int64_t first, apr_uint64_t second, apr_pool_t *p);

/* A whole number without a sign; 0: it is none. */
int pay_dashboard_number(apr_uint64_t *out, const char *text);

#endif
