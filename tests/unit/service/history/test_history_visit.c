/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "books.h"
#include "store_script.h"

#include "store/record/epoch.h"

#define SECOND apr_time_from_sec(1)
#define MINUTE (60 * SECOND)
#define DAY (24 * 3600 * SECOND)

static books_t *books;
static pay_acquirer_t *acquirer;
static pay_service_t *service;
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
    acquirer = books_acquirer(books);
    service = books_service("early", acquirer);
    services = apr_array_make(unit_pool, 4, sizeof(pay_service_t *));
    APR_ARRAY_PUSH(services, pay_service_t *) = service;
    begin();
    books_far_done(&live);
    memset(till_lines, 0, sizeof(till_lines)); /* the store's first words */
}

START_TEST(test_rounds)
{
    pay_history_t *history;

    (void)books_add(books, "1", "processed");
    ck_assert_int_eq(books_steps(history_sync), 1);
    books_check_call(books, 0, TILL_NOW - 7 * DAY, TILL_NOW);
    history = books_row(&live);
    ck_assert_int_eq(history->fetched_until, TILL_NOW);
    ck_assert_int_eq(history->due_at, TILL_NOW + BOOKS_INTERVAL);
    ck_assert_int_eq(books_listed(), 1);

    till_clock += BOOKS_INTERVAL - 1;
    ck_assert_int_eq(books_steps(history_sync), 0);
    begin(); /* another process knows that too */
    ck_assert_int_eq(books_steps(history_sync), 0);
    till_clock += 1;
    ck_assert_int_eq(books_steps(history_sync), 1);
    books_check_call(books, 1, till_clock - 7 * DAY, till_clock);
    ck_assert_int_eq(books_row(&live)->fetched_until, till_clock);
    ck_assert_int_eq(books_listed(), 1);
    till_check_clean();
}
END_TEST

/* After three weeks out of service everything since then is fetched, and the days before it. */
START_TEST(test_long_absence)
{
    const apr_time_t left = TILL_NOW;
    apr_time_t now;

    ck_assert_int_eq(books_steps(history_sync), 1);
    till_clock += 21 * DAY;
    now = till_clock;
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 1, left - 7 * DAY, left);
    ck_assert_int_eq(books_row(&live)->fetched_until, left);
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 2, left, left + 7 * DAY);
    ck_assert_int_eq(books_row(&live)->fetched_until, left + 7 * DAY);
    begin(); /* the child was killed: the next one begins a window earlier */
    books_far_done(&live);
    ck_assert_int_eq(books_steps(history_sync), 3);
    books_check_call(books, 3, left, left + 7 * DAY);
    books_check_call(books, 4, left + 7 * DAY, left + 14 * DAY);
    books_check_call(books, 5, left + 14 * DAY, now);
    ck_assert_int_eq(books_row(&live)->fetched_until, now);
    ck_assert_int_eq(books_row(&live)->due_at, now + BOOKS_INTERVAL);
}
END_TEST

START_TEST(test_clock_set_back)
{
    ck_assert_int_eq(books_steps(history_sync), 1);
    till_clock -= 30 * DAY;
    books_far_done(&live);
    ck_assert_int_eq(books_steps(history_sync), 1);
    books_check_call(books, 1, till_clock - 7 * DAY, till_clock);
    ck_assert_int_eq(books_row(&live)->fetched_until, till_clock);
    ck_assert_int_eq(books_row(&live)->due_at, till_clock + BOOKS_INTERVAL);
}
END_TEST

static int put_back_work(pay_rows_txn_t *txn, void *baton)
{
    pay_epoch_t epoch;
    int rc;
    (void)baton;
    rc = pay_store_epoch_load(&epoch, txn);
    epoch.number = 7;
    epoch.held = 1;
    epoch.copied_at = TILL_NOW - 2 * DAY;
    epoch.began_at = TILL_NOW - DAY;
    return rc ? rc : pay_store_epoch_store(txn, &epoch);
}

static const struct {
    const char *name;
    int asked;
    apr_interval_time_t ahead; /* of the record's time, when it is listed */
    apr_uint32_t want;
} put_back[] = {
    {"a round", 0, 0, 7},
    {"a round with one of later", 0, 5 * MINUTE + SECOND, 0},
    {"a request", 1, 0, 7},
    {"a request with one of later", 1, 5 * MINUTE + SECOND, 0},
};

/* A record dated further ahead than is kept may be from after the copy: then not all is fetched. */
START_TEST(test_put_back)
{
    till_raw(put_back_work, NULL);
    service->policy.refund_sync = put_back[_i].asked ? 0 : BOOKS_INTERVAL;
    if (put_back[_i].asked) {
        books_ask(&live, TILL_NOW - 3 * DAY, TILL_NOW);
    }
    books_add(books, "1", "processed")->created_at = till_clock;
    books->ahead = put_back[_i].ahead;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_msg(books_row(&live)->synced_epoch == put_back[_i].want, "%s", put_back[_i].name);
    ck_assert_int_eq(books_listed(), put_back[_i].want ? 1 : 0);
}
END_TEST

START_TEST(test_no_rounds)
{
    service->policy.refund_sync = 0;
    ck_assert_int_eq(books_steps(history_sync), 0);
    books_ask(&live, TILL_NOW - DAY, TILL_NOW);
    ck_assert_int_eq(books_steps(history_sync), 1);
    books_check_call(books, 0, TILL_NOW - DAY, TILL_NOW);
    ck_assert_int_eq(books_row(&live)->fetched_until, 0);
    ck_assert_int_eq(books_row(&live)->due_at, 0);
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t length;
    int windows;
} requests[] = {
    {"a moment", 0, 1},
    {"seven days", 7 * DAY, 1},
    {"a microsecond more", 7 * DAY + 1, 2},
    {"31 days", 31 * DAY, 5},
};

START_TEST(test_requests)
{
    const apr_time_t from = TILL_NOW - requests[_i].length;
    pay_history_t *history;
    int i;

    service->policy.refund_sync = 0;
    books_add(books, "first", "processed")->created_at = from;
    books_add(books, "last", "processed")->created_at = TILL_NOW;
    books_add(books, "before", "processed")->created_at = from - 1;
    books_add(books, "after", "processed")->created_at = TILL_NOW + 1;
    books_ask(&live, from, TILL_NOW);
    for (i = 0; i < requests[_i].windows; i++) {
        ck_assert_uint_eq(books_row(&live)->answered, 0);
        ck_assert_int_eq(books_step(history_sync), 1);
        books_check_call(books, i, i == 0 ? from : books->to[i - 1],
                         i == requests[_i].windows - 1 ? TILL_NOW : books->from[i] + 7 * DAY);
        ck_assert_int_eq(books_row(&live)->done_until, books->to[i]);
    }
    ck_assert_int_eq(books_steps(history_sync), 0);
    history = books_row(&live);
    ck_assert_msg(history->answered == 1, "%s", requests[_i].name);
    ck_assert_uint_eq(history->seen, 2);
    ck_assert_uint_eq(history->added, 2);
    ck_assert_str_eq(history->error, "");
    ck_assert_int_eq(books_listed(), 2);
    ck_assert_int_eq(till_lines[PAY_LOG_NOTICE], 1);

    books_ask(&live, from, TILL_NOW); /* the same again finds them all, and adds none */
    ck_assert_int_eq(books_steps(history_sync), requests[_i].windows);
    history = books_row(&live);
    ck_assert_uint_eq(history->answered, 2);
    ck_assert_uint_eq(history->seen, 2);
    ck_assert_uint_eq(history->added, 0);
    till_check_clean();
}
END_TEST

/* A window that failed is tried again, after 10, 20, 40 and 80 seconds; the fifth time is the
 * last. */
START_TEST(test_acquirer_fails)
{
    apr_interval_time_t wait = 10 * SECOND;
    int i;

    service->policy.refund_sync = 0;
    books_ask(&live, TILL_NOW - 14 * DAY, TILL_NOW);
    ck_assert_int_eq(books_step(history_sync), 1);
    books->failures = -1;
    for (i = 1; i < PAY_HISTORY_TRIES_MAX; i++) {
        ck_assert_int_eq(books_steps(history_sync), 1);
        ck_assert_int_eq(books_row(&live)->done_until, TILL_NOW - 7 * DAY);
        ck_assert_uint_eq(books_row(&live)->answered, 0);
        ck_assert_ptr_nonnull(strstr(books_row(&live)->error, "did not list its refunds"));
        till_clock += wait - 1;
        ck_assert_int_eq(books_steps(history_sync), 0);
        till_clock += 1;
        wait *= 2;
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 0);
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(till_logged("PAY00445"), 1);
    ck_assert_uint_eq(books_row(&live)->answered, 1);
    ck_assert_ptr_nonnull(strstr(books_row(&live)->error, "did not list its refunds"));
    ck_assert_int_eq(books_row(&live)->done_until, TILL_NOW - 7 * DAY);

    books->failures = 0;
    books_ask(&live, TILL_NOW - DAY, TILL_NOW);
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_str_eq(books_row(&live)->error, "");
}
END_TEST

START_TEST(test_acquirer_recovers)
{
    service->policy.refund_sync = 0;
    (void)books_add(books, "1", "processed");
    books_ask(&live, TILL_NOW - DAY, TILL_NOW);
    books->failures = PAY_HISTORY_TRIES_MAX - 1;
    while (books->failures) {
        ck_assert_int_eq(books_steps(history_sync), 1);
        till_clock += 2 * MINUTE;
    }
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_uint_eq(books_row(&live)->answered, 1);
    ck_assert_str_eq(books_row(&live)->error, "");
    ck_assert_uint_eq(books_row(&live)->added, 1);
}
END_TEST

/* Logs once that rounds fail, and once that they work again. */
START_TEST(test_rounds_fail)
{
    int i;

    books->failures = 3;
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(books_steps(history_sync), 1);
        ck_assert_int_eq(books_row(&live)->fetched_until, 0);
        ck_assert_int_eq(books_row(&live)->due_at, till_clock + BOOKS_INTERVAL);
        till_clock += BOOKS_INTERVAL;
    }
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_int_eq(till_lines[PAY_LOG_NOTICE], 0);
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(books_row(&live)->fetched_until, till_clock);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_int_eq(till_logged("PAY00447"), 1);
}
END_TEST

static apr_status_t begin_busy(pay_import_t *out, pay_store_t *store, const pay_scope_t *scope,
                               apr_pool_t *p)
{
    (void)store, (void)scope, (void)p;
    memset(out, 0, sizeof(*out));
    return APR_EBUSY;
}

/* Another import is running: however long it takes, the window waits for it. */
START_TEST(test_import_is_running)
{
    int i;

    (void)books_add(books, "1", "processed");
    books_ask(&live, TILL_NOW - DAY, TILL_NOW);
    store_script.import_begin = begin_busy;
    for (i = 0; i < 2 * PAY_HISTORY_TRIES_MAX; i++) {
        ck_assert_int_eq(books_steps(history_sync), 1);
        ck_assert_uint_eq(books_row(&live)->answered, 0);
        till_clock += 5 * SECOND;
    }
    ck_assert_ptr_nonnull(strstr(books_row(&live)->error, "Another import"));
    ck_assert_int_eq(books_row(&live)->fetched_until, 0);
    ck_assert_int_eq(books_row(&live)->due_at, 0);
    store_script.import_begin = NULL;
    ck_assert_int_eq(books_steps(history_sync), 2);
    ck_assert_uint_eq(books_row(&live)->answered, 1);
    ck_assert_str_eq(books_row(&live)->error, "");
    ck_assert_int_eq(books_row(&live)->fetched_until, till_clock);
    ck_assert_int_eq(books_listed(), 1);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING] + till_lines[PAY_LOG_ERR], 0);
}
END_TEST

static apr_status_t rows_full(pay_import_t *import, int *at, pay_store_t *store,
                              const apr_array_header_t *refunds, apr_pool_t *p)
{
    static int calls;

    return ++calls == 2 ? PAY_STORE_EFULL : STORE_REAL(import_rows)(import, at, store, refunds, p);
}

/* A store that fills up in the middle removes the stored part of the window. */
START_TEST(test_store_is_full)
{
    int i;

    (void)books_charge("shop-1", 1000);
    for (i = 0; i < 150; i++) {
        books_add(books, apr_itoa(unit_pool, i), "processed")->transaction_reference =
            i ? "" : books_reference("shop-1");
    }
    service->policy.refund_sync = 0;
    books_ask(&live, TILL_NOW - DAY, TILL_NOW);
    store_script.import_rows = rows_full;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(books_listed(), 0);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 0);
    ck_assert_str_eq(books_row(&live)->error, pay_store_status_text(PAY_STORE_EFULL));
    till_check_clean();
    till_clock += MINUTE;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(books_listed(), 150);
    ck_assert_uint_eq(books_row(&live)->added, 150);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 500);
    till_check_clean();
}
END_TEST

/* Records that cannot be kept are logged once by rounds, and each time by a request. */
START_TEST(test_refused)
{
    int i;

    books_add(books, "1", "processed")->amount = "all";
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(books_steps(history_sync), 1);
        till_clock += BOOKS_INTERVAL;
    }
    ck_assert_int_eq(till_logged("PAY00442"), 1);
    ck_assert_ptr_nonnull(strstr(till_line, "up_1"));
    books_add(books, "2", "processed")->amount = "all";
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(till_logged("PAY00442"), 3); /* now there are two */
    books_ask(&live, TILL_NOW - 8 * DAY, TILL_NOW);
    ck_assert_int_eq(books_steps(history_sync), 2);
    ck_assert_int_eq(till_logged("PAY00442"), 5);
    ck_assert_uint_eq(books_row(&live)->refused, 2);
    ck_assert_uint_eq(books_row(&live)->seen, 2);
    ck_assert_uint_eq(books_row(&live)->answered, 1);
    ck_assert_ptr_nonnull(strstr(books_row(&live)->error, "2 refunds"));
}
END_TEST

/*
 * A window so full of records that cannot be kept that it brings nothing is not fetched for ever.
 */
START_TEST(test_too_many_refused)
{
    int i;

    for (i = 0; i <= PAY_HISTORY_CHANGES_MAX; i++) { /* the first call keeps the first one */
        books_add(books, apr_itoa(unit_pool, i), "processed")->id = "id_0";
    }
    ck_assert_int_eq(books_steps(history_sync), 2);
    ck_assert_int_eq(books_row(&live)->fetched_until, TILL_NOW);
    ck_assert_int_eq(books_listed(), 1);
    books_add(books, "more", "processed")->id = "id_0";
    till_clock += BOOKS_INTERVAL;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(books_row(&live)->fetched_until, TILL_NOW);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    books_ask(&live, TILL_NOW - DAY, till_clock);
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_str_eq(books_row(&live)->error, "Too many refunds of the acquirer cannot be stored.");
    till_check_clean();
}
END_TEST

/* A request is not answered before its last window is empty. */
START_TEST(test_request_in_parts)
{
    int i;

    service->policy.refund_sync = 0;
    for (i = 0; i <= PAY_HISTORY_CHANGES_MAX; i++) {
        books_add(books, apr_itoa(unit_pool, i), "processed")->id = "id_0";
    }
    books_ask(&live, TILL_NOW - DAY, till_clock);
    ck_assert_int_eq(books_steps(history_sync), 2);
    ck_assert_uint_eq(books_row(&live)->answered, 1);
    ck_assert_uint_eq(books_row(&live)->seen, PAY_HISTORY_CHANGES_MAX + 1);
    ck_assert_uint_eq(books_row(&live)->added, 1);
    ck_assert_uint_eq(books_row(&live)->refused, PAY_HISTORY_CHANGES_MAX);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_test(tcase, test_rounds);
    tcase_add_test(tcase, test_long_absence);
    tcase_add_test(tcase, test_clock_set_back);
    tcase_add_loop_test(tcase, test_put_back, 0, UNIT_ROWS(put_back));
    tcase_add_test(tcase, test_no_rounds);
    tcase_add_loop_test(tcase, test_requests, 0, UNIT_ROWS(requests));
    tcase_add_test(tcase, test_acquirer_fails);
    tcase_add_test(tcase, test_acquirer_recovers);
    tcase_add_test(tcase, test_rounds_fail);
    tcase_add_test(tcase, test_import_is_running);
    tcase_add_test(tcase, test_store_is_full);
    tcase_add_test(tcase, test_refused);
    tcase_add_test(tcase, test_too_many_refused);
    tcase_add_test(tcase, test_request_in_parts);
}

UNIT_PROGRAM(add)
