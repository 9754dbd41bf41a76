/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#define SEC(seconds) apr_time_from_sec(seconds)

static void refund(const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *out = till_refund(0, reference, amount_minor, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&out, 0, out->refund_reference, PAY_OUTCOME_APPROVED);
}

static pay_event_t at(apr_uint64_t charge_seq, apr_uint32_t sequence)
{
    const pay_event_t place = {
        .endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = charge_seq, .sequence = sequence};

    return place;
}

static pay_event_t *retry(apr_uint64_t charge_seq, apr_uint32_t sequence, apr_status_t want)
{
    const pay_event_t place = at(charge_seq, sequence);
    pay_event_t *event;

    ck_assert_int_eq(
        pay_store_event_retry(&event, till->store, &till->scopes[0], &place, unit_pool), want);
    return event;
}

static pay_event_t *drop(apr_uint64_t charge_seq, apr_uint32_t sequence, apr_status_t want)
{
    const pay_event_t place = at(charge_seq, sequence);
    pay_event_t *event;

    ck_assert_int_eq(pay_store_event_drop(&event, till->store, &till->scopes[0], &place, unit_pool),
                     want);
    return event;
}

/* One transaction of three events, one of one. */
static void fill(void)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    refund("order-1", 1000);
    (void)till_charge(0, "order-2", 1000);
}

START_TEST(test_of_none)
{
    fill();
    ck_assert_ptr_null(retry(1, 9, APR_NOTFOUND));
    ck_assert_ptr_null(drop(9, 1, APR_NOTFOUND));
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 4);
}
END_TEST

START_TEST(test_retry_of_a_parked_one)
{
    const pay_event_t *event;

    fill();
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_REFUSED);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_clock += SEC(1000);
    ck_assert_int_eq(retry(1, 1, APR_SUCCESS)->due_at, till_clock);
    till_check_clean();
    event = outlet_event(outlet_take(10, 10), 0);
    ck_assert_str_eq(outlet_name(event), "webhook 1.1 transaction successful*");
    ck_assert_uint_eq(event->failures, 0);
    ck_assert_int_eq(event->first_try_at, 0);
    ck_assert_str_eq(event->error, "The answer was 500"); /* its known data stays */
    (void)outlet_finish(event, PAY_EVENT_DELIVERED);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2); /* those behind, in order */
    ck_assert_str_eq(outlet_waiting(0), "webhook 2.1 transaction successful parked");
    till_check_clean();
}
END_TEST

START_TEST(test_retry_of_a_waiting_one)
{
    fill();
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_FAILED);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    (void)retry(2, 1, APR_SUCCESS);
    ck_assert_str_eq(outlet_name(outlet_event(outlet_take(10, 10), 0)),
                     "webhook 2.1 transaction successful*");
    till_check_clean();
}
END_TEST

/* It cannot overtake. */
START_TEST(test_retry_of_one_behind)
{
    fill();
    ck_assert_int_eq(retry(1, 2, APR_EBUSY)->sequence, 2);
    ck_assert_int_eq(retry(1, 3, APR_EBUSY)->sequence, 3);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful; "
                                        "webhook 1.2 refund processed behind; "
                                        "webhook 1.3 transaction reversed behind; "
                                        "webhook 2.1 transaction successful");
    till_check_clean();
}
END_TEST

/* A leased event is not sent a second time; its result counts. */
START_TEST(test_retry_of_a_leased_one)
{
    const pay_event_t *event;

    fill();
    event = outlet_event(outlet_take(10, 10), 0);
    (void)retry(1, 1, APR_SUCCESS);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert(outlet_finish(event, PAY_EVENT_DELIVERED).stored);
    till_check_clean();
}
END_TEST

/* The endpoint is tried again too, with all its waiting events. */
START_TEST(test_retry_wakes_a_failing_endpoint)
{
    int k;

    fill();
    for (k = 0; k < 40; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "more-%d", k), 1000);
    }
    (void)outlet_finish_all(outlet_take(16, 16), PAY_EVENT_FAILED);
    ck_assert_int_eq(outlet_take(16, 16)->nelts, 0);
    (void)retry(1, 1, APR_SUCCESS);
    ck_assert(!pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since, 0);
    ck_assert_int_eq(outlet_take(16, 16)->nelts, 16);
    till_check_clean();
}
END_TEST

/* One failure more and it is failing again, since then. */
START_TEST(test_retry_is_on_probation)
{
    apr_array_header_t *taken;
    int k;

    fill();
    for (k = 0; k < 10; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "more-%d", k), 1000);
    }
    (void)outlet_finish_all(outlet_take(6, 6), PAY_EVENT_FAILED);
    till_clock += SEC(1);
    (void)retry(1, 1, APR_SUCCESS);
    taken = outlet_take(1, 1);
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    ck_assert(pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since, till_clock);
    ck_assert_int_eq(outlet_take(16, 16)->nelts, 0);
    till_check_clean();
}
END_TEST

START_TEST(test_retry_at_a_disabled_endpoint)
{
    fill();
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_REFUSED);
    outlet_shut(0, PAY_ENDPOINT_WEBHOOK);
    (void)retry(1, 1, APR_SUCCESS);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_check_clean();
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 3);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_uint32_t sequence;
    int parked, leased;
    const char *want;
} drop_cases[] = {
    {"the first, waiting", 1, 0, 0,
     "webhook 1.2 refund processed; webhook 1.3 transaction reversed behind"},
    {"the first, parked", 1, 1, 0,
     "webhook 1.2 refund processed; webhook 1.3 transaction reversed behind"},
    {"the first, leased", 1, 0, 1,
     "webhook 1.2 refund processed; webhook 1.3 transaction reversed behind"},
    {"the second", 2, 0, 0,
     "webhook 1.1 transaction successful; webhook 1.3 transaction reversed behind"},
    {"the second behind a parked one", 2, 1, 0,
     "webhook 1.1 transaction successful parked; webhook 1.3 transaction reversed behind"},
    {"the last", 3, 0, 0,
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind"},
};

START_TEST(test_drop)
{
    apr_array_header_t *taken;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    refund("order-1", 1000);
    taken = drop_cases[_i].parked || drop_cases[_i].leased ? outlet_take(10, 10) : NULL;
    if (drop_cases[_i].parked) {
        (void)outlet_finish_all(taken, PAY_EVENT_REFUSED);
    }
    ck_assert_uint_eq(drop(1, drop_cases[_i].sequence, APR_SUCCESS)->sequence,
                      drop_cases[_i].sequence);
    ck_assert_msg(!strcmp(outlet_waiting(0), drop_cases[_i].want), "%s: %s", drop_cases[_i].name,
                  outlet_waiting(0));
    till_check_clean();
    if (drop_cases[_i].leased) {
        ck_assert(!outlet_finish(outlet_event(taken, 0), PAY_EVENT_DELIVERED).stored);
    }
    if (drop_cases[_i].sequence == 1) {
        ck_assert_int_eq(outlet_take(10, 10)->nelts, 1); /* the next is due at once */
    }
    till_check_clean();
}
END_TEST

START_TEST(test_drop_of_the_only_one)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    (void)drop(1, 1, APR_SUCCESS);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    refund("order-1", 300); /* its sequence goes on */
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.2 refund processed");
    till_check_clean();
}
END_TEST

/* The notice of its parking still waits when it is parked again: it is sent once, and not lost. */
START_TEST(test_parked_again_before_it_was_told)
{
    apr_array_header_t *taken;
    int k, times;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    for (times = 0; times < 2; times++) {
        taken = outlet_take(100, 100);
        for (k = 0; k < taken->nelts; k++) {
            (void)outlet_finish(outlet_event(taken, k),
                                outlet_event(taken, k)->endpoint == PAY_ENDPOINT_WEBHOOK
                                    ? PAY_EVENT_REFUSED
                                    : PAY_EVENT_RELEASED);
        }
        till_clock += 2 * OUTLET_DAY;
        till_check_clean();
        ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked; "
                                            "notice 1.1 event parked");
        (void)retry(1, 1, APR_SUCCESS);
    }
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    ck_assert_str_eq(outlet_waiting(0), "");
    till_check_clean();
}
END_TEST

/* A merchant whose address was removed gets nothing, at once or later. */
START_TEST(test_nobody_to_tell_of_parking)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    outlet_shut(0, PAY_ENDPOINT_NOTICE);
    (void)till_charge(0, "order-1", 1000);
    (void)outlet_finish_all(outlet_take(1, 1), PAY_EVENT_REFUSED);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked");
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->parked_told_at, 0);
    till_check_clean();
}
END_TEST

/* A new notice has the place of the dropped one: results of that one do not apply to it. */
START_TEST(test_result_of_a_dropped_notice)
{
    pay_event_t place = at(1 | PAY_EVENT_PARKED_BIT, 1), *dropped;
    const pay_event_t *before, *after;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    (void)outlet_finish_all(outlet_take(1, 1), PAY_EVENT_REFUSED);
    before = outlet_event(outlet_take(1, 1), 0);
    place.endpoint = PAY_ENDPOINT_NOTICE;
    ck_assert_int_eq(
        pay_store_event_drop(&dropped, till->store, &till->scopes[0], &place, unit_pool),
        APR_SUCCESS);
    till_clock += OUTLET_DAY;
    (void)retry(1, 1, APR_SUCCESS);
    (void)outlet_finish_all(outlet_take(1, 1), PAY_EVENT_REFUSED);
    after = outlet_event(outlet_take(1, 1), 0);
    ck_assert_str_eq(outlet_name(after), outlet_name(before));
    ck_assert_uint_eq(after->leases, before->leases);
    ck_assert(!outlet_finish(before, PAY_EVENT_DELIVERED).stored);
    ck_assert(outlet_finish(after, PAY_EVENT_DELIVERED).stored);
    till_check_clean();
}
END_TEST

/* Changes elsewhere do not postpone its next probe. */
START_TEST(test_parking_leaves_the_notices_back_off)
{
    apr_array_header_t *taken;
    apr_time_t due_at;
    int k;

    outlet_open(0, PAY_ENDPOINT_NOTICE);
    for (k = 0; k < 5; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_FAILED);
    due_at = outlet_get(0, PAY_ENDPOINT_NOTICE)->due_at;
    ck_assert_int_ge(due_at, till_clock + SEC(5));
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-6", 1000);
    till_clock += SEC(4);
    taken = outlet_take(10, 10);
    ck_assert_int_eq(taken->nelts, 1);
    (void)outlet_finish_all(taken, PAY_EVENT_REFUSED);
    ck_assert(pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_NOTICE)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_NOTICE)->due_at, due_at);
    till_check_clean();
}
END_TEST

/* A test gives it another attempt, but it has failed for as long as before. */
START_TEST(test_failing_since_outlives_a_test)
{
    apr_time_t since;
    pay_event_t *test;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    for (k = 0; k < 20; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
    (void)outlet_finish_all(outlet_take(5, 5), PAY_EVENT_FAILED);
    since = outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since;
    ck_assert_int_eq(since, till_clock);
    till_clock += SEC(100);
    ck_assert_int_eq(
        pay_store_event_test(&test, till->store, &till->scopes[0], PAY_ENDPOINT_WEBHOOK, unit_pool),
        APR_SUCCESS);
    (void)outlet_finish_all(outlet_take(5, 5), PAY_EVENT_FAILED);
    ck_assert(pay_endpoint_is_failing(outlet_get(0, PAY_ENDPOINT_WEBHOOK)));
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->failing_since, since);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t back;
    int taken;
} clock_cases[] = {
    {"within a back-off", SEC(60), 0},
    {"beyond all of them", 3 * OUTLET_DAY, 1},
};

/* A failing endpoint is not left alone until a clock that was set back is where it had been. */
START_TEST(test_failing_and_clock_set_back)
{
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    for (k = 0; k < 10; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_FAILED);
    till_clock -= clock_cases[_i].back;
    ck_assert_msg(outlet_take(10, 10)->nelts == clock_cases[_i].taken, "%s", clock_cases[_i].name);
    for (k = 0; k < 3; k++) {
        (void)till_charge(0, apr_psprintf(unit_pool, "new-%d", k), 1000);
    }
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0); /* the probe, if any, is on its way */
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_of_none);
    tcase_add_test(tcase, test_retry_of_a_parked_one);
    tcase_add_test(tcase, test_retry_of_a_waiting_one);
    tcase_add_test(tcase, test_retry_of_one_behind);
    tcase_add_test(tcase, test_retry_of_a_leased_one);
    tcase_add_test(tcase, test_retry_wakes_a_failing_endpoint);
    tcase_add_test(tcase, test_retry_is_on_probation);
    tcase_add_test(tcase, test_retry_at_a_disabled_endpoint);
    tcase_add_loop_test(tcase, test_drop, 0, UNIT_ROWS(drop_cases));
    tcase_add_test(tcase, test_drop_of_the_only_one);
    tcase_add_test(tcase, test_parked_again_before_it_was_told);
    tcase_add_test(tcase, test_nobody_to_tell_of_parking);
    tcase_add_test(tcase, test_result_of_a_dropped_notice);
    tcase_add_test(tcase, test_parking_leaves_the_notices_back_off);
    tcase_add_test(tcase, test_failing_since_outlives_a_test);
    tcase_add_loop_test(tcase, test_failing_and_clock_set_back, 0, UNIT_ROWS(clock_cases));
}

UNIT_PROGRAM(add)
