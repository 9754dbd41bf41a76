/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define LONG_BODY 100000 /* longer than libcurl sends at once */
#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define CLOSED "The connection was closed before an answer came."

static const peer_http_t polite = {OK_ANSWER, PEER_KEEP, 0};

/* ---- requests */

/* Every byte of a request; neither proxies nor a .netrc of the environment change it. */
START_TEST(test_request)
{
    peer_t *proxy = peer_http(&polite);
    peer_t *peer = peer_http(&polite);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));
    const char *home = unit_dir();
    FILE *netrc = fopen(apr_psprintf(unit_pool, "%s/.netrc", home), "w");

    ck_assert_ptr_nonnull(netrc);
    fputs("default login ada password secret\n", netrc);
    fclose(netrc);
    setenv("HOME", home, 1);
    setenv("http_proxy", peer_url(proxy, "http"), 1);
    setenv("ALL_PROXY", peer_url(proxy, "http"), 1);
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_int_eq(peer_connections(proxy), 0);
    ck_assert_str_eq(peer_text(peer), apr_psprintf(unit_pool,
                                                   "POST /hook HTTP/1.1\r\n"
                                                   "Host: 127.0.0.1:%d\r\n"
                                                   "Accept: */*\r\n"
                                                   "Content-Type: application/json\r\n"
                                                   "webhook-id: evt_1\r\n"
                                                   "Content-Length: 7\r\n"
                                                   "\r\n"
                                                   "{\"a\":1}",
                                                   peer_port(peer)));
}
END_TEST

static const char *long_body(void)
{
    char *body = apr_palloc(unit_pool, LONG_BODY + 1);
    int i;

    for (i = 0; i < LONG_BODY; i++) {
        body[i] = (char)('a' + i % 23);
    }
    body[LONG_BODY] = '\0';
    return body;
}

static const struct {
    const char *name;
    const char *method;
    const char *header; /* NULL: none */
    int body_len;       /* -1: a GET */
} form_rows[] = {
    {"a GET", "GET", NULL, -1},
    {"a GET with a header", "GET", "Authorization: Bearer x", -1},
    {"no type of its own", "POST", NULL, 7},
    {"a type, however it is written", "POST", "content-type: text/plain", 7},
    {"an empty body", "POST", NULL, 0},
    {"a body of several pieces", "POST", "Content-Type: text/plain", LONG_BODY},
};

/* Every byte of these too: no Expect, no type that nobody named. */
START_TEST(test_forms)
{
    peer_t *peer = peer_http(&polite);
    pay_transfer_t *transfer = fixture_get(peer_url(peer, "http"));
    apr_array_header_t *headers = apr_array_make(unit_pool, 1, sizeof(const char *));
    const char *header = form_rows[_i].header;
    const char *length = "";

    if (header) {
        APR_ARRAY_PUSH(headers, const char *) = header;
    }
    transfer->headers = headers;
    if (form_rows[_i].body_len >= 0) {
        transfer->body = long_body();
        transfer->body_len = (apr_size_t)form_rows[_i].body_len;
        length = apr_psprintf(unit_pool, "Content-Length: %d\r\n", form_rows[_i].body_len);
    }
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_msg(transfer->end == PAY_TRANSFER_ANSWERED, "%s: %s", form_rows[_i].name,
                  transfer->error);
    ck_assert_str_eq(peer_text(peer),
                     apr_psprintf(unit_pool,
                                  "%s /hook HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n"
                                  "%s%s%s\r\n%.*s",
                                  form_rows[_i].method, peer_port(peer), header ? header : "",
                                  header ? "\r\n" : "", length, (int)transfer->body_len,
                                  transfer->body ? transfer->body : ""));
}
END_TEST

static const struct {
    const char *name;
    const char *url;
    const char *header;
} refused_rows[] = {
    {"CR and LF in a header", "http://127.0.0.1:9/", "A: b\r\nC: d"},
    {"LF in a header", "http://127.0.0.1:9/", "A: b\nC: d"},
    {"CR in a header", "http://127.0.0.1:9/", "A: b\rC: d"},
    {"a control character in a header", "http://127.0.0.1:9/", "A: \x01"},
    {"DEL in a header", "http://127.0.0.1:9/", "A: \x7f"},
    {"LF in a header's name", "http://127.0.0.1:9/", "A\nB: c"},
    {"no colon", "http://127.0.0.1:9/", "A"},
    {"no name", "http://127.0.0.1:9/", ": a"},
    {"no value", "http://127.0.0.1:9/", "Host:"},
    {"an empty value", "http://127.0.0.1:9/", "Host: "},
    {"a blank in a header's name", "http://127.0.0.1:9/", "A B: c"},
    {"libcurl's form of an empty header", "http://127.0.0.1:9/", "A;"},
    {"another scheme", "ftp://127.0.0.1:9/", "A: b"},
    {"a file", "file:///etc/passwd", "A: b"},
    {"a scheme of mail", "smtp://127.0.0.1:9/", "A: b"},
    {"no scheme", "127.0.0.1:9/", "A: b"},
    {"LF in the URL", "http://127.0.0.1:9/\n", "A: b"},
};

START_TEST(test_refused)
{
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(refused_rows[_i].url);
    apr_array_header_t *headers = apr_array_make(unit_pool, 2, sizeof(const char *));
    apr_status_t rv;

    APR_ARRAY_PUSH(headers, const char *) = "webhook-id: evt_1";
    APR_ARRAY_PUSH(headers, const char *) = refused_rows[_i].header;
    transfer->headers = headers;
    rv = pay_transfer_start(set, transfer);
    ck_assert_msg(rv == APR_EINVAL, "%s: %d", refused_rows[_i].name, rv);
    ck_assert_int_eq(pay_transfers_count(set), 0);
    ck_assert_ptr_null(pay_transfers_next(set));
}
END_TEST

/* ---- requests that are not repeated */

static const struct {
    const char *name;
    peer_then_t then;
    int body_len; /* -1: a GET */
} repeat_rows[] = {
    {"closed", PEER_KEEP, 7},
    {"closed, no body", PEER_KEEP, 0},
    {"closed, a body of several pieces", PEER_KEEP, LONG_BODY},
    {"closed, a GET", PEER_KEEP, -1},
    {"reset", PEER_KEEP_RESET, 7},
    {"reset, no body", PEER_KEEP_RESET, 0},
    {"reset, a body of several pieces", PEER_KEEP_RESET, LONG_BODY},
    {"reset, a GET", PEER_KEEP_RESET, -1},
};

/* The receiver may have acted on a request after which it closed: it is never sent again. */
START_TEST(test_not_repeated)
{
    const peer_http_t script = {OK_ANSWER, repeat_rows[_i].then, 2};
    peer_t *peer = peer_http(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    transfer = fixture_get(peer_url(peer, "http"));
    if (repeat_rows[_i].body_len >= 0) {
        transfer->body = long_body();
        transfer->body_len = (apr_size_t)repeat_rows[_i].body_len;
    }
    fixture_run(set, transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), "broken") == 0, "%s: %s", repeat_rows[_i].name,
                  fixture_end(transfer));
    ck_assert_str_eq(transfer->error, CLOSED);
    ck_assert_int_eq(peer_requests(peer), 2);
    ck_assert_int_eq(peer_connections(peer), 1);
}
END_TEST

/* Nor on another idle connection, where nothing must be opened. */
START_TEST(test_not_repeated_elsewhere)
{
    const peer_http_t script = {OK_ANSWER, PEER_KEEP, 3};
    peer_t *peer = peer_http(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer;
    int ended = 0;

    ck_assert_int_eq(pay_transfer_start(set, fixture_post(peer_url(peer, "http"))), APR_SUCCESS);
    ck_assert_int_eq(pay_transfer_start(set, fixture_post(peer_url(peer, "http"))), APR_SUCCESS);
    while (ended < 2) {
        pay_transfers_run(set, apr_time_from_sec(10));
        transfer = pay_transfers_next(set);
        ck_assert_ptr_nonnull(transfer);
        ck_assert_str_eq(fixture_end(transfer), "answered");
        ended++;
    }
    ck_assert_int_eq(peer_connections(peer), 2);
    transfer = fixture_post(peer_url(peer, "http"));
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "broken");
    ck_assert_str_eq(transfer->error, CLOSED);
    ck_assert_int_eq(peer_requests(peer), 3);
    ck_assert_int_eq(peer_connections(peer), 2);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_request);
    tcase_add_loop_test(tcase, test_forms, 0, UNIT_ROWS(form_rows));
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_rows));
    tcase_add_loop_test(tcase, test_not_repeated, 0, UNIT_ROWS(repeat_rows));
    tcase_add_test(tcase, test_not_repeated_elsewhere);
}

UNIT_PROGRAM(add)
