/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"

#include "base/text/json.h"
#include "unit.h"

#include <string.h>

#define VALUES_MANY 10000

static const struct {
    const char *name;
    const char *value;
    const char *want;
} string_rows[] = {
    {"plain", "abc", "\"abc\""},
    {"empty", "", "\"\""},
    {"null", NULL, "null"},
    {"quote", "a\"b", "\"a\\\"b\""},
    {"backslash", "a\\b", "\"a\\\\b\""},
    {"slash stays", "a/b", "\"a/b\""},
    {"named controls", "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
    {"first control", "\x01", "\"\\u0001\""},
    {"last control", "\x1f", "\"\\u001f\""},
    {"blank stays", "\x20", "\" \""},
    {"delete", "\x7f", "\"\\u007f\""},
    {"two escapes in a row", "\"\"", "\"\\\"\\\"\""},
    {"escape at both ends", "\nab\n", "\"\\nab\\n\""},
    {"two bytes stay", "\xc3\xa9", "\"\xc3\xa9\""},
    {"four bytes stay", "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
    {"line separator",
     "a\xe2\x80\xa8"
     "b",
     "\"a\\u2028b\""},
    {"paragraph separator", "\xe2\x80\xa9", "\"\\u2029\""},
    {"its neighbour below", "\xe2\x80\xa7", "\"\xe2\x80\xa7\""},
    {"its neighbour above", "\xe2\x80\xaa", "\"\xe2\x80\xaa\""},
    {"same first byte", "\xe2\x82\xac", "\"\xe2\x82\xac\""},
    {"markup stays", "<&>", "\"<&>\""},
};

START_TEST(test_string)
{
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_writer_string(w, NULL, string_rows[_i].value);
    ck_assert_msg(strcmp(w->text, string_rows[_i].want) == 0, "%s: %s", string_rows[_i].name,
                  w->text);
    ck_assert_uint_eq(w->len, strlen(w->text));
}
END_TEST

/* Any string that is written is read back as it was, byte by byte. */
START_TEST(test_every_byte)
{
    const char value[] = {(char)(_i), 'x', '\0'};
    pay_writer_t *w = pay_writer_make(0, unit_pool);
    const pay_json_t *json;
    const char *reason;

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "v", value);
    pay_writer_string(w, value, "name");
    pay_writer_object_close(w);
    ck_assert_int_eq(pay_json_parse(&json, &reason, w->text, w->len, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(pay_json_string(json, "v"), value);
    ck_assert_str_eq(pay_json_string(json, value), "name");
}
END_TEST

START_TEST(test_commas)
{
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    ck_assert_str_eq(w->text, "");
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "s", "x");
    pay_writer_object_open(w, "empty");
    pay_writer_object_close(w);
    pay_writer_array_open(w, "none");
    pay_writer_array_close(w);
    pay_writer_array_open(w, "list");
    pay_writer_integer(w, NULL, 1);
    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "yes", 7);
    pay_writer_bool(w, "no", 0);
    pay_writer_object_close(w);
    pay_writer_array_open(w, NULL);
    pay_writer_null(w, NULL);
    pay_writer_null(w, NULL);
    pay_writer_array_close(w);
    pay_writer_array_close(w);
    pay_writer_raw(w, "raw", "{\"a\":1.50}");
    pay_writer_null(w, "");
    pay_writer_object_close(w);
    ck_assert_str_eq(w->text, "{\"s\":\"x\",\"empty\":{},\"none\":[],\"list\":[1,{\"yes\":true,"
                              "\"no\":false},[null,null]],\"raw\":{\"a\":1.50},\"\":null}");
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t value;
    const char *want;
} integer_rows[] = {
    {"zero", 0, "0"},
    {"negative", -1, "-1"},
    {"smallest", APR_INT64_MIN, "-9223372036854775808"},
    {"largest", APR_INT64_MAX, "9223372036854775807"},
};

START_TEST(test_integer)
{
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_writer_integer(w, NULL, integer_rows[_i].value);
    ck_assert_msg(strcmp(w->text, integer_rows[_i].want) == 0, "%s: %s", integer_rows[_i].name,
                  w->text);
}
END_TEST

START_TEST(test_amount_and_time)
{
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_writer_object_open(w, NULL);
    pay_writer_amount(w, "naira", 50000, "NGN");
    pay_writer_amount(w, "yen", 500, "JPY");
    pay_writer_time(w, "at", APR_INT64_C(1767225600123456));
    pay_writer_time(w, "never", 0);
    pay_writer_object_close(w);
    ck_assert_str_eq(w->text, "{\"naira\":500.00,\"yen\":500,\"at\":\"2026-01-01T00:00:00.123Z\","
                              "\"never\":null}");
}
END_TEST

/* Every size hint, and every length around the places where the text has to move. */
START_TEST(test_growth)
{
    pay_writer_t *w = pay_writer_make((apr_size_t)_i, unit_pool);
    int i;

    pay_writer_array_open(w, NULL);
    for (i = 0; i < VALUES_MANY; i++) {
        pay_writer_integer(w, NULL, i % 10);
        if (w->len != (apr_size_t)i * 2 + 2 || w->text[w->len] || w->len >= w->size) {
            ck_abort_msg("value %d: len %d of %d", i, (int)w->len, (int)w->size);
        }
    }
    pay_writer_array_close(w);
    ck_assert_uint_eq(strlen(w->text), VALUES_MANY * 2 + 1);
    for (i = 0; i < VALUES_MANY; i++) {
        if (w->text[i * 2 + 1] != '0' + i % 10) {
            ck_abort_msg("value %d: '%c'", i, w->text[i * 2 + 1]);
        }
    }
}
END_TEST

START_TEST(test_one_long_string)
{
    pay_writer_t *w = pay_writer_make(0, unit_pool);
    char *value = apr_palloc(unit_pool, VALUES_MANY + 1);

    memset(value, 'v', VALUES_MANY);
    value[VALUES_MANY] = '\0';
    pay_writer_string(w, NULL, value);
    ck_assert_uint_eq(w->len, VALUES_MANY + 2);
    ck_assert_int_eq(strncmp(w->text + 1, value, VALUES_MANY), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_string, 0, UNIT_ROWS(string_rows));
    tcase_add_loop_test(tcase, test_every_byte, 1, 0x80);
    tcase_add_test(tcase, test_commas);
    tcase_add_loop_test(tcase, test_integer, 0, UNIT_ROWS(integer_rows));
    tcase_add_test(tcase, test_amount_and_time);
    tcase_add_loop_test(tcase, test_growth, 62, 68);
    tcase_add_test(tcase, test_one_long_string);
}

UNIT_PROGRAM(add)
