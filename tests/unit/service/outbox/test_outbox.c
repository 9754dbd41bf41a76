/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/outbox.h"

#include "outbox_fixture.h"
#include "service/refund/refunds.h"

#define SHORT apr_time_from_msec(300)
#define HANGS                                                                                      \
    {                                                                                              \
        "", PEER_HANG, 0                                                                           \
    }
#define ANSWER(line) "HTTP/1.1 " line "\r\nContent-Length: 4\r\n\r\nbody"
#define PAYLOG_FAILING "PAY00267"
#define PAYLOG_WEBHOOKS_WAIT "PAY00261"

static const struct {
    const char *name;
    const char *answer;
    int status;
    int taken;
} answers[] = {
    {"200", ANSWER("200 OK"), 200, 1},
    {"201", ANSWER("201 Created"), 201, 1},
    {"204", OK_204, 204, 1},
    {"205", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", 205, 0},
    {"206", ANSWER("206 Partial Content"), 206, 0},
    {"redirect", "HTTP/1.1 301 Moved\r\nLocation: /other\r\nContent-Length: 4\r\n\r\nbody", 301, 0},
    {"not found", ANSWER("404 Not Found"), 404, 0},
    {"gone", ANSWER("410 Gone"), 410, 0},
    {"fault", ANSWER("500 Internal Server Error"), 500, 0},
};

START_TEST(test_answers)
{
    const peer_http_t plan = {answers[_i].answer, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    const pay_event_t *event;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    ck_assert_msg(step() == answers[_i].taken, "%s", answers[_i].name);
    ck_assert_msg(peer_requests(peer) == 1, "%s: asked %d times", answers[_i].name,
                  peer_requests(peer));
    if (answers[_i].taken) {
        ck_assert_msg(waiting(&scope)->nelts == 0, "%s: it still waits", answers[_i].name);
        return;
    }
    event = the_event();
    ck_assert_msg(event->status == answers[_i].status, "%s: %d", answers[_i].name, event->status);
    ck_assert_uint_eq(event->failures, 1);
    ck_assert_int_eq(event->parked_at, 0);
    ck_assert_msg(event->due_at > pay_time_now(), "%s: when it is due", answers[_i].name);
    ck_assert_ptr_nonnull(strstr(event->error, apr_itoa(unit_pool, answers[_i].status)));
    ck_assert_str_eq(event->answer, event->status == 205 ? "" : "body");
}
END_TEST

/* The receiver gets the event: its id, and a signature made with its secret. */
START_TEST(test_request)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    const pay_event_t *event;
    const char *text;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    event = the_event();
    ck_assert_int_eq(step(), 1);
    text = peer_text(peer);
    ck_assert_int_eq(strncmp(text, "POST /hook HTTP/1.1\r\n", 21), 0);
    ck_assert_ptr_nonnull(strstr(text, apr_pstrcat(unit_pool, "\r\nwebhook-id: ",
                                                   pay_event_id(event, unit_pool), "\r\n", NULL)));
    ck_assert_ptr_nonnull(strstr(text, "\r\nwebhook-signature: v1,"));
    ck_assert_ptr_nonnull(strstr(text, "\"notifyType\":\"successful\""));
    ck_assert_ptr_nonnull(strstr(text, "order-0"));
    ck_assert_ptr_null(strstr(logged, "/hook"));
}
END_TEST

/* Whatever keeps it from being sent, no connection is made. */
START_TEST(test_unsafe_targets)
{
    static const struct {
        const char *name;
        int insecure;
        const char *allow;
        pay_mode_t mode;
        const char *error;
    } rows[] = {
        {"http is not switched on", 0, "127.0.0.0/8", PAY_TEST, "https"},
        {"http in Live Mode", 1, "127.0.0.0/8", PAY_LIVE, "https"},
        {"loopback is not allowed", 1, "", PAY_TEST, ""},
    };
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    pay_delivery_t how = {0, "", "", "", "", "", ""};

    set_up();
    how.webhook_insecure = rows[_i].insecure;
    how.webhook_allow = rows[_i].allow;
    deliver_as(&how);
    scope.mode = rows[_i].mode;
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    ck_assert_int_eq(step(), 0);
    ck_assert_msg(peer_connections(peer) == 0, "%s: it was dialled", rows[_i].name);
    ck_assert_uint_eq(the_event()->failures, 1);
    ck_assert_msg(strstr(the_event()->error, rows[_i].error) && *the_event()->error, "%s: %s",
                  rows[_i].name, the_event()->error);
}
END_TEST

/* It costs no attempt: events that wait for a key are sent when the key is there. */
START_TEST(test_no_key)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    pay_keyring_t *right;

    set_up();
    right = keyring;
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 3);
    keyring = _i ? keyring_make("other") : NULL;
    deliver_as(&delivery);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(log_count(PAYLOG_WEBHOOKS_WAIT), 1);
    ck_assert_int_eq(peer_connections(peer), 0);
    ck_assert_int_eq(waiting(&scope)->nelts, 3);
    ck_assert_uint_eq(APR_ARRAY_IDX(waiting(&scope), 0, pay_event_t *)->failures, 0);
    keyring = right;
    deliver_as(&delivery);
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http")); /* examined at once */
    ck_assert_int_eq(step(), 3);
}
END_TEST

START_TEST(test_nothing_waits)
{
    set_up();
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), 0);
    ck_assert_int_eq(pay_outbox_drain(outbox, STEP), APR_SUCCESS);
    ck_assert_str_eq(logged, "");
}
END_TEST

/* More than one batch of each kind, over connections that are kept alive. */
START_TEST(test_many)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    const int count = 2 * PAY_STORE_LEASES_MAX + 1;
    peer_t *peer = peer_http(&plan);

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", count);
    ck_assert_int_eq(step(), count);
    ck_assert_int_eq(peer_requests(peer), count);
    ck_assert_int_le(peer_connections(peer), PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    ck_assert_int_eq(waiting(&scope)->nelts, 0);
    ck_assert_int_eq(log_count("PAY00265: event "), count);
}
END_TEST

static pay_scope_t another_account(const char *name)
{
    pay_account_t *account;

    ck_assert_int_eq(pay_store_account_create(&account, shop->store, name,
                                              &pay_account_settings_builtin, unit_pool),
                     APR_SUCCESS);
    return (pay_scope_t){account->number, PAY_TEST};
}

/* Accounts that share a host share its places, and others are served meanwhile. */
START_TEST(test_a_host_that_hangs)
{
    const peer_http_t hangs = HANGS, takes = {OK_204, PEER_KEEP, 0};
    peer_t *slow = peer_http(&hangs), *quick = peer_http(&takes);
    pay_scope_t second, third;

    set_up();
    second = another_account("second");
    third = another_account("third");
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(slow, "http"));
    endpoint_put(&second, PAY_ENDPOINT_WEBHOOK, peer_url(slow, "http"));
    endpoint_put(&third, PAY_ENDPOINT_WEBHOOK, peer_url(quick, "http"));
    charges(&scope, "a", PAY_OUTBOX_IN_FLIGHT_HOST_MAX - 6);
    charges(&second, "b", PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    charges(&third, "c", 3 * PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    ck_assert_int_eq(step_for(apr_time_from_sec(2)), 3 * PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    ck_assert_int_eq(peer_connections(slow), PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
}
END_TEST

/* However many hosts hang, the next one finds a place. */
START_TEST(test_many_hosts_that_hang)
{
    const peer_http_t hangs = HANGS, takes = {OK_204, PEER_KEEP, 0};
    const int hosts = 20;
    pay_scope_t of;
    peer_t *quick;
    int i;

    set_up();
    for (i = 0; i < hosts; i++) {
        of = another_account(apr_psprintf(unit_pool, "slow-%d", i));
        endpoint_put(&of, PAY_ENDPOINT_WEBHOOK, peer_url(peer_http(&hangs), "http"));
        charges(&of, "order", PAY_OUTBOX_IN_FLIGHT_HOST_MAX + 4);
    }
    ck_assert_int_eq(step_for(apr_time_from_sec(2)), 0);
    ck_assert_int_le(pay_outbox_in_flight(outbox), PAY_OUTBOX_IN_FLIGHT_MAX - 1);
    ck_assert_int_ge(pay_outbox_in_flight(outbox), PAY_OUTBOX_IN_FLIGHT_MAX / 2);
    quick = peer_http(&takes);
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(quick, "http"));
    charges(&scope, "order", 10);
    ck_assert_int_eq(step_for(apr_time_from_sec(2)), 10);
}
END_TEST

static int stop_at_once(void *baton)
{
    (*(int *)baton)++;
    return 1;
}

START_TEST(test_stop)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    int delivered, asked = 0;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    ck_assert_int_eq(pay_outbox_step(&delivered, outbox, STEP, stop_at_once, &asked), APR_SUCCESS);
    ck_assert_int_eq(delivered, 0);
    ck_assert_int_eq(asked, 1);
    ck_assert_uint_eq(the_event()->leases, 0);
}
END_TEST

/* Draining begins nothing, and at its end hanging attempts are left to the lease. */
START_TEST(test_drain)
{
    const peer_http_t hangs = HANGS;
    peer_t *peer = peer_http(&hangs);

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "first", 1);
    ck_assert_int_eq(step_for(SHORT), 0);
    charges(&scope, "second", 1);
    ck_assert_int_eq(pay_outbox_drain(outbox, SHORT), APR_SUCCESS);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), 1);
    ck_assert_int_eq(peer_connections(peer), 1);
    ck_assert_int_eq(waiting(&scope)->nelts, 2);
    ck_assert_uint_eq(APR_ARRAY_IDX(waiting(&scope), 0, pay_event_t *)->leases, 1);
}
END_TEST

/* Both are logged once, whatever follows. */
START_TEST(test_failing)
{
    const peer_http_t plan = {ANSWER("503 Service Unavailable"), PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    int i;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", PAY_ENDPOINT_FAILURES_MAX - 1);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(log_count(PAYLOG_FAILING), 0);
    for (i = 0; i < 3; i++) {
        charges(&scope, apr_psprintf(unit_pool, "more-%d", i), 1);
        ck_assert_int_eq(step(), 0);
    }
    ck_assert_int_eq(log_count(PAYLOG_FAILING), 1);
    ck_assert_int_eq(log_count(PAYLOG_PARKED), 0);
    ck_assert_int_eq(peer_requests(peer), PAY_ENDPOINT_FAILURES_MAX);
}
END_TEST

/* During an overlap both secrets sign. */
START_TEST(test_overlap)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    pay_endpoint_t endpoint;
    const char *text;

    set_up();
    endpoint = *endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    endpoint.old_secret = endpoint.secret;
    endpoint.old_secret_until = pay_time_now() + (_i ? -1 : apr_time_from_sec(60));
    endpoint_write(&endpoint);
    charges(&scope, "order", 1);
    ck_assert_int_eq(step(), 1);
    text = strstr(peer_text(peer), "\r\nwebhook-signature: v1,");
    ck_assert_ptr_nonnull(text);
    text = strchr(text, ',') + 1;
    ck_assert_int_eq(strncmp(text + strcspn(text, " \r"), " v1,", 4) == 0, !_i);
}
END_TEST

/* A transaction's events come one after the other, in one step. */
START_TEST(test_order)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    pay_caller_t caller;
    const pay_refund_request_t request = {"order-0", NULL, NULL, NULL, "API"};
    pay_refund_t *refund;
    int replayed;

    set_up();
    caller = pay_caller_of_key(shop_key(shop, PAY_TEST), NULL);
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    ck_assert_ptr_null(
        pay_refund_create(&refund, &replayed, &shop->service, &caller, &request, unit_pool));
    ck_assert_int_eq(waiting(&scope)->nelts, 3); /* successful, refund processed, reversed */
    ck_assert_int_eq(step(), 3);
    ck_assert_int_eq(peer_requests(peer), 3);
    ck_assert_ptr_nonnull(strstr(peer_text(peer), "\"sequence\":3"));
    ck_assert_int_eq(peer_connections(peer), 1);
}
END_TEST

/* The person who requested a test sees its end at once, and the log does not warn of it. */
START_TEST(test_of_a_test)
{
    const peer_http_t plan = {ANSWER("500 Internal Server Error"), PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);
    pay_event_t *event;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    ck_assert_int_eq(
        pay_store_event_test(&event, shop->store, &scope, PAY_ENDPOINT_WEBHOOK, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_ne(the_event()->parked_at, 0);
    ck_assert_int_eq(the_event()->status, 500);
    ck_assert_msg(log_count("<warning>") == 0, "%s", logged);
}
END_TEST

/* A setting without a sensible value is logged, and allows nothing. */
START_TEST(test_wrong_network)
{
    const pay_delivery_t how = {1, "", "127.0.0.0/8 localhost", "", "", "", ""};
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);

    set_up();
    deliver_as(&how);
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 1);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(peer_connections(peer), 0);
    ck_assert_int_eq(log_count("PAY00260"), 1);
}
END_TEST

static struct {
    pay_event_budget_t *budget; /* the outbox's own */
    int first;                  /* events that the first take returned; -1: none yet */
} watch;

static int budget_of_suspects(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    pay_endpoint_t suspect = *endpoint;

    suspect.failures = 1;
    return watch.budget(baton, &suspect, taken);
}

/* As if the last attempt of each endpoint had failed. */
static apr_status_t take_suspects(apr_array_header_t **out, pay_store_t *store, int limit,
                                  pay_event_budget_t *budget, void *baton, apr_pool_t *p)
{
    apr_status_t rv;
    int i;

    watch.budget = budget;
    rv = STORE_REAL(event_take)(out, store, limit, budget_of_suspects, baton, p);
    for (i = 0; rv == APR_SUCCESS && i < (*out)->nelts; i++) {
        ((pay_endpoint_t *)APR_ARRAY_IDX(*out, i, pay_taken_t).endpoint)->failures = 1;
    }
    return rv;
}

/* However many endpoints failed last, half of the places are for others. */
START_TEST(test_suspects)
{
    const peer_http_t hangs = HANGS;
    const int hosts = 14;
    pay_scope_t of;
    int i;

    set_up();
    store_script.event_take = take_suspects;
    for (i = 0; i < hosts; i++) {
        of = another_account(apr_psprintf(unit_pool, "slow-%d", i));
        endpoint_put(&of, PAY_ENDPOINT_WEBHOOK, peer_url(peer_http(&hangs), "http"));
        charges(&of, "order", PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    }
    ck_assert_int_eq(step_for(apr_time_from_sec(1)), 0);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), PAY_OUTBOX_IN_FLIGHT_MAX / 2);
}
END_TEST

/* Their places are free again when they end. */
START_TEST(test_suspects_leave)
{
    const peer_http_t takes = {OK_204, PEER_KEEP, 0};

    set_up();
    store_script.event_take = take_suspects;
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer_http(&takes), "http"));
    charges(&scope, "order", PAY_OUTBOX_IN_FLIGHT_MAX / 2 + 20);
    ck_assert_int_eq(step(), PAY_OUTBOX_IN_FLIGHT_MAX / 2 + 20);
}
END_TEST

static apr_status_t take_watched(apr_array_header_t **out, pay_store_t *store, int limit,
                                 pay_event_budget_t *budget, void *baton, apr_pool_t *p)
{
    const apr_status_t rv = STORE_REAL(event_take)(out, store, limit, budget, baton, p);

    if (watch.first < 0) {
        watch.first = (*out)->nelts;
    }
    return rv;
}

/* Unused grants of one go to the next, in the same take. */
START_TEST(test_grants_are_given_back)
{
    const int hosts = 40;
    pay_scope_t of;
    int i;

    set_up();
    watch.first = -1;
    store_script.event_take = take_watched;
    for (i = 0; i < hosts; i++) {
        of = another_account(apr_psprintf(unit_pool, "shop-%d", i));
        endpoint_put(&of, PAY_ENDPOINT_WEBHOOK,
                     apr_psprintf(unit_pool, "http://127.0.0.1:%d/", 1 + i)); /* nobody listens */
        charges(&of, "order", 1);
    }
    ck_assert_int_eq(step_for(apr_time_from_sec(1)), 0);
    ck_assert_int_eq(watch.first, hosts);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_answers, 0, UNIT_ROWS(answers));
    tcase_add_test(tcase, test_request);
    tcase_add_loop_test(tcase, test_unsafe_targets, 0, 3);
    tcase_add_loop_test(tcase, test_no_key, 0, 2);
    tcase_add_test(tcase, test_nothing_waits);
    tcase_add_test(tcase, test_many);
    tcase_add_test(tcase, test_a_host_that_hangs);
    tcase_add_test(tcase, test_many_hosts_that_hang);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_drain);
    tcase_add_test(tcase, test_failing);
    tcase_add_loop_test(tcase, test_overlap, 0, 2);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_of_a_test);
    tcase_add_test(tcase, test_wrong_network);
    tcase_add_test(tcase, test_suspects);
    tcase_add_test(tcase, test_suspects_leave);
    tcase_add_test(tcase, test_grants_are_given_back);
}

UNIT_PROGRAM(add)
