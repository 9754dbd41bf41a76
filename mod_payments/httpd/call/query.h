/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_QUERY_H
#define PAY_HTTPD_CALL_QUERY_H

/* The query of a URL, and what lists have in common of it. Faults name a parameter: "/from". */

#include "base/problem.h"
#include "base/text/time.h"
#include "model/account.h"

struct pay_timezone_t;

#define PAY_QUERY_MAX 16 /* parameters */
#define PAY_QUERY_PAGE_DEFAULT 50
#define PAY_QUERY_PAGE_MAX 200 /* rows */

typedef struct pay_query_t {
    const apr_table_t *table;     /* as pay_query_parse gives it */
    const pay_account_t *account; /* whose zone bare dates are in */
} pay_query_t;

/* Each name once, values plain text in UTF-8. */
const pay_problem_t *pay_query_parse(const apr_table_t **out, const char *args, apr_pool_t *p);

/* NULL: it is not given, or empty. */
const char *pay_query_value(const pay_query_t *query, const char *name);

/* limit= */
const pay_problem_t *pay_query_limit(int *out, const pay_query_t *query, apr_pool_t *p);

/* tz=, by default the account's zone. */
const pay_problem_t *pay_query_zone(const struct pay_timezone_t **out, const char **name,
                                    const pay_query_t *query, apr_pool_t *p);

/* from=, to= and tz=; each end is open when it is not given. */
const pay_problem_t *pay_query_range(pay_time_range_t *out, const pay_query_t *query,
                                     apr_pool_t *p);

/* The parameter `name`: two numbers, as pay_query_cursor_text wrote them; *given 0: from the
 * start. */
const pay_problem_t *pay_query_cursor(apr_int64_t *first, apr_uint64_t *second, int *given,
                                      const pay_query_t *query, const char *name, apr_pool_t *p);
const char *pay_query_cursor_text(apr_int64_t first, apr_uint64_t second, apr_pool_t *p);

/* Parses a whole number without a sign. Returns 0 if `text` is not one. */
int pay_query_number(apr_uint64_t *out, const char *text);

#endif
