/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/shutdown.h"

#include "httpd/process/acquirers.h"
#include "httpd/process/deliver.h"
#include "httpd/process/fetcher.h"
#include "httpd/process/reconciler.h"
#include "httpd/process/server_slots.h"
#include "httpd/process/store_host.h"
#include "request.h"
#include "store_script.h"

#include <mod_watchdog.h>
#include <pthread.h>

/* The shutdown of a child process beside the threads of its watchdogs. */

static pay_store_host_t *store_host_make(pay_store_t *store)
{
    pay_store_host_t *store_host = apr_pcalloc(unit_pool, sizeof(*store_host));

    stand_in = (stand_in_t){.daemons = 0};
    pay_server_slots_share(request_server(), unit_pool);
    store_host->store = store;
    store_host->hosts = apr_array_make(unit_pool, 1, sizeof(server_rec *));
    APR_ARRAY_PUSH(store_host->hosts, server_rec *) = request_server();
    store_host->acquirers = apr_array_make(unit_pool, 1, sizeof(pay_acquirers_one_t *));
    store_host->services = apr_array_make(unit_pool, 1, sizeof(pay_service_t *));
    unit_boot_stop(1000000);
    return store_host;
}

/* A child's pool, with the functions to run before it is destroyed. */
static apr_pool_t *child_of(pay_store_host_t *store_host)
{
    apr_pool_t *pchild;

    apr_pool_create(&pchild, unit_pool);
    pay_deliver_init(store_host, pchild);
    pay_reconciler_init(store_host, pchild);
    pay_fetcher_init(store_host, pchild, unit_pool);
    return pchild;
}

/* From then on a late callback finds them busy, and does nothing. */
START_TEST(test_what_is_left_is_left_alone)
{
    static const int states[] = {AP_WATCHDOG_STATE_RUNNING, AP_WATCHDOG_STATE_STOPPING};
    pay_store_host_t *store_host = store_host_make(STORE_NONE);
    int i;

    apr_pool_destroy(child_of(store_host));
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 1);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 1);
    for (i = 0; i < UNIT_ROWS(states); i++) {
        ck_assert_int_eq(pay_deliver_run(states[i], store_host, unit_pool), APR_SUCCESS);
        ck_assert_int_eq(pay_reconciler_run(states[i], store_host, unit_pool), APR_SUCCESS);
        ck_assert_int_eq(atomic_load(&store_host->deliver.busy), 1);
        ck_assert_int_eq(atomic_load(&store_host->reconciler.busy), 1);
    }
    ck_assert_ptr_null(store_host->deliver.outbox);
    ck_assert_ptr_null(store_host->reconciler.dispatcher);
}
END_TEST

/* A child without a store has nothing to shut down. */
START_TEST(test_no_store)
{
    pay_store_host_t *store_host = store_host_make(NULL);

    apr_pool_destroy(child_of(store_host));
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 0);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 0);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.stop), 0);
    ck_assert_int_eq(pay_deliver_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_reconciler_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_fetcher_run(AP_WATCHDOG_STATE_RUNNING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 0);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 0);
}
END_TEST

/* Refunds are fetched if there is an acquirer; that ends with the child. */
START_TEST(test_fetcher)
{
    pay_store_host_t *store_host = store_host_make(STORE_NONE);
    pay_acquirers_one_t one = {.account = "shop"};

    apr_pool_destroy(child_of(store_host));
    ck_assert_ptr_null(store_host->fetcher.sync);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.stop), 0);
    store_host = store_host_make(STORE_NONE);
    APR_ARRAY_PUSH(store_host->acquirers, pay_acquirers_one_t *) = &one;
    apr_pool_destroy(child_of(store_host));
    ck_assert_ptr_nonnull(store_host->fetcher.sync);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.stop), 1);
    ck_assert_int_eq(pay_fetcher_run(AP_WATCHDOG_STATE_RUNNING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.busy), 0);
}
END_TEST

/* A stop while another thread is at work does not disturb it. */
START_TEST(test_one_at_a_time)
{
    pay_store_host_t *store_host = store_host_make(STORE_NONE);

    atomic_store(&store_host->deliver.busy, 1);
    atomic_store(&store_host->reconciler.busy, 1);
    ck_assert_int_eq(pay_deliver_run(AP_WATCHDOG_STATE_STARTING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_reconciler_run(AP_WATCHDOG_STATE_STARTING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 0);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 0);
    ck_assert_int_eq(pay_deliver_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_reconciler_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 1);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 1);
    ck_assert_int_eq(atomic_load(&store_host->deliver.busy), 1);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.busy), 1);
}
END_TEST

/* Stopped while no thread is at work, they are free again afterwards. */
START_TEST(test_stopping)
{
    pay_store_host_t *store_host = store_host_make(STORE_NONE);

    ck_assert_int_eq(pay_deliver_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_reconciler_run(AP_WATCHDOG_STATE_STOPPING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->deliver.busy), 0);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.busy), 0);
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 1);
    ck_assert_ptr_null(store_host->deliver.outbox);
    ck_assert_ptr_null(store_host->reconciler.dispatcher);
}
END_TEST

/* A thread that does not return delays nobody: its process ends in the middle of its work. */
START_TEST(test_one_that_does_not_come_back)
{
    pay_store_host_t *store_host = store_host_make(STORE_NONE);
    pay_acquirers_one_t one = {.account = "shop"};
    apr_pool_t *pchild;

    APR_ARRAY_PUSH(store_host->acquirers, pay_acquirers_one_t *) = &one;
    pchild = child_of(store_host);
    atomic_store(&store_host->deliver.busy, 1);
    atomic_store(&store_host->reconciler.busy, 1);
    atomic_store(&store_host->fetcher.busy, 1);
    (void)pay_shutdown_time(0);
    unit_boot_pass(PAY_SHUTDOWN_MS);
    apr_pool_destroy(pchild);
    ck_assert_int_eq(atomic_load(&store_host->deliver.stop), 1);
    ck_assert_int_eq(atomic_load(&store_host->reconciler.stop), 1);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.stop), 1);
    ck_assert_int_eq(pay_fetcher_run(AP_WATCHDOG_STATE_RUNNING, store_host, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(atomic_load(&store_host->fetcher.busy), 1);
}
END_TEST

static void *come_back(void *data)
{
    atomic_int *busy = data;

    apr_sleep(apr_time_from_msec(50)); /* its work takes a while */
    atomic_store(busy, 0);
    return NULL;
}

/* The work of a thread is finished first. */
START_TEST(test_who_is_at_work_is_waited_for)
{
    pay_store_host_t *store_host = store_host_make(STORE_NONE);
    pay_acquirers_one_t one = {.account = "shop"};
    atomic_int *const at_work[] = {&store_host->deliver.busy, &store_host->deliver.owed,
                                   &store_host->reconciler.busy, &store_host->fetcher.busy};
    apr_pool_t *pchild;
    pthread_t thread;

    APR_ARRAY_PUSH(store_host->acquirers, pay_acquirers_one_t *) = &one;
    pchild = child_of(store_host);
    atomic_store(at_work[_i], 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, come_back, at_work[_i]), 0);
    apr_pool_destroy(pchild);
    /* 1 again: it belongs to the shutdown from now on */
    ck_assert_int_eq(atomic_load(at_work[_i]), _i == 0 || _i == 2);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(atomic_load(at_work[_i]), _i == 0 || _i == 2);
}
END_TEST

/* The remaining time counts from the first caller. */
START_TEST(test_time)
{
    unit_boot_stop(5000);
    ck_assert_int_eq(pay_shutdown_time(300), apr_time_from_msec(300));
    unit_boot_pass(100);
    ck_assert_int_eq(pay_shutdown_time(300), apr_time_from_msec(200));
    ck_assert_int_eq(pay_shutdown_time(101), apr_time_from_msec(1));
    ck_assert_int_eq(pay_shutdown_time(100), 0);
    ck_assert_int_eq(pay_shutdown_time(50), 0);
}
END_TEST

/* A thread that does not return in that time is not waited for. */
START_TEST(test_waiting_has_an_end)
{
    atomic_int busy, owed, none;

    atomic_init(&busy, 1);
    atomic_init(&owed, 1);
    atomic_init(&none, 0);
    unit_boot_stop(5000);
    (void)pay_shutdown_time(0);
    pay_shutdown_wait(&none, NULL);
    pay_shutdown_wait(&none, &none);
    unit_boot_pass(PAY_SHUTDOWN_MS);
    pay_shutdown_wait(&busy, NULL);
    pay_shutdown_wait(&none, &owed);
    ck_assert_int_eq(atomic_load(&busy), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_what_is_left_is_left_alone);
    tcase_add_test(tcase, test_no_store);
    tcase_add_test(tcase, test_fetcher);
    tcase_add_test(tcase, test_one_at_a_time);
    tcase_add_test(tcase, test_stopping);
    tcase_add_test(tcase, test_one_that_does_not_come_back);
    tcase_add_loop_test(tcase, test_who_is_at_work_is_waited_for, 0, 4);
    tcase_add_test(tcase, test_time);
    tcase_add_test(tcase, test_waiting_has_an_end);
}

UNIT_PROGRAM(add)
