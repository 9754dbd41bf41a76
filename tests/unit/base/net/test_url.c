/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/url.h"

#include "unit.h"

#include <string.h>

#define LEN_MAX 1000

static const struct {
    const char *name;
    const char *text;
    const char *scheme, *host;
    int port;
    const char *url;
} good_rows[] = {
    {"a host", "https://shop.example", "https", "shop.example", 443, "https://shop.example/"},
    {"the whole of it", "https://shop.example:8443/a/b?c=d&e", "https", "shop.example", 8443,
     "https://shop.example:8443/a/b?c=d&e"},
    {"upper case", "HTTPS://Shop.EXAMPLE/Path", "https", "shop.example", 443,
     "https://shop.example/Path"},
    {"a fragment", "https://shop.example/a#b", "https", "shop.example", 443,
     "https://shop.example/a"},
    {"a query without a path", "https://shop.example?a=b", "https", "shop.example", 443,
     "https://shop.example/?a=b"},
    {"its own port", "http://shop.example:80/", "http", "shop.example", 80,
     "http://shop.example:80/"},
    {"an empty port", "http://shop.example:/", "http", "shop.example", 80, "http://shop.example/"},
    {"the last port", "https://shop.example:65535/", "https", "shop.example", 65535,
     "https://shop.example:65535/"},
    {"dots in the path", "https://shop.example/a/../b/./c", "https", "shop.example", 443,
     "https://shop.example/b/c"},
    {"an address", "https://192.0.2.7/x", "https", "192.0.2.7", 443, "https://192.0.2.7/x"},
    {"one number", "http://2130706433/", "http", "127.0.0.1", 80, "http://127.0.0.1/"},
    {"hexadecimal", "http://0x7f000001/", "http", "127.0.0.1", 80, "http://127.0.0.1/"},
    {"hexadecimal, in upper case", "http://0X7F.1/", "http", "127.0.0.1", 80, "http://127.0.0.1/"},
    {"octal", "http://0177.0.0.01/", "http", "127.0.0.1", 80, "http://127.0.0.1/"},
    {"short", "http://127.1/", "http", "127.0.0.1", 80, "http://127.0.0.1/"},
    {"short, of three", "http://10.1.258/", "http", "10.1.1.2", 80, "http://10.1.1.2/"},
    {"IPv6", "https://[2001:DB8::1]:8443/", "https", "[2001:db8::1]", 8443,
     "https://[2001:db8::1]:8443/"},
    {"mapped", "http://[::ffff:127.0.0.1]/", "http", "[::ffff:127.0.0.1]", 80,
     "http://[::ffff:127.0.0.1]/"},
    {"a name in its ASCII form", "https://xn--bcher-kva.example/", "https", "xn--bcher-kva.example",
     443, "https://xn--bcher-kva.example/"},
    {"the root's dot", "https://shop.example./", "https", "shop.example.", 443,
     "https://shop.example./"},
    {"one label with an underscore", "http://web_hook/", "http", "web_hook", 80,
     "http://web_hook/"},
    {"all that may stand in a path", "https://shop.example/-._~:@!$&'()*+,;=%41?/?:@[]", "https",
     "shop.example", 443, "https://shop.example/-._~:@!$&'()*+,;=%41?/?:@[]"},
    {"an at sign behind the host", "https://shop.example/a@b", "https", "shop.example", 443,
     "https://shop.example/a@b"},
};

START_TEST(test_good)
{
    pay_url_t *url;
    pay_url_t *again;
    const char *fault;
    apr_status_t rv = pay_url_parse(&url, &fault, good_rows[_i].text, "https http", unit_pool);

    ck_assert_msg(rv == APR_SUCCESS, "%s: %s", good_rows[_i].name, fault);
    ck_assert_ptr_null(fault);
    ck_assert_str_eq(url->scheme, good_rows[_i].scheme);
    ck_assert_str_eq(url->host, good_rows[_i].host);
    ck_assert_int_eq(url->port, good_rows[_i].port);
    ck_assert_str_eq(url->text, good_rows[_i].url);

    /* The address of a later connection is read from the text, and is the same. */
    rv = pay_url_parse(&again, &fault, url->text, "https http", unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_str_eq(again->host, url->host);
    ck_assert_int_eq(again->port, url->port);
    ck_assert_str_eq(again->text, url->text);
}
END_TEST

#define CHARACTERS "want the characters of RFC 3986"
#define WHOLE "want a complete URL that begins with https or http://"
#define HOST "want a host"
#define NO_USER "want no user and no password"
#define FORM "want a URL according to RFC 3986"

static const struct {
    const char *name;
    const char *text;
    const char *fault; /* how it begins */
} bad_rows[] = {
    {"nothing", "", WHOLE},
    {"a host alone", "shop.example", WHOLE},
    {"a host and a path", "shop.example/hook", WHOLE},
    {"a path", "/hook", WHOLE},
    {"no scheme", "//shop.example/", WHOLE},
    {"one slash", "https:/shop.example/", WHOLE},
    {"no slash", "https:shop.example", WHOLE},
    {"a URL in the query", "/a?b=https://shop.example/", WHOLE},
    {"no host", "https://", HOST},
    {"no host before a path", "https:///hook", HOST},
    {"no host before a port", "https://:443/", HOST},
    {"no host before a query", "https://?a=b", HOST},
    {"another scheme", "ftp://shop.example/", "want https or http as the scheme"},
    {"a file", "file:///etc/passwd", HOST},
    {"a file of a host", "file://localhost/etc/passwd", "want https or http as the scheme"},
    {"gopher", "gopher://127.0.0.1:25/_x", "want https or http as the scheme"},
    {"a mail relay", "smtp://mail.example/", "want https or http as the scheme"},
    {"an unknown scheme", "httpx://shop.example/", "want https or http as the scheme"},
    {"the beginning of a scheme", "htt://shop.example/", "want https or http as the scheme"},
    {"a user", "https://ada@shop.example/", NO_USER},
    {"a password", "https://ada:secret@shop.example/", NO_USER},
    {"an empty user", "https://@shop.example/", NO_USER},
    {"a host that is a user", "https://shop.example@127.0.0.1/", NO_USER},
    {"a blank", "https://shop.example/a b", CHARACTERS},
    {"a blank before", " https://shop.example/", CHARACTERS},
    {"a line", "https://shop.example/\r\nX: y", CHARACTERS},
    {"a tab", "https://shop\t.example/", CHARACTERS},
    {"DEL", "https://shop.example/\x7f", CHARACTERS},
    {"a backslash", "https://shop.example\\@127.0.0.1/", CHARACTERS},
    {"a brace", "https://shop.example/{a,b}", CHARACTERS},
    {"a quote", "https://shop.example/\"", CHARACTERS},
    {"a name with an umlaut",
     "https://b\xc3\xbc"
     "cher.example/",
     CHARACTERS},
    {"a path with an umlaut", "https://shop.example/b\xc3\xbc", CHARACTERS},
    {"a percent sign in the host", "https://127.0.0.%31/", "want a host without percent"},
    {"an at sign, encoded", "https://shop.example%40127.0.0.1/", "want a host without percent"},
    {"a zone", "https://[fe80::1%25lo]/", "want a host without percent"},
    {"port 0", "https://shop.example:0/", "want a port"},
    {"a port too many", "https://shop.example:65536/", "want a port"},
    {"a negative port", "https://shop.example:-1/", "want a port"},
    {"a word for a port", "https://shop.example:https/", "want a port"},
    {"two ports", "https://shop.example:1:2/", NULL},
    {"two dots", "https://shop..example/", HOST},
    {"a leading dot", "https://.example/", HOST},
    {"an open bracket", "https://[::1/", NULL},
    {"no address in brackets", "https://[shop.example]/", NULL},
    {"empty brackets", "https://[]/", NULL},
    {"a comma in the host", "https://shop,example/", NULL},
    {"a star in the host", "https://*.example/", NULL},
};

START_TEST(test_bad)
{
    pay_url_t *url = (pay_url_t *)unit_pool;
    const char *fault = NULL;
    const char *want = bad_rows[_i].fault ? bad_rows[_i].fault : "want ";
    apr_status_t rv = pay_url_parse(&url, &fault, bad_rows[_i].text, "https http", unit_pool);

    ck_assert_msg(rv == APR_EINVAL, "%s: taken as %s", bad_rows[_i].name,
                  rv == APR_SUCCESS ? url->text : "");
    ck_assert_ptr_null(url);
    ck_assert_msg(strncmp(fault, want, strlen(want)) == 0, "%s: %s", bad_rows[_i].name, fault);
    ck_assert_msg(!strstr(fault, "secret"), "%s: %s", bad_rows[_i].name, fault);
}
END_TEST

START_TEST(test_schemes)
{
    pay_url_t *url;
    const char *fault;
    apr_status_t rv;

    rv = pay_url_parse(&url, &fault, "http://shop.example/", "https", unit_pool);
    ck_assert_int_eq(rv, APR_EINVAL);
    ck_assert_str_eq(fault, "want https as the scheme");

    rv = pay_url_parse(&url, &fault, "smtp://mail.example", "smtps smtp", unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_str_eq(url->scheme, "smtp");
    ck_assert_int_eq(url->port, 25);

    rv = pay_url_parse(&url, &fault, "smtps://mail.example:8465", "smtps smtp", unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_int_eq(url->port, 8465);
    rv = pay_url_parse(&url, &fault, "smtps://mail.example", "smtps smtp", unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_int_eq(url->port, 465);

    rv = pay_url_parse(&url, &fault, "https://mail.example/", "smtps smtp", unit_pool);
    ck_assert_int_eq(rv, APR_EINVAL);
}
END_TEST

START_TEST(test_length)
{
    char *text = apr_palloc(unit_pool, LEN_MAX + 2);
    pay_url_t *url;
    const char *fault;
    apr_status_t rv;

    memset(text, 'a', LEN_MAX + 1);
    memcpy(text, "https://h/", 10);
    text[LEN_MAX] = '\0';
    rv = pay_url_parse(&url, &fault, text, "https", unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_str_eq(url->text, text);

    text[LEN_MAX] = 'a';
    text[LEN_MAX + 1] = '\0';
    rv = pay_url_parse(&url, &fault, text, "https", unit_pool);
    ck_assert_int_eq(rv, APR_EINVAL);
    ck_assert_str_eq(fault, "want at most 1000 bytes");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_good, 0, UNIT_ROWS(good_rows));
    tcase_add_loop_test(tcase, test_bad, 0, UNIT_ROWS(bad_rows));
    tcase_add_test(tcase, test_schemes);
    tcase_add_test(tcase, test_length);
}

UNIT_PROGRAM(add)
