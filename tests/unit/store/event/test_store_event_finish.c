/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#include <unistd.h>

#define SEC(seconds) apr_time_from_sec(seconds)
#define TRY_FOR_DAYS 3

static void charges(int i, int count)
{
    int k;

    for (k = 0; k < count; k++) {
        (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
}

static void refund(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *out = till_refund(i, reference, amount_minor, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&out, i, out->refund_reference, PAY_OUTCOME_APPROVED);
}

static pay_event_t *load(const pay_event_t *place)
{
    pay_event_t *event;

    ck_assert_int_eq(pay_store_event_get(&event, till->store, &place->scope, place, unit_pool),
                     APR_SUCCESS);
    return event;
}

/* The one event that is due, whose clock is set to when it is. */
static const pay_event_t *take_next(int i)
{
    apr_array_header_t *taken = outlet_take(1, 1);
    apr_time_t due_at = outlet_get(i, PAY_ENDPOINT_WEBHOOK)->due_at;

    if (taken->nelts == 0) {
        till_clock = due_at > till_clock ? due_at : till_clock;
        taken = outlet_take(1, 1);
    }
    if (taken->nelts == 0) { /* the endpoint was examined: now it says when the event is due */
        till_clock = outlet_get(i, PAY_ENDPOINT_WEBHOOK)->due_at;
        taken = outlet_take(1, 1);
    }
    ck_assert_int_eq(taken->nelts, 1);
    return outlet_event(taken, 0);
}

START_TEST(test_delivered)
{
    pay_event_result_t result;
    pay_endpoint_t *endpoint;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    till_clock += SEC(1);
    result = outlet_finish(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_DELIVERED);
    ck_assert(result.stored && !result.parked && result.due_at == 0);
    ck_assert_str_eq(outlet_waiting(0), "");
    endpoint = outlet_get(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(endpoint->answered_at, till_clock);
    ck_assert_int_eq(endpoint->status, 204);
    ck_assert_str_eq(endpoint->error, "");
    (void)outlet_take(1, 1);
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at, 0);
    till_check_clean();
}
END_TEST

START_TEST(test_failed)
{
    char answer[PAY_EVENT_ANSWER_MAX + 10], error[PAY_ENDPOINT_ERROR_MAX + 10];
    apr_array_header_t *results = apr_array_make(unit_pool, 1, sizeof(pay_event_result_t));
    pay_event_result_t result;
    pay_event_t *event;

    memset(answer, 'a', sizeof(answer));
    answer[sizeof(answer) - 1] = '\0';
    answer[1] = '\x1b';
    answer[2] = '\xff';
    memset(error, 'e', sizeof(error));
    error[sizeof(error) - 1] = '\0';
    error[0] = '\xff';
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    result = outlet_result(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_FAILED);
    result.answer = answer;
    result.error = error;
    APR_ARRAY_PUSH(results, pay_event_result_t) = result;
    ck_assert_int_eq(pay_store_event_finish(till->store, results, unit_pool), APR_SUCCESS);
    result = APR_ARRAY_IDX(results, 0, pay_event_result_t);
    ck_assert(result.stored && !result.parked);
    ck_assert_int_ge(result.due_at, TILL_NOW + SEC(5));
    event = load(result.event);
    ck_assert_uint_eq(event->failures, 1);
    ck_assert_int_eq(event->first_try_at, TILL_NOW);
    ck_assert_int_eq(event->due_at, result.due_at);
    ck_assert_int_eq(event->answered_at, TILL_NOW);
    ck_assert_int_eq(event->status, 500);
    ck_assert_uint_eq(strlen(event->error), PAY_ENDPOINT_ERROR_MAX);
    ck_assert_uint_eq(strlen(event->answer), PAY_EVENT_ANSWER_MAX);
    ck_assert_int_eq(event->error[0], '?');
    ck_assert_int_eq(strncmp(event->answer, "a??a", 4), 0);
    ck_assert_int_eq(event->lease_worker.pid, 0);
    ck_assert_int_eq(event->lease_until_ms, 0);
    ck_assert_int_eq(event->lease_until_at, 0);
    ck_assert_str_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->error, event->error);
    till_check_clean();
}
END_TEST

START_TEST(test_released)
{
    pay_event_result_t result;
    pay_event_t *event;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    result = outlet_finish(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_RELEASED);
    ck_assert(result.stored && !result.parked);
    event = load(result.event);
    ck_assert_uint_eq(event->failures, 0);
    ck_assert_int_eq(event->first_try_at, 0);
    ck_assert_int_eq(event->answered_at, 0);
    ck_assert_int_eq(event->due_at, TILL_NOW);
    ck_assert_uint_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failures, 0);
    till_check_clean();
    ck_assert_int_eq(outlet_take(1, 1)->nelts, 1); /* at once */
}
END_TEST

/*
 * Parked at once; later ones stay behind, and no probe is needed: a receiver that refuses answers.
 */
START_TEST(test_refused)
{
    pay_event_result_t result;
    const pay_event_t *event;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    for (k = 0; k < 5; k++) {
        event = take_next(0);
        (void)outlet_finish(event, PAY_EVENT_FAILED);
    }
    ck_assert(pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    result = outlet_finish(take_next(0), PAY_EVENT_REFUSED);
    ck_assert(result.stored && result.parked && result.due_at == 0);
    ck_assert(!pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    refund(0, "order-0", 300);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked; "
                                        "webhook 1.2 refund processed behind");
    ck_assert_int_eq(load(result.event)->parked_at, till_clock);
    ck_assert_uint_eq(load(result.event)->failures, 6);
    till_clock += 30 * OUTLET_DAY;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_check_clean();
}
END_TEST

/* Every wait of the schedule, each lengthened by no more than a tenth, and the last attempt. */
START_TEST(test_schedule)
{
    static const int waits[] = {5, 5, 5, 60, 300, 1800, 7200, 21600};
    const apr_time_t first = till_clock;
    const pay_event_t *event;
    pay_event_result_t result;
    apr_interval_time_t wait;
    int k, longer = 0;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    for (k = 0;; k++) {
        event = take_next(0);
        ck_assert_uint_eq(event->failures, (unsigned int)k);
        result = outlet_finish(event, PAY_EVENT_FAILED);
        ck_assert(result.stored);
        if (result.parked) {
            break;
        }
        outlet_open(0, PAY_ENDPOINT_WEBHOOK); /* other events to it succeed */
        wait = SEC(k < UNIT_ROWS(waits) ? waits[k] : 12 * 3600);
        ck_assert_msg(result.due_at <= till_clock + wait + wait / 10, "try %d: too late", k);
        if (result.due_at != first + SEC(3 * 24 * 3600)) { /* the last is exactly then */
            ck_assert_msg(result.due_at >= till_clock + wait, "try %d: too early", k);
        }
        longer += result.due_at > till_clock + wait;
        till_check_clean();
    }
    ck_assert_int_eq(till_clock, first + SEC(3 * 24 * 3600));
    ck_assert_int_ge(k, 12);
    ck_assert_int_le(k, 14);
    ck_assert_int_ge(longer, 5); /* jitter there is */
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked");
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t after; /* the first try */
    int parked;
} last_cases[] = {
    {"a moment before", SEC(3 * 24 * 3600) - 1, 0},
    {"just then", SEC(3 * 24 * 3600), 1},
    {"long after", SEC(9 * 24 * 3600), 1},
};

START_TEST(test_last_try)
{
    pay_event_result_t result;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    (void)outlet_finish(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_FAILED);
    till_clock = TILL_NOW + last_cases[_i].after;
    result = outlet_finish(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_FAILED);
    ck_assert_msg(result.parked == last_cases[_i].parked, "%s", last_cases[_i].name);
    if (!result.parked) {
        ck_assert_int_eq(result.due_at, TILL_NOW + SEC(3 * 24 * 3600));
    }
    till_check_clean();
}
END_TEST

/* Results of a lease that no longer belongs to the event change nothing. */
START_TEST(test_earlier_leases)
{
    const pay_event_t *first, *second;
    const char *before;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    first = outlet_event(outlet_take(1, 1), 0);
    (void)outlet_finish(first, PAY_EVENT_RELEASED);
    second = outlet_event(outlet_take(1, 1), 0);
    before = till_snapshot();
    ck_assert(!outlet_finish(first, PAY_EVENT_DELIVERED).stored);
    ck_assert(!outlet_finish(first, PAY_EVENT_FAILED).stored);
    ck_assert(!outlet_finish(first, PAY_EVENT_REFUSED).stored);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert(outlet_finish(second, PAY_EVENT_DELIVERED).stored);
    before = till_snapshot();
    ck_assert(!outlet_finish(second, PAY_EVENT_DELIVERED).stored); /* it is gone */
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

/* Storing a result twice equals storing it once. */
START_TEST(test_same_result_twice)
{
    const pay_event_t *event;
    const char *before;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    event = outlet_event(outlet_take(1, 1), 0);
    (void)outlet_finish(event, (pay_event_end_t)_i);
    before = till_snapshot();
    ck_assert(!outlet_finish(event, PAY_EVENT_FAILED).stored);
    ck_assert(!outlet_finish(event, PAY_EVENT_DELIVERED).stored);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

/* A hundred results of several endpoints in one transaction, each with its own end. */
START_TEST(test_a_full_batch)
{
    apr_array_header_t *taken, *results = apr_array_make(unit_pool, 1, sizeof(pay_event_result_t));
    pay_event_result_t *result;
    int i, k, waiting = 0;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
        outlet_open(i, PAY_ENDPOINT_NOTICE);
        charges(i, 20);
    }
    taken = outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY);
    ck_assert_int_eq(taken->nelts, PAY_STORE_LEASES_MAX);
    for (k = 0; k < taken->nelts; k++) {
        APR_ARRAY_PUSH(results, pay_event_result_t) =
            outlet_result(outlet_event(taken, k), (pay_event_end_t)(k % (PAY_EVENT_RELEASED + 1)));
    }
    ck_assert_int_eq(pay_store_event_finish(till->store, results, unit_pool), APR_SUCCESS);
    for (k = 0; k < taken->nelts; k++) {
        result = &APR_ARRAY_IDX(results, k, pay_event_result_t);
        ck_assert(result->stored);
        ck_assert_int_eq(result->parked,
                         result->end == PAY_EVENT_REFUSED || result->end == PAY_EVENT_WITHHELD);
        waiting += result->end == PAY_EVENT_FAILED || result->end == PAY_EVENT_RELEASED;
    }
    till_check_clean();
    till_clock += SEC(6);
    ck_assert_int_eq(waiting, 40);
    /* Each webhook's merchant learns that events were given up. */
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), waiting + 20 + TILL_SCOPES);
    till_check_clean();
}
END_TEST

/* ---- an endpoint that fails */

/* Five failures in a row, of any events; after a success in between it begins again. */
START_TEST(test_failing_after_five_in_a_row)
{
    apr_array_header_t *taken;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 12);
    taken = outlet_take(10, 10);
    for (k = 0; k < 4; k++) {
        (void)outlet_finish(outlet_event(taken, k), PAY_EVENT_FAILED);
    }
    (void)outlet_finish(outlet_event(taken, 4), PAY_EVENT_DELIVERED);
    ck_assert_uint_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failures, 0);
    for (k = 5; k < 10; k++) {
        ck_assert(!pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
        (void)outlet_finish(outlet_event(taken, k), PAY_EVENT_FAILED);
    }
    ck_assert(pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since, till_clock);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0); /* not before its back-off */
    till_clock += SEC(5) - 1;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_clock += SEC(1);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1); /* the probe */
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->probing);
    till_check_clean();
}
END_TEST

/* Those under way as it began to fail are one probe, not many. */
START_TEST(test_failures_in_flight)
{
    apr_array_header_t *taken;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 60);
    taken = outlet_take(50, 50);
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    ck_assert_uint_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failures, 5);
    ck_assert_uint_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->probes, 0);
    ck_assert_int_le(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at, till_clock + SEC(6));
    till_check_clean();
}
END_TEST

/* The probes' times are those of the schedule, whichever event is the probe. */
START_TEST(test_probes)
{
    static const int waits[] = {5, 5, 5, 60, 300, 1800, 7200, 21600, 43200, 43200};
    apr_array_header_t *taken;
    apr_time_t due_at;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 30);
    (void)outlet_finish_all(outlet_take(5, 5), PAY_EVENT_FAILED);
    for (k = 0; k < UNIT_ROWS(waits); k++) {
        due_at = outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at;
        ck_assert_uint_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->probes, (unsigned int)k);
        ck_assert_msg(due_at >= till_clock + SEC(waits[k]), "probe %d: too early", k);
        ck_assert_msg(due_at <= till_clock + SEC(waits[k]) * 11 / 10, "probe %d: too late", k);
        till_clock = due_at - 1;
        ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
        till_clock = due_at;
        taken = outlet_take(10, 10);
        ck_assert_int_eq(taken->nelts, 1);
        (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
        till_check_clean();
    }
    till_clock = outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at;
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_DELIVERED);
    ck_assert(!pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since, 0);
    till_clock += OUTLET_DAY / 2 + OUTLET_DAY / 10;
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 29);
    till_check_clean();
}
END_TEST

/* New events do not hasten the next probe, and a lost probe no longer counts. */
START_TEST(test_back_off_holds)
{
    apr_array_header_t *taken;
    apr_time_t due_at;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 10);
    (void)outlet_finish_all(outlet_take(5, 5), PAY_EVENT_FAILED);
    due_at = outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at;
    (void)till_charge(0, "new", 1000);
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at, due_at);
    till_clock = due_at;
    taken = outlet_take(10, 10);
    ck_assert_int_eq(taken->nelts, 1);
    till_clock += apr_time_from_msec(PAY_STORE_LEASE_MS) - 1; /* its worker is gone with it */
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_clock += 1;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1); /* the next one */
    till_check_clean();
}
END_TEST

/* Three days of failing, and an event that could not be tried is given up at the same age. */
START_TEST(test_parked_untried)
{
    const pay_event_t *retried;
    int tries = 0;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    charges(0, 600);
    while (outlet_run(PAY_EVENT_DELIVERED) > 0) {
    }
    ck_assert_str_eq(outlet_waiting(0), "");
    for (tries = 0; tries < 600; tries++) {
        refund(0, apr_psprintf(unit_pool, "order-%d", tries), 300);
    }
    (void)outlet_finish_all(outlet_take(5, 5), PAY_EVENT_FAILED);
    till_clock += TRY_FOR_DAYS * OUTLET_DAY - 1;
    ck_assert_int_eq(outlet_take(1, 1)->nelts, 1);
    till_clock += apr_time_from_msec(PAY_STORE_LEASE_MS);
    for (tries = 0; tries < 5; tries++) { /* some hundreds at a time */
        (void)outlet_take(100, 1);
    }
    till_check_clean();
    {
        pay_event_stat_t stat;

        ck_assert_int_eq(pay_store_event_stat(&stat, till->store, unit_pool), APR_SUCCESS);
        ck_assert_uint_ge(stat.parked, 590);
    }
    retried = NULL;
    {
        apr_array_header_t *list;
        pay_event_t *event;

        ck_assert_int_eq(
            pay_store_event_list(&list, till->store, &till->scopes[0], 1, NULL, 1, unit_pool),
            APR_SUCCESS);
        retried = APR_ARRAY_IDX(list, 0, pay_event_t *);
        ck_assert_str_eq(retried->error, "its endpoint was failing all the time");
        ck_assert_int_eq(
            pay_store_event_retry(&event, till->store, &till->scopes[0], retried, unit_pool),
            APR_SUCCESS);
    }
    for (tries = 0; tries < 3; tries++) { /* it is tried, not given up again untried */
        (void)outlet_take(100, 100);
    }
    ck_assert_int_eq(load(retried)->parked_at, 0);
    ck_assert_int_eq(load(retried)->lease_worker.pid, getpid());
    till_check_clean();
}
END_TEST

/* A repaired receiver is tested at once, whatever waits for it. */
START_TEST(test_test_goes_first)
{
    pay_event_t *test;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 100);
    (void)outlet_finish_all(outlet_take(16, 16), PAY_EVENT_FAILED);
    ck_assert_int_eq(
        pay_store_event_test(&test, till->store, &till->scopes[0], PAY_ENDPOINT_WEBHOOK, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(outlet_name(outlet_event(outlet_take(1, 1), 0)),
                     "webhook 0.1 test_assess test*");
    till_check_clean();
}
END_TEST

/* ---- notices to the merchant */

static void park_one(int i, const char *reference)
{
    (void)till_charge(i, reference, 1000);
    (void)outlet_finish_all(outlet_take(100, 100), PAY_EVENT_REFUSED);
}

START_TEST(test_merchant_is_told_daily_at_most)
{
    apr_array_header_t *taken;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    park_one(0, "before there is anybody to tell");
    (void)till_charge(0, "order-1", 1000);
    (void)till_charge(0, "order-2", 1000);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    (void)outlet_finish_all(outlet_take(100, 100), PAY_EVENT_REFUSED);
    taken = outlet_take(100, 100);
    ck_assert_int_eq(taken->nelts, 1); /* of two */
    ck_assert_str_eq(outlet_name(outlet_event(taken, 0)), "notice 2.1 event parked*");
    ck_assert_ptr_nonnull(outlet_event(taken, 0)->parked);
    ck_assert_int_eq(outlet_event(taken, 0)->parked->endpoint, PAY_ENDPOINT_WEBHOOK);
    ck_assert_uint_eq(outlet_event(taken, 0)->parked->charge_seq, 2);
    ck_assert_str_eq(outlet_event(taken, 0)->parked->error, "The answer was 500");
    ck_assert_str_eq(outlet_event(taken, 0)->charge->reference, "order-1");
    till_check_clean();
    (void)outlet_finish_all(taken, PAY_EVENT_DELIVERED);
    for (k = 0; k < 2; k++) {
        till_clock = TILL_NOW + OUTLET_DAY - 1 + k;
        (void)till_charge(0, apr_psprintf(unit_pool, "later-%d", k), 1000);
        (void)outlet_finish_all(outlet_take(1, 1), PAY_EVENT_REFUSED); /* the webhook's */
        ck_assert_int_eq(strstr(outlet_waiting(0), "event parked") != NULL, k);
        ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 1 + k);
    }
    till_check_clean();
}
END_TEST

/* The notice of parking is not ordered with the transaction's own notices. */
START_TEST(test_notice_of_parking_is_in_nobodys_way)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    (void)outlet_finish_all(outlet_take(1, 1), PAY_EVENT_REFUSED);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked; "
                                        "notice 1.1 event parked");
    refund(0, "order-1", 300); /* the notice still waits */
    refund(0, "order-1", 300);
    till_check_clean();
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 3);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked; "
                                        "webhook 1.2 refund processed behind; "
                                        "webhook 1.3 refund processed behind");
    till_check_clean();
}
END_TEST

/* Results of the merchant's own endpoint in the transaction that writes to it. */
START_TEST(test_merchant_is_told_within_a_batch_of_his_own)
{
    apr_array_header_t *taken, *results = apr_array_make(unit_pool, 1, sizeof(pay_event_result_t));
    int k, order = _i & 1;
    pay_event_end_t end = (_i & 2) ? PAY_EVENT_FAILED : PAY_EVENT_DELIVERED;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    charges(0, 1);
    taken = outlet_take(100, 100);
    ck_assert_int_eq(taken->nelts, 2);
    ck_assert_int_eq(outlet_take(100, 100)->nelts, 0);
    for (k = 0; k < 2; k++) {
        const pay_event_t *event = outlet_event(taken, k ^ order);

        APR_ARRAY_PUSH(results, pay_event_result_t) =
            outlet_result(event, event->endpoint == PAY_ENDPOINT_NOTICE ? end : PAY_EVENT_REFUSED);
    }
    ck_assert_int_eq(pay_store_event_finish(till->store, results, unit_pool), APR_SUCCESS);
    till_check_clean();
    till_clock += SEC(6);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), end == PAY_EVENT_FAILED ? 2 : 1);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked");
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_delivered);
    tcase_add_test(tcase, test_failed);
    tcase_add_test(tcase, test_released);
    tcase_add_test(tcase, test_refused);
    tcase_add_test(tcase, test_schedule);
    tcase_add_loop_test(tcase, test_last_try, 0, UNIT_ROWS(last_cases));
    tcase_add_test(tcase, test_earlier_leases);
    tcase_add_loop_test(tcase, test_same_result_twice, PAY_EVENT_DELIVERED, PAY_EVENT_RELEASED + 1);
    tcase_add_test(tcase, test_a_full_batch);
    tcase_add_test(tcase, test_failing_after_five_in_a_row);
    tcase_add_test(tcase, test_failures_in_flight);
    tcase_add_test(tcase, test_probes);
    tcase_add_test(tcase, test_back_off_holds);
    tcase_add_test(tcase, test_parked_untried);
    tcase_add_test(tcase, test_test_goes_first);
    tcase_add_test(tcase, test_merchant_is_told_daily_at_most);
    tcase_add_test(tcase, test_notice_of_parking_is_in_nobodys_way);
    tcase_add_loop_test(tcase, test_merchant_is_told_within_a_batch_of_his_own, 0, 4);
}

UNIT_PROGRAM(add)
