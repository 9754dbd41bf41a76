/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/record/text.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    apr_size_t len_max;
    const char *want;
} cut_cases[] = {
    {"none", NULL, 5, ""},
    {"fits", "abcde", 5, "abcde"},
    {"one too many", "abcdef", 5, "abcde"},
    {"not inside a character", "abcd\xc3\xa9", 5, "abcd"},
    {"a character that just fits", "abc\xc3\xa9z", 5, "abc\xc3\xa9"},
    {"a long character", "ab\xf0\x9f\x98\x80", 5, "ab"},
    {"nothing fits", "\xf0\x9f\x98\x80", 3, ""},
};

START_TEST(test_text_cut)
{
    const char *got = pay_store_text_cut(cut_cases[_i].text, cut_cases[_i].len_max, unit_pool);

    ck_assert_msg(strcmp(got, cut_cases[_i].want) == 0, "%s: got '%s'", cut_cases[_i].name, got);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_text_cut, 0, UNIT_ROWS(cut_cases));
}

UNIT_PROGRAM(add)
