/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/csv.h"

#include <string.h>

#define WRITTEN_MAX 1024

static char written[WRITTEN_MAX];

static void sink(void *baton, const char *text, apr_size_t len)
{
    size_t at = strlen(written);

    ck_assert_ptr_eq(baton, written);
    ck_assert_uint_gt(len, 0);
    ck_assert_uint_lt(at + len, WRITTEN_MAX);
    memcpy(written + at, text, len);
    written[at + len] = '\0';
}

static const struct {
    const char *name;
    const char *text;
    const char *want;
} text_cases[] = {
    {"none", NULL, ""},
    {"empty", "", ""},
    {"plain", "a b", "a b"},
    {"comma", "a,b", "\"a,b\""},
    {"quote", "a\"b", "\"a\"\"b\""},
    {"quotes alone", "\"\"", "\"\"\"\"\"\""},
    {"line feed", "a\nb", "\"a\nb\""},
    {"carriage return", "a\rb", "\"a\rb\""},
    {"formula", "=1+1", "'=1+1"},
    {"plus", "+1", "'+1"},
    {"minus", "-1", "'-1"},
    {"at", "@SUM(A1)", "'@SUM(A1)"},
    {"tab", "\t=1", "'\t=1"},
    {"a line that begins one", "\r=1", "\"'\r=1\""},
    {"apostrophe", "'=1", "''=1"},
    {"formula that is quoted", "=\"a\",b", "\"'=\"\"a\"\",b\""},
    {"formula within", "a=1", "a=1"},
    {"after a semicolon", ";=1", ";'=1"},
    {"after each semicolon", "a;-1;b;@c", "a;'-1;b;'@c"},
    {"apostrophe after a semicolon", "a;'b", "a;''b"},
    {"quotes and semicolons", "\"a\";=\"b\"", "\"\"\"a\"\";'=\"\"b\"\"\""},
    {"semicolon at the end", "a;", "a;"},
    {"blanks in front", "  =1", "'  =1"},
    {"blanks after a semicolon", "a; +1", "a;' +1"},
    {"blanks alone", "  ", "  "},
    {"apostrophe behind a blank", " 'a", "' 'a"},
    {"no-break space", "\xc2\xa0=1", "'\xc2\xa0=1"},
    {"byte order mark", "\xef\xbb\xbf=1", "'\xef\xbb\xbf=1"},
    {"zero width space", "\xe2\x80\x8b=1", "'\xe2\x80\x8b=1"},
    {"override of direction", "\xe2\x80\xae+1", "'\xe2\x80\xae+1"},
    {"word joiner", "\xe2\x81\xa0-1", "'\xe2\x81\xa0-1"},
    {"ideographic space", "\xe3\x80\x80@a", "'\xe3\x80\x80@a"},
    {"full-width equals",
     "\xef\xbc\x9d"
     "1",
     "'\xef\xbc\x9d"
     "1"},
    {"full-width plus",
     "\xef\xbc\x8b"
     "1",
     "'\xef\xbc\x8b"
     "1"},
    {"full-width minus",
     "\xef\xbc\x8d"
     "1",
     "'\xef\xbc\x8d"
     "1"},
    {"full-width at",
     "\xef\xbc\xa0"
     "a",
     "'\xef\xbc\xa0"
     "a"},
    {"full-width letter", "\xef\xbc\xa1", "\xef\xbc\xa1"},
    {"cut character", "\xe2\x80", "\xe2\x80"},
    {"other letters", "\xc3\xa4", "\xc3\xa4"},
};

START_TEST(test_text)
{
    static const char *const titles[] = {"t", "u", NULL};
    const char *want = apr_pstrcat(unit_pool, "t,u\r\n", text_cases[_i].want, ",x\r\n", NULL);
    pay_csv_t csv;

    written[0] = '\0';
    pay_csv_open(&csv, sink, written, titles);
    pay_csv_text(&csv, text_cases[_i].text);
    pay_csv_text(&csv, "x");
    ck_assert_msg(!strcmp(written, want), "%s: %s", text_cases[_i].name, written);
}
END_TEST

START_TEST(test_cells)
{
    static const char *const titles[] = {"=a", "b", "c", "d", "e", NULL};
    pay_csv_t csv;

    written[0] = '\0';
    pay_csv_open(&csv, sink, written, titles);
    pay_csv_number(&csv, APR_UINT64_MAX);
    pay_csv_time(&csv, 0);
    pay_csv_time(&csv, apr_time_from_sec(86400));
    pay_csv_amount(&csv, -1050, "EUR");
    pay_csv_decimal(&csv, "-0.5");
    pay_csv_number(&csv, 0);
    ck_assert_str_eq(written, "'=a,b,c,d,e\r\n"
                              "18446744073709551615,,1970-01-02T00:00:00.000Z,-10.50,-0.5\r\n0,");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(text_cases));
    tcase_add_test(tcase, test_cells);
}

UNIT_PROGRAM(add)
