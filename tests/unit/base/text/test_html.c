/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/html.h"

#include "unit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text, *want;
} texts[] = {
    {"nothing", "", ""},
    {"words", "two words", "two words"},
    {"markup", "<b>a&b</b>", "&lt;b&gt;a&amp;b&lt;/b&gt;"},
    {"quotes", "\"a\" 'b'", "&quot;a&quot; &#39;b&#39;"},
    {"an entity", "&lt;", "&amp;lt;"},
    {"other letters", "\xc3\xbc", "\xc3\xbc"},
    {"line breaks and tabs", "a\n\tb", "a\n\tb"},
    {"control characters", "a\rb\x1b\x7f", "a?b??"},
    {"at both ends", "<a>", "&lt;a&gt;"},
};

START_TEST(test_text)
{
    pay_html_t *html = pay_html_make(0, unit_pool);

    pay_html_text(html, texts[_i].text);
    ck_assert_msg(strcmp(html->text, texts[_i].want) == 0, "%s: %s", texts[_i].name, html->text);
    ck_assert_uint_eq(html->len, strlen(texts[_i].want));
}
END_TEST

START_TEST(test_markup)
{
    pay_html_t *html = pay_html_make(8, unit_pool);

    pay_html_markup(html, "<a href=\"");
    pay_html_text(html, "\"><script>");
    pay_html_markup(html, "\">");
    ck_assert_str_eq(html->text, "<a href=\"&quot;&gt;&lt;script&gt;\">");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(texts));
    tcase_add_test(tcase, test_markup);
}

UNIT_PROGRAM(add)
