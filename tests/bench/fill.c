/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fills a store with decided charges as fast as its own operations allow: what a request does from
 * its body on, without HTTP. Many threads, so that one commit makes the work of all of them
 * durable.
 *
 *     fill STORE-URL ACCOUNT PREFIX FIRST COUNT
 *
 * makes the charges PREFIX-FIRST and on, in series, in the account's Test Mode, and prints how many
 * it made. The first failure ends it with status 1.
 */

#include "acquirer/acquirer.h"
#include "acquirer/simulator.h"
#include "base/text/json.h"
#include "service/charge/charges.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <apr_thread_proc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define THREADS PAY_STORE_COMMIT_BATCH_MAX
#define THREAD_STACK_BYTES (256 * 1024)

static const pay_acquirer_t simulator = {.connector = &pay_acquirer_simulator, .name = "simulator"};

static const char body[] = "{\"token\":\"tok_test_success\",\"amount\":1500.50,"
                           "\"email\":\"ada@example.com\",\"reference\":\"fill\"}";

static struct {
    pay_service_t service;
    pay_caller_t caller;
    pay_charge_request_t *request; /* all of them except for the reference */
    const char *prefix;
    atomic_int_fast64_t next, done;
    apr_int64_t end;
    atomic_int failed;
} fill;

static void fail(const char *what, const char *why)
{
    if (!atomic_exchange(&fill.failed, 1)) {
        fprintf(stderr, "fill: %s: %s\n", what, why);
    }
}

static void charge(apr_int64_t number, apr_pool_t *p)
{
    pay_charge_request_t request = *fill.request;
    const pay_problem_t *problem;
    pay_charge_t *made;
    int replayed;

    request.reference = apr_psprintf(p, "%s-%09" APR_INT64_T_FMT, fill.prefix, number);
    problem =
        pay_charge_create(&made, &replayed, &fill.service, &fill.caller, &request, "127.0.0.1", p);
    if (problem) {
        fail(request.reference, problem->message);
    } else if (replayed || made->state != PAY_CHARGE_SUCCESSFUL) {
        fail(request.reference, "it is no new successful charge");
    } else {
        atomic_fetch_add(&fill.done, 1);
    }
}

static void *APR_THREAD_FUNC work(apr_thread_t *thread, void *baton)
{
    apr_int64_t number;
    apr_pool_t *pool;

    (void)thread;
    (void)baton;
    if (apr_pool_create_unmanaged(&pool) != APR_SUCCESS) {
        fail("a thread", "no memory");
        return NULL;
    }
    number = atomic_fetch_add(&fill.next, 1);
    while (number < fill.end && !atomic_load(&fill.failed)) {
        charge(number, pool);
        apr_pool_clear(pool);
        number = atomic_fetch_add(&fill.next, 1);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void run(apr_pool_t *p)
{
    apr_thread_t *threads[THREADS];
    apr_threadattr_t *attr;
    apr_status_t joined, rv;
    int i, started = 0;

    rv = apr_threadattr_create(&attr, p);
    if (rv == APR_SUCCESS) {
        rv = apr_threadattr_stacksize_set(attr, THREAD_STACK_BYTES);
    }
    for (i = 0; rv == APR_SUCCESS && i < THREADS; i++) {
        rv = apr_thread_create(&threads[i], attr, work, NULL, p);
        started += rv == APR_SUCCESS;
    }
    if (rv != APR_SUCCESS) {
        fail("threads", "they cannot be started");
    }
    for (i = 0; i < started; i++) {
        (void)apr_thread_join(&joined, threads[i]);
    }
}

/* State that all requests share. 0: it failed, which was reported. */
static int prepare(const char *url, const char *account, apr_pool_t *p)
{
    pay_store_options_t options = pay_store_options_default;
    const char *reason = NULL;
    const pay_problem_t *problem;
    pay_account_t *found;
    const pay_json_t *json;
    apr_status_t rv;

    rv = pay_store_open(&fill.service.store, url, &options, p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_ready(&reason, fill.service.store, p);
    }
    if (rv != APR_SUCCESS) {
        fail(url, reason ? reason : "it cannot be opened");
        return 0;
    }
    rv = pay_store_account_get(&found, fill.service.store, account, p);
    if (rv != APR_SUCCESS) {
        fail(account, "there is no such account");
        return 0;
    }
    fill.service.acquirer[PAY_TEST] = &simulator;
    fill.caller.account = found;
    fill.caller.scope.account = found->number;
    fill.caller.scope.mode = PAY_TEST;
    fill.caller.key_kind = PAY_KEY_SECRET;
    fill.caller.key_id = "";
    rv = pay_json_parse(&json, &reason, body, sizeof(body) - 1, p);
    if (rv != APR_SUCCESS) {
        fail("the request", reason);
        return 0;
    }
    problem = pay_charge_request_from_json(&fill.request, json, found->settings.currency, p);
    if (problem) {
        fail("the request", problem->message);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    apr_pool_t *pool;

    if (argc != 6) {
        fputs("usage: fill STORE-URL ACCOUNT PREFIX FIRST COUNT\n", stderr);
        return 2;
    }
    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return 1;
    }
    fill.prefix = argv[3];
    atomic_store(&fill.next, apr_atoi64(argv[4]));
    fill.end = apr_atoi64(argv[4]) + apr_atoi64(argv[5]);
    if (prepare(argv[1], argv[2], pool)) {
        run(pool);
    }
    printf("%" APR_INT64_T_FMT "\n", (apr_int64_t)atomic_load(&fill.done));
    apr_pool_destroy(pool);
    apr_terminate();
    return atomic_load(&fill.failed) ? 1 : 0;
}
