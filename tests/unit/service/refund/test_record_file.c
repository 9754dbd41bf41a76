/* SPDX-License-Identifier: Apache-2.0 */
#include "service/refund/record_file.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_SIZE (64 * 1024) /* of the reader: objects across its edge are made below */

static const char *file_of(const char *text, apr_size_t len)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/records", NULL);
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

static pay_record_file_t *open_text(const char *text, apr_size_t len)
{
    pay_record_file_t *file;

    ck_assert_int_eq(pay_record_file_open(&file, file_of(text, len), unit_pool), APR_SUCCESS);
    return file;
}

/* All objects as "line:text", one after the other, then the fault. */
static const char *read_all(pay_record_file_t *file)
{
    const char *all = "";
    pay_record_t record;
    apr_status_t rv;

    rv = pay_record_file_next(&record, file);
    while (rv == APR_SUCCESS) {
        ck_assert_uint_eq(strlen(record.text), record.len);
        all = apr_psprintf(unit_pool, "%s%d:%s ", all, (int)record.line, record.text);
        rv = pay_record_file_next(&record, file);
    }
    if (rv == APR_EOF) {
        ck_assert_ptr_null(pay_record_file_fault(file));
        return all;
    }
    ck_assert_int_eq(rv, APR_EINVAL);
    return apr_pstrcat(unit_pool, all, pay_record_file_fault(file), NULL);
}

static const struct {
    const char *name;
    const char *text;
    const char *want;
} split_cases[] = {
    {"array", "[{\"a\":1},{\"b\":2}]", "1:{\"a\":1} 1:{\"b\":2} "},
    {"array over lines", " [\n{\"a\":1}\n ,\n\n {\"b\":\n2}\n]\n\n", "2:{\"a\":1} 5:{\"b\":\n2} "},
    {"empty array", "[]", ""},
    {"empty array, blanks", "\r\n[ \t]\n", ""},
    {"lines", "{\"a\":1}\n{\"b\":2}\n", "1:{\"a\":1} 2:{\"b\":2} "},
    {"no last line end", "{\"a\":1}\n{\"b\":2}", "1:{\"a\":1} 2:{\"b\":2} "},
    {"empty lines, carriage returns", "\n{\"a\":1} \r\n\r\n {\"b\":2}\r\n",
     "2:{\"a\":1} 4:{\"b\":2} "},
    {"one object", "{}", "1:{} "},
    {"nested", "[{\"a\":{\"b\":[{}]}}]", "1:{\"a\":{\"b\":[{}]}} "},
    {"brackets in strings", "[{\"a\":\"]}[{\\\"}\"}]", "1:{\"a\":\"]}[{\\\"}\"} "},
    {"a backslash at a string's end", "[{\"a\":\"\\\\\"},{}]", "1:{\"a\":\"\\\\\"} 1:{} "},
    {"empty file", "", "line 1: The file is empty."},
    {"blank file", " \n\t\r\n ", "line 3: The file is empty."},
    {"no JSON", "id,amount\n", "line 1: The file is neither a JSON array nor one object a line."},
    {"a byte-order mark", "\xef\xbb\xbf[]",
     "line 1: The file is neither a JSON array nor one object a line."},
    {"array that does not end", "[{}\n", "1:{} line 2: A comma or the array's end is missing."},
    {"array that only begins", "[\n", "line 2: An object or the array's end is missing."},
    {"comma at the array's start", "[,{}]", "line 1: An object or the array's end is missing."},
    {"comma at the array's end", "[{},\n]", "1:{} line 2: An object is missing."},
    {"two commas", "[{},,{}]", "1:{} line 1: An object is missing."},
    {"no comma", "[{}\n{}]", "1:{} line 2: A comma or the array's end is missing."},
    {"no object in the array", "[1]", "line 1: An object or the array's end is missing."},
    {"array in the array", "[[]]", "line 1: An object or the array's end is missing."},
    {"text after the array", "[{}]\n[]", "1:{} line 2: There is text after the array."},
    {"text after an empty array", "[] x", "line 1: There is text after the array."},
    {"object that does not end", "[{}\n,{\"a\":\"}]\n",
     "1:{} line 2: The file ends inside the object."},
    {"line that does not end", "{}\n{\"a\":\n1}\n",
     "1:{} line 2: The object does not end on its line."},
    {"file that ends in a line", "{}\n{\"a\":", "1:{} line 2: The file ends inside the object."},
    {"two objects a line", "{} {}\n", "1:{} line 1: There is text after the object."},
    {"comma after a line", "{},\n{}\n", "1:{} line 1: There is text after the object."},
    {"no object in a line", "{}\n\nx\n", "1:{} line 3: The line is not an object."},
};

START_TEST(test_split)
{
    const char *text = split_cases[_i].text, *got;
    pay_record_file_t *file = open_text(text, strlen(text));

    got = read_all(file);
    ck_assert_msg(!strcmp(got, split_cases[_i].want), "%s: %s", split_cases[_i].name, got);
    ck_assert_int_eq(pay_record_file_rewind(file), APR_SUCCESS);
    got = read_all(file);
    ck_assert_msg(!strcmp(got, split_cases[_i].want), "%s again: %s", split_cases[_i].name, got);
}
END_TEST

static const struct {
    const char *name;
    const char *open; /* around the objects */
    const char *close;
    apr_size_t len;
    apr_status_t want;
} length_cases[] = {
    {"longest in an array", "[", "]", PAY_RECORD_MAX, APR_SUCCESS},
    {"one more in an array", "[", "]", PAY_RECORD_MAX + 1, APR_EINVAL},
    {"longest line", "", "\n", PAY_RECORD_MAX, APR_SUCCESS},
    {"one more in a line", "", "\n", PAY_RECORD_MAX + 1, APR_EINVAL},
};

START_TEST(test_length)
{
    apr_size_t len = length_cases[_i].len;
    pay_record_file_t *file;
    pay_record_t record;
    apr_status_t rv;
    char *text;

    text = apr_palloc(unit_pool, len + 1);
    memset(text, 'x', len);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + len - 2, "\"}", 3);
    text = apr_pstrcat(unit_pool, length_cases[_i].open, text, length_cases[_i].close, NULL);
    file = open_text(text, strlen(text));
    rv = pay_record_file_next(&record, file);
    ck_assert_msg(rv == length_cases[_i].want, "%s: %d", length_cases[_i].name, rv);
    if (rv == APR_SUCCESS) {
        ck_assert_uint_eq(record.len, len);
        ck_assert_int_eq(pay_record_file_next(&record, file), APR_EOF);
    } else {
        ck_assert_str_eq(pay_record_file_fault(file),
                         "line 1: The object is longer than 65536 bytes.");
    }
}
END_TEST

/* An object at every position around the edge of the reader's buffer. */
START_TEST(test_across_the_buffer)
{
    static const char object[] = "{\"a\":\"\\\\\\\"}\"}";
    apr_size_t len = BUFFER_SIZE - sizeof(object) - 1 + (apr_size_t)_i;
    char *text = apr_palloc(unit_pool, len + 1);
    const char *all;

    memset(text, ' ', len);
    text[0] = '[';
    text[len] = '\0';
    text = apr_pstrcat(unit_pool, text, object, ",", object, "]", NULL);
    all = apr_psprintf(unit_pool, "1:%s 1:%s ", object, object);
    ck_assert_str_eq(read_all(open_text(text, strlen(text))), all);
}
END_TEST

START_TEST(test_not_a_file)
{
    const char *dir = unit_dir(), *pipe = apr_pstrcat(unit_pool, dir, "/pipe", NULL);
    pay_record_file_t *file;

    ck_assert_int_eq(pay_record_file_open(&file, dir, unit_pool), APR_EINVAL);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_assert_int_eq(pay_record_file_open(&file, pipe, unit_pool), APR_EINVAL);
    ck_assert(APR_STATUS_IS_ENOENT(
        pay_record_file_open(&file, apr_pstrcat(unit_pool, dir, "/missing", NULL), unit_pool)));
    ck_assert_ptr_null(file);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_split, 0, UNIT_ROWS(split_cases));
    tcase_add_loop_test(tcase, test_length, 0, UNIT_ROWS(length_cases));
    tcase_add_loop_test(tcase, test_across_the_buffer, 0, 36);
    tcase_add_test(tcase, test_not_a_file);
}

UNIT_PROGRAM(add)
