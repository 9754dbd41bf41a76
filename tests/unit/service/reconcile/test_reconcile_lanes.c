/* SPDX-License-Identifier: Apache-2.0 */
#include "service/reconcile/lanes.h"

#include "reconcile_fixture.h"
#include "service/reconcile/dispatcher.h"

#define ACQUIRERS_MAX 6
#define HALF (PAY_RECONCILE_QUEUE_MAX / 2)

static pay_reconcile_lanes_t lanes;
static pay_acquirer_t acquirers[ACQUIRERS_MAX];
static _Alignas(16) char breaker_memory[256];

static void set_up(void)
{
    int i;

    shop_clock_set(NOW);
    unit_boot_stop(1000000);
    memset(&lanes, 0, sizeof(lanes));
    lanes.pool = unit_pool;
    for (i = 0; i < ACQUIRERS_MAX; i++) {
        acquirers[i] = script_acquirer;
    }
    acquirers[0].breaker = pay_breaker_init(breaker_memory);
}

/* `count` rows of one acquirer (NULL: of none), in a batch whose pool is returned. */
static apr_pool_t *rows_add(const pay_acquirer_t *of, int count, apr_time_t begin_before)
{
    pay_reconcile_batch_t *batch;
    pay_reconcile_item_t *items;
    apr_pool_t *pool;
    int i;

    apr_pool_create(&pool, unit_pool);
    batch = apr_pcalloc(pool, sizeof(*batch));
    items = apr_pcalloc(pool, sizeof(*items) * (apr_size_t)count);
    batch->pool = pool;
    batch->rows = count;
    for (i = 0; i < count; i++) {
        items[i].batch = batch;
        items[i].row.acquirer = of;
        items[i].row.answer = &items[i].answer;
        items[i].row.begin_before = begin_before;
        pay_reconcile_lanes_add(&lanes, &items[i]);
    }
    return pool;
}

static apr_status_t gone(void *baton)
{
    *(int *)baton = 1;
    return APR_SUCCESS;
}

/* Begins all rows that may begin now; they end with end_all. */
static pay_reconcile_item_t *begun[2 * PAY_RECONCILE_QUERIES_MAX];
static int begun_count;

static int begin_all(void)
{
    pay_reconcile_item_t *item;
    int count = 0;

    for (item = pay_reconcile_lanes_next(&lanes); item; item = pay_reconcile_lanes_next(&lanes)) {
        ck_assert_int_lt(begun_count, UNIT_ROWS(begun));
        begun[begun_count++] = item;
        count++;
    }
    return count;
}

static void end_all(int answered, apr_interval_time_t patience)
{
    while (begun_count > 0) {
        begun_count--;
        begun[begun_count]->answer = (pay_reconcile_answer_t){answered, patience};
        pay_reconcile_lanes_end(&lanes, begun[begun_count]);
    }
}

static int begun_of(const pay_acquirer_t *of)
{
    int i, count = 0;

    for (i = 0; i < begun_count; i++) {
        count += begun[i]->row.acquirer == of;
    }
    return count;
}

/* However many acquirers hold their places, the next one finds one. */
START_TEST(test_places)
{
    static const int shares[] = {8, 4, 2, 1, 1, 0};
    int i;

    set_up();
    for (i = 0; i < UNIT_ROWS(shares); i++) {
        rows_add(&acquirers[i], 20, NOW + 1);
        ck_assert_int_eq(begin_all(), shares[i]);
        ck_assert_int_eq(begun_of(&acquirers[i]), shares[i]);
    }
    ck_assert_int_eq(lanes.running, PAY_RECONCILE_QUERIES_MAX);
    end_all(1, 0);
    ck_assert_int_eq(lanes.running, 0);
    (void)begin_all();
    for (i = 0; i < UNIT_ROWS(shares); i++) {
        ck_assert_int_ge(begun_of(&acquirers[i]), 2);
    }
    end_all(1, 0);
}
END_TEST

/* The places are the process's. */
START_TEST(test_places_of_two)
{
    set_up();
    rows_add(&acquirers[1], 20, NOW + 1);
    ck_assert_int_eq(begin_all(), 8);
    memset(&lanes, 0, sizeof(lanes));
    lanes.pool = unit_pool;
    rows_add(&acquirers[1], 20, NOW + 1);
    ck_assert_int_eq(begin_all(), 4);
    end_all(1, 0);
}
END_TEST

START_TEST(test_in_turn)
{
    pay_reconcile_item_t *item;
    const pay_acquirer_t *last = NULL;
    int i;

    set_up();
    rows_add(&acquirers[1], 3, NOW + 1);
    rows_add(&acquirers[2], 3, NOW + 1);
    for (i = 0; i < 6; i++) {
        item = pay_reconcile_lanes_next(&lanes);
        ck_assert_ptr_nonnull(item);
        ck_assert_ptr_ne(item->row.acquirer, last);
        last = item->row.acquirer;
        item->answer.answered = 1;
        pay_reconcile_lanes_end(&lanes, item);
    }
    ck_assert_ptr_null(pay_reconcile_lanes_next(&lanes));
}
END_TEST

/* Rows that find no room are finished; so is their batch with the last of them. */
START_TEST(test_room)
{
    int is_gone = 0;

    set_up();
    rows_add(&acquirers[1], HALF, NOW + 1);
    ck_assert_int_eq(lanes.queued, HALF);
    rows_add(&acquirers[1], 1, NOW + 1);
    ck_assert_int_eq(lanes.queued, HALF);
    rows_add(&acquirers[2], HALF, NOW + 1);
    ck_assert_int_eq(lanes.queued, HALF + HALF / 2);
    rows_add(NULL, 1, NOW + 1);
    ck_assert_int_eq(lanes.queued, HALF + HALF / 2 + 1);
    apr_pool_cleanup_register(rows_add(NULL, 2, NOW + 1), &is_gone, gone, apr_pool_cleanup_null);
    shop_clock_set(NOW + 1);
    ck_assert_int_eq(begin_all(), 0);
    ck_assert_int_eq(lanes.queued, 0);
    ck_assert_int_eq(is_gone, 1);
}
END_TEST

/* A row whose lease ends too soon does not begin. */
START_TEST(test_late)
{
    int is_gone = 0;

    set_up();
    apr_pool_cleanup_register(rows_add(&acquirers[1], 3, NOW), &is_gone, gone,
                              apr_pool_cleanup_null);
    rows_add(&acquirers[1], 2, NOW + 1);
    ck_assert_int_eq(begin_all(), 2);
    ck_assert_int_eq(is_gone, 1);
    end_all(1, 0);
    ck_assert_int_eq(lanes.queued, 0);
}
END_TEST

/* One at a time, a second after the one before, until it answers. */
static void probes_check(void)
{
    int i;

    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(begin_all(), 1);
        unit_boot_pass(5000);
        ck_assert_int_eq(begin_all(), 0);
        end_all(-1, 0);
        ck_assert_int_eq(begin_all(), 0);
        unit_boot_pass(999);
        ck_assert_int_eq(begin_all(), 0);
        unit_boot_pass(1);
    }
    ck_assert_int_eq(begin_all(), 1);
    end_all(1, 0);
    ck_assert_int_eq(begin_all(), 8);
}

START_TEST(test_refused_key)
{
    set_up();
    pay_breaker_fault(acquirers[0].breaker);
    rows_add(&acquirers[0], 100, NOW + 1);
    probes_check();
    end_all(-1, 0);
    unit_boot_pass(1000);
    ck_assert_int_eq(begin_all(), 1);
    end_all(0, 0); /* a row that was not queried shows nothing */
    unit_boot_pass(1000);
    ck_assert_int_eq(begin_all(), 1);
    end_all(1, 0);
}
END_TEST

START_TEST(test_breaker_open)
{
    apr_int64_t retry_after_ms;
    int i, ticket;

    set_up();
    rows_add(&acquirers[0], 100, NOW + 1);
    ck_assert_int_eq(begin_all(), 8);
    end_all(1, 0);
    for (i = 0; i < PAY_BREAKER_FAILURES; i++) {
        ticket = pay_breaker_enter(acquirers[0].breaker, &retry_after_ms);
        pay_breaker_failure(acquirers[0].breaker, ticket);
    }
    unit_boot_pass(1000);
    probes_check(); /* an answer from before it opened does not count */
    end_all(1, 0);
}
END_TEST

/* Unanswered queries close nothing, but they are few then. */
START_TEST(test_silence)
{
    set_up();
    rows_add(&acquirers[1], 100, NOW + 1);
    ck_assert_int_eq(begin_all(), 8);
    end_all(-1, 0);
    ck_assert_int_eq(begin_all(), 8);
    end_all(-1, 0);
    unit_boot_pass(1000);
    probes_check();
    end_all(1, 0);
}
END_TEST

START_TEST(test_patience)
{
    set_up();
    rows_add(&acquirers[1], 100, NOW + 1);
    rows_add(&acquirers[2], 1, NOW + 1);
    ck_assert_int_eq(begin_all(), 8); /* 7 and 1 */
    end_all(-1, 5 * SECOND);
    unit_boot_pass(4999);
    ck_assert_int_eq(begin_all(), 0);
    unit_boot_pass(1);
    ck_assert_int_eq(begin_all(), 8);
    end_all(1, 0);
}
END_TEST

/* A payment's request to wait also applies to queries, even first ones. */
START_TEST(test_patience_of_payments)
{
    apr_int64_t retry_after_ms;
    int ticket;

    set_up();
    rows_add(&acquirers[0], 100, NOW + 1);
    ticket = pay_breaker_enter(acquirers[0].breaker, &retry_after_ms);
    pay_breaker_hold(acquirers[0].breaker, 5000);
    pay_breaker_skip(acquirers[0].breaker, ticket);
    unit_boot_pass(4999);
    ck_assert_int_eq(begin_all(), 0);
    unit_boot_pass(1);
    probes_check(); /* out of order until a payment has passed: one at a time */
    end_all(1, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_places);
    tcase_add_test(tcase, test_places_of_two);
    tcase_add_test(tcase, test_in_turn);
    tcase_add_test(tcase, test_room);
    tcase_add_test(tcase, test_late);
    tcase_add_test(tcase, test_refused_key);
    tcase_add_test(tcase, test_breaker_open);
    tcase_add_test(tcase, test_silence);
    tcase_add_test(tcase, test_patience);
    tcase_add_test(tcase, test_patience_of_payments);
}

UNIT_PROGRAM(add)
