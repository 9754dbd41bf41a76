/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/path/pattern.h"

#include "unit.h"

static const struct {
    const char *pattern, *path;
    const char *want; /* segments with blanks between; NULL: it does not match */
} rows[] = {
    {"/a", "/a", ""},
    {"/a", "/b", NULL},
    {"/a", "/", NULL},
    {"/a", "/ab", NULL},
    {"/ab", "/a", NULL},
    {"/a/*", "/a/x", "x"},
    {"/a/*", "/a/", NULL},
    {"/a/*", "/a", NULL},
    {"/a/*", "/a/x/", NULL},
    {"/a/*", "/a/x/y", NULL},
    {"/a/*/b", "/a/x/b", "x"},
    {"/a/*/b", "/a/x/c", NULL},
    {"/a/*/b", "/a//b", NULL},
    {"/*/*", "/x/yz", "x yz"},
    {"/a/*.csv", "/a/x.csv", NULL},
    {"", "", ""},
    {"", "/", NULL},
};

START_TEST(test_patterns)
{
    const char *segment[PAY_PATH_SEGMENTS_MAX], *got = "";
    const int matches = pay_path_matches(segment, rows[_i].pattern, rows[_i].path, unit_pool);
    int i;

    ck_assert_msg(matches == (rows[_i].want != NULL), "%s: %s", rows[_i].pattern, rows[_i].path);
    if (!matches) {
        return;
    }
    for (i = 0; i < PAY_PATH_SEGMENTS_MAX && segment[i]; i++) {
        got = apr_pstrcat(unit_pool, got, i ? " " : "", segment[i], NULL);
    }
    ck_assert_str_eq(got, rows[_i].want);
    for (; i < PAY_PATH_SEGMENTS_MAX; i++) {
        ck_assert_ptr_null(segment[i]);
    }
}
END_TEST

/* One segment more than there is room for does not match. */
START_TEST(test_room)
{
    const char *segment[PAY_PATH_SEGMENTS_MAX];
    const char *pattern = "", *path = "";
    int i;

    for (i = 0; i < PAY_PATH_SEGMENTS_MAX; i++) {
        pattern = apr_pstrcat(unit_pool, pattern, "/*", NULL);
        path = apr_pstrcat(unit_pool, path, "/x", NULL);
    }
    ck_assert_int_eq(pay_path_matches(segment, pattern, path, unit_pool), 1);
    ck_assert_int_eq(pay_path_matches(segment, apr_pstrcat(unit_pool, pattern, "/*", NULL),
                                      apr_pstrcat(unit_pool, path, "/x", NULL), unit_pool),
                     0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_patterns, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_room);
}

UNIT_PROGRAM(add)
