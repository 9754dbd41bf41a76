/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/hide.h"

#include "model/api_key.h"

#include "request.h"

/* KEY in a row stands for a new secret key, PUBLIC for a public one. */
static const struct {
    const char *name;
    const char *path, *query; /* query NULL: none */
    const char *line;         /* the request's, in every log */
    int found;
} rows[] = {
    {"nothing", "/api/v1/refund/rf_1", "a=b", "GET /api/v1/refund/rf_1?a=b HTTP/1.1", 0},
    {"in the query", "/api/v1/refund/rf_1", "key=KEY", "GET /api/v1/refund/rf_1?- HTTP/1.1", 1},
    {"alone there", "/x", "KEY", "GET /x?- HTTP/1.1", 1},
    {"behind other words", "/x", "a=b&c=KEY&d=e", "GET /x?- HTTP/1.1", 1},
    {"behind a public one", "/x", "a=PUBLIC&c=KEY", "GET /x?- HTTP/1.1", 1},
    {"encoded", "/x", "key%3DKEY", "GET /x?- HTTP/1.1", 1},
    {"encoded within", "/x", "k=%KEY", "GET /x?- HTTP/1.1", 1},
    {"in the path", "/api/v1/KEY", NULL, "GET /- HTTP/1.1", 1},
    {"in the path with a query", "/api/v1/KEY/x", "a=b", "GET /-?a=b HTTP/1.1", 1},
    {"in both", "/KEY", "KEY", "GET /-?- HTTP/1.1", 1},
    {"a public key", "/x", "key=PUBLIC", NULL, 0},
    {"in capitals around", "/x", "AKEYB", "GET /x?- HTTP/1.1", 1},
};

static const char *new_key(pay_key_kind_t kind)
{
    const char *text;

    ck_assert_int_eq(pay_api_key_text_make(&text, "pay", PAY_LIVE, kind, unit_pool), APR_SUCCESS);
    return text;
}

static char *filled(const char *text, const char *key)
{
    const char *at = text ? strstr(text, "KEY") : NULL;
    const char *public = text ? strstr(text, "PUBLIC") : NULL;

    if (public) {
        text = apr_pstrcat(unit_pool, apr_pstrmemdup(unit_pool, text, (size_t)(public - text)),
                           new_key(PAY_KEY_PUBLIC), public + 6, NULL);
        at = strstr(text, "KEY");
    }
    if (at && at > text && at[-1] == '%') { /* its first letter, encoded */
        key = apr_psprintf(unit_pool, "%02x%s", key[0], key + 1);
    }
    return at ? apr_pstrcat(unit_pool, apr_pstrmemdup(unit_pool, text, (size_t)(at - text)), key,
                            at + 3, NULL)
              : apr_pstrdup(unit_pool, text);
}

START_TEST(test_urls)
{
    const char *name = rows[_i].name, *key = new_key(PAY_KEY_SECRET);
    request_rec *r = request_make(request_server());

    r->parsed_uri.path = r->uri = filled(rows[_i].path, key);
    r->parsed_uri.query = r->args = filled(rows[_i].query, key);
    r->unparsed_uri = apr_pstrcat(unit_pool, r->uri, r->args ? "?" : "", r->args, NULL);
    r->the_request = apr_pstrcat(unit_pool, "GET ", r->unparsed_uri, " HTTP/1.1", NULL);
    pay_key_hide(r);
    if (!rows[_i].found) {
        ck_assert_msg(!pay_call_get(r), "%s", name);
        ck_assert_msg(strstr(r->the_request, r->unparsed_uri) != NULL, "%s", name);
        ck_assert(!rows[_i].line || !strcmp(r->the_request, rows[_i].line));
        return;
    }
    ck_assert_msg(!strcmp(r->the_request, rows[_i].line), "%s: %s", name, r->the_request);
    ck_assert_msg(!strncmp(r->the_request + 4, r->unparsed_uri, strlen(r->unparsed_uri)), "%s",
                  name);
    ck_assert_msg(pay_call_get(r)->url_key && !strcmp(pay_call_get(r)->url_key, key), "%s", name);
    ck_assert(!r->args || !strstr(r->args, key));
    ck_assert(!r->parsed_uri.query || !strstr(r->parsed_uri.query, key));
    pay_key_hide_path(r);
    ck_assert(!strstr(r->uri, key));
}
END_TEST

START_TEST(test_a_path_without_a_key_stays)
{
    request_rec *r = request_make(request_server());

    r->uri = (char *)"/api/v1/refund";
    pay_key_hide_path(r);
    ck_assert_str_eq(r->uri, "/api/v1/refund");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_urls, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_a_path_without_a_key_stays);
}

UNIT_PROGRAM(add)
