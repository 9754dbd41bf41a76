/* SPDX-License-Identifier: Apache-2.0 */
#include "model/return_hosts.h"

#include "unit.h"

#define LIST                                                                                       \
    "shop.example *.shops.example shop.example:8443 xn--bcher-kva.example 192.0.2.1 [2001:db8::1]"

static const struct {
    const char *name, *text;
    const char *list; /* NULL: refused */
} lists[] = {
    {"none", "", ""},
    {"a host", "Shop.Example", "shop.example"},
    {"with a dot at its end", "shop.example.", "shop.example"},
    {"again", "shop.example SHOP.example shop.example.", "shop.example"},
    {"a port", "shop.example:8443", "shop.example:8443"},
    {"its own port", "shop.example:443", "shop.example:443"},
    {"subdomains", "*.Shop.Example", "*.shop.example"},
    {"subdomains at a port", "*.shop.example:8443", "*.shop.example:8443"},
    {"punycode", "xn--bcher-kva.example", "xn--bcher-kva.example"},
    {"localhost", "localhost:3000", "localhost:3000"},
    {"an address", "192.0.2.1", "192.0.2.1"},
    {"IPv6", "[2001:db8::1]", "[2001:db8::1]"},
    {"IPv6 and a port", "[2001:DB8::1]:8443", "[2001:db8::1]:8443"},
    {"letters beyond ASCII",
     "b\xc3\xbc"
     "cher.example",
     NULL},
    {"a scheme", "https://shop.example", NULL},
    {"a path", "shop.example/", NULL},
    {"a query", "shop.example?x", NULL},
    {"a user", "good@shop.example", NULL},
    {"a backslash", "shop.example\\x", NULL},
    {"all", "*", NULL},
    {"a star alone before a dot", "*.", NULL},
    {"a top-level domain", "*.example", NULL},
    {"a star within", "a.*.shop.example", NULL},
    {"a star in a label", "a*.shop.example", NULL},
    {"below an address", "*.192.0.2.1", NULL},
    {"below IPv6", "*.[::1]", NULL},
    {"no port", "shop.example:", NULL},
    {"port 0", "shop.example:0", NULL},
    {"a comma", "a.example,b.example", NULL},
    {"one of them wrong", "a.example b_.example/ c.example", NULL},
    {"an empty label", "a..example", NULL},
};

START_TEST(test_lists)
{
    const char *list = NULL;
    const int ok = pay_return_hosts_add(&list, "", lists[_i].text, unit_pool);

    ck_assert_msg(ok == (lists[_i].list != NULL), "%s: %s", lists[_i].name, list);
    ck_assert_msg(!ok || !strcmp(list, lists[_i].list), "%s: %s", lists[_i].name, list);
}
END_TEST

START_TEST(test_how_many)
{
    const char *list = "";
    int i;

    for (i = 0; i < PAY_RETURN_HOSTS_MAX; i++) {
        ck_assert_int_eq(
            pay_return_hosts_add(&list, list, apr_psprintf(unit_pool, "s%d.example", i), unit_pool),
            1);
    }
    ck_assert_int_eq(pay_return_hosts_add(&list, list, "s0.example", unit_pool), 1);
    ck_assert_int_eq(pay_return_hosts_add(&list, list, "more.example", unit_pool), 0);
}
END_TEST

static const struct {
    const char *url;
    int has;
    const char *shown;
} urls[] = {
    {"https://shop.example/done?a=b", 1, "shop.example"},
    {"HTTPS://SHOP.EXAMPLE", 1, "shop.example"},
    {"https://shop.example./", 1, "shop.example"},
    {"https://shop.example:443/", 1, "shop.example"},
    {"http://shop.example/", 1, "shop.example"},
    {"http://shop.example:443/", 0, "shop.example:443"},
    {"https://shop.example:8443/", 1, "shop.example:8443"},
    {"http://shop.example:8443/", 1, "shop.example:8443"},
    {"https://shop.example:8444/", 0, "shop.example:8444"},
    {"https://www.shop.example/", 0, "www.shop.example"},
    {"https://shop.example.evil.example/", 0, "shop.example.evil.example"},
    {"https://evilshop.example/", 0, "evilshop.example"},
    {"https://evil.example/shop.example", 0, "evil.example"},
    {"https://evil.example/?https://shop.example/", 0, "evil.example"},
    {"https://evil.example#@shop.example/", 0, "evil.example"},
    {"https://a.shops.example/", 1, "a.shops.example"},
    {"https://a.b.Shops.Example./", 1, "a.b.shops.example"},
    {"https://shops.example/", 0, "shops.example"},
    {"https://evilshops.example/", 0, "evilshops.example"},
    {"https://a.shops.example:8443/", 0, "a.shops.example:8443"},
    {"https://XN--BCHER-KVA.example/", 1, "xn--bcher-kva.example"},
    {"https://bucher.example/", 0, "bucher.example"},
    {"https://192.0.2.1/", 1, "192.0.2.1"},
    {"https://3221225985/", 1, "192.0.2.1"}, /* the destination of the connection */
    {"https://[2001:db8::1]/", 1, "[2001:db8::1]"},
    {"https://[2001:db8::2]/", 0, "[2001:db8::2]"},
};

START_TEST(test_urls)
{
    const char *fault;
    pay_url_t *url;

    ck_assert_msg(pay_url_parse(&url, &fault, urls[_i].url, "https http", unit_pool) == APR_SUCCESS,
                  "%s: %s", urls[_i].url, fault);
    ck_assert_msg(pay_return_hosts_has(LIST, url, unit_pool) == urls[_i].has, "%s", urls[_i].url);
    ck_assert_int_eq(pay_return_hosts_has("", url, unit_pool), 0);
    ck_assert_str_eq(pay_return_host_shown(url, unit_pool), urls[_i].shown);
}
END_TEST

/* Text that two programs could read in two ways is not a URL of a request in the first place. */
static const char *const no_urls[] = {
    "https://shop.example@evil.example/",
    "https://shop.example:x@evil.example/",
    "https://evil.example\\@shop.example/",
    "https:\\\\evil.example/",
    "https://shop.example\\.evil.example/",
    "https:evil.example",
    "https:///evil.example",
    "//evil.example",
    "https://shop.example%2eevil.example/",
    "https://shop.example%00.evil.example/",
    ("https://b\xc3\xbc"
     "cher.example/"),
    "https://evil.example\t.shop.example/",
    "javascript://shop.example/",
};

START_TEST(test_no_urls)
{
    const char *fault;
    pay_url_t *url;

    ck_assert_msg(pay_url_parse(&url, &fault, no_urls[_i], "https http", unit_pool) != APR_SUCCESS,
                  "%s", no_urls[_i]);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_lists, 0, UNIT_ROWS(lists));
    tcase_add_test(tcase, test_how_many);
    tcase_add_loop_test(tcase, test_urls, 0, UNIT_ROWS(urls));
    tcase_add_loop_test(tcase, test_no_urls, 0, UNIT_ROWS(no_urls));
}

UNIT_PROGRAM(add)
