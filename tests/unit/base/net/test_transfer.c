/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define MANY 200 /* more than handles are kept */
#define FD_MAX 1024

#define TIMED_OUT "No complete answer came in time."
#define CLOSED "The connection was closed before an answer came."
#define BROKE "The connection broke before the answer was complete."

/* ---- answers */

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static const struct {
    const char *name;
    peer_http_t script;
    const char *end;
    int status;
    const char *error;
    const char *answer;
} answer_rows[] = {
    {"200", {OK_ANSWER, PEER_KEEP, 0}, "answered", 200, "", "ok"},
    {"204", {"HTTP/1.1 204 No Content\r\n\r\n", PEER_KEEP, 0}, "answered", 204, "", ""},
    {"404",
     {"HTTP/1.1 404 X\r\nContent-Length: 4\r\n\r\nwhat", PEER_KEEP, 0},
     "answered",
     404,
     "",
     "what"},
    {"500", {"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", PEER_KEEP, 0}, "answered", 500, "", ""},
    {"a redirection is an answer",
     {"HTTP/1.1 301 X\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", PEER_KEEP, 0},
     "answered",
     301,
     "",
     ""},
    {"a demand for a login is an answer",
     {"HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
      PEER_KEEP, 0},
     "answered",
     401,
     "",
     ""},
    {"after an interim one",
     {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nLink: </a>\r\n\r\n" OK_ANSWER, PEER_KEEP, 0},
     "answered",
     200,
     "",
     "ok"},
    {"in chunks",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", PEER_KEEP, 0},
     "answered",
     200,
     "",
     "ok"},
    {"until it closes", {"HTTP/1.0 200 OK\r\n\r\nok", PEER_CLOSE, 0}, "answered", 200, "", "ok"},
    {"packed bytes stay packed",
     {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", PEER_KEEP,
      0},
     "answered",
     200,
     "",
     "\x1f\x8b"},
    {"a status that came late, by the byte",
     {"HTTP/1.1 204 No Content\r\n\r\n", PEER_DRIP, 0},
     "answered",
     204,
     "",
     ""},
    {"100 MB behind 200", {"HTTP/1.1 200 OK\r\n\r\n", PEER_FLOOD, 0}, "answered", 200, "", ""},
    {"100 MB behind 503", {"HTTP/1.1 503 X\r\n\r\n", PEER_FLOOD, 0}, "answered", 503, "", ""},
    {"closes unanswered", {"", PEER_CLOSE, 0}, "broken", 0, CLOSED, ""},
    {"closes in the status line", {"HTTP/1.1 20", PEER_CLOSE, 0}, "broken", 0, NULL, ""},
    {"closes in a header", {"HTTP/1.1 200 OK\r\nContent-Le", PEER_CLOSE, 0}, "broken", 0, NULL, ""},
    {"closes behind a header",
     {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", PEER_CLOSE, 0},
     "broken",
     0,
     BROKE,
     ""},
    {"closes behind an interim answer",
     {"HTTP/1.1 100 Continue\r\n\r\n", PEER_CLOSE, 0},
     "broken",
     0,
     NULL,
     ""},
    {"closes in the head behind an interim answer",
     {"HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\n", PEER_CLOSE, 0},
     "broken",
     0,
     BROKE,
     ""},
    {"closes in the body",
     {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", PEER_CLOSE, 0},
     "broken",
     0,
     BROKE,
     "ok"},
    {"closes in a chunk",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok", PEER_CLOSE, 0},
     "broken",
     0,
     BROKE,
     "ok"},
    {"resets unanswered", {"", PEER_RESET, 0}, "broken", 0, BROKE, ""},
    {"another protocol",
     {"SSH-2.0-OpenSSH_9.2\r\n", PEER_CLOSE, 0},
     "broken",
     0,
     "The answer does not belong to this protocol.",
     ""},
};

START_TEST(test_answers)
{
    peer_t *peer = peer_http(&answer_rows[_i].script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));
    const char *name = answer_rows[_i].name;

    fixture_run(set, transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), answer_rows[_i].end) == 0, "%s: %s (%s)", name,
                  fixture_end(transfer), transfer->error);
    ck_assert_msg(transfer->status == answer_rows[_i].status, "%s: %d", name, transfer->status);
    if (answer_rows[_i].error) {
        ck_assert_str_eq(transfer->error, answer_rows[_i].error);
    } else {
        ck_assert_str_ne(transfer->error, "");
    }
    ck_assert_str_eq(transfer->answer, answer_rows[_i].answer);
    ck_assert_int_eq(peer_requests(peer), 1);
    ck_assert_int_eq(peer_connections(peer), 1);
    ck_assert_int_gt(transfer->time, 0);
}
END_TEST

/* Receivers that stop at each stage of an answer. */
static const struct {
    const char *name;
    peer_http_t script;
    const char *answer;
} hang_rows[] = {
    {"before an answer", {"", PEER_HANG, 0}, ""},
    {"in the status line", {"HTTP/1.1 2", PEER_HANG, 0}, ""},
    {"in a header", {"HTTP/1.1 200 OK\r\nContent-", PEER_HANG, 0}, ""},
    {"before the body", {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", PEER_HANG, 0}, ""},
    {"in the body", {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", PEER_HANG, 0}, "ok"},
    {"in a chunk",
     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok", PEER_HANG, 0},
     "ok"},
    {"after an interim answer", {"HTTP/1.1 100 Continue\r\n\r\n", PEER_HANG, 0}, ""},
    {"never, it goes on by the byte",
     {"HTTP/1.1 200 OK\r\nA: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
      PEER_DRIP, 0},
     ""},
};

START_TEST(test_hangs)
{
    peer_t *peer = peer_http(&hang_rows[_i].script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run_late(set, transfer, peer);
    ck_assert_msg(transfer->end == PAY_TRANSFER_BROKEN, "%s: %s", hang_rows[_i].name,
                  fixture_end(transfer));
    ck_assert_int_eq(transfer->status, 0);
    ck_assert_str_eq(transfer->error, TIMED_OUT);
    ck_assert_str_eq(transfer->answer, hang_rows[_i].answer);
    ck_assert_int_ge(transfer->time, apr_time_from_msec(LONG_MS));
    ck_assert_int_eq(peer_requests(peer), 1);
}
END_TEST

/* "HTTP/1.1 200 OK" with so long a header, and so long a body. */
static const char *sized_answer(int header_len, int body_len)
{
    char *header = apr_palloc(unit_pool, (apr_size_t)header_len + 1);
    char *body = apr_palloc(unit_pool, (apr_size_t)body_len + 1);

    memset(header, 'h', (apr_size_t)header_len);
    header[header_len] = '\0';
    memset(body, 'b', (apr_size_t)body_len);
    body[body_len] = '\0';
    return apr_psprintf(unit_pool, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nA: %s\r\n\r\n%s",
                        body_len, header, body);
}

static const struct {
    const char *name;
    int header_len, body_len;
    const char *end;
    apr_size_t answer_len;
} size_rows[] = {
    {"all that is kept", 1, PAY_TRANSFER_ANSWER_MAX, "answered", PAY_TRANSFER_ANSWER_MAX},
    {"a byte more", 1, PAY_TRANSFER_ANSWER_MAX + 1, "answered", PAY_TRANSFER_ANSWER_MAX},
    {"all that is read", 1, PAY_TRANSFER_READ_MAX, "answered", PAY_TRANSFER_ANSWER_MAX},
    {"more than is read", 1, PAY_TRANSFER_READ_MAX + 1, "answered", PAY_TRANSFER_ANSWER_MAX},
    {"a long head", 60000, 2, "answered", 2},
    {"a head of more than 64 KiB", 64 * 1024, 2, "broken", 0},
};

START_TEST(test_sizes)
{
    const peer_http_t script = {sized_answer(size_rows[_i].header_len, size_rows[_i].body_len),
                                PEER_KEEP, 0};
    peer_t *peer = peer_http(&script);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), size_rows[_i].end) == 0, "%s: %s",
                  size_rows[_i].name, fixture_end(transfer));
    ck_assert_uint_eq(transfer->answer_len, size_rows[_i].answer_len);
    ck_assert_uint_eq(strlen(transfer->answer), size_rows[_i].answer_len);
    if (transfer->end == PAY_TRANSFER_BROKEN) {
        ck_assert_str_eq(transfer->error, "The answer is too long.");
    }
}
END_TEST

/* ---- connections */

static const peer_http_t polite = {OK_ANSWER, PEER_KEEP, 0};

/* One connection for all, and programs that the process starts do not get it. */
START_TEST(test_kept)
{
    peer_t *peer = peer_http(&polite);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    int found = 0;
    int fd;
    int i;

    for (i = 1; i <= 3; i++) {
        fixture_run(set, fixture_post(peer_url(peer, "http")));
        ck_assert_int_eq(peer_requests(peer), i);
    }
    ck_assert_int_eq(peer_connections(peer), 1);
    for (fd = 0; fd < FD_MAX; fd++) {
        struct sockaddr_in address = {0};
        socklen_t len = sizeof(address);

        if (getpeername(fd, (struct sockaddr *)&address, &len) == 0
            && ntohs(address.sin_port) == peer_port(peer)) {
            found++;
            ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
        }
    }
    ck_assert_int_eq(found, 1);
}
END_TEST

/* A reused connection that closed in between: another one is opened, and the request succeeds. */
START_TEST(test_closed_between)
{
    const peer_http_t script = {OK_ANSWER, PEER_CLOSE, 0};
    peer_t *peer = peer_http(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = NULL;
    char byte;
    int fd;
    int i;

    for (i = 0; i < 3; i++) {
        transfer = fixture_post(peer_url(peer, "http"));
        fixture_run(set, transfer);
        ck_assert_str_eq(fixture_end(transfer), "answered");
        /* Until the end of the connection has come. */
        for (fd = 0; fd < FD_MAX; fd++) {
            struct sockaddr_in address = {0};
            socklen_t len = sizeof(address);

            if (getpeername(fd, (struct sockaddr *)&address, &len) == 0
                && ntohs(address.sin_port) == peer_port(peer)) {
                (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
                ck_assert_int_eq(recv(fd, &byte, 1, MSG_PEEK), 0);
            }
        }
    }
    ck_assert_int_eq(peer_requests(peer), 3);
    ck_assert_int_eq(peer_connections(peer), 3);
}
END_TEST

/* A port without a listener. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    return ntohs(address.sin_port); /* stays bound, so that nobody else gets it */
}

START_TEST(test_connection_refused)
{
    pay_transfer_t *transfer =
        fixture_post(apr_psprintf(unit_pool, "http://127.0.0.1:%d/", free_port()));

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    ck_assert_int_eq(transfer->status, 0);
    ck_assert_str_eq(transfer->error, "The connection was refused.");
}
END_TEST

/* A listener whose queue is full lets further connections wait. */
START_TEST(test_connection_waits)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pay_transfer_t *transfer;
    int i;

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    for (i = 0; i < 4; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

        (void)connect(fd, (struct sockaddr *)&address, len);
    }
    transfer =
        fixture_post(apr_psprintf(unit_pool, "http://127.0.0.1:%d/", ntohs(address.sin_port)));
    fixture_run(fixture_set(SHORT_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    ck_assert_str_eq(transfer->error, "No connection was made in time.");
}
END_TEST

/* ---- sets */

START_TEST(test_many)
{
    peer_t *peer = peer_http(&polite);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    int seen[MANY] = {0};
    int round;
    int i;

    for (round = 0; round < 2; round++) {
        for (i = 0; i < MANY; i++) {
            pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

            transfer->baton = &seen[i];
            fixture_start(set, transfer);
            ck_assert_int_eq(pay_transfers_count(set), i + 1);
        }
        for (i = 0; i < MANY; i++) {
            pay_transfer_t *transfer = fixture_next(set);

            ck_assert_str_eq(fixture_end(transfer), "answered");
            ++*(int *)transfer->baton;
            ck_assert_int_eq(pay_transfers_count(set), MANY - i - 1);
        }
    }
    for (i = 0; i < MANY; i++) {
        ck_assert_int_eq(seen[i], 2);
    }
    ck_assert_int_eq(peer_requests(peer), 2 * MANY);
}
END_TEST

START_TEST(test_wait)
{
    const peer_http_t script = {"", PEER_HANG, 0};
    peer_t *peer = peer_http(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    apr_time_t begin;

    begin = apr_time_now();
    pay_transfers_run(set, apr_time_from_sec(20)); /* nothing runs */
    ck_assert_int_lt(apr_time_now() - begin, apr_time_from_sec(10));

    fixture_start(set, fixture_post(peer_url(peer, "http")));
    begin = apr_time_now();
    pay_transfers_run(set, 0);
    ck_assert_int_lt(apr_time_now() - begin, apr_time_from_sec(10));
    begin = apr_time_now();
    pay_transfers_run(set, apr_time_from_msec(SHORT_MS));
    ck_assert_int_ge(apr_time_now() - begin, apr_time_from_msec(SHORT_MS));
    ck_assert_int_lt(apr_time_now() - begin, apr_time_from_sec(10));
    ck_assert_ptr_null(pay_transfers_next(set));
    ck_assert_int_eq(pay_transfers_count(set), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_answers, 0, UNIT_ROWS(answer_rows));
    tcase_add_loop_test(tcase, test_hangs, 0, UNIT_ROWS(hang_rows));
    tcase_add_loop_test(tcase, test_sizes, 0, UNIT_ROWS(size_rows));
    tcase_add_test(tcase, test_kept);
    tcase_add_test(tcase, test_closed_between);
    tcase_add_test(tcase, test_connection_refused);
    tcase_add_test(tcase, test_connection_waits);
    tcase_add_test(tcase, test_many);
    tcase_add_test(tcase, test_wait);
}

UNIT_PROGRAM(add)
