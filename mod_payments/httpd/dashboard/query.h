/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_QUERY_H
#define PAY_HTTPD_DASHBOARD_QUERY_H

/* The query of a URL of the dashboard (httpd/call/query.h). */

#include "httpd/call/query.h"
#include "httpd/dashboard/dashboard.h"

static inline pay_query_t pay_dashboard_asked(const pay_dashboard_t *dashboard)
{
    const pay_query_t query = {dashboard->query, dashboard->account};

    return query;
}

static inline const char *pay_dashboard_query(const pay_dashboard_t *dashboard, const char *name)
{
    const pay_query_t query = pay_dashboard_asked(dashboard);

    return pay_query_value(&query, name);
}

static inline const pay_problem_t *pay_dashboard_limit(int *out, const pay_dashboard_t *dashboard,
                                                       apr_pool_t *p)
{
    const pay_query_t query = pay_dashboard_asked(dashboard);

    return pay_query_limit(out, &query, p);
}

static inline const pay_problem_t *pay_dashboard_zone(const struct pay_timezone_t **out,
                                                      const char **name,
                                                      const pay_dashboard_t *dashboard,
                                                      apr_pool_t *p)
{
    const pay_query_t query = pay_dashboard_asked(dashboard);

    return pay_query_zone(out, name, &query, p);
}

static inline const pay_problem_t *
pay_dashboard_range(pay_time_range_t *out, const pay_dashboard_t *dashboard, apr_pool_t *p)
{
    const pay_query_t query = pay_dashboard_asked(dashboard);

    return pay_query_range(out, &query, p);
}

/* Reads after=. */
static inline const pay_problem_t *pay_dashboard_cursor(apr_int64_t *first, apr_uint64_t *second,
                                                        int *given,
                                                        const pay_dashboard_t *dashboard,
                                                        apr_pool_t *p)
{
    const pay_query_t query = pay_dashboard_asked(dashboard);

    return pay_query_cursor(first, second, given, &query, "after", p);
}

#endif
