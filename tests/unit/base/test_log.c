/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "unit.h"

#include <string.h>

#define LINE_LEN_MAX 1000

static struct {
    int lines;
    void *baton;
    pay_log_level_t level;
    apr_status_t status;
    char text[LINE_LEN_MAX + 100];
} seen;

static void sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    seen.lines++;
    seen.baton = baton;
    seen.level = level;
    seen.status = status;
    apr_cpystrn(seen.text, text, sizeof(seen.text));
}

static void listen_with(void *baton)
{
    memset(&seen, 0, sizeof(seen));
    pay_log_set_sink(sink, baton);
}

START_TEST(test_line)
{
    int baton;

    listen_with(&baton);
    pay_log(PAY_LOG_WARNING, APR_ENOMEM, "PAY%s: %s %d", "x", "key_abc", 42);
    ck_assert_int_eq(seen.lines, 1);
    ck_assert_ptr_eq(seen.baton, &baton);
    ck_assert_int_eq(seen.level, PAY_LOG_WARNING);
    ck_assert_int_eq(seen.status, APR_ENOMEM);
    ck_assert_str_eq(seen.text, "PAYx: key_abc 42");
}
END_TEST

START_TEST(test_number)
{
    ck_assert_str_eq(PAYLOGNO(00042) "text", "PAY00042: text");
}
END_TEST

START_TEST(test_no_sink)
{
    listen_with(NULL);
    pay_log_set_sink(NULL, NULL);
    pay_log(PAY_LOG_EMERG, APR_SUCCESS, "nobody listens");
    ck_assert_int_eq(seen.lines, 0);
}
END_TEST

START_TEST(test_no_second_line)
{
    listen_with(NULL);
    pay_log(PAY_LOG_INFO, APR_SUCCESS, "%s", "a\nb\rc\td\x1b[0m\x7f \xc3\xa9");
    ck_assert_str_eq(seen.text, "a b c d [0m  \xc3\xa9");
}
END_TEST

static const struct {
    const char *name;
    apr_size_t len;
    apr_size_t want_len;
} length_rows[] = {
    {"empty", 0, 0},
    {"at the limit", LINE_LEN_MAX, LINE_LEN_MAX},
    {"one past it", LINE_LEN_MAX + 1, LINE_LEN_MAX},
    {"far past it", LINE_LEN_MAX * 10, LINE_LEN_MAX},
};

START_TEST(test_length)
{
    char *text = apr_pcalloc(unit_pool, length_rows[_i].len + 1);

    memset(text, 'x', length_rows[_i].len);
    listen_with(NULL);
    pay_log(PAY_LOG_DEBUG, APR_SUCCESS, "%s", text);
    ck_assert_int_eq(seen.lines, 1);
    ck_assert_msg(strlen(seen.text) == length_rows[_i].want_len, "%s: %d bytes",
                  length_rows[_i].name, (int)strlen(seen.text));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_line);
    tcase_add_test(tcase, test_number);
    tcase_add_test(tcase, test_no_sink);
    tcase_add_test(tcase, test_no_second_line);
    tcase_add_loop_test(tcase, test_length, 0, UNIT_ROWS(length_rows));
}

UNIT_PROGRAM(add)
