/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/query.h"

#include "unit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *args;
    const char *want; /* "a=1,b=2"; NULL: refused */
} query_rows[] = {
    {"none", NULL, ""},
    {"empty", "", ""},
    {"two", "a=1&b=2", "a=1,b=2"},
    {"decoded once", "a=%2520+x&b%3d=%C3%BC", "a=%20 x,b==\xc3\xbc"},
    {"without a value", "a&b=", "a=,b="},
    {"a second sign", "a=b=c", "a=b=c"},
    {"ampersands", "&&a=1&&", "a=1"},
    {"twice", "a=1&a=1", NULL},
    {"twice in capitals", "a=1&A=2", NULL},
    {"no hexadecimal", "a=%zz", NULL},
    {"cut", "a=%2", NULL},
    {"NUL", "a=%00", NULL},
    {"a line feed", "a=%0a", NULL},
    {"no UTF-8", "a=%ff", NULL},
    {"no UTF-8 in the name", "%ff=a", NULL},
    {"sixteen", "a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=",
     "a=,b=,c=,d=,e=,f=,g=,h=,i=,j=,k=,l=,m=,n=,o=,p="},
    {"seventeen", "a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=&q=", NULL},
};

START_TEST(test_queries)
{
    const char *want = query_rows[_i].want;
    const apr_table_entry_t *entries;
    const pay_problem_t *problem;
    const apr_table_t *table;
    const char *got = "";
    int i;

    problem = pay_query_parse(&table, query_rows[_i].args, unit_pool);
    ck_assert_msg(!problem == (want != NULL), "%s", query_rows[_i].name);
    entries = (const apr_table_entry_t *)apr_table_elts(table)->elts;
    for (i = 0; want && i < apr_table_elts(table)->nelts; i++) {
        got =
            apr_pstrcat(unit_pool, got, *got ? "," : "", entries[i].key, "=", entries[i].val, NULL);
    }
    ck_assert_msg(!want || !strcmp(got, want), "%s: %s", query_rows[_i].name, got);
}
END_TEST

/* This query, of an account in Lagos. */
static const pay_query_t *asked(const char *args)
{
    pay_query_t *query = apr_pcalloc(unit_pool, sizeof(*query));
    pay_account_t *account = apr_pcalloc(unit_pool, sizeof(*account));

    account->settings = pay_account_settings_builtin;
    account->settings.timezone = "Africa/Lagos";
    query->account = account;
    ck_assert_ptr_null(pay_query_parse(&query->table, args, unit_pool));
    return query;
}

static const struct {
    const char *args;
    int want; /* 0: refused */
} limit_rows[] = {
    {"", PAY_QUERY_PAGE_DEFAULT},
    {"limit=", PAY_QUERY_PAGE_DEFAULT},
    {"limit=1", 1},
    {"limit=200", 200},
    {"limit=201", 0},
    {"limit=0", 0},
    {"limit=-1", 0},
    {"limit=+1", 0},
    {"limit=%2B1", 0},
    {"limit=1x", 0},
    {"limit=000000000000000001", 1},
    {"limit=0000000000000000001", 0},
};

START_TEST(test_limits)
{
    int limit;
    const pay_problem_t *problem = pay_query_limit(&limit, asked(limit_rows[_i].args), unit_pool);

    ck_assert_msg(!problem == (limit_rows[_i].want > 0), "%s", limit_rows[_i].args);
    ck_assert_msg(problem || limit == limit_rows[_i].want, "%s: %d", limit_rows[_i].args, limit);
}
END_TEST

#define EVER (-APR_INT64_MAX)

static const struct {
    const char *args;
    const char *from, *to; /* NULL: unbounded */
    const char *fault;     /* the field; NULL: none */
} range_rows[] = {
    {"from=2026-01-01&to=2026-01-31", "2025-12-31T23:00:00Z", "2026-01-31T22:59:59.999999Z", NULL},
    {"from=2026-01-01&to=2026-01-01&tz=UTC", "2026-01-01T00:00:00Z", "2026-01-01T23:59:59.999999Z",
     NULL},
    {"from=2026-01-01", "2025-12-31T23:00:00Z", "9999-12-31T22:59:59.999999Z", NULL},
    {"to=2026-01-01", NULL, "2026-01-01T22:59:59.999999Z", NULL},
    {"", NULL, "9999-12-31T22:59:59.999999Z", NULL},
    {"from=2026-01-01T12:00:00Z&to=2026-01-01T13:00:00Z", "2026-01-01T12:00:00Z",
     "2026-01-01T13:00:00Z", NULL},
    {"from=2026-02-30", NULL, NULL, "/from"},
    {"to=2026-02-30", NULL, NULL, "/to"},
    {"from=2026-01-02&to=2026-01-01", NULL, NULL, "/to"},
    {"tz=Lagos", NULL, NULL, "/tz"},
};

/* If the account's own zone is missing, that is the server's fault, not the caller's. */
START_TEST(test_zone_of_the_account)
{
    const pay_query_t *query = asked("");
    pay_account_t account = *query->account;
    pay_query_t other = *query;
    const pay_problem_t *problem;
    pay_time_range_t range;

    account.settings.timezone = "Africa/Nowhere";
    account.name = "shop";
    other.account = &account;
    problem = pay_query_range(&range, &other, unit_pool);
    ck_assert_ptr_nonnull(problem);
    ck_assert_int_eq(problem->status, 500);
    ck_assert_ptr_null(problem->fields);
    other.table = asked("tz=UTC")->table;
    ck_assert_ptr_null(pay_query_range(&range, &other, unit_pool));
}
END_TEST

START_TEST(test_ranges)
{
    const char *args = range_rows[_i].args;
    pay_time_range_t range;
    const pay_problem_t *problem = pay_query_range(&range, asked(args), unit_pool);
    apr_time_t from = EVER, to = 0;

    if (range_rows[_i].fault) {
        ck_assert_msg(problem && problem->fields->nelts == 1, "%s", args);
        ck_assert_str_eq(APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t).field,
                         range_rows[_i].fault);
        return;
    }
    ck_assert_msg(!problem, "%s", args);
    ck_assert_int_eq(pay_time_parse(&to, range_rows[_i].to), APR_SUCCESS);
    if (range_rows[_i].from) {
        ck_assert_int_eq(pay_time_parse(&from, range_rows[_i].from), APR_SUCCESS);
    }
    ck_assert_msg(range.from == from, "%s: from %lld s off", args,
                  (long long)apr_time_sec(range.from - from));
    ck_assert_msg(range.to == to, "%s: to %lld s off", args,
                  (long long)apr_time_sec(range.to - to));
}
END_TEST

static const struct {
    const char *args;
    int given; /* -1: refused */
    apr_int64_t first;
    apr_uint64_t second;
} cursor_rows[] = {
    {"", 0, 0, 0},
    {"after=1.2", 1, 1, 2},
    {"after=-1.2", 1, -1, 2},
    {"after=999999999999999999.999999999999999999", 1, APR_INT64_C(999999999999999999),
     APR_UINT64_C(999999999999999999)},
    {"after=1", -1, 0, 0},
    {"after=1.", -1, 0, 0},
    {"after=.2", -1, 0, 0},
    {"after=--1.2", -1, 0, 0},
    {"after=1.-2", -1, 0, 0},
    {"after=1.2.3", -1, 0, 0},
    {"after=x.2", -1, 0, 0},
    {"after=1000000000000000000000.2", -1, 0, 0},
};

START_TEST(test_cursors)
{
    const char *args = cursor_rows[_i].args;
    apr_int64_t first;
    apr_uint64_t second;
    int given;
    const pay_problem_t *problem =
        pay_query_cursor(&first, &second, &given, asked(args), "after", unit_pool);

    ck_assert_msg(!problem == (cursor_rows[_i].given >= 0), "%s", args);
    if (!problem) {
        ck_assert_int_eq(given, cursor_rows[_i].given);
        ck_assert_msg(first == cursor_rows[_i].first && second == cursor_rows[_i].second, "%s",
                      args);
    }
    if (!problem && given) {
        ck_assert_str_eq(args + strlen("after="), pay_query_cursor_text(first, second, unit_pool));
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_queries, 0, UNIT_ROWS(query_rows));
    tcase_add_loop_test(tcase, test_limits, 0, UNIT_ROWS(limit_rows));
    tcase_add_loop_test(tcase, test_ranges, 0, UNIT_ROWS(range_rows));
    tcase_add_test(tcase, test_zone_of_the_account);
    tcase_add_loop_test(tcase, test_cursors, 0, UNIT_ROWS(cursor_rows));
}

UNIT_PROGRAM(add)
