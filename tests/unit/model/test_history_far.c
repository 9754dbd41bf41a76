/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "books.h"

/* The time before the rounds: fetched once a day, for late decisions of an acquirer. */

#define SECOND apr_time_from_sec(1)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define FAR (PAY_HISTORY_FAR_DAYS * DAY)
#define WEEKS 4 /* windows from there to the rounds' own */
#define TAG "tag4tag4tag4tag4tag4tag4"

static books_t *books;
static apr_array_header_t *services;
static pay_history_sync_t *history_sync;
static pay_scope_t live;

/* Like the start of a child process. */
static void begin(void)
{
    history_sync = pay_history_sync_create(till->store, services, unit_pool);
}

static void set_up(void)
{
    till_set_up();
    live = till->scopes[BOOKS_SCOPE];
    books = books_make();
    services = apr_array_make(unit_pool, 1, sizeof(pay_service_t *));
    APR_ARRAY_PUSH(services, pay_service_t *) = books_service("early", books_acquirer(books));
    begin();
    memset(till_lines, 0, sizeof(till_lines)); /* the store's first words */
}

START_TEST(test_once_a_day)
{
    int i;

    ck_assert_int_eq(books_steps(history_sync), 1 + WEEKS);
    books_check_call(books, 0, TILL_NOW - 7 * DAY, TILL_NOW); /* new refunds come first */
    for (i = 0; i < WEEKS; i++) {
        books_check_call(books, 1 + i, TILL_NOW - FAR + i * 7 * DAY,
                         TILL_NOW - FAR + (i + 1) * 7 * DAY);
    }
    ck_assert_int_eq(books_row(&live)->far_at, TILL_NOW + DAY);
    ck_assert_int_eq(books_row(&live)->fetched_until, TILL_NOW);
    till_clock += BOOKS_INTERVAL;
    begin(); /* another process knows that too */
    ck_assert_int_eq(books_steps(history_sync), 1);
    till_clock = TILL_NOW + DAY;
    ck_assert_int_eq(books_steps(history_sync), 1 + WEEKS);
    till_clock -= 30 * DAY; /* it is due no later by a clock that was ahead */
    ck_assert_int_eq(books_steps(history_sync), 1 + WEEKS);
}
END_TEST

/* A round that is due comes before the rest; a process that ends loses its position, and begins
 * again. */
START_TEST(test_in_between)
{
    ck_assert_int_eq(books_step(history_sync), 1);
    ck_assert_int_eq(books_step(history_sync), 1);
    till_clock += BOOKS_INTERVAL;
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 2, till_clock - 7 * DAY, till_clock);
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 3, TILL_NOW - FAR + 7 * DAY, TILL_NOW - FAR + 14 * DAY);
    begin();
    ck_assert_int_eq(books_steps(history_sync), WEEKS);
    books_check_call(books, 4, till_clock - FAR, till_clock - FAR + 7 * DAY);
}
END_TEST

/* One of ours that the acquirer reverses after a month, and one made elsewhere that it decides
 * then. */
START_TEST(test_learnt_late)
{
    pay_refund_t *refund, *resolved;
    payments_record_t *ours, *elsewhere;
    int i;

    (void)books_charge("shop-1", 500);
    refund = books_refund("shop-1", 500, TAG);
    ck_assert_int_eq(
        till_refund_resolve(&resolved, BOOKS_SCOPE, refund->refund_reference, PAY_OUTCOME_APPROVED),
        1);
    ours = books_add(books, "1", "processed");
    ours->tag = TAG;
    ours->transaction_reference = books_reference("shop-1");
    elsewhere = books_add(books, "2", "pending");
    (void)books_steps(history_sync);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_REVERSED);
    ck_assert_int_eq(books_find("up_2")->state, PAY_REFUND_PENDING);

    for (i = 0; i < 29; i++) { /* the rounds pass both */
        till_clock += DAY;
        books->calls = 0;
        (void)books_steps(history_sync);
    }
    till_clock += DAY;
    books->calls = 0;
    ours->status = "failed";
    elsewhere->status = "processed";
    (void)books_steps(history_sync);
    ck_assert_int_eq(books_find(refund->refund_reference)->state, PAY_REFUND_FAILED);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(books_find("up_2")->state, PAY_REFUND_PROCESSED);
    till_check_clean();
}
END_TEST

/* Of all calls since the counter was reset. */
static apr_time_t earliest(void)
{
    apr_time_t from = till_clock;
    int i;

    for (i = 0; i < books->calls; i++) {
        from = books->from[i] < from ? books->from[i] : from;
    }
    return from;
}

/* It goes as far back as the oldest one that is still pending, within bounds. */
START_TEST(test_oldest_pending)
{
    payments_record_t *record = books_add(books, "1", "pending");
    pay_history_t *history;
    int i;

    record->created_at = TILL_NOW - 34 * DAY;
    for (i = 0; i < 40; i++) {
        books->calls = 0;
        (void)books_steps(history_sync);
        ck_assert_int_eq(books_row(&live)->pending_from, record->created_at);
        till_clock += DAY;
    }
    ck_assert_int_eq(earliest(), record->created_at);
    record->status = "processed";
    (void)books_steps(history_sync);
    ck_assert_int_eq(books_find("up_1")->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(books_row(&live)->pending_from, 0);
    till_clock += DAY;
    books->calls = 0;
    (void)books_steps(history_sync);
    ck_assert_int_eq(earliest(), till_clock - FAR);

    history = books_row(&live);
    history->pending_from = till_clock - 500 * DAY;
    ck_assert_int_eq(pay_store_history_put(till->store, history, unit_pool), APR_SUCCESS);
    till_clock += DAY;
    books->calls = 0;
    (void)books_steps(history_sync);
    ck_assert_int_eq(earliest(), till_clock - 400 * DAY);
}
END_TEST

/* An acquirer that lists nothing so old does not delay new refunds, and is logged once. */
static void fail_all(void)
{
    books->failures = -1;
}

START_TEST(test_fails)
{
    int i;

    books->meanwhile = fail_all; /* after the round */
    for (i = 0; i < 3; i++) {
        books->failures = 0;
        books->calls = 0;
        ck_assert_int_eq(books_steps(history_sync), 2);
        ck_assert_int_eq(books_row(&live)->fetched_until, till_clock);
        ck_assert_int_eq(books_row(&live)->far_at, till_clock + HOUR);
        till_clock += HOUR;
    }
    ck_assert_int_eq(till_logged("PAY00731"), 1);
    books->meanwhile = NULL;
    books->failures = 0;
    ck_assert_int_eq(books_steps(history_sync), 1 + WEEKS);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_int_eq(till_logged("PAY00732"), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_test(tcase, test_once_a_day);
    tcase_add_test(tcase, test_in_between);
    tcase_add_test(tcase, test_learnt_late);
    tcase_add_test(tcase, test_oldest_pending);
    tcase_add_test(tcase, test_fails);
}

UNIT_PROGRAM(add)
