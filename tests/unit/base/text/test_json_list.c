/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_list.h"

#include "unit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    const char *want; /* the members "a" in turn, then "end" or "fault" */
} rows[] = {
    {"none", "[]", "end"},
    {"none, blanks", " \r\n[ \t ]\n", "end"},
    {"one", "[{\"a\":\"1\"}]", "1 end"},
    {"two", "[{\"a\":\"1\"},{\"a\":\"2\"}]", "1 2 end"},
    {"two, blanks", " [ {\"a\":\"1\"}\n,\t{ \"a\" : \"2\" } ] ", "1 2 end"},
    {"brackets in strings", "[{\"a\":\"]}\"},{\"a\":\"{[\"}]", "]} {[ end"},
    {"quotes in strings", "[{\"a\":\"\\\"}\\\\\"},{\"a\":\"2\"}]", "\"}\\ 2 end"},
    {"objects inside", "[{\"b\":{\"a\":\"x\"},\"a\":\"1\"},{\"a\":\"2\"}]", "1 2 end"},
    {"empty", "", "fault"},
    {"blanks", "  ", "fault"},
    {"an object", "{\"a\":\"1\"}", "fault"},
    {"null", "null", "fault"},
    {"not closed", "[", "fault"},
    {"not closed behind one", "[{\"a\":\"1\"}", "1 fault"},
    {"not closed behind a comma", "[{\"a\":\"1\"},", "1 fault"},
    {"cut in an element", "[{\"a\":\"1\"},{\"a\":\"2\"", "1 fault"},
    {"cut in a string", "[{\"a\":\"1\"},{\"a\":\"2", "1 fault"},
    {"closed too early", "[{\"a\":\"1\"},]", "1 fault"},
    {"begins with a comma", "[,{\"a\":\"1\"}]", "fault"},
    {"no comma", "[{\"a\":\"1\"}{\"a\":\"2\"}]", "1 fault"},
    {"text behind", "[{\"a\":\"1\"}]x", "1 fault"},
    {"two arrays", "[][]", "fault"},
    {"strings", "[\"a\"]", "fault"},
    {"null inside", "[null]", "fault"},
    {"arrays inside", "[[]]", "fault"},
    {"a bad element", "[{\"a\":\"1\"},{\"a\":}]", "1 fault"},
    {"a member twice", "[{\"a\":\"1\",\"a\":\"2\"}]", "fault"},
    {"a wrong bracket", "[{\"a\":\"1\"}}", "1 fault"},
};

/* All elements, and the text that came after them. */
static const char *read_all(const char *text, apr_size_t len)
{
    pay_json_list_t list;
    const pay_json_t *json;
    const char *said = "";
    apr_status_t rv;

    pay_json_list_begin(&list, text, len);
    while ((rv = pay_json_list_next(&json, &list, unit_pool)) == APR_SUCCESS) {
        said = apr_pstrcat(unit_pool, said, pay_json_string(json, "a"), " ", NULL);
    }
    ck_assert_ptr_null(json);
    if (rv == APR_EOF) {
        ck_assert_int_eq(pay_json_list_next(&json, &list, unit_pool), APR_EOF);
        return apr_pstrcat(unit_pool, said, "end", NULL);
    }
    ck_assert_int_eq(rv, APR_EINVAL);
    return apr_pstrcat(unit_pool, said, "fault", NULL);
}

START_TEST(test_rows)
{
    const char *said = read_all(rows[_i].text, strlen(rows[_i].text));

    ck_assert_msg(strcmp(said, rows[_i].want) == 0, "%s: '%s'", rows[_i].name, said);
}
END_TEST

/* However short it is cut, it is never taken as complete; text after its end is not read. */
START_TEST(test_cut)
{
    static const char text[] = "[{\"a\":\"1\"},{\"a\":\"]\"}]]";
    apr_size_t len;

    for (len = 0; len < sizeof(text) - 2; len++) {
        const char *said = read_all(text, len);

        ck_assert_msg(strstr(said, "fault") != NULL, "%d: '%s'", (int)len, said);
    }
    ck_assert_str_eq(read_all(text, len), "1 ] end");
    ck_assert_str_eq(read_all(text, len + 1), "1 ] fault");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_rows, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_cut);
}

UNIT_PROGRAM(add)
