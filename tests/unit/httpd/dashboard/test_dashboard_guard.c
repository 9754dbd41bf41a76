/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/guard.h"

#include "request.h"

#define PLAIN 0
#define TLS 1
#define OUT_OF_DATE "C1"
#define ANOTHERS "C2"

/* ---- who asks */

static const struct {
    const char *name;
    const char *user;
    const char *type;     /* of the request: set by the module that set the user */
    const char *conf;     /* AuthType */
    const char *verified; /* SSL_CLIENT_VERIFY */
    int is_key;           /* AuthType Payments has judged it */
    const char *fault;    /* in the log; NULL: let in */
} user_rows[] = {
    {"Basic", "ada", "Basic", "Basic", NULL, 0, NULL},
    {"any other type", "ada", "openid-connect", NULL, NULL, 0, NULL},
    {"by the place's type alone", "ada", NULL, "Basic", NULL, 0, NULL},
    {"a verified certificate", "ada", NULL, NULL, "SUCCESS", 0, NULL},
    {"and of that type", "ada", "ClientCert", NULL, "SUCCESS", 0, NULL},
    {"no certificate was shown", "ada", "Basic", NULL, "NONE", 0, NULL},
    {"mod_ssl says nothing", "ada", "Basic", NULL, "", 0, NULL},
    {"nobody", NULL, "Basic", "Basic", NULL, 0, "nobody was authenticated"},
    {"an empty name", "", "Basic", "Basic", NULL, 0, "nobody was authenticated"},
    {"a key", "shop/test/key", "Bearer", "Payments", NULL, 1, "not a person"},
    {"a name that nothing vouches for", "ada", NULL, NULL, NULL, 0, "names nobody"},
    {"AuthType None", "ada", NULL, "None", NULL, 0, "names nobody"},
    {"in small letters", "ada", "none", NULL, NULL, 0, "names nobody"},
    {"of the request before the place's", "ada", "None", "Basic", NULL, 0, "names nobody"},
    {"a certificate's type without one", "ada", "ClientCert", NULL, NULL, 0, "names nobody"},
    {"in capitals", "ada", "CLIENTCERT", NULL, "NONE", 0, "names nobody"},
    {"a certificate nobody has verified", "ada", "Basic", "Basic", "FAILED:self signed", 0,
     "names nobody"},
    {"one of an unknown authority", "ada", "Basic", "Basic", "GENEROUS", 0, "names nobody"},
    {"almost verified", "ada", "Basic", NULL, "SUCCESSFUL", 0, "names nobody"},
    {"no text", "a\001da", "Basic", NULL, NULL, 0, "longer than 255 bytes or is not plain"},
};

START_TEST(test_who_asks)
{
    request_rec *r = request_make(request_server());
    pay_dashboard_t dashboard = {.path = ""};
    const pay_problem_t *problem;
    const char *name = user_rows[_i].name;

    stand_in =
        (stand_in_t){.auth_type = user_rows[_i].conf, .client_verify = user_rows[_i].verified};
    request_set(r->server, "PaymentsDashboard", "/desk");
    r->user = (char *)user_rows[_i].user;
    r->ap_auth_type = (char *)user_rows[_i].type;
    if (user_rows[_i].is_key) {
        pay_call_make(r)->judged = 1;
    } else {
        (void)pay_call_make(r);
    }
    problem = pay_dashboard_judge_user(r, &dashboard);
    if (!user_rows[_i].fault) {
        ck_assert_msg(!problem, "%s: %s", name, problem ? problem->message : "");
        ck_assert_str_eq(dashboard.user, "ada");
        ck_assert_str_eq(dashboard.host, REQUEST_HOST);
        ck_assert_int_eq(stand_in.logged, 0);
        return;
    }
    ck_assert_msg(problem && problem->status == HTTP_FORBIDDEN, "%s", name);
    ck_assert_msg(strstr(problem->message, user_rows[_i].fault) != NULL, "%s", problem->message);
    ck_assert_ptr_null(dashboard.user);
    ck_assert_msg(stand_in.logged == 1 && strstr(stand_in.log, user_rows[_i].fault)
                      && strstr(stand_in.log, "PaymentsDashboard /desk is refused"),
                  "%s: %s", name, stand_in.log);
}
END_TEST

/* Each cause has a line, and no cause has two within a minute. */
START_TEST(test_the_log_is_not_filled)
{
    request_rec *r = request_make(request_server());
    pay_dashboard_t dashboard = {.path = ""};
    int i;

    stand_in = (stand_in_t){.auth_type = NULL};
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(pay_dashboard_judge_user(r, &dashboard));
    }
    ck_assert_int_eq(stand_in.logged, 1);
    r->user = (char *)"ada";
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(pay_dashboard_judge_user(r, &dashboard));
    }
    ck_assert_int_eq(stand_in.logged, 2);
}
END_TEST

START_TEST(test_a_host_without_a_name_has_no_dashboard)
{
    request_rec *r = request_make(request_server());
    pay_dashboard_t dashboard = {.path = ""};

    stand_in = (stand_in_t){.auth_type = "Basic"};
    r->user = (char *)"ada";
    r->server->server_hostname = NULL;
    ck_assert_int_eq(pay_dashboard_judge_user(r, &dashboard)->status, HTTP_FORBIDDEN);
    ck_assert_ptr_null(dashboard.user);
}
END_TEST

/* ---- the token */

static const char *token_of(const char *user, const char *host)
{
    const pay_dashboard_t dashboard = {.user = user, .host = host};
    const char *token;

    ck_assert_ptr_null(pay_dashboard_token(&token, &dashboard, unit_pool));
    return token;
}

START_TEST(test_tokens)
{
    const char *token;

    pay_dashboard_guard_share(request_server());
    token = token_of("ada", "shop.example");
    ck_assert_uint_eq(strlen(token), 64);
    ck_assert_str_eq(token_of("ada", "shop.example"), token);
    ck_assert_str_ne(token_of("bob", "shop.example"), token);
    ck_assert_str_ne(token_of("ada", "shop.examples"), token);
    ck_assert_str_ne(token_of("adas", "hop.example"), token);
    pay_dashboard_guard_share(request_server()); /* a graceful restart */
    ck_assert_str_eq(token_of("ada", "shop.example"), token);
}
END_TEST

/* ---- whether its own pages ask */

#define OURS "Sec-Fetch-Site: same-origin\n"
#define HOST "Host: shop.example\n"

static const struct {
    const char *name;
    const char *headers;
    int is_tls;
    const char *want; /* NULL: may change */
} change_rows[] = {
    {"our origin", HOST "Origin: http://shop.example", PLAIN, NULL},
    {"and the browser's word", HOST OURS "Origin: http://shop.example", PLAIN, NULL},
    {"that alone", HOST OURS, PLAIN, NULL},
    {"in capitals", HOST "Sec-Fetch-Site: SAME-ORIGIN", PLAIN, NULL},
    {"an origin in capitals", HOST "Origin: HTTP://SHOP.EXAMPLE", PLAIN, NULL},
    {"a host in capitals", "Host: SHOP.example\nOrigin: http://shop.example", PLAIN, NULL},
    {"a port", "Host: shop.example:8080\nOrigin: http://shop.example:8080", PLAIN, NULL},
    {"the scheme's port in Host", "Host: shop.example:80\nOrigin: http://shop.example", PLAIN,
     NULL},
    {"that of https", "Host: shop.example:443\nOrigin: https://shop.example", TLS, NULL},
    {"over TLS", HOST "Origin: https://shop.example", TLS, NULL},
    {"behind a proxy that ends TLS", HOST "Origin: https://shop.example", PLAIN, NULL},
    {"IPv6", "Host: [::1]:8080\nOrigin: http://[::1]:8080", PLAIN, NULL},
    {"no sign at all", HOST, PLAIN, ANOTHERS},
    {"the address bar", HOST "Sec-Fetch-Site: none", PLAIN, ANOTHERS},
    {"a neighbour", HOST "Sec-Fetch-Site: same-site", PLAIN, ANOTHERS},
    {"another site", HOST "Sec-Fetch-Site: cross-site", PLAIN, ANOTHERS},
    {"another site with our origin", HOST "Sec-Fetch-Site: cross-site\nOrigin: http://shop.example",
     PLAIN, ANOTHERS},
    {"another origin", HOST "Origin: http://evil.example", PLAIN, ANOTHERS},
    {"another origin, said to be ours", HOST OURS "Origin: http://evil.example", PLAIN, ANOTHERS},
    {"a port that Host's begins with", "Host: shop.example:8080\nOrigin: http://shop.example:80",
     PLAIN, ANOTHERS},
    {"a port that begins with Host's", "Host: shop.example:80\nOrigin: http://shop.example:8080",
     PLAIN, ANOTHERS},
    {"a name that Host's begins with", "Host: shop.example.org\nOrigin: http://shop.example", PLAIN,
     ANOTHERS},
    {"a name that begins with Host's", HOST "Origin: http://shop.example.evil.example", PLAIN,
     ANOTHERS},
    {"a name that ends with Host's", HOST "Origin: http://myshop.example", PLAIN, ANOTHERS},
    {"a port where Host has none", HOST "Origin: http://shop.example:8080", PLAIN, ANOTHERS},
    {"no port where Host has one", "Host: shop.example:8080\nOrigin: http://shop.example", PLAIN,
     ANOTHERS},
    {"the other scheme's port", "Host: shop.example:443\nOrigin: http://shop.example", PLAIN,
     ANOTHERS},
    {"and the other way round", "Host: shop.example:80\nOrigin: https://shop.example", TLS,
     ANOTHERS},
    {"http over TLS", HOST "Origin: http://shop.example", TLS, ANOTHERS},
    {"a sandbox", HOST "Origin: null", PLAIN, ANOTHERS},
    {"an empty origin", HOST "Origin: ", PLAIN, ANOTHERS},
    {"no host in it", HOST "Origin: http://", PLAIN, ANOTHERS},
    {"no host anywhere", "Host: \nOrigin: http://", PLAIN, ANOTHERS},
    {"another scheme", HOST "Origin: ftp://shop.example", PLAIN, ANOTHERS},
    {"no scheme", HOST "Origin: shop.example", PLAIN, ANOTHERS},
    {"no Host", "Origin: http://shop.example", PLAIN, ANOTHERS},
};

static request_rec *make_change(const pay_dashboard_t *dashboard, const char *headers, int is_tls)
{
    request_rec *r = request_make(request_server());

    stand_in = (stand_in_t){.is_tls = is_tls};
    pay_dashboard_guard_share(r->server);
    r->method = "POST";
    r->method_number = M_POST;
    request_headers(r, headers);
    apr_table_setn(r->headers_in, "X-CSRF-Token", token_of(dashboard->user, dashboard->host));
    return r;
}

START_TEST(test_changes)
{
    const pay_dashboard_t dashboard = {.user = "ada", .host = REQUEST_HOST};
    request_rec *r = make_change(&dashboard, change_rows[_i].headers, change_rows[_i].is_tls);
    const pay_problem_t *problem = pay_dashboard_judge_change(r, &dashboard);
    const char *want = change_rows[_i].want;

    ck_assert_msg(want
                      ? problem && problem->status == HTTP_FORBIDDEN && !strcmp(problem->code, want)
                      : !problem,
                  "%s: %s", change_rows[_i].name, problem ? problem->code : "may change");
}
END_TEST

START_TEST(test_tokens_of_changes)
{
    const pay_dashboard_t dashboard = {.user = "ada", .host = REQUEST_HOST};
    request_rec *r = make_change(&dashboard, HOST OURS, PLAIN);
    char *right = apr_pstrdup(unit_pool, apr_table_get(r->headers_in, "X-CSRF-Token"));
    const char *wrong[] = {
        NULL,
        "",
        "x",
        token_of("bob", REQUEST_HOST),
        token_of("ada", "other.example"),
        apr_pstrcat(unit_pool, right, "0", NULL),
        apr_pstrmemdup(unit_pool, right, strlen(right) - 1),
    };
    const pay_problem_t *problem;
    int i;

    ck_assert_ptr_null(pay_dashboard_judge_change(r, &dashboard));
    for (i = 0; i < UNIT_ROWS(wrong); i++) {
        if (wrong[i]) {
            apr_table_setn(r->headers_in, "X-CSRF-Token", wrong[i]);
        } else {
            apr_table_unset(r->headers_in, "X-CSRF-Token");
        }
        problem = pay_dashboard_judge_change(r, &dashboard);
        ck_assert_msg(problem && !strcmp(problem->code, OUT_OF_DATE), "%d: %s", i, wrong[i]);
    }
}
END_TEST

/* Requests that only read may also be a person's own. */
static const struct {
    const char *site;
    int method;
    int want;
} site_rows[] = {
    {NULL, M_GET, 1},        {"same-origin", M_GET, 1},
    {"none", M_GET, 1},      {"None", M_GET, 1},
    {"same-site", M_GET, 0}, {"cross-site", M_GET, 0},
    {"", M_GET, 0},          {"same-origins", M_GET, 0},
    {"none", M_POST, 0},     {"same-origin", M_POST, 1},
    {NULL, M_POST, 1},
};

START_TEST(test_sites)
{
    request_rec *r = request_make(request_server());
    const pay_problem_t *problem;

    r->method_number = site_rows[_i].method;
    if (site_rows[_i].site) {
        apr_table_setn(r->headers_in, "Sec-Fetch-Site", site_rows[_i].site);
    }
    problem = pay_dashboard_judge_site(r);
    ck_assert_msg((problem == NULL) == site_rows[_i].want, "%s", site_rows[_i].site);
    ck_assert(!problem || !strcmp(problem->code, ANOTHERS));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_who_asks, 0, UNIT_ROWS(user_rows));
    tcase_add_test(tcase, test_the_log_is_not_filled);
    tcase_add_test(tcase, test_a_host_without_a_name_has_no_dashboard);
    tcase_add_test(tcase, test_tokens);
    tcase_add_loop_test(tcase, test_changes, 0, UNIT_ROWS(change_rows));
    tcase_add_test(tcase, test_tokens_of_changes);
    tcase_add_loop_test(tcase, test_sites, 0, UNIT_ROWS(site_rows));
}

UNIT_PROGRAM(add)
