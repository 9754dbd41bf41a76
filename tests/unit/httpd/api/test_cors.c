/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/cors.h"

#include "httpd/api/routes.h"

#include "request.h"

#define SHOP "https://shop.example"
#define PAY "/api/v1/initiate"
#define CHARGE "/api/v1/tokenized-card-charge"
#define VERIFY "/api/v1/checkout/cp_1/verify"

static const struct {
    const char *name;
    const char *path, *method, *origin;
    const char *asked; /* Access-Control-Request-Method; NULL: absent */
    int varies;
    int allowed;
    const char *preflight; /* the methods; NULL: it is not a preflight */
} cors_rows[] = {
    {"a call", PAY, "POST", SHOP, NULL, 1, 1, NULL},
    {"a look", VERIFY, "GET", SHOP, NULL, 1, 1, NULL},
    {"its preflight", VERIFY, "OPTIONS", SHOP, "GET", 1, 1, "GET, HEAD"},
    {"a preflight", PAY, "OPTIONS", SHOP, "POST", 1, 1, "POST"},
    {"of HEAD", VERIFY, "OPTIONS", SHOP, "HEAD", 1, 1, "GET, HEAD"},
    {"the second origin", PAY, "POST", "http://localhost:3000", NULL, 1, 1, NULL},
    {"another origin", PAY, "POST", "https://evil.example", NULL, 1, 0, NULL},
    {"and its preflight", PAY, "OPTIONS", "https://evil.example", "POST", 1, 0, NULL},
    {"an origin in capitals", PAY, "POST", "https://SHOP.example", NULL, 1, 0, NULL},
    {"the beginning of ours", PAY, "POST", "https://shop.exampl", NULL, 1, 0, NULL},
    {"more than ours", PAY, "POST", "https://shop.example.evil.example", NULL, 1, 0, NULL},
    {"null", PAY, "POST", "null", NULL, 1, 0, NULL},
    {"no origin", PAY, "POST", NULL, NULL, 1, 0, NULL},
    {"a preflight of another method", PAY, "OPTIONS", SHOP, "GET", 1, 0, NULL},
    {"of DELETE", PAY, "OPTIONS", SHOP, "DELETE", 1, 0, NULL},
    {"of a method in small letters", PAY, "OPTIONS", SHOP, "post", 1, 0, NULL},
    {"OPTIONS that asks for nothing", PAY, "OPTIONS", SHOP, NULL, 1, 0, NULL},
    {"another method", PAY, "GET", SHOP, NULL, 1, 0, NULL},
    {"an operation of secret keys", CHARGE, "POST", SHOP, NULL, 0, 0, NULL},
    {"and its preflight", CHARGE, "OPTIONS", SHOP, "POST", 0, 0, NULL},
    {"a path without operation", "/api/v1/none", "POST", SHOP, NULL, 0, 0, NULL},
    {"a segment that is empty", "/api/v1/checkout//verify", "GET", SHOP, NULL, 0, 0, NULL},
};

static request_rec *make_call(int row)
{
    request_rec *r = request_make(request_server());

    request_set(r->server, "PaymentsCORSOrigin", SHOP " http://localhost:3000");
    r->method = cors_rows[row].method;
    r->method_number = !strcmp(r->method, "POST")      ? M_POST
                       : !strcmp(r->method, "OPTIONS") ? M_OPTIONS
                                                       : M_GET;
    pay_call_make(r)->path = cors_rows[row].path;
    if (cors_rows[row].origin) {
        apr_table_setn(r->headers_in, "Origin", cors_rows[row].origin);
    }
    if (cors_rows[row].asked) {
        apr_table_setn(r->headers_in, "Access-Control-Request-Method", cors_rows[row].asked);
    }
    return r;
}

START_TEST(test_calls)
{
    const char *name = cors_rows[_i].name;
    request_rec *r = make_call(_i);
    const pay_call_t *call = pay_call_get(r);
    const char *preflight = cors_rows[_i].preflight;

    pay_cors_begin(r);
    ck_assert_msg(call->cors_varies == cors_rows[_i].varies, "%s: varies", name);
    ck_assert_msg(!call->cors_origin == !cors_rows[_i].allowed, "%s: origin", name);
    ck_assert(!call->cors_origin || !strcmp(call->cors_origin, cors_rows[_i].origin));
    ck_assert_msg(preflight ? call->cors_preflight && !strcmp(call->cors_preflight, preflight)
                            : !call->cors_preflight,
                  "%s: preflight: %s", name, call->cors_preflight);
}
END_TEST

START_TEST(test_nobody_without_origins)
{
    request_rec *r = make_call(_i);

    pay_conf_get(r->server)->cors_origins = NULL;
    pay_cors_begin(r);
    ck_assert(!pay_call_get(r)->cors_varies && !pay_call_get(r)->cors_origin
              && !pay_call_get(r)->cors_preflight);
}
END_TEST

/* A subrequest of mod_include is not a browser's call. */
START_TEST(test_no_subrequests)
{
    request_rec *r = make_call(_i);

    r->main = request_make(r->server);
    pay_cors_begin(r);
    ck_assert(!pay_call_get(r)->cors_varies && !pay_call_get(r)->cors_origin
              && !pay_call_get(r)->cors_preflight);
}
END_TEST

/* An internal redirect has the method of another request's answer: it is not a preflight. */
START_TEST(test_no_preflight_in_a_redirect)
{
    request_rec *r = make_call(_i);

    r->prev = request_make(r->server);
    pay_cors_begin(r);
    ck_assert_ptr_null(pay_call_get(r)->cors_preflight);
    ck_assert_msg(!pay_call_get(r)->cors_origin
                      == (!cors_rows[_i].allowed || cors_rows[_i].preflight != NULL),
                  "%s", cors_rows[_i].name);
    ck_assert_int_eq(pay_call_get(r)->cors_varies, cors_rows[_i].varies);
}
END_TEST

/* ---- the table of operations */

static const struct {
    const char *path;
    int method;
    const char *operation; /* NULL: none */
    const char *allow;
    const char *first, *second;
} route_rows[] = {
    {CHARGE, M_POST, "tokenized-card-charge", "POST, OPTIONS", NULL, NULL},
    {CHARGE, M_GET, NULL, "POST, OPTIONS", NULL, NULL},
    {"/api/v1/refund", M_POST, "refund", "POST, OPTIONS", NULL, NULL},
    {"/api/v1/refund/rf_1", M_GET, "refund-get", "GET, HEAD, OPTIONS", "rf_1", NULL},
    {"/api/v1/refund/rf_1", M_POST, NULL, "GET, HEAD, OPTIONS", NULL, NULL},
    {"/api/v1/refund/a/b", M_GET, "refund-list", "GET, HEAD, OPTIONS", "a", "b"},
    {"/api/v1/refund/a/b/c", M_GET, NULL, NULL, NULL, NULL},
    {"/api/v1/refund/", M_GET, NULL, NULL, NULL, NULL},
    {"/api/v1/refund//", M_GET, NULL, NULL, NULL, NULL},
    {"/api/v1/refund/a/", M_GET, NULL, NULL, NULL, NULL},
    {"/api/v1/refunds", M_POST, NULL, NULL, NULL, NULL},
    {"/api/v1/refun", M_POST, NULL, NULL, NULL, NULL},
    {"/api/v1/transaction/verify", M_POST, "transaction-verify-amount", "POST, OPTIONS", NULL,
     NULL},
    {"/api/v1/transaction/t/verify", M_GET, "transaction-verify", "GET, HEAD, OPTIONS", "t", NULL},
    {"/api/v1/transaction", M_GET, "transaction-list", "GET, HEAD, OPTIONS", NULL, NULL},
    {"/api/v1/transaction", M_POST, NULL, "GET, HEAD, OPTIONS", NULL, NULL},
    {"/api/v1/checkout/transaction/t", M_GET, "checkout-transaction", "GET, HEAD, OPTIONS", "t",
     NULL},
    {"/api/v1/checkout/transaction/verify", M_GET, "checkout-verify", "GET, HEAD, OPTIONS",
     "transaction", NULL},
    {"/api/v1/report/a/b", M_GET, "report", "GET, HEAD, OPTIONS", "a", "b"},
    {"/api/v1/banks/NG", M_GET, "banks", "GET, HEAD, OPTIONS", "NG", NULL},
    {"/api/v1/banks/account/verify", M_POST, NULL, NULL, NULL, NULL},
    {"/api/v1/virtual-accounts/bank-list", M_GET, "virtual-account-banks", "GET, HEAD, OPTIONS",
     NULL, NULL},
    {"/payment/order/create", M_POST, "order-create", "POST, OPTIONS", NULL, NULL},
    {"/payment/order/create", M_GET, NULL, "POST, OPTIONS", NULL, NULL},
    {"/payment/order/verify", M_POST, "order-verify", "POST, OPTIONS", NULL, NULL},
    {"/payment/order/status", M_POST, "order-status", "POST, OPTIONS", NULL, NULL},
    {"/payment/order/o", M_GET, "order-get", "GET, HEAD, OPTIONS", "o", NULL},
    {"/payment/order", M_GET, NULL, NULL, NULL, NULL},
    {"", M_GET, NULL, NULL, NULL, NULL},
};

START_TEST(test_routes)
{
    const char *segment[PAY_PATH_SEGMENTS_MAX] = {"left", "alone"};
    const char *want = route_rows[_i].operation;
    const pay_route_t *route;
    const char *allow;

    route = pay_route_find(&allow, segment, route_rows[_i].path, route_rows[_i].method, unit_pool);
    ck_assert_msg(want ? route && !strcmp(route->operation, want) : !route, "%s",
                  route_rows[_i].path);
    ck_assert_msg(route_rows[_i].allow ? allow && !strcmp(allow, route_rows[_i].allow) : !allow,
                  "%s: %s", route_rows[_i].path, allow);
    if (!route) {
        ck_assert_str_eq(segment[0], "left");
        return;
    }
    ck_assert_pstr_eq(segment[0], route_rows[_i].first);
    ck_assert_pstr_eq(segment[1], route_rows[_i].second);
    ck_assert_str_eq(pay_route_operation(pay_route_number(route)), want);
}
END_TEST

/* Every other operation is for secret keys alone; a browser has no secret key. */
START_TEST(test_what_public_keys_may)
{
    static const char *const may[] = {
        "checkout-verify",  "transaction-fee", "checkout-transaction",
        "ussd-banks",       "banks",           "virtual-account-banks",
        "initiate",         "openapi",         "paymentlink-initiate",
        "order-create",     "order-verify",    "order-status",
        "order-status-get", "order-get",       "order-fee",
    };
    const pay_route_t *route;
    int i, k, public;

    for (i = 1; (route = pay_route_at(i)) != NULL; i++) {
        for (public = 0, k = 0; k < UNIT_ROWS(may); k++) {
            public |= !strcmp(route->operation, may[k]);
        }
        ck_assert_msg(route->public_too == public,
                      "%s: its row says %d; name it in `may` if public keys may call it",
                      route->operation, route->public_too);
        ck_assert_int_eq(pay_route_number(route), i);
    }
    ck_assert_int_gt(i, UNIT_ROWS(may));
    ck_assert_ptr_null(pay_route_operation(i));
    ck_assert_str_eq(pay_route_operation(0), "none");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_calls, 0, UNIT_ROWS(cors_rows));
    tcase_add_loop_test(tcase, test_nobody_without_origins, 0, UNIT_ROWS(cors_rows));
    tcase_add_loop_test(tcase, test_no_subrequests, 0, UNIT_ROWS(cors_rows));
    tcase_add_loop_test(tcase, test_no_preflight_in_a_redirect, 0, UNIT_ROWS(cors_rows));
    tcase_add_loop_test(tcase, test_routes, 0, UNIT_ROWS(route_rows));
    tcase_add_test(tcase, test_what_public_keys_may);
}

UNIT_PROGRAM(add)
