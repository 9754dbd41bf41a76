/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/network.h"

#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* As the resolver would return it. */
static int permits(const char *text, const apr_array_header_t *allowed)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        return pay_network_permits((const struct sockaddr *)&v4, allowed);
    }
    ck_assert_msg(inet_pton(AF_INET6, text, &v6.sin6_addr) == 1, "'%s' is no address", text);
    return pay_network_permits((const struct sockaddr *)&v6, allowed);
}

static apr_array_header_t *list_of(const char *text)
{
    apr_array_header_t *list;
    const char *word;
    apr_status_t rv = pay_network_list(&list, &word, text, unit_pool);

    ck_assert_msg(rv == APR_SUCCESS, "'%s' is refused for '%s'", text, word ? word : "");
    ck_assert_ptr_null(word);
    return list;
}

/* The last address before a range, its two ends, the first one after it. NULL: none exists, or
 * the neighbour is in another refused range. */
static const struct {
    const char *name;
    const char *before, *first, *last, *behind;
} range_rows[] = {
    {"this network", NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0"},
    {"10/8", "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
    {"100.64/10", "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
    {"127/8", "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
    {"169.254/16", "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
    {"172.16/12", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
    {"192.0.0/24", "191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
    {"192.0.2/24", "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
    {"192.88.99/24", "192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
    {"192.168/16", "192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
    {"198.18/15", "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
    {"198.51.100/24", "198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
    {"203.0.113/24", "203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
    {"multicast and reserved", "223.255.255.255", "224.0.0.0", "255.255.255.255", NULL},
    {"before 2000::/3", NULL, "64:ff9b:0:0:0:1::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2000::"},
    {"2001::/23", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
    {"2001:db8::/32", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
    {"6to4", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
    {"3fff::/20", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
    {"behind 2000::/3", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
};

START_TEST(test_ranges)
{
    const char *name = range_rows[_i].name;

    ck_assert_msg(!permits(range_rows[_i].first, NULL), "%s: its first", name);
    ck_assert_msg(!permits(range_rows[_i].last, NULL), "%s: its last", name);
    if (range_rows[_i].before) {
        ck_assert_msg(permits(range_rows[_i].before, NULL), "%s: before", name);
    }
    if (range_rows[_i].behind) {
        ck_assert_msg(permits(range_rows[_i].behind, NULL), "%s: behind", name);
    }
}
END_TEST

/* The same edges as IPv4 addresses inside of IPv6. */
START_TEST(test_ranges_inside)
{
    static const char *const forms[] = {"::ffff:%s", "64:ff9b::%s"};
    const char *const edges[] = {range_rows[_i].before, range_rows[_i].first, range_rows[_i].last,
                                 range_rows[_i].behind};
    int form;
    int edge;

    for (form = 0; form < UNIT_ROWS(forms); form++) {
        for (edge = 0; edge < 4; edge++) {
            const char *text;

            if (!edges[edge] || !strchr(edges[edge], '.')) {
                continue;
            }
            text = apr_psprintf(unit_pool, "%.*s%s", (int)strcspn(forms[form], "%"), forms[form],
                                edges[edge]);
            ck_assert_msg(permits(text, NULL) == (edge == 0 || edge == 3), "%s", text);
        }
    }
}
END_TEST

static const struct {
    const char *name;
    const char *address;
    int want;
} address_rows[] = {
    {"an ordinary one", "93.184.216.34", 1},
    {"an ordinary one of IPv6", "2606:2800:220:1:248:1893:25c8:1946", 1},
    {"metadata of a cloud", "169.254.169.254", 0},
    {"unspecified", "::", 0},
    {"loopback", "::1", 0},
    {"IPv4-compatible loopback", "::127.0.0.1", 0},
    {"IPv4-compatible public", "::93.184.216.34", 0},
    {"translated and local", "64:ff9b:1::93.184.216.34", 0},
    {"the last translated", "64:ff9b::223.255.255.255", 1},
    {"beside the translated", "64:ff9b::1:0:0", 0},
    {"before mapped", "::fffe:ffff:ffff", 0},
    {"behind mapped", "::1:0:0:0", 0},
    {"discard only", "100::1", 0},
    {"Teredo of a public one", "2001:0:4136:e378:8000:63bf:3fff:fdd2", 0},
    {"6to4 of a public one", "2002:5db8:d822::1", 0},
    {"benchmarks", "2001:2::1", 0},
    {"segment routing", "5f00::1", 0},
    {"unique local", "fc00::1", 0},
    {"unique local, the upper half", "fd12:3456:789a::1", 0},
    {"link-local", "fe80::1", 0},
    {"site-local", "fec0::1", 0},
    {"multicast", "ff02::1", 0},
};

START_TEST(test_addresses)
{
    ck_assert_msg(permits(address_rows[_i].address, NULL) == address_rows[_i].want, "%s: %s",
                  address_rows[_i].name, address_rows[_i].address);
}
END_TEST

START_TEST(test_family)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/docker.sock"};
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    const apr_array_header_t *all = list_of("0.0.0.0/0 ::/0");

    ck_assert(!pay_network_permits((const struct sockaddr *)&local, all));
    ck_assert(!pay_network_permits(&none, all));
}
END_TEST

static const struct {
    const char *name;
    const char *list;
    const char *address;
    int want;
} allowed_rows[] = {
    {"nothing", "", "127.0.0.1", 0},
    {"blanks alone", " \t ", "127.0.0.1", 0},
    {"the very address", "127.0.0.1", "127.0.0.1", 1},
    {"the next one", "127.0.0.1", "127.0.0.2", 0},
    {"last of a network", "10.0.0.0/9", "10.127.255.255", 1},
    {"first behind it", "10.0.0.0/9", "10.128.0.0", 0},
    {"the second word", "192.168.7.0/24 \t 10.1.2.0/23 ", "10.1.3.255", 1},
    {"a public one beside a list", "10.0.0.0/8", "93.184.216.34", 1},
    {"all of IPv4", "0.0.0.0/0", "255.255.255.255", 1},
    {"all of IPv4 is not IPv6", "0.0.0.0/0", "::1", 0},
    {"all of IPv6 has the mapped", "::/0", "127.0.0.1", 1},
    {"mapped of an allowed one", "127.0.0.0/8", "::ffff:127.0.0.1", 1},
    {"translated of an allowed one", "10.0.0.0/8", "64:ff9b::10.0.0.1", 1},
    {"translated, named itself", "64:ff9b::/96", "64:ff9b::10.0.0.1", 1},
    {"written as mapped", "::ffff:10.0.0.0/104", "10.255.0.1", 1},
    {"written as mapped, another", "::ffff:10.0.0.0/104", "127.0.0.1", 0},
    {"IPv6 address", "::1", "::1", 1},
    {"IPv6 network", "fd00:1:2::/48", "fd00:1:2:ffff::1", 1},
    {"outside of it", "fd00:1:2::/48", "fd00:1:3::1", 0},
    {"bits in the middle of a byte", "fe80::/10", "febf::1", 1},
    {"the next ones", "fe80::/10", "fec0::1", 0},
};

START_TEST(test_allowed)
{
    ck_assert_msg(permits(allowed_rows[_i].address, list_of(allowed_rows[_i].list))
                      == allowed_rows[_i].want,
                  "%s", allowed_rows[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *list;
    const char *word;
} refused_rows[] = {
    {"a name", "10.0.0.0/8 localhost", "localhost"},
    {"a comma", "10.0.0.0/8,::1", "10.0.0.0/8,::1"},
    {"a part of an address", "10.1", "10.1"},
    {"a number", "2130706433", "2130706433"},
    {"too many bits", "10.0.0.0/33", "10.0.0.0/33"},
    {"too many bits of IPv6", "::/129", "::/129"},
    {"no bits", "10.0.0.0/", "10.0.0.0/"},
    {"a sign", "10.0.0.0/+8", "10.0.0.0/+8"},
    {"a netmask", "10.0.0.0/255.0.0.0", "10.0.0.0/255.0.0.0"},
    {"a leading zero", "10.0.0.0/08", "10.0.0.0/08"},
    {"two slashes", "10.0.0.0/8/8", "10.0.0.0/8/8"},
    {"no address", "/8", "/8"},
    {"bits behind the network", "10.1.2.3/8", "10.1.2.3/8"},
    {"the last bit", "10.0.0.1/31", "10.0.0.1/31"},
    {"brackets", "[::1]", "[::1]"},
    {"a zone", "fe80::1%lo", "fe80::1%lo"},
    {"a port", "10.0.0.1:80", "10.0.0.1:80"},
};

START_TEST(test_refused)
{
    apr_array_header_t *list = (apr_array_header_t *)unit_pool;
    const char *word;
    apr_status_t rv = pay_network_list(&list, &word, refused_rows[_i].list, unit_pool);

    ck_assert_msg(rv == APR_EINVAL, "%s: taken", refused_rows[_i].name);
    ck_assert_ptr_null(list);
    ck_assert_str_eq(word, refused_rows[_i].word);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_ranges, 0, UNIT_ROWS(range_rows));
    tcase_add_loop_test(tcase, test_ranges_inside, 0, UNIT_ROWS(range_rows));
    tcase_add_loop_test(tcase, test_addresses, 0, UNIT_ROWS(address_rows));
    tcase_add_test(tcase, test_family);
    tcase_add_loop_test(tcase, test_allowed, 0, UNIT_ROWS(allowed_rows));
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_rows));
}

UNIT_PROGRAM(add)
