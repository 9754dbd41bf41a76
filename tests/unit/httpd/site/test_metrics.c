/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/site/metrics.h"

#include "httpd/call/anonymous.h"
#include "httpd/site/site_path.h"

#include "request.h"

/* ---- what Require says */

static int let_local(request_rec *r)
{
    return !strncmp(r->useragent_ip, "127.", 4) ? OK : HTTP_FORBIDDEN;
}

static int let_ipv6(request_rec *r)
{
    return strchr(r->useragent_ip, ':') ? OK : HTTP_FORBIDDEN;
}

static int let_users(request_rec *r)
{
    return r->user && r->ap_auth_type ? OK : HTTP_UNAUTHORIZED;
}

static int let_headers(request_rec *r)
{
    return apr_table_get(r->headers_in, "X-Secret") || apr_table_get(r->subprocess_env, "LET_IN")
               ? OK
               : HTTP_FORBIDDEN;
}

static int let_nobody(request_rec *r)
{
    (void)r;
    return HTTP_FORBIDDEN;
}

static const struct {
    const char *name;
    int (*access)(request_rec *r);
    int satisfies;
    int want; /* an anonymous client is let in */
} anonymous_rows[] = {
    {"no Require", NULL, SATISFY_ALL, 1},
    {"Require local", let_local, SATISFY_ALL, 0},
    {"all of IPv6", let_ipv6, SATISFY_ALL, 1},
    {"a user", let_users, SATISFY_ALL, 0},
    {"a header", let_headers, SATISFY_ALL, 0},
    {"nobody", let_nobody, SATISFY_ALL, 0},
    {"nobody, or else Allow", let_nobody, SATISFY_ANY, 1},
    {"nobody, and nothing is said", let_nobody, SATISFY_NOSPEC, 0},
};

static request_rec *scrape(void)
{
    request_rec *r = request_make(request_server());

    r->useragent_ip = (char *)"127.0.0.1";
    r->user = (char *)"ada";
    r->ap_auth_type = (char *)"Basic";
    apr_table_setn(r->headers_in, "X-Secret", "1");
    apr_table_setn(r->subprocess_env, "LET_IN", "1");
    return r;
}

/* An anonymous client has none of the request's own attributes. */
START_TEST(test_anonymous_clients)
{
    stand_in = (stand_in_t){.access = anonymous_rows[_i].access,
                            .satisfies = anonymous_rows[_i].satisfies};
    ck_assert_msg(pay_anonymous_is_let_in(scrape()) == anonymous_rows[_i].want, "%s",
                  anonymous_rows[_i].name);
}
END_TEST

/* ---- who reads them */

static const struct {
    const char *name;
    int (*access)(request_rec *r);
    const char *client, *header;
    int is_user;
    const char *fault; /* in the log; NULL: answered */
} reader_rows[] = {
    {"from this machine", let_local, "127.0.0.1", NULL, 0, NULL},
    {"from another", let_local, "203.0.113.7", NULL, 0, NULL}, /* Require has let it in */
    {"passed on by this machine", let_local, "127.0.0.1", "Via: 1.1 us", 0,
     "passed the request on"},
    {"and from its own address", let_local, "192.0.2.1", "X-Forwarded-For: 203.0.113.7", 0,
     "passed the request on"},
    {"passed on with a user", let_users, "127.0.0.1", "Via: 1.1 us", 1, NULL},
    {"passed on by another", let_local, "203.0.113.7", "Via: 1.1 proxy", 0, NULL},
    {"where anybody may", NULL, "127.0.0.1", NULL, 0, "anyone could read it"},
    {"where any user may come from anywhere", NULL, "127.0.0.1", NULL, 1, "anyone could read it"},
};

START_TEST(test_readers)
{
    const char *name = reader_rows[_i].name, *fault = reader_rows[_i].fault;
    request_rec *r = request_make(request_server());
    const char *text, *type;
    int i, status = 0;

    stand_in = (stand_in_t){.access = reader_rows[_i].access};
    request_come_from(r, reader_rows[_i].client);
    request_headers(r, reader_rows[_i].header);
    r->uri = (char *)"/metrics";
    r->useragent_ip = (char *)"127.0.0.1";
    if (reader_rows[_i].is_user) {
        r->user = r->ap_auth_type = (char *)"ada";
    }
    for (i = 0; i < 3; i++) {
        status = pay_metrics.answer(&text, &type, r);
    }
    ck_assert_msg(status == (fault ? HTTP_FORBIDDEN : HTTP_OK), "%s: %d", name, status);
    ck_assert_msg(!text == (fault != NULL), "%s", name);
    ck_assert_int_eq(stand_in.logged, fault ? 1 : 0); /* not three times */
    ck_assert_msg(!fault || strstr(stand_in.log, fault), "%s: %s", name, stand_in.log);
}
END_TEST

START_TEST(test_path)
{
    server_rec *s = request_server();

    ck_assert_ptr_null(pay_metrics.path(pay_conf_get(s)));
    request_set(s, "PaymentsHealth", "/health");
    request_set(s, "PaymentsMetrics", "/metrics");
    ck_assert_str_eq(pay_metrics.path(pay_conf_get(s)), "/metrics");
    ck_assert_int_eq(pay_metrics.ignores_key, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_anonymous_clients, 0, UNIT_ROWS(anonymous_rows));
    tcase_add_loop_test(tcase, test_readers, 0, UNIT_ROWS(reader_rows));
    tcase_add_test(tcase, test_path);
}

UNIT_PROGRAM(add)
