/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/grant.h"

#include <apr_strings.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
    const char *want; /* NULL: no host has such a name */
} host_cases[] = {
    {"a name", "pay.example.com", "pay.example.com"},
    {"any case", "Pay.EXAMPLE.Com", "pay.example.com"},
    {"the root's dot", "pay.example.com.", "pay.example.com"},
    {"a port", "pay.example.com:8443", "pay.example.com"},
    {"dot and port", "pay.example.com.:443", "pay.example.com"},
    {"one label", "localhost", "localhost"},
    {"an underscore and a dash", "a_b-c.example", "a_b-c.example"},
    {"IPv4", "127.0.0.1:80", "127.0.0.1"},
    {"IPv6 in brackets", "[2001:DB8::1]", "2001:db8::1"},
    {"IPv6 with a port", "[::1]:8443", "::1"},
    {"IPv6 as it is", "2001:db8::1", "2001:db8::1"},
    {"IPv6 with an IPv4 tail", "::ffff:10.0.0.1", "::ffff:10.0.0.1"},
    {"five digits", "a:65535", "a"},
    {"nothing", "", NULL},
    {"a dot", ".", NULL},
    {"two dots behind", "a..", NULL},
    {"a dot in front", ".a", NULL},
    {"a port alone", ":80", NULL},
    {"an empty port", "a:", NULL},
    {"six digits", "a:123456", NULL},
    {"no port", "a:http", NULL},
    {"a port and more", "a:80/", NULL},
    {"brackets without an address", "[a]", NULL},
    {"empty brackets", "[]:80", NULL},
    {"a bracket that stays open", "[::1", NULL},
    {"more behind the bracket", "[::1]x", NULL},
    {"a zone", "fe80::1%eth0", NULL},
    {"a dash in an address", "::1-2", NULL},
    {"a blank", "a b", NULL},
    {"a slash", "a/b", NULL},
    {"a user", "u@a", NULL},
    {"not ASCII", "z\xc3\xbcrich.example", NULL},
};

START_TEST(test_host)
{
    const char *host;
    apr_status_t rv;

    rv = pay_grant_host(&host, host_cases[_i].text, unit_pool);
    if (host_cases[_i].want) {
        ck_assert_msg(rv == APR_SUCCESS, "%s", host_cases[_i].name);
        ck_assert_str_eq(host, host_cases[_i].want);
    } else {
        ck_assert_msg(rv == APR_EINVAL && !host, "%s", host_cases[_i].name);
    }
}
END_TEST

static const char *repeat(const char *unit, int count)
{
    const char *text = "";

    while (count-- > 0) {
        text = apr_pstrcat(unit_pool, text, unit, NULL);
    }
    return text;
}

START_TEST(test_longest_host)
{
    const char *longest = repeat("a", PAY_GRANT_HOST_MAX), *host;

    ck_assert_int_eq(pay_grant_host(&host, longest, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(host, longest);
    ck_assert_int_eq(
        pay_grant_host(&host, apr_pstrcat(unit_pool, longest, ".:443", NULL), unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_grant_host(&host, repeat("a", PAY_GRANT_HOST_MAX + 1), unit_pool),
                     APR_EINVAL);
}
END_TEST

static const struct {
    const char *name;
    const char *user;
    apr_status_t want;
} user_cases[] = {
    {"a name", "ada", APR_SUCCESS},
    {"an address", "Ada@Example.com", APR_SUCCESS},
    {"a distinguished name", "CN=Ada Lovelace,O=Analytical", APR_SUCCESS},
    {"not ASCII", "\xc3\x85sa", APR_SUCCESS},
    {"nothing", "", APR_EINVAL},
    {"a newline", "a\nb", APR_EINVAL},
    {"DEL", "a\x7f", APR_EINVAL},
    {"C1", "a\xc2\x85", APR_EINVAL},
    {"not UTF-8", "a\xff", APR_EINVAL},
};

START_TEST(test_user)
{
    ck_assert_msg(pay_grant_user_check(user_cases[_i].user) == user_cases[_i].want, "%s",
                  user_cases[_i].name);
}
END_TEST

START_TEST(test_longest_user)
{
    ck_assert_int_eq(pay_grant_user_check(repeat("u", PAY_GRANT_USER_MAX)), APR_SUCCESS);
    ck_assert_int_eq(pay_grant_user_check(repeat("u", PAY_GRANT_USER_MAX + 1)), APR_EINVAL);
}
END_TEST

static const struct {
    const char *text;
    pay_role_t role; /* 0: no such name */
} role_cases[] = {
    {"viewer", PAY_ROLE_VIEWER},
    {"operator", PAY_ROLE_OPERATOR},
    {"owner", PAY_ROLE_OWNER},
    {"", 0},
    {"Owner", 0},
    {"owners", 0},
    {"unknown", 0},
};

START_TEST(test_role)
{
    const char *text = role_cases[_i].text;
    pay_role_t role;

    ck_assert_msg((pay_role_parse(&role, text) == APR_SUCCESS) == (role_cases[_i].role != 0), "%s",
                  text);
    if (role_cases[_i].role) {
        ck_assert_msg(role == role_cases[_i].role, "%s", text);
        ck_assert_str_eq(pay_role_name(role), text);
    }
}
END_TEST

/* Each role has the rights of those before it. */
START_TEST(test_order)
{
    ck_assert_int_lt(PAY_ROLE_VIEWER, PAY_ROLE_OPERATOR);
    ck_assert_int_lt(PAY_ROLE_OPERATOR, PAY_ROLE_OWNER);
    ck_assert_str_eq(pay_role_name((pay_role_t)0), "unknown");
    ck_assert_str_eq(pay_role_name((pay_role_t)(PAY_ROLE_LAST + 1)), "unknown");
}
END_TEST

START_TEST(test_json)
{
    const pay_account_t account = {.name = "shop"};
    const pay_grant_t grant = {.host = "pay.example.com",
                               .user = "\"ada\"",
                               .role = PAY_ROLE_OPERATOR,
                               .created_at = 0,
                               .updated_at = apr_time_from_sec(1),
                               .account = &account};
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_grant_to_json(w, NULL, &grant);
    ck_assert_str_eq(w->text, "{\"account\":\"shop\",\"user\":\"\\\"ada\\\"\",\"host\":"
                              "\"pay.example.com\",\"role\":\"operator\",\"grantedAt\":null,"
                              "\"updatedAt\":\"1970-01-01T00:00:01.000Z\"}");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_host, 0, UNIT_ROWS(host_cases));
    tcase_add_test(tcase, test_longest_host);
    tcase_add_loop_test(tcase, test_user, 0, UNIT_ROWS(user_cases));
    tcase_add_test(tcase, test_longest_user);
    tcase_add_loop_test(tcase, test_role, 0, UNIT_ROWS(role_cases));
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_json);
}

UNIT_PROGRAM(add)
