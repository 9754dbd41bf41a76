/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/forwarded.h"

#include "request.h"

static const struct {
    const char *address;
    int want;
} loopback_rows[] = {
    {"127.0.0.1", 1},
    {"127.255.255.254", 1},
    {"::1", 1},
    {"::ffff:127.0.0.1", 1},
    {"::ffff:127.9.8.7", 1},
    {"126.255.255.255", 0},
    {"128.0.0.1", 0},
    {"1.0.0.127", 0},
    {"10.0.0.127", 0},
    {"192.0.2.1", 0},
    {"0.0.0.0", 0},
    {"::", 0},
    {"::2", 0},
    {"fe80::1", 0},
    {"7f00::1", 0},
    {"::ffff:128.0.0.1", 0},
    {"::127.0.0.1", 0},
    {"::ffff:10.0.0.127", 0},
};

START_TEST(test_loopback)
{
    const char *address = loopback_rows[_i].address;

    ck_assert_msg(pay_forwarded_is_loopback(request_address(address)) == loopback_rows[_i].want,
                  "%s", address);
}
END_TEST

START_TEST(test_a_mapped_address_in_whole)
{
    apr_sockaddr_t *mapped = request_address("::ffff:127.0.0.1");

    /* APR returns such a client as one of IPv4 if the system has no addresses of both kinds. */
    ck_assert_int_eq(mapped->family, AF_INET6);
    ck_assert_int_eq(pay_forwarded_is_loopback(mapped), 1);
    mapped->family = AF_UNIX;
    ck_assert_int_eq(pay_forwarded_is_loopback(mapped), 0);
}
END_TEST

static const struct {
    const char *header;
    int passed_on;
    int by_us; /* from loopback */
} header_rows[] = {
    {NULL, 0, 0},
    {"Host: shop.example", 0, 0},
    {"Forwarded: for=192.0.2.7", 1, 1},
    {"forwarded: for=192.0.2.7", 1, 1},
    {"Via: 1.1 proxy", 1, 1},
    {"X-Real-IP: 192.0.2.7", 1, 0},
    {"x-real-ip: 192.0.2.7", 1, 0},
    {"X-Forwarded-For: 192.0.2.7", 1, 1},
    {"X-Forwarded-Host: shop.example", 1, 1},
    {"X-Forwarded-Server: proxy", 1, 1},
    {"X-Forwarded-Proto: https", 1, 0},
    {"x-forwarded-port: 443", 1, 0},
    {"X-Forwarded-: ", 1, 0},
    {"X-Forwarded: yes", 0, 0},
    {"X-Forward-For: 192.0.2.7", 0, 0},
    {"Viaduct: 1", 0, 0},
    {"X-Real-IP-Address: 192.0.2.7", 0, 0},
    {"Host: a\nAccept: b\nVia: 1.1 proxy\nCookie: c", 1, 1},
};

START_TEST(test_headers_of_proxies)
{
    const char *header = header_rows[_i].header;
    request_rec *r = request_make(request_server());

    request_headers(r, header);
    ck_assert_msg(pay_forwarded_is(r) == header_rows[_i].passed_on, "%s", header);
    ck_assert_msg(pay_forwarded_is_by_us(r) == 0, "%s: from elsewhere", header);
    request_come_from(r, "127.0.0.1");
    ck_assert_msg(pay_forwarded_is_by_us(r) == header_rows[_i].by_us, "%s: by us", header);
    request_come_from(r, "192.0.2.1"); /* the address that it came to */
    ck_assert_msg(pay_forwarded_is_by_us(r) == header_rows[_i].by_us, "%s: by us", header);
    r->connection->local_addr = NULL;
    ck_assert_msg(pay_forwarded_is_by_us(r) == 0, "%s: nowhere", header);
}
END_TEST

START_TEST(test_a_believed_header_is_gone)
{
    request_rec *r = request_make(request_server());

    r->useragent_addr = request_address("192.0.2.99"); /* mod_remoteip */
    ck_assert_int_eq(pay_forwarded_is(r), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_loopback, 0, UNIT_ROWS(loopback_rows));
    tcase_add_test(tcase, test_a_mapped_address_in_whole);
    tcase_add_loop_test(tcase, test_headers_of_proxies, 0, UNIT_ROWS(header_rows));
    tcase_add_test(tcase, test_a_believed_header_is_gone);
}

UNIT_PROGRAM(add)
