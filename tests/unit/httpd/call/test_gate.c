/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/gate.h"

#include "httpd/call/gate_require.h"
#include "httpd/call/page_root.h"
#include "model/api_key.h"

#include "request.h"
#include "shop.h"

#define ANYBODY "203.0.113.7"
#define PROXY "10.0.0.9" /* one that is trusted */

static const struct {
    const char *name;
    const char *client;
    const char *headers;
    int is_tls;
    int trusts_loopback; /* PaymentsTrustedTLSProxy names 127.0.0.1 too */
    const char *require; /* NULL: the default */
    int want;            /* served */
    int behind_tls;      /* the client's own scheme is https, as a proxy reports */
} transport_rows[] = {
    {"anybody in plain text", ANYBODY, NULL, 0, 0, NULL, 0, 0},
    {"anybody over TLS", ANYBODY, NULL, 1, 0, NULL, 1, 0},
    {"where nobody asks for TLS", ANYBODY, NULL, 0, 0, "Off", 1, 0},
    {"where it is asked for", ANYBODY, NULL, 0, 0, "On", 0, 0},
    {"anybody who says https", ANYBODY, "X-Forwarded-Proto: https", 0, 0, NULL, 0, 0},
    {"a proxy that says https", PROXY, "X-Forwarded-Proto: https", 0, 0, NULL, 1, 1},
    {"in capitals", PROXY, "X-Forwarded-Proto: HTTPS", 0, 0, NULL, 1, 1},
    {"a proxy that says http", PROXY, "X-Forwarded-Proto: http", 0, 0, NULL, 0, 0},
    {"a proxy that says more", PROXY, "X-Forwarded-Proto: https, http", 0, 0, NULL, 0, 0},
    {"a proxy that says nothing", PROXY, NULL, 0, 0, NULL, 0, 0},
    {"two words of a proxy's", PROXY, "X-Forwarded-Proto: httpsx", 0, 0, NULL, 0, 0},
    {"a neighbour of the proxy", "11.0.0.9", "X-Forwarded-Proto: https", 0, 0, NULL, 0, 0},
    {"loopback", "127.0.0.1", NULL, 0, 0, NULL, 1, 0},
    {"loopback of IPv6", "::1", NULL, 0, 0, NULL, 1, 0},
    {"loopback behind a proxy", "127.0.0.1", "X-Forwarded-For: 203.0.113.7", 0, 0, NULL, 0, 0},
    {"that says https and is not trusted", "127.0.0.1", "X-Forwarded-Proto: https", 0, 0, NULL, 0,
     0},
    {"that is trusted and says nothing", "127.0.0.1", "X-Forwarded-For: 203.0.113.7", 0, 1, NULL, 1,
     0},
    {"that is trusted and says https", "127.0.0.1", "X-Forwarded-Proto: https", 0, 1, NULL, 1, 1},
    {"that is trusted and says http", "127.0.0.1", "X-Forwarded-Proto: http", 0, 1, NULL, 0, 0},
};

START_TEST(test_transport)
{
    const char *name = transport_rows[_i].name;
    request_rec *r = request_make(request_server());
    const pay_problem_t *problem;

    stand_in = (stand_in_t){.is_tls = transport_rows[_i].is_tls};
    request_set(r->server, "PaymentsTrustedTLSProxy", "192.0.2.200 10.0.0.0/8");
    if (transport_rows[_i].trusts_loopback) {
        request_set(r->server, "PaymentsTrustedTLSProxy", "127.0.0.1");
    }
    if (transport_rows[_i].require) {
        request_set(r->server, "PaymentsRequireTLS", transport_rows[_i].require);
    }
    request_come_from(r, transport_rows[_i].client);
    request_headers(r, transport_rows[_i].headers);
    problem = pay_gate_judge_transport(r);
    ck_assert_msg((problem == NULL) == transport_rows[_i].want, "%s", name);
    ck_assert(!problem || problem->status == HTTP_FORBIDDEN);
    ck_assert_int_eq(stand_in.logged, problem ? 1 : 0);
    ck_assert_msg(pay_gate_is_behind_tls(r) == transport_rows[_i].behind_tls, "%s: behind TLS",
                  name);
}
END_TEST

/* The address of the connection counts, not the one that mod_remoteip has read from a header. */
START_TEST(test_transport_of_a_claimed_address)
{
    request_rec *r = request_make(request_server());

    stand_in = (stand_in_t){.is_tls = 0};
    r->useragent_addr = request_address("127.0.0.1");
    ck_assert_ptr_nonnull(pay_gate_judge_transport(r));
    request_set(r->server, "PaymentsTrustedTLSProxy", "127.0.0.1");
    apr_table_setn(r->headers_in, "X-Forwarded-Proto", "https");
    ck_assert_ptr_nonnull(pay_gate_judge_transport(r));
    ck_assert_int_eq(pay_gate_is_behind_tls(r), 0);
    request_come_from(r, "127.0.0.1");
    apr_table_unset(r->headers_in, "X-Forwarded-Proto");
    r->useragent_addr = request_address(ANYBODY);
    ck_assert_ptr_null(pay_gate_judge_transport(r)); /* the proxy is trusted */
}
END_TEST

/* ---- addresses of pages, as a payer's browser must have them */

static const struct {
    const char *name;
    const char *directive, *value;
    const char *headers;
    const char *client;
    const char *called; /* the name of Host; NULL: absent */
    int is_tls, port;
    const char *want;
} root_rows[] = {
    {"plain", NULL, NULL, NULL, ANYBODY, NULL, 0, 0, "http://shop.example/payment/page/"},
    {"over TLS", NULL, NULL, NULL, ANYBODY, NULL, 1, 0, "https://shop.example/payment/page/"},
    {"with a port", NULL, NULL, NULL, ANYBODY, NULL, 0, 8080,
     "http://shop.example:8080/payment/page/"},
    {"the other scheme's port", NULL, NULL, NULL, ANYBODY, NULL, 1, 80,
     "https://shop.example:80/payment/page/"},
    {"behind TLS", NULL, NULL, "X-Forwarded-Proto: https", PROXY, NULL, 0, 8080,
     "https://shop.example/payment/page/"},
    {"by another name", NULL, NULL, "X-Forwarded-Proto: https", PROXY, "www.shop.example", 0, 0,
     "https://www.shop.example/payment/page/"},
    {"said by anybody", NULL, NULL, "X-Forwarded-Proto: https", ANYBODY, "www.shop.example", 0, 0,
     "http://www.shop.example/payment/page/"},
    {"below a path", "PaymentsBasePath", "/pay", NULL, ANYBODY, NULL, 0, 0,
     "http://shop.example/pay/payment/page/"},
    {"as configured", "PaymentsCheckoutURL", "https://pay.example", "X-Forwarded-Proto: https",
     PROXY, "www.shop.example", 0, 0, "https://pay.example/payment/page/"},
};

START_TEST(test_page_root)
{
    request_rec *r = request_make(request_server());

    stand_in = (stand_in_t){.is_tls = root_rows[_i].is_tls};
    request_set(r->server, "PaymentsTrustedTLSProxy", "10.0.0.0/8");
    if (root_rows[_i].directive) {
        request_set(r->server, root_rows[_i].directive, root_rows[_i].value);
    }
    request_come_from(r, root_rows[_i].client);
    request_headers(r, root_rows[_i].headers);
    r->hostname = root_rows[_i].called;
    r->parsed_uri.port = (apr_port_t)root_rows[_i].port;
    r->parsed_uri.port_str = root_rows[_i].port ? (char *)"" : NULL;
    ck_assert_msg(!strcmp(pay_page_root(r), root_rows[_i].want), "%s: %s", root_rows[_i].name,
                  pay_page_root(r));
}
END_TEST

/* ---- Require payments-key */

static pay_api_key_t *key_of(pay_key_kind_t kind, pay_mode_t mode)
{
    pay_api_key_t *key = apr_pcalloc(unit_pool, sizeof(*key));

    key->kind = kind;
    key->scope.mode = mode;
    return key;
}

static const authz_provider *require(void)
{
    pay_gate_require_register(unit_pool);
    return stand_in.require;
}

static const struct {
    const char *line;
    int secret_test, secret_live, public_test, public_live;
    int preflight;
} require_rows[] = {
    {"secret", 1, 1, 0, 0, 0},      {"public", 0, 0, 1, 1, 1},
    {"test", 1, 0, 1, 0, 1},        {"live", 0, 1, 0, 1, 1},
    {"secret live", 0, 1, 0, 0, 0}, {"live secret", 0, 1, 0, 0, 0},
    {"public test", 0, 0, 1, 0, 1}, {"secret public", 1, 1, 1, 1, 1},
    {"test live", 1, 1, 1, 1, 1},   {"secret public live", 0, 1, 0, 1, 1},
};

START_TEST(test_require)
{
    const int want[2][2] = {
        [PAY_KEY_SECRET] = {require_rows[_i].secret_test, require_rows[_i].secret_live},
        [PAY_KEY_PUBLIC] = {require_rows[_i].public_test, require_rows[_i].public_live},
    };
    const char *line = require_rows[_i].line;
    request_rec *r = request_make(request_server());
    cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool, .server = r->server};
    const void *rule = NULL;
    int kind, mode;

    ck_assert_ptr_null(require()->parse_require_line(&cmd, line, &rule));
    ck_assert_int_eq(require()->check_authorization(r, line, rule), AUTHZ_DENIED_NO_USER);
    r->user = (char *)"ada"; /* of another module */
    ck_assert_int_eq(require()->check_authorization(r, line, rule), AUTHZ_DENIED);
    for (kind = PAY_KEY_SECRET; kind <= PAY_KEY_PUBLIC; kind++) {
        for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
            pay_call_make(r)->key = key_of((pay_key_kind_t)kind, (pay_mode_t)mode);
            ck_assert_msg(require()->check_authorization(r, line, rule)
                              == (want[kind][mode == PAY_LIVE] ? AUTHZ_GRANTED : AUTHZ_DENIED),
                          "%s: %d %d", line, kind, mode);
        }
    }
    pay_call_make(r)->key = NULL;
    pay_call_make(r)->cors_preflight = "POST";
    ck_assert_msg(require()->check_authorization(r, line, rule)
                      == (require_rows[_i].preflight ? AUTHZ_GRANTED : AUTHZ_DENIED),
                  "%s: a preflight", line);
}
END_TEST

START_TEST(test_require_wants_words_it_knows)
{
    static const char *const lines[] = {"", "  ", "key", "secret key", "Secret", "secret,live"};
    cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool};
    const void *rule = NULL;

    ck_assert_msg(require()->parse_require_line(&cmd, lines[_i], &rule) != NULL, "%s", lines[_i]);
    ck_assert_ptr_null(rule);
}
END_TEST

/* ---- keys */

typedef struct visit_t {
    request_rec *r;
    shop_t *shop;
    const char *text; /* of a secret key of Test Mode */
} visit_t;

static visit_t visit_make(void)
{
    visit_t visit = {request_make(request_server()), shop_open(unit_dir()), NULL};
    pay_api_key_t *key;

    stand_in = (stand_in_t){.is_tls = 1};
    request_set(visit.r->server, "PaymentsEngine", "On");
    pay_conf_get(visit.r->server)->service = &visit.shop->service;
    ck_assert_ptr_null(pay_key_issue(&key, &visit.text, &visit.shop->service, visit.shop->account,
                                     PAY_TEST, PAY_KEY_SECRET, unit_pool));
    request_set(visit.r->server, "PaymentsAuthFailureLimit", "off");
    return visit;
}

START_TEST(test_a_key)
{
    visit_t visit = visit_make();
    request_rec *r = visit.r;

    apr_table_setn(r->headers_in, "Authorization",
                   apr_pstrcat(unit_pool, "Bearer ", visit.text, NULL));
    ck_assert_ptr_null(pay_gate_judge(r));
    ck_assert_ptr_nonnull(pay_call_get(r)->key);
    ck_assert_ptr_null(apr_table_get(r->headers_in, "Authorization"));
    ck_assert_ptr_nonnull(strstr(r->user, "demo/test/key_"));
    ck_assert_str_eq(apr_table_get(r->subprocess_env, "PAYMENTS_ACCOUNT"), "demo");
    ck_assert_str_eq(apr_table_get(r->subprocess_env, "PAYMENTS_MODE"), "test");
    ck_assert_str_eq(pay_call_get(r)->public_key, "");
    ck_assert_ptr_null(pay_gate_judge(r)); /* judged once, although the header is gone */
}
END_TEST

START_TEST(test_two_keys_are_none)
{
    visit_t visit = visit_make();
    request_rec *r = visit.r;
    const char *value = apr_pstrcat(unit_pool, "Bearer ", visit.text, NULL);

    apr_table_addn(r->headers_in, "Authorization", value);
    apr_table_addn(r->headers_in, "authorization", value);
    ck_assert_int_eq(pay_gate_judge(r)->status, HTTP_UNAUTHORIZED);
    ck_assert_ptr_null(pay_call_get(r)->key);
    ck_assert_ptr_null(apr_table_get(r->headers_in, "Authorization"));
    ck_assert_ptr_null(r->user);
}
END_TEST

static const struct {
    const char *name;
    int engine, is_tls, has_service;
    int status;
} closed_rows[] = {
    {"no engine", 0, 1, 1, HTTP_INTERNAL_SERVER_ERROR},
    {"no TLS", 1, 0, 1, HTTP_FORBIDDEN},
    {"no store", 1, 1, 0, HTTP_SERVICE_UNAVAILABLE},
};

/* A valid key opens nothing there. */
START_TEST(test_closed)
{
    visit_t visit = visit_make();
    request_rec *r = visit.r;

    apr_table_setn(r->headers_in, "Authorization", visit.text);
    stand_in.is_tls = closed_rows[_i].is_tls;
    pay_conf_get(r->server)->engine = closed_rows[_i].engine;
    if (!closed_rows[_i].has_service) {
        pay_conf_get(r->server)->service = NULL;
    }
    ck_assert_msg(pay_gate_judge(r)->status == closed_rows[_i].status, "%s: %d",
                  closed_rows[_i].name, pay_gate_judge(r)->status);
    ck_assert_ptr_null(pay_call_get(r)->key);
    ck_assert_ptr_null(apr_table_get(r->headers_in, "Authorization"));
}
END_TEST

/* The log reports a key in a URL, if it is one. */
START_TEST(test_a_key_in_a_url)
{
    visit_t visit = visit_make();
    request_rec *r = visit.r;

    pay_call_make(r)->url_key = visit.text;
    ck_assert_int_eq(pay_gate_judge(r)->status, HTTP_UNAUTHORIZED);
    ck_assert_int_eq(stand_in.logged, 1);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "was sent in a URL"));
    ck_assert_ptr_nonnull(strstr(pay_gate_judge(r)->message, "revoke that key"));

    r = request_make(r->server);
    pay_call_make(r)->url_key = "pay_sk_test_0000000000000000000000000000000000000000000";
    ck_assert_int_eq(pay_gate_judge(r)->status, HTTP_UNAUTHORIZED);
    ck_assert_int_eq(stand_in.logged, 1);
}
END_TEST

static const struct {
    const char *name;
    int status, given, has_key;
    const char *want;
} challenge_rows[] = {
    {"nothing given", HTTP_UNAUTHORIZED, 0, 0, "Bearer realm=\"payments\""},
    {"a wrong key", HTTP_UNAUTHORIZED, 1, 0, "Bearer realm=\"payments\", error=\"invalid_token\""},
    {"a right one", HTTP_UNAUTHORIZED, 1, 1, "Bearer realm=\"payments\""},
    {"not for this key", HTTP_FORBIDDEN, 1, 1,
     "Bearer realm=\"payments\", error=\"insufficient_scope\""},
};

START_TEST(test_challenges)
{
    request_rec *r = request_make(request_server());

    pay_call_make(r)->given = challenge_rows[_i].given;
    if (challenge_rows[_i].has_key) {
        pay_call_make(r)->key = key_of(PAY_KEY_SECRET, PAY_TEST);
    }
    pay_gate_challenge(r, challenge_rows[_i].status);
    ck_assert_str_eq(apr_table_get(r->err_headers_out, "WWW-Authenticate"),
                     challenge_rows[_i].want);
}
END_TEST

/* The requests that a Require of the administrator's wants authenticated. */
static const struct {
    const char *name;
    const char *auth_type;
    int is_ours, is_page;
    int want;
} authn_rows[] = {
    {"ours", NULL, 1, 0, HTTP_UNAUTHORIZED},
    {"ours, by name", "payments", 1, 0, HTTP_UNAUTHORIZED},
    {"the site's, by name", "Payments", 0, 0, HTTP_UNAUTHORIZED},
    {"the site's", NULL, 0, 0, DECLINED},
    {"another type", "Basic", 1, 0, DECLINED},
    {"a page", NULL, 1, 1, DECLINED},
    {"a page, by name", "Payments", 1, 1, HTTP_UNAUTHORIZED},
};

START_TEST(test_authentication)
{
    visit_t visit = visit_make();
    request_rec *r = visit.r;

    pay_gate_register_hooks(unit_pool);
    stand_in.auth_type = authn_rows[_i].auth_type;
    pay_call_make(r)->path = authn_rows[_i].is_ours ? "/api/v1/refund" : NULL;
    pay_call_make(r)->is_page = authn_rows[_i].is_page;
    ck_assert_msg(stand_in.check_authn(r) == authn_rows[_i].want, "%s", authn_rows[_i].name);
    ck_assert_int_eq(apr_table_get(r->err_headers_out, "WWW-Authenticate") != NULL,
                     authn_rows[_i].want != DECLINED);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_transport, 0, UNIT_ROWS(transport_rows));
    tcase_add_test(tcase, test_transport_of_a_claimed_address);
    tcase_add_loop_test(tcase, test_page_root, 0, UNIT_ROWS(root_rows));
    tcase_add_loop_test(tcase, test_require, 0, UNIT_ROWS(require_rows));
    tcase_add_loop_test(tcase, test_require_wants_words_it_knows, 0, 6);
    tcase_add_test(tcase, test_a_key);
    tcase_add_test(tcase, test_two_keys_are_none);
    tcase_add_loop_test(tcase, test_closed, 0, UNIT_ROWS(closed_rows));
    tcase_add_test(tcase, test_a_key_in_a_url);
    tcase_add_loop_test(tcase, test_challenges, 0, UNIT_ROWS(challenge_rows));
    tcase_add_loop_test(tcase, test_authentication, 0, UNIT_ROWS(authn_rows));
}

UNIT_PROGRAM(add)
