/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shop.h"

#include "unit.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    int as_name, as_logo, as_text; /* 1: it may be stored */
} texts[] = {
    {"nothing", "", 1, 1, 1},
    {"a name", "Ada's Books & Co", 1, 0, 1},
    {"other letters",
     "B\xc3\xbc"
     "cher",
     1, 0, 1},
    {"lines", "one\ntwo", 0, 0, 1},
    {"a control character", "a\tb", 0, 0, 0},
    {"no UTF-8", "\xff", 0, 0, 0},
    {"a card number", "4111111111111111", 0, 0, 0},
    {"an override of direction",
     "a\xe2\x80\xae"
     "b",
     0, 0, 0},
    {"a path", "/logo.png?v=2", 1, 1, 1},
    {"two slashes", "//elsewhere.example/logo.png", 1, 0, 1},
    {"a backslash", "/\\elsewhere.example/logo.png", 1, 0, 1},
    {"a relative path", "logo.png", 1, 0, 1},
    {"a quote", "/a\"b", 1, 0, 1},
    {"a URL", "https://shop.example/logo.png", 1, 1, 1},
    {"of http", "http://shop.example/logo.png", 1, 1, 1},
    {"of another scheme", "javascript:alert(1)", 1, 0, 1},
    {"of data", "data:image/png;base64,AAAA", 1, 0, 1},
};

START_TEST(test_faults)
{
    ck_assert_msg((pay_shop_name_fault(texts[_i].text) == NULL) == texts[_i].as_name, "%s: name",
                  texts[_i].name);
    ck_assert_msg((pay_shop_logo_fault(texts[_i].text, unit_pool) == NULL) == texts[_i].as_logo,
                  "%s: logo", texts[_i].name);
    ck_assert_msg((pay_shop_text_fault(texts[_i].text) == NULL) == texts[_i].as_text, "%s: text",
                  texts[_i].name);
}
END_TEST

START_TEST(test_lengths)
{
    char *text = apr_palloc(unit_pool, PAY_SHOP_TEXT_MAX + 2);

    memset(text, 'a', PAY_SHOP_TEXT_MAX + 1);
    text[0] = '/';
    text[PAY_SHOP_TEXT_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(pay_shop_text_fault(text));
    text[PAY_SHOP_TEXT_MAX] = '\0';
    ck_assert_ptr_null(pay_shop_text_fault(text));

    text[PAY_SHOP_NAME_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(pay_shop_name_fault(text));
    text[PAY_SHOP_NAME_MAX] = '\0';
    ck_assert_ptr_null(pay_shop_name_fault(text));

    memset(text, 'a', PAY_SHOP_LOGO_MAX + 1);
    text[0] = '/';
    text[PAY_SHOP_LOGO_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(pay_shop_logo_fault(text, unit_pool));
    text[PAY_SHOP_LOGO_MAX] = '\0';
    ck_assert_ptr_null(pay_shop_logo_fault(text, unit_pool));
}
END_TEST

static const struct {
    const char *name;
    const char *logo, *authority;
    const char *want; /* NULL: not shown */
} logos[] = {
    {"none", "", "shop.example", NULL},
    {"a path", "/logo.png", "shop.example", "/logo.png"},
    {"the page's host", "https://shop.example/a/logo.png?v=2", "shop.example", "/a/logo.png?v=2"},
    {"in other case", "https://SHOP.example/l.png", "Shop.Example", "/l.png"},
    {"by http, which TLS is put in front of", "http://shop.example/l.png", "shop.example",
     "/l.png"},
    {"its own port", "https://shop.example:8443/l.png", "shop.example:8443", "/l.png"},
    {"the default port, said", "https://shop.example/l.png", "shop.example:443", "/l.png"},
    {"an address", "http://[::1]:8080/l.png", "[::1]:8080", "/l.png"},
    {"another port", "https://shop.example:8443/l.png", "shop.example", NULL},
    {"another port there", "https://shop.example/l.png", "shop.example:8443", NULL},
    {"another host", "https://elsewhere.example/l.png", "shop.example", NULL},
    {"a longer name", "https://shop.example/l.png", "shop.example.org", NULL},
    {"a shorter name", "https://shop.example.org/l.png", "shop.example", NULL},
    {"no authority", "https://shop.example/l.png", "", NULL},
    {"a port that is none", "https://shop.example/l.png", "shop.example:443x", NULL},
    {"an empty port", "https://shop.example/l.png", "shop.example:", NULL},
    {"no path", "https://shop.example", "shop.example", "/"},
    {"a path that reads as a host", "https://shop.example//elsewhere.example/l.png", "shop.example",
     NULL},
    {"two slashes", "//elsewhere.example/l.png", "shop.example", NULL},
    {"no URL", "javascript:alert(1)", "shop.example", NULL},
};

START_TEST(test_logo_path)
{
    const char *path = pay_shop_logo_path(logos[_i].logo, logos[_i].authority, unit_pool);

    ck_assert_msg(!path == !logos[_i].want, "%s: %s", logos[_i].name, path);
    ck_assert_msg(!path || strcmp(path, logos[_i].want) == 0, "%s: %s", logos[_i].name, path);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(texts));
    tcase_add_test(tcase, test_lengths);
    tcase_add_loop_test(tcase, test_logo_path, 0, UNIT_ROWS(logos));
}

UNIT_PROGRAM(add)
