/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"
#include "upstream_text.h"

#include "acquirer/relay/parts.h"
#include "base/log.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LONG apr_time_from_sec(120)
#define SHORT apr_time_from_msec(300)
#define PATIENCE_MS 120000
#define STOP_MS_MAX 10000
#define UNTIL_CLOSED "HTTP/1.1 200 OK\r\n" UPSTREAM_DATE "\r\n"

/* ---- the slots, by number */

enum { CHARGE, CHARGE_QUERY, REFUND_SLOT, REFUND_QUERY, TAG_QUERY, SLOTS };

static const struct {
    const char *name;
    const char *body; /* of an answer that decides */
    const char *want;
} slots[SLOTS] = {
    [CHARGE] = {"charge", APPROVED, "approved"},
    [CHARGE_QUERY] = {"charge_query", ENVELOPE("true", "m", OURS("failed")), "declined"},
    [REFUND_SLOT] = {"refund", REFUNDED("processed"), "approved"},
    [REFUND_QUERY] = {"refund_query", REFUNDED("failed"), "declined"},
    [TAG_QUERY] = {"refund_query by tag", "[" REFUNDED("processed") "]", "approved"},
};

static apr_status_t slot_call(payments_answer_t *answer, void *context, int slot,
                              apr_interval_time_t timeout, apr_pool_t *p)
{
    payments_refund_t refund = upstream_refund;

    *answer = upstream_empty();
    refund.acquirer_reference = slot == REFUND_QUERY ? "re_1" : "";
    switch (slot) {
    case CHARGE:
        return pay_acquirer_relay.charge(answer, context, &upstream_charge, timeout, p);
    case CHARGE_QUERY:
        return pay_acquirer_relay.charge_query(answer, context, &upstream_charge, timeout, p);
    case REFUND_SLOT:
        return pay_acquirer_relay.refund(answer, context, &refund, &upstream_charge, timeout, p);
    default:
        return pay_acquirer_relay.refund_query(answer, context, &refund, &upstream_charge, timeout,
                                               p);
    }
}

static void check(const char *name, void *context, int slot, apr_interval_time_t timeout,
                  const char *want)
{
    payments_answer_t answer;
    apr_status_t rv;

    rv = slot_call(&answer, context, slot, timeout, unit_pool);
    ck_assert_msg(strcmp(upstream_said(rv, &answer), want) == 0, "%s, %s: %s, not %s", name,
                  slots[slot].name, upstream_said(rv, &answer), want);
}

/* ---- connections */

START_TEST(test_kept)
{
    void *context = (upstream_start(), upstream_open());
    payments_answer_t answer;
    int i;

    upstream_answer(200, APPROVED);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(slot_call(&answer, context, CHARGE, LONG, unit_pool), APR_SUCCESS);
        ck_assert_str_eq(upstream_said(APR_SUCCESS, &answer), "approved");
        ck_assert_int_eq(answer.times.tls > 0, i == 0);
        ck_assert_int_gt(answer.times.total, 0);
    }
    ck_assert_int_eq(upstream_connections(), 1);
    ck_assert_int_eq(upstream_requests(), 10);
}
END_TEST

/* A connection that was idle for too long is not used again, although it is still open. */
START_TEST(test_idle)
{
    pay_relay_t *relay = (upstream_start(), upstream_open());
    int i;

    ck_assert_int_eq(relay->idle_ms_max, PAY_RELAY_IDLE_MS_MAX);
    relay->idle_ms_max = 0;
    upstream_answer(200, APPROVED);
    for (i = 0; i < 3; i++) {
        check("idle", relay, CHARGE, LONG, "approved");
    }
    ck_assert_int_eq(upstream_connections(), 3);
    ck_assert_int_eq(relay->kept_count, 1);
}
END_TEST

/* An upstream that executes the request and closes without an answer: the request is sent once. */
START_TEST(test_sent_once)
{
    static const char *const ends[] = {"close", "cut"};
    void *context = (upstream_start(), upstream_open());
    int slot, kept, i;

    for (slot = 0; slot < SLOTS; slot++) {
        for (i = 0; i < 4; i++) {
            upstream_clear();
            kept = i / 2;
            if (kept) {
                /* Then it goes over a reused connection. */
                upstream_answer(200, slots[slot].body);
                check("kept", context, slot, LONG, slots[slot].want);
            }
            upstream_say("/", ends[i % 2], "");
            check(ends[i % 2], context, slot, LONG, "unknown error");
            ck_assert_int_eq(upstream_requests(), kept + 1);
        }
    }
}
END_TEST

/*
 * Until the upstream has closed so many connections: the notices have arrived, it is this machine.
 */
static void wait_for_ends(int count)
{
    apr_int64_t until_ms = pay_time_boot_ms() + PATIENCE_MS;

    while (upstream_ends() < count) {
        ck_assert_msg(pay_time_boot_ms() < until_ms, "%d ended", upstream_ends());
        apr_sleep(apr_time_from_msec(2));
    }
}

/* An idle connection that the upstream closed does no harm. */
START_TEST(test_closed_meanwhile)
{
    void *context = (upstream_start(), upstream_open());
    const char *text =
        apr_psprintf(unit_pool, "HTTP/1.1 200 X\r\n" UPSTREAM_DATE "Content-Length: %d\r\n\r\n%s",
                     (int)strlen(APPROVED), APPROVED);
    int i;

    upstream_say("/", "close", text);
    for (i = 0; i < 5; i++) {
        pay_relay_reply_t reply;
        pay_relay_call_t call = pay_relay_call_begin(context, NULL, LONG);

        ck_assert_int_eq(pay_relay_exchange(&reply, &call, "/x", NULL, 1000, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(reply.status, 200);
        wait_for_ends(i + 1);
    }
    ck_assert_int_eq(upstream_requests(), 5);
    ck_assert_int_eq(upstream_connections(), 5);
}
END_TEST

/* ---- threads */

typedef struct worker_t {
    pthread_t thread;
    void *context;
    const char *said;
    apr_pool_t *pool;
} worker_t;

static void *worker_run(void *baton)
{
    worker_t *worker = baton;
    payments_answer_t answer;
    apr_status_t rv;

    rv = slot_call(&answer, worker->context, CHARGE, LONG, worker->pool);
    worker->said = rv == APR_SUCCESS && answer.verdict == PAYMENTS_APPROVED  ? "approved"
                   : rv != APR_SUCCESS && answer.verdict == PAYMENTS_UNKNOWN ? "unknown"
                                                                             : "else";
    return NULL;
}

static worker_t *workers_start(void *context, int count)
{
    worker_t *workers = apr_pcalloc(unit_pool, (apr_size_t)count * sizeof(*workers));
    int i;

    for (i = 0; i < count; i++) {
        workers[i].context = context;
        ck_assert_int_eq(apr_pool_create_unmanaged_ex(&workers[i].pool, NULL, NULL), APR_SUCCESS);
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]), 0);
    }
    return workers;
}

static void workers_end(worker_t *workers, int count, const char *want)
{
    int i;

    for (i = 0; i < count; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_str_eq(workers[i].said, want);
        apr_pool_destroy(workers[i].pool);
    }
}

static void wait_for_requests(int count)
{
    apr_int64_t until_ms = pay_time_boot_ms() + PATIENCE_MS;

    while (upstream_requests() < count) {
        ck_assert_msg(pay_time_boot_ms() < until_ms, "%d requests came", upstream_requests());
        apr_sleep(apr_time_from_msec(5));
    }
}

/* Concurrent calls have a connection each; so many are kept, one more is not. */
START_TEST(test_kept_max)
{
    const int count = PAY_RELAY_KEPT_MAX + 1;
    pay_relay_t *relay = (upstream_start(), upstream_open());
    const char *text =
        apr_psprintf(unit_pool, "HTTP/1.1 200 X\r\n" UPSTREAM_DATE "Content-Length: %d\r\n\r\n%s",
                     (int)strlen(APPROVED), APPROVED);
    int round;

    relay->idle_ms_max = PATIENCE_MS; /* so many threads end and begin slowly on a busy machine */
    for (round = 1; round <= 2; round++) {
        worker_t *workers;

        upstream_clear();
        upstream_say("/", "hold", text);
        workers = workers_start(relay, count);
        wait_for_requests(count);
        ck_assert_int_eq(upstream_connections(), round == 1 ? count : 1);
        upstream_release();
        workers_end(workers, count, "approved");
    }
}
END_TEST

/* The process ends while calls are stuck: they return at once, and no others begin. */
START_TEST(test_stop)
{
    void *context = (upstream_start(), upstream_open());
    worker_t *workers;
    apr_int64_t begun_ms;
    int slot;

    upstream_say("/", "hang", "");
    workers = workers_start(context, 4);
    wait_for_requests(4);
    begun_ms = pay_time_boot_ms();
    pay_acquirer_relay.stop(context);
    workers_end(workers, 4, "unknown");
    ck_assert_int_lt(pay_time_boot_ms() - begun_ms, STOP_MS_MAX);
    for (slot = 0; slot < SLOTS; slot++) {
        check("stopped", context, slot, LONG,
              slot == CHARGE || slot == REFUND_SLOT ? "unknown not sent" : "unknown error");
    }
    ck_assert_int_eq(upstream_requests(), 4);
}
END_TEST

/* ---- answers that do not come, or not whole */

START_TEST(test_time_out)
{
    static const char *const begun[] = {"", "HTTP/1.1 200 OK\r\nContent-Le",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" APPROVED};
    void *context = (upstream_start(), upstream_open());
    int slot, i;

    for (slot = 0; slot < SLOTS; slot++) {
        for (i = 0; i < UNIT_ROWS(begun); i++) {
            upstream_clear();
            /* The time is short: the connection is there before. */
            upstream_answer(200, slots[slot].body);
            check("kept", context, slot, LONG, slots[slot].want);
            upstream_say("/", "hang", begun[i]);
            check("hang", context, slot, SHORT, "unknown time-out");
            ck_assert_int_eq(upstream_requests(), 2);
        }
    }
    /* No time left: not a byte is sent. */
    check("no time", context, CHARGE, 0, "unknown not sent");
    ck_assert_int_eq(upstream_requests(), 2);
}
END_TEST

static const struct {
    const char *name;
    int url; /* 0: no listener; 1: no such name; else the upstream's */
    int ca;  /* 0: the system's certificates */
} unsent_rows[] = {
    {"nobody listens", 0, 1},
    {"no such name", 1, 1},
    {"a certificate that is not trusted", 2, 0},
};

START_TEST(test_not_sent)
{
    payments_settings_t *settings = (upstream_start(), upstream_settings());
    const char *fault;
    void *context;
    int slot;

    if (unsent_rows[_i].url < 2) {
        settings->url =
            unsent_rows[_i].url == 0 ? "https://127.0.0.1:1/base" : "https://host.invalid/base";
    }
    if (!unsent_rows[_i].ca) {
        apr_table_unset((apr_table_t *)settings->given, "ca");
    }
    ck_assert_int_eq(pay_acquirer_relay.open(&context, &fault, settings, unit_pool), APR_SUCCESS);
    upstream_answer(200, APPROVED);
    for (slot = 0; slot < SLOTS; slot++) {
        check(unsent_rows[_i].name, context, slot, LONG, "unknown not sent");
    }
    ck_assert_int_eq(upstream_requests(), 0);
}
END_TEST

/* A body without a length ends with its connection: only its content shows that it is complete. */
START_TEST(test_cut_body)
{
    const char *body = slots[_i].body;
    int len = (int)strlen(body);
    void *context = (upstream_start(), upstream_open());
    int k;

    for (k = 0; k <= len; k++) {
        upstream_say("/", "close", apr_psprintf(unit_pool, UNTIL_CLOSED "%.*s", k, body));
        check(apr_itoa(unit_pool, k), context, _i, LONG,
              k < len ? "unknown error" : slots[_i].want);
    }
    ck_assert_int_eq(upstream_requests(), len + 1);
}
END_TEST

/* The head, and then a body of known length, cut at every byte. */
START_TEST(test_cut)
{
    static const char *const ends[] = {"close", "cut"};
    const char *text =
        apr_psprintf(unit_pool, "HTTP/1.1 200 X\r\n" UPSTREAM_DATE "Content-Length: %d\r\n\r\n%s",
                     (int)strlen(APPROVED), APPROVED);
    int len = (int)strlen(text);
    void *context = (upstream_start(), upstream_open());
    int k;

    for (k = 0; k <= len; k++) {
        upstream_say("/", ends[_i], apr_pstrmemdup(unit_pool, text, (apr_size_t)k));
        check(apr_itoa(unit_pool, k), context, CHARGE, LONG,
              k < len ? "unknown error" : "approved");
    }
    ck_assert_int_eq(upstream_requests(), len + 1);
}
END_TEST

/* The longest allowed answer, and one byte more. */
START_TEST(test_longest)
{
    void *context = (upstream_start(), upstream_open());
    char *body = apr_palloc(unit_pool, PAY_RELAY_ANSWER_MAX + 2);

    memset(body, ' ', PAY_RELAY_ANSWER_MAX + 1);
    memcpy(body, APPROVED, strlen(APPROVED));
    body[PAY_RELAY_ANSWER_MAX] = '\0';
    upstream_answer(200, body);
    check("the longest", context, CHARGE, LONG, "approved");
    body[PAY_RELAY_ANSWER_MAX] = ' ';
    body[PAY_RELAY_ANSWER_MAX + 1] = '\0';
    upstream_answer(200, body);
    check("one byte more", context, CHARGE, LONG, "unknown error");
}
END_TEST

/* ---- log lines */

static atomic_int lines;
static char line[400];

static void sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton;
    (void)status;
    if (level <= PAY_LOG_WARNING) {
        atomic_fetch_add(&lines, 1);
        apr_cpystrn(line, text, sizeof(line));
    }
}

/*
 * The same trouble is logged once, another one at once; no line contains anything of the exchange.
 */
START_TEST(test_log)
{
    void *context = (upstream_start(), upstream_open());
    int i;

    pay_log_set_sink(sink, NULL);
    for (i = 0; i < 5; i++) {
        upstream_answer(200, "<html>" UPSTREAM_TAG "</html>");
        check("HTML", context, CHARGE, LONG, "unknown error");
    }
    ck_assert_int_eq(atomic_load(&lines), 1);
    ck_assert_ptr_nonnull(strstr(line, "PAY00400"));
    ck_assert_ptr_nonnull(strstr(line, "relay 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(line, " of account demo: "));
    ck_assert_ptr_nonnull(
        strstr(line, "It answers with status 200 and a body that is not of this"));
    ck_assert_ptr_null(strstr(line, UPSTREAM_TAG));
    ck_assert_ptr_null(strstr(line, UPSTREAM_KEY));
    upstream_say("/", "cut", "");
    check("cut", context, CHARGE, LONG, "unknown error");
    ck_assert_int_eq(atomic_load(&lines), 2);
    upstream_answer(404, ERROR("N2", "There is no such operation."));
    check("a wrong path", context, CHARGE, LONG, "unknown");
    ck_assert_int_eq(atomic_load(&lines), 3);
    ck_assert_ptr_nonnull(strstr(line, "It answers with status 404 and code N2."));
    upstream_answer(503, ERROR(UPSTREAM_TAG, "no"));
    check("a code that is none", context, CHARGE, LONG, "unknown error");
    ck_assert_int_eq(atomic_load(&lines), 4);
    ck_assert_ptr_nonnull(strstr(line, "It answers with status 503."));
    upstream_answer(200, APPROVED);
    check("approved", context, CHARGE, LONG, "approved");
    ck_assert_int_eq(atomic_load(&lines), 4);
    pay_log_set_sink(NULL, NULL);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_kept);
    tcase_add_test(tcase, test_idle);
    tcase_add_test(tcase, test_sent_once);
    tcase_add_test(tcase, test_closed_meanwhile);
    tcase_add_test(tcase, test_kept_max);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_time_out);
    tcase_add_loop_test(tcase, test_not_sent, 0, UNIT_ROWS(unsent_rows));
    tcase_add_loop_test(tcase, test_cut_body, 0, SLOTS);
    tcase_add_loop_test(tcase, test_cut, 0, 2);
    tcase_add_test(tcase, test_longest);
    tcase_add_test(tcase, test_log);
}

UNIT_PROGRAM(add)
