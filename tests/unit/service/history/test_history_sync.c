/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/sync.h"

#include "books.h"
#include "store_script.h"

#define SECOND apr_time_from_sec(1)
#define MINUTE (60 * SECOND)
#define DAY (24 * 3600 * SECOND)

static books_t *books;
static pay_acquirer_t *acquirer;
static pay_service_t *service;
static apr_array_header_t *services;
static pay_history_sync_t *history_sync;
static pay_scope_t scope;

/* Like the start of a child process. */
static void begin(void)
{
    history_sync = pay_history_sync_create(till->store, services, unit_pool);
}

static void set_up(void)
{
    till_set_up();
    scope = till->scopes[BOOKS_SCOPE];
    books = books_make();
    acquirer = books_acquirer(books);
    service = books_service("early", acquirer);
    services = apr_array_make(unit_pool, 4, sizeof(pay_service_t *));
    APR_ARRAY_PUSH(services, pay_service_t *) = service;
    begin();
    books_far_done(&scope);
    memset(till_lines, 0, sizeof(till_lines)); /* the store's first words */
}

/* The server's own rounds go on while a long request is worked on. */
START_TEST(test_request_beside_rounds)
{
    books_ask(&scope, TILL_NOW - 100 * DAY, TILL_NOW - 65 * DAY);
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 0, TILL_NOW - 100 * DAY, TILL_NOW - 93 * DAY);
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 1, TILL_NOW - 7 * DAY, TILL_NOW);
    ck_assert_int_eq(books_step(history_sync), 1);
    books_check_call(books, 2, TILL_NOW - 93 * DAY, TILL_NOW - 86 * DAY);
    ck_assert_int_eq(books_steps(history_sync), 3);
    ck_assert_uint_eq(books_row(&scope)->answered, 1);
    ck_assert_int_eq(books_row(&scope)->fetched_until, TILL_NOW);
}
END_TEST

START_TEST(test_killed_between_windows)
{
    service->policy.refund_sync = 0;
    books_ask(&scope, TILL_NOW - 14 * DAY, TILL_NOW);
    ck_assert_int_eq(books_step(history_sync), 1);
    begin();
    ck_assert_int_eq(books_steps(history_sync), 1);
    books_check_call(books, 1, TILL_NOW - 7 * DAY, TILL_NOW);
    ck_assert_uint_eq(books_row(&scope)->answered, 1);
}
END_TEST

static apr_status_t put_fails(pay_store_t *store, const pay_history_t *history, apr_pool_t *p)
{
    (void)store, (void)history, (void)p;
    return PAY_STORE_EDOWN;
}

/* The stored part of a window is not stored again after the cursor was lost. */
START_TEST(test_killed_within_a_window)
{
    payments_record_t *record = books_add(books, "1", "processed");
    int worked;

    (void)books_charge("shop-1", 1000);
    record->transaction_reference = books_reference("shop-1");
    store_script.history_put = put_fails;
    books_ask(&scope, TILL_NOW - DAY, TILL_NOW);
    ck_assert_int_eq(pay_history_sync_step(&worked, history_sync, till_clock, unit_pool),
                     PAY_STORE_EDOWN);
    ck_assert_int_eq(worked, 1);
    ck_assert_int_eq(books_listed(), 1);
    ck_assert_int_eq(books_row(&scope)->done_until, 0);
    ck_assert_int_eq(books_steps(history_sync), 0); /* the store is given some time */

    store_script.history_put = NULL;
    begin();
    ck_assert_int_gt(books_steps(history_sync), 0);
    ck_assert_int_eq(books_listed(), 1);
    ck_assert_int_eq(till_find(BOOKS_SCOPE, "shop-1")->refunded_minor, 500);
    ck_assert_uint_eq(books_row(&scope)->answered, 1);
    till_check_clean();
}
END_TEST

/* Accounts take turns; one whose acquirer fails delays nobody. */
START_TEST(test_two_accounts)
{
    const pay_scope_t late = {till->scopes[0].account, PAY_LIVE};
    books_t *others = books_make();
    pay_service_t *second = books_service("late", books_acquirer(others));
    pay_service_t twin = *service; /* a second host of the first account */
    pay_history_t *history;
    pay_refund_t *refund;

    books_far_done(&late);
    APR_ARRAY_PUSH(services, pay_service_t *) = &twin;
    APR_ARRAY_PUSH(services, pay_service_t *) = second;
    begin();
    (void)books_add(books, "1", "processed");
    (void)books_add(others, "1", "processed"); /* the same names are other refunds here */
    (void)books_add(others, "2", "processed");
    books->failures = -1;
    books_ask(&scope, TILL_NOW - 21 * DAY, TILL_NOW);
    ck_assert_int_eq(pay_store_history_ask(&history, till->store, &late, TILL_NOW - 21 * DAY,
                                           TILL_NOW, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(books_step(history_sync), 1);
    ck_assert_int_eq(books_step(history_sync), 1);
    ck_assert_int_eq(books->calls, 1);
    ck_assert_int_eq(others->calls, 1);
    ck_assert_int_eq(books_steps(history_sync),
                     3); /* its others, and its round: the first one is left alone */
    ck_assert_int_eq(books->calls, 1);
    ck_assert_int_eq(others->calls, 4);
    ck_assert_uint_eq(books_row(&late)->answered, 1);
    ck_assert_int_eq(pay_store_refund_find(&refund, till->store, &late, "up_2", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(books_listed(), 0);
    ck_assert_uint_eq(books_row(&scope)->answered, 0);
    books->failures = 0;
    till_clock += 10 * SECOND;
    ck_assert_int_eq(books_steps(history_sync), 4);
    ck_assert_int_eq(others->calls, 4);
    ck_assert_int_eq(books_listed(), 1);
    till_check_clean();
}
END_TEST

/* Refunds that nobody can list. */
START_TEST(test_nothing_to_do)
{
    static const payments_acquirer_t mute = {
        .struct_size = sizeof(payments_acquirer_t), .abi = PAYMENTS_ACQUIRER_ABI, .name = "mute"};
    const pay_acquirer_t without = {.connector = &mute, .name = "mute"};
    pay_service_t none = {.store = till->store, .account_name = "early"};
    pay_service_t *const table[] = {&none, books_service(NULL, acquirer),
                                    books_service("nobody", acquirer),
                                    books_service("early", &without)};

    services->nelts = 0;
    begin();
    ck_assert_int_eq(books_steps(history_sync), 0);
    APR_ARRAY_PUSH(services, pay_service_t *) = table[_i];
    begin();
    ck_assert_int_eq(books_steps(history_sync), 0);
    ck_assert_int_eq(books->calls, 0);
    APR_ARRAY_PUSH(services, pay_service_t *) = service; /* another host's acquirer may be able
                                                          * to */
    begin();
    ck_assert_int_eq(books_steps(history_sync), 1);
}
END_TEST

/* The first acquirer with a list of refunds is used: one before it may have no list. */
START_TEST(test_second_acquirer)
{
    static const payments_acquirer_t mute = {
        .struct_size = sizeof(payments_acquirer_t), .abi = PAYMENTS_ACQUIRER_ABI, .name = "mute"};
    const pay_acquirer_t without = {.connector = &mute, .name = "mute"};
    apr_array_header_t *acquirers = apr_array_make(unit_pool, 2, sizeof(const pay_acquirer_t *));

    APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = &without;
    APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = acquirer;
    service->acquirers = acquirers;
    acquirer->timeout = 0; /* the policy's */
    service->policy.acquirer_timeout = 7 * SECOND;
    begin();
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(books->calls, 1);
}
END_TEST

/* An acquirer that had refused the key and lists its refunds accepts it again. */
START_TEST(test_key_is_taken_again)
{
    acquirer->breaker = pay_breaker_init(malloc(pay_breaker_size()));
    pay_breaker_fault(acquirer->breaker);
    books->failures = 1;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer->breaker), 1);
    till_clock += BOOKS_INTERVAL;
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_int_eq(pay_breaker_is_faulty(acquirer->breaker), 0);
    free(acquirer->breaker);
}
END_TEST

/*
 * Its list contains other accounts' refunds too: nothing is fetched, and the requester learns why.
 */
START_TEST(test_shared_key)
{
    (void)books_add(books, "1", "processed");
    acquirer->key_is_shared = 1;
    ck_assert_int_eq(books_steps(history_sync), 0);
    books_ask(&scope, TILL_NOW - DAY, TILL_NOW);
    ck_assert_int_eq(books_steps(history_sync), 1);
    ck_assert_uint_eq(books_row(&scope)->answered, 1);
    ck_assert_int_eq(books_row(&scope)->done_until, 0);
    ck_assert_ptr_nonnull(strstr(books_row(&scope)->error, "a key of its own"));
    till_clock += 10 * DAY;
    ck_assert_int_eq(books_steps(history_sync), 0);
    ck_assert_int_eq(books->calls, 0);
    ck_assert_int_eq(books_listed(), 0);
    acquirer->key_is_shared = 0;
    ck_assert_int_gt(books_steps(history_sync), 0);
    ck_assert_int_eq(books_listed(), 1);
}
END_TEST

/* A damaged row is the trouble of one account, and is not read all the time. */
START_TEST(test_damaged_row)
{
    const pay_scope_t late = {till->scopes[0].account, PAY_LIVE};
    pay_service_t *second = books_service("late", acquirer);
    pay_store_key_t key;
    int worked;

    books_far_done(&late);
    APR_ARRAY_PUSH(services, pay_service_t *) = second;
    begin();
    pay_store_key_start(&key);
    ck_assert(pay_store_key_bytes(&key, "history/", 8));
    pay_store_key_scope(&key, &till->scopes[BOOKS_SCOPE]);
    till_plant(PAY_TABLE_META, &key, "\1", 1);
    ck_assert_int_eq(pay_history_sync_step(&worked, history_sync, till_clock, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(worked, 1);
    ck_assert_int_eq(books_steps(history_sync), 0);
    ck_assert_int_eq(books->calls, 1);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_test(tcase, test_request_beside_rounds);
    tcase_add_test(tcase, test_killed_between_windows);
    tcase_add_test(tcase, test_killed_within_a_window);
    tcase_add_test(tcase, test_two_accounts);
    tcase_add_loop_test(tcase, test_nothing_to_do, 0, 4);
    tcase_add_test(tcase, test_second_acquirer);
    tcase_add_test(tcase, test_key_is_taken_again);
    tcase_add_test(tcase, test_shared_key);
    tcase_add_test(tcase, test_damaged_row);
}

UNIT_PROGRAM(add)
