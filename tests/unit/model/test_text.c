/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/text.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    const char *controls;
    int want;
} text_cases[] = {
    {"empty", "", "", 1},
    {"ASCII from blank to tilde", " !AZaz09~", "", 1},
    {"two, three and four bytes", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "", 1},
    {"first and last of two bytes", "\xc2\xa0 \xdf\xbf", "", 1},
    {"first and last of three bytes", "\xe0\xa0\x80 \xef\xbf\xbf", "", 1},
    {"just below and above surrogates", "\xed\x9f\xbf \xee\x80\x80", "", 1},
    {"first and last of four bytes", "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", "", 1},
    {"newline", "a\nb", "", 0},
    {"newline that is allowed", "a\nb\tc", "\n\t", 1},
    {"carriage return beside allowed ones", "a\r\n", "\n\t", 0},
    {"lowest control", "\x01", "\n\t", 0},
    {"highest control", "\x1f", "\n\t", 0},
    {"DEL", "\x7f", "\n\t", 0},
    {"first C1 control", "\xc2\x80", "\n\t", 0},
    {"last C1 control", "\xc2\x9f", "\n\t", 0},
    {"lone continuation byte", "\x80", "", 0},
    {"overlong slash of two bytes", "\xc0\xaf", "", 0},
    {"overlong of two bytes", "\xc1\xbf", "", 0},
    {"overlong of three bytes", "\xe0\x9f\xbf", "", 0},
    {"overlong of four bytes", "\xf0\x8f\xbf\xbf", "", 0},
    {"first surrogate", "\xed\xa0\x80", "", 0},
    {"last surrogate", "\xed\xbf\xbf", "", 0},
    {"above U+10FFFF", "\xf4\x90\x80\x80", "", 0},
    {"byte that never occurs", "\xf5\x80\x80\x80", "", 0},
    {"cut after one of two", "a\xc3", "", 0},
    {"cut after two of three", "a\xe2\x82", "", 0},
    {"cut after three of four", "a\xf0\x9f\x98", "", 0},
    {"second byte is ASCII", "\xc3(", "", 0},
    {"third byte is ASCII", "\xe2\x82(", "", 0},
    {"fourth byte is ASCII", "\xf0\x9f\x98(", "", 0},
};

START_TEST(test_plain)
{
    ck_assert_msg(pay_text_is_plain(text_cases[_i].text, text_cases[_i].controls)
                      == text_cases[_i].want,
                  "%s", text_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int want;
} visible_cases[] = {
    {"ASCII", "Ada Lovelace", 1},
    {"accents", "Jos\xc3\xa9", 1},
    {"Arabic", "\xd8\xb9\xd9\x84\xd9\x8a", 1},
    {"Hebrew", "\xd7\x93\xd7\x95\xd7\x93", 1},
    {"non-joiner in Persian", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", 1},
    {"joiner of an emoji", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", 1},
    {"joiner behind the first that may have one", "\xd8\x80\xe2\x80\x8d", 1},
    {"joiner behind Hebrew", "\xd7\xb4\xe2\x80\x8d", 0},
    {"joiner in Latin", "pa\xe2\x80\x8dypal", 0},
    {"non-joiner at the start", "\xe2\x80\x8c\xd8\xae", 0},
    {"two joiners", "\xd9\x85\xe2\x80\x8d\xe2\x80\x8d", 0},
    {"soft hyphen", "book\xc2\xadseller", 1},
    {"zero width space", "a\xe2\x80\x8b", 0},
    {"left-to-right mark", "a\xe2\x80\x8e", 0},
    {"right-to-left mark", "a\xe2\x80\x8f", 0},
    {"Arabic letter mark", "\xd8\x9c", 0},
    {"line separator",
     "a\xe2\x80\xa8"
     "b",
     0},
    {"embedding", "\xe2\x80\xaa", 0},
    {"override", "evil \xe2\x80\xaegnp.exe", 0},
    {"isolate", "\xe2\x81\xa6", 0},
    {"word joiner", "\xe2\x81\xa0", 0},
    {"byte order mark",
     "\xef\xbb\xbf"
     "a",
     0},
    {"tag", "\xf3\xa0\x81\x81", 0},
    {"Mongolian vowel separator", "\xe1\xa0\x8e", 0},
    {"dash of typesetters", "a \xe2\x80\x93 b", 1},
    {"control", "\x01", 0},
    {"no UTF-8", "\x80", 0},
};

START_TEST(test_visible)
{
    ck_assert_msg(pay_text_is_visible(visible_cases[_i].text, "") == visible_cases[_i].want, "%s",
                  visible_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *want;
} seen_cases[] = {
    {"ASCII", "Ada", "Ada"},
    {"controls", "A\x01\td\na", "Ada"},
    {"no UTF-8",
     "A\x80"
     "da\xff",
     "Ada"},
    {"soft hyphen", "ww\xc2\xadw.", "www."},
    {"joiner in Latin", "ww\xe2\x80\x8dw.", "www."},
    {"joiner behind what is dropped", "\xd8\xb9\xe2\x80\x8b\xe2\x80\x8d", "\xd8\xb9\xe2\x80\x8d"},
    {"non-joiner in Persian", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae",
     "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae"},
    {"override",
     "a\xe2\x80\xae"
     "b",
     "ab"},
    {"Hangul filler",
     "a\xe3\x85\xa4"
     "b",
     "ab"},
};

START_TEST(test_seen)
{
    ck_assert_msg(!strcmp(pay_text_visible(seen_cases[_i].text, unit_pool), seen_cases[_i].want),
                  "%s", seen_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    apr_size_t want;
} length_cases[] = {
    {"empty", "", 0},
    {"ASCII", "a b\n", 4},
    {"two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 3},
    {"a letter and its accent are two", "e\xcc\x81", 2},
};

START_TEST(test_length)
{
    ck_assert_msg(pay_text_length(length_cases[_i].text) == length_cases[_i].want, "%s",
                  length_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    apr_size_t len_max;
    const char *want;
} printable_cases[] = {
    {"none", NULL, 10, ""},
    {"empty", "", 10, ""},
    {"plain", "a \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 100,
     "a \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"newlines and tabs stay", "a\tb\n", 10, "a\tb\n"},
    {"other controls", "a\r\x01\x1b[0m\x7f", 20, "a???[0m?"},
    {"C1 controls are two bytes", "\xc2\x9b", 10, "??"},
    {"lone bytes", "\x80\xff]", 10, "??]"},
    {"cut short by its end", "a\xe2\x82", 10, "a??"},
    {"a surrogate", "\xed\xa0\x80", 10, "???"},
    {"as long as it may be", "abcd", 4, "abcd"},
    {"one more", "abcde", 4, "abcd"},
    {"a character that just fits", "ab\xc3\xa9z", 4, "ab\xc3\xa9"},
    {"a character that does not", "abc\xc3\xa9", 4, "abc"},
    {"nothing fits", "abc", 0, ""},
};

START_TEST(test_printable)
{
    const char *got =
        pay_text_printable(printable_cases[_i].text, printable_cases[_i].len_max, unit_pool);

    ck_assert_msg(!strcmp(got, printable_cases[_i].want), "%s: '%s'", printable_cases[_i].name,
                  got);
    ck_assert_msg(pay_text_is_plain(got, "\n\t"), "%s", printable_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int want;
} link_cases[] = {
    {"a URL", "open https://phish.example/x", 1},
    {"any scheme", "x://y", 1},
    {"at the end", "ftp://", 1},
    {"what programs make a link of", "see www.phish.example", 1},
    {"in capitals", "WWW.phish.example", 1},
    {"without a dot", "the www was young", 0},
    {"a colon and a slash", "a:/b, 10:30 // 11", 0},
    {"a name", "Ada Lovelace", 0},
    {"empty", "", 0},
};

START_TEST(test_has_link)
{
    ck_assert_msg(pay_text_has_link(link_cases[_i].text) == link_cases[_i].want, "%s",
                  link_cases[_i].name);
}
END_TEST

/* ---- cut for a page */

static const struct {
    const char *name, *text, *want;
    apr_size_t max;
} cut_rows[] = {
    {"shorter", "shoes", "shoes", 6},
    {"as long", "shoes", "shoes", 5},
    {"longer", "shoes", "sho\xe2\x80\xa6", 4},
    {"characters are whole", "\xc3\xb6\xe2\x82\xac\xf0\x9f\x91\x9f!",
     "\xc3\xb6\xe2\x82\xac\xe2\x80\xa6", 3},
    {"to an ellipsis alone", "shoes", "\xe2\x80\xa6", 1},
    {"nothing", "", "", 1},
};

START_TEST(test_cut)
{
    const char *got = pay_text_cut(cut_rows[_i].text, cut_rows[_i].max, unit_pool);

    ck_assert_msg(!strcmp(got, cut_rows[_i].want), "%s: %s", cut_rows[_i].name, got);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_printable, 0, UNIT_ROWS(printable_cases));
    tcase_add_loop_test(tcase, test_length, 0, UNIT_ROWS(length_cases));
    tcase_add_loop_test(tcase, test_visible, 0, UNIT_ROWS(visible_cases));
    tcase_add_loop_test(tcase, test_seen, 0, UNIT_ROWS(seen_cases));
    tcase_add_loop_test(tcase, test_plain, 0, UNIT_ROWS(text_cases));
    tcase_add_loop_test(tcase, test_has_link, 0, UNIT_ROWS(link_cases));
    tcase_add_loop_test(tcase, test_cut, 0, UNIT_ROWS(cut_rows));
}

UNIT_PROGRAM(add)
