/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#include <pthread.h>
#include <unistd.h>

static const pay_transfer_part_t two_parts[] = {
    {"text/plain; charset=utf-8", "Gr\xc3\xbc\xc3\x9f"
                                  "e\n.\n..two dots\r\nlast = line\n"},
    {"text/html; charset=utf-8", "<p>Gr\xc3\xbc\xc3\x9f"
                                 "e</p>\n"},
};

static pay_transfer_t *make_mail(const peer_t *peer)
{
    pay_transfer_t *transfer = apr_pcalloc(unit_pool, sizeof(*transfer));
    apr_array_header_t *headers = apr_array_make(unit_pool, 4, sizeof(const char *));

    APR_ARRAY_PUSH(headers, const char *) = "From: Shop <shop@example.com>";
    APR_ARRAY_PUSH(headers, const char *) = "To: ada@example.com";
    APR_ARRAY_PUSH(headers, const char *) = "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=";
    transfer->url = peer ? apr_psprintf(unit_pool, "smtp://127.0.0.1:%d", peer_port(peer))
                         : "smtp://127.0.0.1:9";
    transfer->headers = headers;
    transfer->mail_from = "shop@example.com";
    transfer->mail_to = "ada@example.com";
    transfer->parts = two_parts;
    transfer->parts_count = 2;
    return transfer;
}

#define CUT_LEN (8 * 1024 * 1024)
#define LATE "No complete answer came in time."
#define STUCK "The mail server did not continue in time."
#define BROKE "The connection broke before the answer was complete."

static const struct {
    const char *name;
    peer_smtp_t script;
    const char *end;
    int status;
    const char *error; /* NULL: any except none */
    int messages;
} reply_rows[] = {
    {"accepted", {0}, "answered", 250, "", 1},
    {"accepted by an old server", {.ehlo = "502 what"}, "answered", 250, "", 1},
    {"accepted with another 2xx", {.rcpt = "251 forwarded"}, "answered", 250, "", 1},
    {"busy",
     {.greeting = "421 later"},
     "not sent",
     421,
     "The mail server refused the connection.",
     0},
    {"wants nobody",
     {.greeting = "554 no"},
     "not sent",
     554,
     "The mail server refused the connection.",
     0},
    {"hangs before a greeting", {.greeting = "hang"}, "not sent", 0, NULL, 0},
    {"closes at once", {.greeting = ""}, "not sent", 0, NULL, 0},
    {"hangs behind a greeting of HTTP",
     {.greeting = "HTTP/1.1 400 Bad Request"},
     "not sent",
     0,
     NULL,
     0},
    {"hangs at EHLO", {.ehlo = "hang"}, "not sent", 0, STUCK, 0},
    {"closes at EHLO", {.ehlo = ""}, "not sent", 0, NULL, 0},
    {"closes at HELO after a refused EHLO",
     {.ehlo = "502 what", .helo = ""},
     "not sent",
     502,
     NULL,
     0},
    {"refuses the sender",
     {.mail = "550 who"},
     "not sent",
     550,
     "The mail server refused the sender.",
     0},
    {"wants a login",
     {.mail = "530 5.7.0 log in"},
     "not sent",
     530,
     "The mail server refused the sender.",
     0},
    {"hangs at MAIL", {.mail = "hang"}, "not sent", 0, LATE, 0},
    {"closes at MAIL", {.mail = ""}, "not sent", 0, NULL, 0},
    {"refuses the address", {.rcpt = "550 5.1.1 nobody"}, "answered", 550, "", 0},
    {"greylists", {.rcpt = "451 4.7.1 later"}, "answered", 451, "", 0},
    {"hangs at RCPT", {.rcpt = "hang"}, "not sent", 0, LATE, 0},
    {"closes at RCPT", {.rcpt = ""}, "not sent", 0, NULL, 0},
    {"refuses at DATA", {.data = "554 no"}, "answered", 554, "", 0},
    {"hangs at DATA", {.data = "hang"}, "not sent", 0, LATE, 0},
    {"closes at DATA", {.data = ""}, "not sent", 0, NULL, 0},
    {"refuses the message", {.end = "552 too big"}, "answered", 552, "", 1},
    {"refuses the message for now", {.end = "452 full"}, "answered", 452, "", 1},
    {"hangs behind the message", {.end = "hang"}, "broken", 0, LATE, 1},
    {"closes behind the message", {.end = ""}, "broken", 0, BROKE, 1},
    {"closes at QUIT", {.quit = ""}, "answered", 250, "", 1},
};

/* The client waits within libcurl for the answer to a message: time passes beside it, once the
 * server is stuck. */
static void *pass_when_stuck(void *peer)
{
    while (!peer_stuck(peer)) {
        usleep(1000);
    }
    curl_clock_pass(LONG_MS);
    return NULL;
}

START_TEST(test_replies)
{
    peer_t *peer = peer_smtp(&reply_rows[_i].script);
    pay_transfer_t *transfer = make_mail(peer);
    const char *name = reply_rows[_i].name;
    pthread_t late;
    int hangs = strstr(name, "hangs") != NULL;

    if (hangs) {
        ck_assert_int_eq(pthread_create(&late, NULL, pass_when_stuck, peer), 0);
    }
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    if (hangs) {
        pthread_join(late, NULL);
        curl_clock_restore();
    }
    ck_assert_msg(strcmp(fixture_end(transfer), reply_rows[_i].end) == 0, "%s: %s (%d, %s)", name,
                  fixture_end(transfer), transfer->status, transfer->error);
    ck_assert_msg(transfer->status == reply_rows[_i].status, "%s: %d", name, transfer->status);
    if (reply_rows[_i].error) {
        ck_assert_str_eq(transfer->error, reply_rows[_i].error);
    } else {
        ck_assert_str_ne(transfer->error, "");
    }
    ck_assert_int_eq(peer_requests(peer), reply_rows[_i].messages);
    ck_assert_int_eq(peer_connections(peer), 1);
}
END_TEST

/* The reply to QUIT changes nothing, so it is not waited for; refusals are kept. */
START_TEST(test_quit_hangs)
{
    const peer_smtp_t scripts[] = {
        {.quit = "hang"},
        {.rcpt = "550-5.1.1 ada@example.com\r\n550 nobody of that name", .quit = "hang"},
        {.greeting = "421 later", .quit = "hang"},
    };
    const int statuses[] = {250, 550, 421};
    peer_t *peer = peer_smtp(&scripts[_i]);
    pay_transfer_t *transfer = make_mail(peer);
    apr_time_t begin = apr_time_now();

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_int_eq(transfer->status, statuses[_i]);
    ck_assert_int_lt(apr_time_now() - begin, apr_time_from_sec(10));
    if (_i == 1) {
        ck_assert_str_eq(transfer->answer,
                         "550-5.1.1 ada@example.com\r\n550 nobody of that name\r\n");
    }
}
END_TEST

/* One session for each mail: the refusal of one does not affect the next. */
START_TEST(test_sessions)
{
    const peer_smtp_t script = {0};
    peer_t *peer = peer_smtp(&script);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    int i;

    for (i = 1; i <= 3; i++) {
        pay_transfer_t *transfer = make_mail(peer);

        fixture_run(set, transfer);
        ck_assert_str_eq(fixture_end(transfer), "answered");
        ck_assert_str_eq(transfer->answer, "250 queued\r\n");
        ck_assert_int_eq(peer_requests(peer), i);
        ck_assert_int_eq(peer_connections(peer), i);
    }
}
END_TEST

static void has(const char *text, const char *want)
{
    ck_assert_msg(strstr(text, want) != NULL, "without \"%s\":\n%s", want, text);
}

START_TEST(test_message)
{
    const peer_smtp_t script = {0};
    peer_t *peer = peer_smtp(&script);
    pay_transfer_t *transfer = make_mail(peer);
    const char *text;
    const char *line;

    transfer->parts_count = _i;
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    text = peer_text(peer);
    has(text, "\r\nMAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.com>\r\nDATA\r\n");
    has(text, "\r\nFrom: Shop <shop@example.com>\r\nTo: ada@example.com\r\n"
              "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n");
    has(text, "\r\nMime-Version: 1.0\r\n");
    has(text, _i == 2 ? "\r\nContent-Type: multipart/alternative; boundary=------"
                      : "\r\nContent-Type: multipart/mixed; boundary=------");
    has(text, "\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
              "Gr=C3=BC=C3=9Fe\r\n..\r\n...two dots\r\nlast =3D line\r\n");
    ck_assert((strstr(text, "\r\nContent-Type: text/html; charset=utf-8\r\n"
                            "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                            "<p>Gr=C3=BC=C3=9Fe</p>\r\n")
               != NULL)
              == (_i == 2));
    has(text, "--\r\n.\r\n");
    /* No line of it is longer than SMTP allows, and none ends without CR. */
    for (line = text; *line; line = strchr(line, '\n') + 1) {
        ck_assert_uint_le(strcspn(line, "\n"), 998);
        ck_assert_int_eq(line[strcspn(line, "\n") - 1], '\r');
    }
}
END_TEST

/* A line of text far longer than SMTP allows. */
START_TEST(test_long_line)
{
    const peer_smtp_t script = {0};
    peer_t *peer = peer_smtp(&script);
    pay_transfer_t *transfer = make_mail(peer);
    char *longest = apr_palloc(unit_pool, 5001);
    const pay_transfer_part_t part = {"text/plain", longest};
    const char *text;
    int count = 0;

    memset(longest, 'x', 5000);
    longest[5000] = '\0';
    transfer->parts = &part;
    transfer->parts_count = 1;
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    text = strstr(peer_text(peer), "quoted-printable\r\n\r\n");
    ck_assert_ptr_nonnull(text);
    for (text = strstr(text, "\r\n\r\n") + 4; *text != '-'; text = strchr(text, '\n') + 1) {
        apr_size_t len = strcspn(text, "\r");

        ck_assert_uint_le(len, 76);
        count += (int)strspn(text, "x");
    }
    ck_assert_int_eq(count, 5000);
}
END_TEST

/* A login is only sent to a server that offers TLS, whatever else is offered. */
START_TEST(test_login_needs_tls)
{
    const peer_smtp_t scripts[] = {
        {.ehlo = "250-peer\r\n250 AUTH PLAIN LOGIN"},
        {.ehlo = "250-peer\r\n250-STARTTLS\r\n250 AUTH PLAIN LOGIN", .starttls = "454 not now"},
        {.ehlo = "502 what"},
    };
    peer_t *peer = peer_smtp(&scripts[_i]);
    pay_transfer_t *transfer = make_mail(peer);

    transfer->user = "shop";
    transfer->password = "secret";
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    ck_assert_str_eq(transfer->error,
                     "The mail server offers no TLS, and the login is not sent without it.");
    ck_assert_ptr_null(strstr(peer_text(peer), "AUTH"));
    ck_assert_ptr_null(strstr(peer_text(peer), "MAIL"));
}
END_TEST

/* Envelopes and headers with injected text. NULL: valid. */
static const struct {
    const char *name;
    const char *from, *to, *header, *media_type, *user, *password;
} refused_rows[] = {
    {"a second command behind the recipient", NULL, "ada@example.com>\r\nRCPT TO:<eve@example.com",
     NULL, NULL, NULL, NULL},
    {"LF in the recipient", NULL, "ada@example.com\n", NULL, NULL, NULL, NULL},
    {"CR in the recipient", NULL, "ada@example.com\r", NULL, NULL, NULL, NULL},
    {"brackets in the recipient", NULL, "<ada@example.com>", NULL, NULL, NULL, NULL},
    {"a parameter of the recipient", NULL, "ada@example.com> NOTIFY=NEVER", NULL, NULL, NULL, NULL},
    {"a blank in the recipient", NULL, "ada@example.com eve@example.com", NULL, NULL, NULL, NULL},
    {"no recipient", NULL, "", NULL, NULL, NULL, NULL},
    {"LF in the sender", "shop@example.com\nDATA", NULL, NULL, NULL, NULL, NULL},
    {"brackets in the sender", "shop@example.com> SIZE=1 <", NULL, NULL, NULL, NULL, NULL},
    {"no sender", "", NULL, NULL, NULL, NULL, NULL},
    {"a second header", NULL, NULL, "Subject: a\r\nBcc: eve@example.com", NULL, NULL, NULL},
    {"a second header behind LF", NULL, NULL, "Subject: a\nBcc: eve@example.com", NULL, NULL, NULL},
    {"a second header behind CR", NULL, NULL, "Subject: a\rBcc: eve@example.com", NULL, NULL, NULL},
    {"a body behind a header", NULL, NULL, "Subject: a\r\n\r\nbody", NULL, NULL, NULL},
    {"a header behind the media type", NULL, NULL, NULL, "text/plain\r\nA: b", NULL, NULL},
    {"LF in the user", NULL, NULL, NULL, NULL, "shop\nx", "secret"},
    {"LF in the password", NULL, NULL, NULL, NULL, "shop", "secret\nx"},
};

START_TEST(test_refused)
{
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = make_mail(NULL);
    apr_array_header_t *headers = apr_array_make(unit_pool, 1, sizeof(const char *));
    pay_transfer_part_t part = two_parts[0];
    apr_status_t rv;

    if (refused_rows[_i].from) {
        transfer->mail_from = refused_rows[_i].from;
    }
    if (refused_rows[_i].to) {
        transfer->mail_to = refused_rows[_i].to;
    }
    if (refused_rows[_i].header) {
        APR_ARRAY_PUSH(headers, const char *) = refused_rows[_i].header;
        transfer->headers = headers;
    }
    if (refused_rows[_i].media_type) {
        part.media_type = refused_rows[_i].media_type;
        transfer->parts = &part;
        transfer->parts_count = 1;
    }
    transfer->user = refused_rows[_i].user;
    transfer->password = refused_rows[_i].password;
    rv = pay_transfer_start(set, transfer);
    ck_assert_msg(rv == APR_EINVAL, "%s: %d", refused_rows[_i].name, rv);
    ck_assert_int_eq(pay_transfers_count(set), 0);
}
END_TEST

START_TEST(test_parts)
{
    static const int counts[] = {-1, 0, PAY_TRANSFER_PARTS_MAX + 1};
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = make_mail(NULL);

    transfer->parts_count = counts[_i];
    ck_assert_int_eq(pay_transfer_start(set, transfer), APR_EINVAL);
    transfer->parts_count = 1;
    transfer->mail_to = NULL;
    ck_assert_int_eq(pay_transfer_start(set, transfer), APR_EINVAL);
    transfer->mail_to = "ada@example.com";
    transfer->url = "https://127.0.0.1:9/";
    ck_assert_int_eq(pay_transfer_start(set, transfer), APR_EINVAL);
}
END_TEST

/* Running transfers when the pool is destroyed: no leak, and no wait for a QUIT. */
START_TEST(test_destroyed)
{
    const peer_smtp_t script = {.rcpt = "hang"};
    peer_t *peer = peer_smtp(&script);
    pay_transfers_t *set;
    apr_pool_t *pool;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_transfers_create(&set, pool), APR_SUCCESS);
    fixture_start(set, make_mail(peer));
    while (!strstr(peer_text(peer), "RCPT")) {
        pay_transfers_run(set, apr_time_from_msec(1));
    }
    apr_pool_destroy(pool);
}
END_TEST

/* A partly sent message is not ended as if it were complete. */
START_TEST(test_cut)
{
    const peer_smtp_t script = {0};
    peer_t *peer = peer_smtp(&script);
    char *longest = apr_palloc(unit_pool, CUT_LEN + 1);
    const pay_transfer_part_t part = {"text/plain", longest};
    pay_transfer_t *transfer = make_mail(peer);
    pay_transfers_t *set;
    apr_pool_t *pool;

    memset(longest, 'x', CUT_LEN);
    longest[CUT_LEN] = '\0';
    transfer->parts = &part;
    transfer->parts_count = 1;
    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_transfers_create(&set, pool), APR_SUCCESS);
    fixture_start(set, transfer);
    while (!strstr(peer_text(peer), "xxx")) {
        pay_transfers_run(set, apr_time_from_msec(1));
    }
    ck_assert_int_eq(pay_transfers_count(set), 1);
    ck_assert_ptr_null(pay_transfers_next(set));
    apr_pool_destroy(pool);
    while (peer_closed(peer) < 1) {
        apr_sleep(1000);
    }
    ck_assert_int_eq(peer_requests(peer), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_replies, 0, UNIT_ROWS(reply_rows));
    tcase_add_loop_test(tcase, test_quit_hangs, 0, 3);
    tcase_add_test(tcase, test_sessions);
    tcase_add_loop_test(tcase, test_message, 1, 3);
    tcase_add_test(tcase, test_long_line);
    tcase_add_loop_test(tcase, test_login_needs_tls, 0, 3);
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_rows));
    tcase_add_loop_test(tcase, test_parts, 0, 3);
    tcase_add_test(tcase, test_destroyed);
    tcase_add_test(tcase, test_cut);
}

UNIT_PROGRAM(add)
