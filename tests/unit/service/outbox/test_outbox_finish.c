/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/outbox.h"

#include "base/text/time.h"
#include "outbox_fixture.h"

#include <limits.h>
#include <stdlib.h>

#define PAYLOG_DROPPED "PAY00268"
#define PAYLOG_ONE_DROPPED "PAY00269"
#define PAYLOG_LATE "PAY00263"
#define COUNT 5

static struct {
    int refuse;          /* how often the store still refuses */
    apr_status_t status; /* with what */
    int end_leases;      /* 1: when it refuses, the leases have just ended */
    int is_second;       /* 1: another process has stored its results of them just now */
    apr_uint64_t bad;    /* the transaction whose result does not decode; 0: none */
    int calls;
} finish;

static apr_status_t finish_scripted(pay_store_t *store, apr_array_header_t *results, apr_pool_t *p)
{
    const pay_event_result_t *result;
    int i;

    finish.calls++;
    for (i = 0; i < results->nelts; i++) {
        result = &APR_ARRAY_IDX(results, i, pay_event_result_t);
        if (finish.bad && result->event->charge_seq == finish.bad) {
            return PAY_STORE_ECORRUPT;
        }
        if (finish.refuse > 0 && finish.end_leases) {
            ((pay_event_t *)result->event)->lease_until_ms = pay_time_boot_ms();
        }
    }
    if (finish.refuse > 0) {
        finish.refuse--;
        return finish.status;
    }
    if (finish.is_second) {
        ck_assert_int_eq(STORE_REAL(event_finish)(store, apr_array_copy(p, results), p),
                         APR_SUCCESS);
    }
    return STORE_REAL(event_finish)(store, results, p);
}

/* A receiver that takes everything, and COUNT events for it. */
static peer_t *set_up_finish(void)
{
    const peer_http_t plan = {OK_204, PEER_KEEP, 0};
    peer_t *peer = peer_http(&plan);

    set_up();
    memset(&finish, 0, sizeof(finish));
    store_script.event_finish = finish_scripted;
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", COUNT);
    return peer;
}

static const struct {
    const char *name;
    apr_status_t status;
} refusals[] = {
    {"busy", PAY_STORE_EBUSY},
    {"down", PAY_STORE_EDOWN},
    {"full", PAY_STORE_EFULL},
    {"unknown", PAY_STORE_EUNKNOWN},
};

/* Results that the store refuses are kept: the request is not sent again. */
START_TEST(test_refused)
{
    peer_t *peer = set_up_finish();
    apr_status_t rv = refusals[_i].status;
    int delivered, total = 0;

    finish.refuse = 6;
    finish.status = refusals[_i].status;
    while (rv == refusals[_i].status) {
        rv = pay_outbox_step(&delivered, outbox, STEP, NULL, NULL);
        total += delivered;
    }
    ck_assert_msg(rv == APR_SUCCESS && total == COUNT, "%s: %d, %d delivered", refusals[_i].name,
                  rv, total);
    ck_assert_int_eq(waiting(&scope)->nelts, 0);
    ck_assert_int_eq(peer_requests(peer), COUNT);
    ck_assert_int_eq(log_count("<warning>"), 0);
}
END_TEST

/* Meanwhile no more is sent than it takes at a time, and the rest waits. */
START_TEST(test_refused_for_long)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + 20000;
    peer_t *peer = set_up_finish();
    int i = 0;

    charges(&scope, "more", PAY_STORE_LEASES_MAX + 2 * PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    finish.refuse = INT_MAX;
    finish.status = PAY_STORE_EBUSY;
    while (i < 10) { /* steps after the last that it had room for */
        ck_assert_int_eq(pay_outbox_step(NULL, outbox, STEP, NULL, NULL), PAY_STORE_EBUSY);
        i += pay_outbox_in_flight(outbox) >= PAY_STORE_LEASES_MAX;
        ck_assert_int_lt(pay_time_boot_ms(), until_ms);
    }
    ck_assert_int_lt(pay_outbox_in_flight(outbox),
                     PAY_STORE_LEASES_MAX + PAY_OUTBOX_IN_FLIGHT_HOST_MAX);
    ck_assert_int_eq(peer_requests(peer), pay_outbox_in_flight(outbox));
}
END_TEST

/* Nor is it called endlessly while something else is on its way. */
START_TEST(test_refused_beside_one_that_hangs)
{
    const peer_http_t hangs = {"", PEER_HANG, 0};
    pay_scope_t other;
    pay_account_t *account;

    (void)set_up_finish();
    ck_assert_int_eq(pay_store_account_create(&account, shop->store, "slow",
                                              &pay_account_settings_builtin, unit_pool),
                     APR_SUCCESS);
    other = (pay_scope_t){account->number, PAY_TEST};
    endpoint_put(&other, PAY_ENDPOINT_WEBHOOK, peer_url(peer_http(&hangs), "http"));
    charges(&other, "order", 1);
    finish.refuse = INT_MAX;
    finish.status = PAY_STORE_EBUSY;
    ck_assert_int_eq(pay_outbox_step(NULL, outbox, apr_time_from_sec(1), NULL, NULL),
                     PAY_STORE_EBUSY);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), COUNT + 1);
    ck_assert_int_ge(finish.calls, 2);
    ck_assert_int_le(finish.calls, 12); /* ten times a second, and when the step ends */
}
END_TEST

/*
 * How many results were dropped according to the log: in one line or, on a slow machine, in more.
 */
static int dropped_in_log(void)
{
    const char *at;
    int count = 0;

    for (at = strstr(logged, PAYLOG_DROPPED); at; at = strstr(at + 1, PAYLOG_DROPPED)) {
        at = strstr(at, "the results of ");
        ck_assert_ptr_nonnull(at);
        count += atoi(at + strlen("the results of "));
    }
    return count;
}

/* Once their leases have ended they belong to nobody: logged, and dropped. */
START_TEST(test_too_late)
{
    peer_t *peer = set_up_finish();
    int calls;

    finish.refuse = 1000;
    finish.status = PAY_STORE_EBUSY;
    finish.end_leases = 1;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(dropped_in_log(), COUNT);
    ck_assert_int_eq(peer_requests(peer), COUNT);
    calls = finish.calls;
    ck_assert_int_eq(step(), 0); /* nothing is left to be stored; the store's leases last */
    ck_assert_int_eq(finish.calls, calls);
    ck_assert_int_eq(waiting(&scope)->nelts, COUNT);
}
END_TEST

/* A result of a later attempt that another process stored stands, and is not counted again. */
START_TEST(test_another_was_faster)
{
    peer_t *peer = set_up_finish();

    finish.is_second = 1;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(log_count(PAYLOG_LATE), COUNT);
    ck_assert_int_eq(log_count("<warning>"), 0);
    ck_assert_int_eq(waiting(&scope)->nelts, 0);
    ck_assert_int_eq(peer_requests(peer), COUNT);
}
END_TEST

/* One that cannot be stored delays none of the others. */
START_TEST(test_one_bad)
{
    peer_t *peer = set_up_finish();

    finish.bad = 3;
    ck_assert_int_eq(step(), COUNT - 1);
    ck_assert_int_eq(log_count(PAYLOG_ONE_DROPPED), 1);
    ck_assert_int_eq(waiting(&scope)->nelts, 1);
    ck_assert_int_eq(peer_requests(peer), COUNT);
}
END_TEST

static struct {
    apr_int64_t left_ms; /* of the leases of the first take */
    int taken;           /* events, by all takes */
} lease;

static apr_status_t take_scripted(apr_array_header_t **out, pay_store_t *store, int limit,
                                  pay_event_budget_t *budget, void *baton, apr_pool_t *p)
{
    apr_status_t rv = STORE_REAL(event_take)(out, store, limit, budget, baton, p);
    pay_event_t *event;
    int i;

    for (i = 0; rv == APR_SUCCESS && i < (*out)->nelts; i++) {
        event = (pay_event_t *)APR_ARRAY_IDX(*out, i, pay_taken_t).event;
        if (lease.taken < COUNT) {
            event->lease_until_ms = pay_time_boot_ms() + lease.left_ms;
        }
        lease.taken++;
    }
    return rv;
}

/* An attempt that would outlast its lease is returned unsent, and is not counted. */
START_TEST(test_lease)
{
    static const struct {
        const char *name;
        apr_int64_t left_ms;
        int taken;
    } rows[] = {
        {"it lasts", PAY_TRANSFER_TOTAL_MS + 10000, COUNT},
        {"it may not last", PAY_TRANSFER_TOTAL_MS, 2 * COUNT},
        {"it is over", -1, 2 * COUNT},
    };
    peer_t *peer = set_up_finish();

    lease.left_ms = rows[_i].left_ms;
    lease.taken = 0;
    store_script.event_take = take_scripted;
    ck_assert_int_eq(step(), COUNT);
    ck_assert_msg(lease.taken == rows[_i].taken, "%s: taken %d times", rows[_i].name, lease.taken);
    ck_assert_int_eq(peer_requests(peer), COUNT);
    ck_assert_int_eq(waiting(&scope)->nelts, 0);
}
END_TEST

/* As during a graceful restart: one leaves alone what the other has leased. */
START_TEST(test_two_at_once)
{
    const peer_http_t hangs = {"", PEER_HANG, 0};
    peer_t *peer = peer_http(&hangs);
    pay_outbox_t *other;
    int delivered;

    set_up();
    endpoint_put(&scope, PAY_ENDPOINT_WEBHOOK, peer_url(peer, "http"));
    charges(&scope, "order", 2);
    ck_assert_int_eq(step_for(apr_time_from_msec(200)), 0);
    ck_assert_int_eq(pay_outbox_in_flight(outbox), 2);
    ck_assert_int_eq(pay_outbox_create(&other, shop->store, keyring, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_outbox_step(&delivered, other, STEP, NULL, NULL), APR_SUCCESS);
    ck_assert_int_eq(delivered, 0);
    ck_assert_int_eq(pay_outbox_in_flight(other), 0);
    ck_assert_int_eq(peer_connections(peer), 2);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refusals));
    tcase_add_test(tcase, test_refused_for_long);
    tcase_add_test(tcase, test_refused_beside_one_that_hangs);
    tcase_add_test(tcase, test_too_late);
    tcase_add_test(tcase, test_another_was_faster);
    tcase_add_test(tcase, test_one_bad);
    tcase_add_loop_test(tcase, test_lease, 0, 3);
    tcase_add_test(tcase, test_two_at_once);
}

UNIT_PROGRAM(add)
