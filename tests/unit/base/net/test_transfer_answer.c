/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#define LONG_CONTENT 300000
#define TOO_LONG "The answer is too long."
#define HEAD "HTTP/1.1 200 OK\r\n"
#define LAST_CHUNK "0\r\n\r\n"

static const peer_http_t polite = {HEAD "Content-Length: 2\r\n\r\nok", PEER_KEEP, 0};

/* Keeps up to `max` bytes of the response body. */
static pay_transfer_t *whole(pay_transfer_t *transfer, apr_size_t max)
{
    transfer->content_max = max;
    transfer->pool = unit_pool;
    return transfer;
}

/* ---- content */

typedef enum framing_t { SIZED, CHUNKED, UNTIL_CLOSE } framing_t;

static const char *letters(apr_size_t len)
{
    char *text = apr_palloc(unit_pool, len + 1);
    apr_size_t i;

    for (i = 0; i < len; i++) {
        text[i] = (char)('a' + i % 23);
    }
    text[len] = '\0';
    return text;
}

static peer_http_t framed(framing_t framing, const char *body)
{
    const apr_size_t len = strlen(body);
    peer_http_t script = {"", PEER_KEEP, 0};

    switch (framing) {
    case SIZED:
        script.answer = apr_psprintf(
            unit_pool, HEAD "Content-Length: %" APR_SIZE_T_FMT "\r\n\r\n%s", len, body);
        break;
    case CHUNKED:
        script.answer =
            len == 0 ? HEAD "Transfer-Encoding: chunked\r\n\r\n" LAST_CHUNK
                     : apr_psprintf(unit_pool,
                                    HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\n%c\r\n%x\r\n"
                                         "%s\r\n" LAST_CHUNK,
                                    *body, (unsigned int)len - 1, body + 1);
        break;
    default:
        script.answer = apr_pstrcat(unit_pool, "HTTP/1.0 200 OK\r\n\r\n", body, NULL);
        script.then = PEER_CLOSE;
        break;
    }
    return script;
}

static const struct {
    const char *name;
    framing_t framing;
    apr_size_t len, max;
    const char *end;
} content_rows[] = {
    {"short", SIZED, 2, 1000, "answered"},
    {"empty", SIZED, 0, 1000, "answered"},
    {"empty, in chunks", CHUNKED, 0, 1000, "answered"},
    {"empty, until it closes", UNTIL_CLOSE, 0, 1000, "answered"},
    {"the longest", SIZED, 1000, 1000, "answered"},
    {"the longest, in chunks", CHUNKED, 1000, 1000, "answered"},
    {"the longest, until it closes", UNTIL_CLOSE, 1000, 1000, "answered"},
    {"one past it", SIZED, 1001, 1000, "broken"},
    {"one past it, in chunks", CHUNKED, 1001, 1000, "broken"},
    {"one past it, until it closes", UNTIL_CLOSE, 1001, 1000, "broken"},
    {"one byte", SIZED, 1, 1, "answered"},
    {"two bytes where one may come", SIZED, 2, 1, "broken"},
    {"a buffer that is full", SIZED, 4096, LONG_CONTENT, "answered"},
    {"a buffer that is full and a byte", SIZED, 4097, LONG_CONTENT, "answered"},
    {"more than is read of others", SIZED, PAY_TRANSFER_READ_MAX + 1, LONG_CONTENT, "answered"},
    {"in many pieces", SIZED, LONG_CONTENT, LONG_CONTENT, "answered"},
    {"in many pieces, in chunks", CHUNKED, LONG_CONTENT, LONG_CONTENT, "answered"},
    {"one past it, in many pieces", SIZED, LONG_CONTENT + 1, LONG_CONTENT, "broken"},
    {"one past it, in chunks and pieces", CHUNKED, LONG_CONTENT + 1, LONG_CONTENT, "broken"},
};

START_TEST(test_content)
{
    const char *body = letters(content_rows[_i].len);
    const peer_http_t script = framed(content_rows[_i].framing, body);
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = whole(fixture_get(peer_url(peer, "http")), content_rows[_i].max);
    const char *name = content_rows[_i].name;

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), content_rows[_i].end) == 0, "%s: %s (%s)", name,
                  fixture_end(transfer), transfer->error);
    if (transfer->end == PAY_TRANSFER_ANSWERED) {
        ck_assert_str_eq(transfer->content, body);
        ck_assert_uint_eq(transfer->content_len, content_rows[_i].len);
        ck_assert_int_eq(transfer->status, 200);
    } else {
        ck_assert_ptr_null(transfer->content);
        ck_assert_uint_eq(transfer->content_len, 0);
        ck_assert_int_eq(transfer->status, 0);
        ck_assert_str_eq(transfer->error, TOO_LONG);
    }
    ck_assert_int_eq(strncmp(transfer->answer, body, transfer->answer_len), 0);
    ck_assert_int_eq(peer_requests(peer), 1);
}
END_TEST

/* An endless stream is ended as soon as it is too long; a NUL in a body is a byte. */
START_TEST(test_content_flood)
{
    const peer_http_t script = {HEAD "\r\n", PEER_FLOOD, 0};
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = whole(fixture_post(peer_url(peer, "http")), LONG_CONTENT);

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "broken");
    ck_assert_str_eq(transfer->error, TOO_LONG);
    ck_assert_ptr_null(transfer->content);
    ck_assert_uint_eq(transfer->answer_len, PAY_TRANSFER_ANSWER_MAX);
}
END_TEST

/* The same transfer again, without: nothing of the first remains. */
START_TEST(test_content_again)
{
    peer_t *peer = peer_http(&polite);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = whole(fixture_post(peer_url(peer, "http")), 2);
    const char *first;

    fixture_run(set, transfer);
    ck_assert_str_eq(transfer->content, "ok");
    first = transfer->content;
    transfer->content_max = 0;
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_ptr_null(transfer->content);
    ck_assert_uint_eq(transfer->content_len, 0);
    ck_assert_str_eq(first, "ok");
    ck_assert_int_eq(peer_connections(peer), 1);
}
END_TEST

/* ---- answers that are cut */

static const struct {
    const char *name;
    const char *answer;
    peer_then_t then;
    int get;
    /* libcurl accepts chunks as complete without the very last LF. Nothing of the body is missing
     * then; it may count as an answer or not. */
    int spare;
    const char *content;
} cut_rows[] = {
    {"sized", HEAD "Content-Length: 12\r\n\r\n{\"a\":\"bcde\"}", PEER_CUT, 0, 0,
     "{\"a\":\"bcde\"}"},
    {"in chunks", HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n" LAST_CHUNK,
     PEER_CUT, 0, 1, "{\"a\":1}"},
    {"sized, on a kept connection", HEAD "Content-Length: 7\r\n\r\n{\"a\":1}", PEER_CUT_KEPT, 0, 0,
     "{\"a\":1}"},
    {"in chunks, on a kept connection",
     HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n" LAST_CHUNK, PEER_CUT_KEPT,
     0, 1, "{\"a\":1}"},
    {"behind an interim answer", "HTTP/1.1 100 Continue\r\n\r\n" HEAD "Content-Length: 2\r\n\r\n10",
     PEER_CUT, 0, 0, "10"},
    {"a GET", HEAD "Content-Length: 2\r\n\r\n10", PEER_CUT_KEPT, 1, 0, "10"},
    {"no such thing", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", PEER_CUT, 1, 0,
     "{}"},
};

/* Cut after each byte of the answer, from none to all but one. The request is executed once each
 * time, and no cut answer counts. */
START_TEST(test_cut)
{
    const peer_http_t script = {cut_rows[_i].answer, cut_rows[_i].then, 0};
    const int uses = cut_rows[_i].then == PEER_CUT_KEPT ? 2 : 1;
    const int len = (int)strlen(script.answer);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = NULL;
    int use;
    int k;

    for (k = 0; k <= len; k++) {
        for (use = 1; use <= uses; use++) {
            transfer = cut_rows[_i].get ? fixture_get(peer_url(peer, "http"))
                                        : fixture_post(peer_url(peer, "http"));
            fixture_run(set, whole(transfer, 1000));
            ck_assert_msg(use == uses || transfer->end == PAY_TRANSFER_ANSWERED, "%s, %d: %s",
                          cut_rows[_i].name, k, transfer->error);
        }
        ck_assert_int_eq(peer_requests(peer), (k + 1) * uses);
        ck_assert_int_eq(peer_connections(peer), k + 1);
        if (k < len && (k < len - cut_rows[_i].spare || transfer->end != PAY_TRANSFER_ANSWERED)) {
            ck_assert_msg(transfer->end == PAY_TRANSFER_BROKEN, "%s: %s after %d bytes",
                          cut_rows[_i].name, fixture_end(transfer), k);
            ck_assert_int_eq(transfer->status, 0);
            ck_assert_str_ne(transfer->error, "");
            ck_assert_ptr_null(transfer->content);
            ck_assert_uint_eq(transfer->content_len, 0);
        } else {
            ck_assert_str_eq(fixture_end(transfer), "answered");
            ck_assert_str_eq(transfer->content, cut_rows[_i].content);
        }
    }
    ck_assert_str_eq(fixture_end(transfer), "answered");
}
END_TEST

/* ---- Retry-After */

#define EMPTY "Content-Length: 0\r\n\r\n"
#define BUSY "HTTP/1.1 503 X\r\n"

static const struct {
    const char *name;
    const char *answer;
    int want;
} retry_rows[] = {
    {"none", BUSY EMPTY, -1},
    {"seconds", BUSY "Retry-After: 120\r\n" EMPTY, 120},
    {"at once", BUSY "Retry-After: 0\r\n" EMPTY, 0},
    {"in small letters", BUSY "retry-after: 7\r\n" EMPTY, 7},
    {"no blank", BUSY "Retry-After:7\r\n" EMPTY, 7},
    {"blanks", BUSY "Retry-After: \t 7 \t\r\n" EMPTY, 7},
    {"of a 429", "HTTP/1.1 429 X\r\nRetry-After: 7\r\n" EMPTY, 7},
    {"the longest", BUSY "Retry-After: 86400\r\n" EMPTY, PAY_TRANSFER_RETRY_AFTER_MAX},
    {"one past it", BUSY "Retry-After: 86401\r\n" EMPTY, PAY_TRANSFER_RETRY_AFTER_MAX},
    {"more than an int", BUSY "Retry-After: 4294967297\r\n" EMPTY, PAY_TRANSFER_RETRY_AFTER_MAX},
    {"more than 64 bits", BUSY "Retry-After: 99999999999999999999999999999999999999\r\n" EMPTY,
     PAY_TRANSFER_RETRY_AFTER_MAX},
    {"a date", BUSY "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n" EMPTY, -1},
    {"empty", BUSY "Retry-After:\r\n" EMPTY, -1},
    {"blank", BUSY "Retry-After: \r\n" EMPTY, -1},
    {"a sign", BUSY "Retry-After: +7\r\n" EMPTY, -1},
    {"negative", BUSY "Retry-After: -7\r\n" EMPTY, -1},
    {"a fraction", BUSY "Retry-After: 7.5\r\n" EMPTY, -1},
    {"a unit", BUSY "Retry-After: 7s\r\n" EMPTY, -1},
    {"two", BUSY "Retry-After: 7, 8\r\n" EMPTY, -1},
    {"a longer name", BUSY "Retry-After-All: 7\r\n" EMPTY, -1},
    {"a name that ends with it", BUSY "X-Retry-After: 7\r\n" EMPTY, -1},
    {"of an interim answer", "HTTP/1.1 103 X\r\nRetry-After: 7\r\n\r\n" BUSY EMPTY, -1},
    {"behind an interim answer", "HTTP/1.1 100 X\r\n\r\n" BUSY "Retry-After: 7\r\n" EMPTY, 7},
    {"behind the body",
     BUSY "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nRetry-After: 7\r\n\r\n", -1},
};

START_TEST(test_retry_after)
{
    const peer_http_t script = {retry_rows[_i].answer, PEER_KEEP, 0};
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_msg(transfer->retry_after == retry_rows[_i].want, "%s: %d", retry_rows[_i].name,
                  transfer->retry_after);
}
END_TEST

/* Without a complete answer there is no such advice, nor that of the previous transfer. */
START_TEST(test_retry_after_cut)
{
    const peer_http_t script = {BUSY "Retry-After: 7\r\nContent-Length: 2\r\n\r\nx", PEER_CLOSE, 0};
    const peer_http_t busy = {BUSY "Retry-After: 7\r\n" EMPTY, PEER_KEEP, 2};
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(peer_url(peer_http(&script), "http"));

    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "broken");
    ck_assert_int_eq(transfer->retry_after, -1);

    transfer = fixture_post(peer_url(peer_http(&busy), "http"));
    fixture_run(set, transfer);
    ck_assert_int_eq(transfer->retry_after, 7);
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "broken");
    ck_assert_int_eq(transfer->retry_after, -1);
}
END_TEST

/* ---- Date */

#define DATE "Date: Fri, 15 Jan 2027 08:00:00 GMT\r\n"
#define LATER "Date: Fri, 15 Jan 2027 08:00:01 GMT\r\n"
#define WHEN APR_TIME_C(1800000000000000)

static const struct {
    const char *name;
    const char *answer;
    apr_time_t want;
} date_rows[] = {
    {"none", HEAD EMPTY, 0},
    {"one", HEAD DATE EMPTY, WHEN},
    {"of an error", BUSY DATE EMPTY, WHEN},
    {"in small letters", HEAD "date:Fri, 15 Jan 2027 08:00:00 GMT\r\n" EMPTY, WHEN},
    {"two", HEAD DATE LATER EMPTY, 0},
    {"the same twice", HEAD DATE DATE EMPTY, 0},
    {"none that is a date", HEAD "Date: yesterday\r\n" EMPTY, 0},
    {"none that is a date, and one", HEAD "Date: yesterday\r\n" DATE EMPTY, 0},
    {"of an interim answer", "HTTP/1.1 103 X\r\n" DATE "\r\n" HEAD EMPTY, 0},
    {"behind an interim answer's", "HTTP/1.1 103 X\r\n" DATE "\r\n" HEAD LATER EMPTY,
     WHEN + apr_time_from_sec(1)},
};

START_TEST(test_date)
{
    const peer_http_t script = {date_rows[_i].answer, PEER_KEEP, 0};
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_msg(transfer->date == date_rows[_i].want, "%s: %" APR_TIME_T_FMT, date_rows[_i].name,
                  transfer->date);
}
END_TEST

/* ---- times */

/* The first byte comes when the peer releases it, for a GET and for a POST (libcurl's own time is
 * that of the request's last byte there); a reused connection was not made again. */
START_TEST(test_times)
{
    const peer_http_t script = {polite.answer, PEER_HOLD, 0};
    peer_t *peer = peer_http(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer =
        _i == 0 ? fixture_get(peer_url(peer, "http")) : fixture_post(peer_url(peer, "http"));

    fixture_start(set, transfer);
    while (peer_requests(peer) == 0) {
        pay_transfers_run(set, apr_time_from_msec(1));
    }
    pay_transfers_run(set, apr_time_from_msec(SHORT_MS));
    ck_assert_ptr_null(pay_transfers_next(set));
    peer_release(peer);
    ck_assert_ptr_eq(fixture_next(set), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_int_gt(transfer->connect_time, 0);
    ck_assert_int_eq(transfer->tls_time, 0);
    ck_assert_int_ge(transfer->first_byte_time, apr_time_from_msec(SHORT_MS));
    ck_assert_int_ge(transfer->first_byte_time, transfer->connect_time);
    ck_assert_int_ge(transfer->time, transfer->first_byte_time);
    ck_assert_int_lt(transfer->time, apr_time_from_msec(LONG_MS));

    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_int_eq(peer_connections(peer), 1);
    ck_assert_int_eq(transfer->connect_time, 0);
    ck_assert_int_eq(transfer->tls_time, 0);
    ck_assert_int_gt(transfer->first_byte_time, 0);
    ck_assert_int_ge(transfer->time, transfer->first_byte_time);
}
END_TEST

/* Nothing came: there is only the time until the end. */
START_TEST(test_times_silent)
{
    const peer_http_t script = {"", PEER_HANG, 0};
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run_late(fixture_set(LONG_MS, LONG_MS), transfer, peer);
    ck_assert_str_eq(fixture_end(transfer), "broken");
    ck_assert_int_gt(transfer->connect_time, 0);
    ck_assert_int_eq(transfer->first_byte_time, 0);
    ck_assert_int_gt(transfer->time, transfer->connect_time);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_content, 0, UNIT_ROWS(content_rows));
    tcase_add_test(tcase, test_content_flood);
    tcase_add_test(tcase, test_content_again);
    tcase_add_loop_test(tcase, test_cut, 0, UNIT_ROWS(cut_rows));
    tcase_add_loop_test(tcase, test_retry_after, 0, UNIT_ROWS(retry_rows));
    tcase_add_test(tcase, test_retry_after_cut);
    tcase_add_loop_test(tcase, test_date, 0, UNIT_ROWS(date_rows));
    tcase_add_loop_test(tcase, test_times, 0, 2);
    tcase_add_test(tcase, test_times_silent);
}

UNIT_PROGRAM(add)
