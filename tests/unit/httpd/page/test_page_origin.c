/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/origin.h"

#include "request.h"

#define HOST "Host: shop.example\n"

/* A form of a hosted page comes from the page itself. */
static const struct {
    const char *name;
    const char *headers;
    int is_tls;
    const char *told; /* PaymentsCheckoutURL; NULL: none */
    int want;
} origin_rows[] = {
    {"our origin", HOST "Origin: http://shop.example", 0, NULL, 1},
    {"no origin", HOST, 0, NULL, 1},
    {"and the browser's word", HOST "Sec-Fetch-Site: same-origin", 0, NULL, 1},
    {"a neighbour", HOST "Sec-Fetch-Site: same-site", 0, NULL, 0},
    {"another site", HOST "Sec-Fetch-Site: cross-site", 0, NULL, 0},
    {"another site with our origin", HOST "Sec-Fetch-Site: cross-site\nOrigin: http://shop.example",
     0, NULL, 0},
    {"the address bar", HOST "Sec-Fetch-Site: none", 0, NULL, 0},
    {"another origin", HOST "Origin: http://evil.example", 0, NULL, 0},
    {"said to be ours", HOST "Sec-Fetch-Site: same-origin\nOrigin: http://evil.example", 0, NULL,
     0},
    {"a sandbox", HOST "Origin: null", 0, NULL, 0},
    {"a port", "Host: shop.example:8080\nOrigin: http://shop.example:8080", 0, NULL, 1},
    {"the beginning of ours", "Host: shop.example:8080\nOrigin: http://shop.example:80", 0, NULL,
     0},
    {"a port where there is none", HOST "Origin: http://shop.example:8080", 0, NULL, 0},
    {"a longer name", HOST "Origin: http://shop.example.evil.example", 0, NULL, 0},
    {"a shorter one", "Host: shop.example.org\nOrigin: http://shop.example", 0, NULL, 0},
    {"the address that payers were told", "Host: inner\nOrigin: https://pay.example", 0,
     "https://pay.example", 1},
    {"of another scheme's port", "Host: inner\nOrigin: http://pay.example", 0,
     "https://pay.example", 0},
    {"of another port", "Host: inner\nOrigin: https://pay.example:81", 0, "https://pay.example", 0},
    {"of another name", "Host: inner\nOrigin: https://play.example", 0, "https://pay.example", 0},
    {"no Host", "Origin: http://shop.example", 0, NULL, 1},
    {"another origin without Host", "Origin: http://evil.example", 0, NULL, 0},
};

START_TEST(test_origins)
{
    request_rec *r = request_make(request_server());

    stand_in = (stand_in_t){.is_tls = origin_rows[_i].is_tls};
    if (origin_rows[_i].told) {
        request_set(r->server, "PaymentsCheckoutURL", origin_rows[_i].told);
    }
    request_headers(r, origin_rows[_i].headers);
    ck_assert_msg(pay_page_origin_is_own(r) == origin_rows[_i].want, "%s", origin_rows[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_origins, 0, UNIT_ROWS(origin_rows));
}

UNIT_PROGRAM(add)
