/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_QUERY_H
#define PAY_HTTPD_CALL_QUERY_H

/* The query of a URL, and the parameters that lists share. Faults name a parameter: "/from". */

#include "base/problem.h"
#include "base/text/time.h"
#include "model/account.h"

struct pay_timezone_t;

#define PAY_QUERY_MAX 16 /* parameters */
#define PAY_QUERY_PAGE_DEFAULT 50
#define PAY_QUERY_PAGE_MAX 200 /* rows */

typedef struct pay_query_t {
    const apr_table_t *table;     /* as pay_query_parse makes it */
    const pay_account_t *account; /* its zone applies to bare dates */
} pay_query_t;

/* Parses a query: each name once, values plain text in UTF-8. */
const pay_problem_t *pay_query_parse(const apr_table_t **out, const char *args, apr_pool_t *p);

/* NULL if it is not given, or empty. */
const char *pay_query_value(const pay_query_t *query, const char *name);

/* Reads limit=. */
const pay_problem_t *pay_query_limit(int *out, const pay_query_t *query, apr_pool_t *p);

/* Reads tz=, by default the account's zone. */
const pay_problem_t *pay_query_zone(const struct pay_timezone_t **out, const char **name,
                                    const pay_query_t *query, apr_pool_t *p);

/* Reads from=, to= and tz=; an end that is not given is open. */
const pay_problem_t *pay_query_range(pay_time_range_t *out, const pay_query_t *query,
                                     apr_pool_t *p);

/* Reads the parameter `name`: two numbers, as pay_query_cursor_text writes them; *given 0: from the
 * start. */
const pay_problem_t *pay_query_cursor(apr_int64_t *first, apr_uint64_t *second, int *given,
                                      const pay_query_t *query, const char *name, apr_pool_t *p);
const char *pay_query_cursor_text(apr_int64_t first, apr_uint64_t second, apr_pool_t *p);

/* Parses a whole number without a sign. Returns 0 if `text` is not one. */
int pay_query_number(apr_uint64_t *out, const char *text);

#endif
