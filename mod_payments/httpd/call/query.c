/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/query.h"

#include "httpd/call/zones.h"
#include "model/refund.h"
#include "model/text.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <httpd.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DAY "0001-01-01"
#define LAST_DAY "9999-12-31"
#define REASON_CURSOR "must be the value that the previous page returned"
#define NUMBER_LEN_MAX 18 /* digits that no arithmetic overflows */

static const pay_problem_t *fault(const char *field, const char *reason, apr_pool_t *p)
{
    pay_problem_t *problem = NULL;

    pay_problem_add(&problem, field, reason, p);
    return problem;
}

const pay_problem_t *pay_query_parse(const apr_table_t **out, const char *args, apr_pool_t *p)
{
    apr_table_t *table = apr_table_make(p, PAY_QUERY_MAX);
    char *rest, *pair, *value;
    int count = 0;

    *out = table;
    rest = apr_pstrdup(p, args ? args : "");
    for (pair = apr_strtok(rest, "&", &rest); pair; pair = apr_strtok(NULL, "&", &rest)) {
        value = strchr(pair, '=');
        if (value) {
            *value++ = '\0';
        } else {
            value = pair + strlen(pair);
        }
        if (count++ == PAY_QUERY_MAX || ap_unescape_urlencoded(pair) != OK
            || ap_unescape_urlencoded(value) != OK || !pay_text_is_plain(pair, "")
            || !pay_text_is_plain(value, "") || apr_table_get(table, pair)) {
            return fault("", "must be a query of at most 16 parameters, each given once, in UTF-8",
                         p);
        }
        apr_table_setn(table, pair, value);
    }
    return NULL;
}

const char *pay_query_value(const pay_query_t *query, const char *name)
{
    const char *value = apr_table_get(query->table, name);

    return value && *value ? value : NULL;
}

int pay_query_number(apr_uint64_t *out, const char *text)
{
    apr_size_t digits = strspn(text, "0123456789");

    *out = 0;
    if (digits == 0 || digits > NUMBER_LEN_MAX || text[digits] != '\0') {
        return 0;
    }
    *out = (apr_uint64_t)apr_atoi64(text);
    return 1;
}

const pay_problem_t *pay_query_limit(int *out, const pay_query_t *query, apr_pool_t *p)
{
    const char *text = pay_query_value(query, "limit");
    apr_uint64_t value;

    *out = PAY_QUERY_PAGE_DEFAULT;
    if (!text) {
        return NULL;
    }
    if (!pay_query_number(&value, text) || value < 1 || value > PAY_QUERY_PAGE_MAX) {
        return fault("/limit", "must be a number from 1 to 200", p);
    }
    *out = (int)value;
    return NULL;
}

const pay_problem_t *pay_query_zone(const struct pay_timezone_t **out, const char **name,
                                    const pay_query_t *query, apr_pool_t *p)
{
    const char *text = pay_query_value(query, "tz");

    *name = text ? text : query->account->settings.timezone;
    if (!text) {
        return pay_zones_of_account(out, query->account, p);
    }
    return pay_zones_get(out, text, p) == APR_SUCCESS
               ? NULL
               : fault("/tz",
                       "must be an IANA time zone that the server knows, such as Africa/Lagos", p);
}

const pay_problem_t *pay_query_range(pay_time_range_t *out, const pay_query_t *query, apr_pool_t *p)
{
    const char *from = pay_query_value(query, "from");
    const char *to = pay_query_value(query, "to");
    const struct pay_timezone_t *zone;
    const pay_problem_t *problem;
    pay_field_error_t *field;
    const char *name;
    int i;

    problem = pay_query_zone(&zone, &name, query, p);
    if (problem) {
        return problem;
    }
    problem = pay_refund_range_parse(out, from ? from : FIRST_DAY, to ? to : LAST_DAY, zone, 0, p);
    for (i = 0; problem && problem->fields && i < problem->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        field->field = !strcmp(field->field, "/startDate") ? "/from" : "/to";
    }
    if (!from) {
        out->from = -APR_INT64_MAX; /* history may be older than any date that can be read */
    }
    return problem;
}

const pay_problem_t *pay_query_cursor(apr_int64_t *first, apr_uint64_t *second, int *given,
                                      const pay_query_t *query, const char *name, apr_pool_t *p)
{
    const char *text = pay_query_value(query, name);
    apr_uint64_t value = 0;
    const char *dot;
    int negative;

    *first = 0;
    *second = 0;
    *given = text != NULL;
    if (!text) {
        return NULL;
    }
    negative = *text == '-';
    text += negative;
    dot = strchr(text, '.');
    if (!dot || !pay_query_number(&value, apr_pstrmemdup(p, text, (apr_size_t)(dot - text)))
        || !pay_query_number(second, dot + 1)) {
        return fault(apr_pstrcat(p, "/", name, NULL), REASON_CURSOR, p);
    }
    *first = negative ? -(apr_int64_t)value : (apr_int64_t)value;
    return NULL;
}

const char *pay_query_cursor_text(apr_int64_t first, apr_uint64_t second, apr_pool_t *p)
{
    return apr_psprintf(p, "%" APR_INT64_T_FMT ".%" APR_UINT64_T_FMT, first, second);
}
