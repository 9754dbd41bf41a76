/* SPDX-License-Identifier: Apache-2.0 */
#include "service/reconcile/dispatcher.h"

#include "reconcile_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BANKS_MAX 4
#define ROWS_MAX 400
#define WAIT_S_MAX 60
#define STACK_HUGE ((size_t)1 << 60) /* more than there is room for */

/* An acquirer that many threads query at once, in memory that processes share. */
typedef struct bank_t {
    _Atomic int stuck; /* while it is 1, queries do not end */
    _Atomic int verdict;
    _Atomic int queries, inside, peak;
    _Atomic int row[ROWS_MAX]; /* queries about it under way */
    _Atomic int asked[ROWS_MAX];
    _Atomic int twice; /* about one row at once */
} bank_t;

static bank_t *banks;
static pay_acquirer_t acquirers[BANKS_MAX];
static _Atomic int all_inside, all_peak;

static void raise_to(_Atomic int *peak, int value)
{
    int now = *peak;

    while (value > now && !atomic_compare_exchange_weak(peak, &now, value)) {
    }
}

/* Names of charges are "NUMBER of ACQUIRER"; by our own reference while they have no other. */
static apr_status_t bank_query(payments_answer_t *out, void *context,
                               const payments_charge_t *charge, apr_interval_time_t timeout,
                               apr_pool_t *p)
{
    const int number = atoi(charge->reference);
    bank_t *bank = context;

    (void)timeout, (void)p;
    raise_to(&bank->peak, ++bank->inside);
    raise_to(&all_peak, ++all_inside);
    bank->twice += ++bank->row[number] > 1;
    bank->asked[number]++;
    bank->queries++;
    apr_sleep(1000); /* long enough to meet others */
    while (bank->stuck) {
        apr_sleep(1000);
    }
    out->verdict = (payments_verdict_t)bank->verdict;
    bank->row[number]--;
    all_inside--;
    bank->inside--;
    return APR_SUCCESS;
}

static payments_acquirer_t connector;

static void set_up(const char *dir)
{
    apr_array_header_t *list;
    int i;

    shop_set_up(dir);
    connector = script_connector;
    connector.charge_query = bank_query;
    list = apr_array_make(unit_pool, BANKS_MAX, sizeof(const pay_acquirer_t *));
    for (i = 0; i < BANKS_MAX; i++) {
        acquirers[i] = script_acquirer;
        acquirers[i].connector = &connector;
        acquirers[i].context = &banks[i];
        acquirers[i].name = apr_psprintf(unit_pool, "bank%d", i);
        APR_ARRAY_PUSH(list, const pay_acquirer_t *) = &acquirers[i];
    }
    shop->service.acquirer[PAY_LIVE] = &acquirers[0];
    shop->service.acquirers = list;
}

static void banks_make(void)
{
    int i;

    banks = mmap(NULL, sizeof(*banks) * BANKS_MAX, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(banks, MAP_FAILED);
    for (i = 0; i < BANKS_MAX; i++) {
        banks[i].verdict = PAYMENTS_APPROVED;
    }
    all_inside = all_peak = 0;
}

/* Pending charges of a bank, due in a second. */
static void charges_open(int bank, int count)
{
    pay_charge_t *out;
    pay_claim_t claim;
    int i;

    for (i = 0; i < count; i++) {
        const pay_charge_t proposal = {
            .scope = live,
            .reference = apr_psprintf(unit_pool, "%03d-%s", i, acquirers[bank].name),
            .token = "tok_1",
            .money = {1050, "NGN"},
            .email = "payer@shop.example",
            .first_name = "",
            .last_name = "",
            .request_ip = "",
            .acquirer = acquirers[bank].name,
            .key_id = "",
            .due_at = NOW + SECOND};

        ck_assert_int_eq(
            STORE_REAL(charge_open)(&out, &claim, shop->store, &proposal, NULL, NULL, unit_pool),
            APR_SUCCESS);
    }
}

static int settled;

static void round_of(pay_reconcile_dispatcher_t *dispatcher)
{
    apr_pool_t *pool;
    int now;

    if (!dispatcher) {
        return;
    }
    apr_pool_create(&pool, unit_pool);
    ck_assert_int_eq(pay_reconcile_round(&now, dispatcher, pool), APR_SUCCESS);
    apr_pool_destroy(pool);
    settled += now;
}

static pay_reconcile_dispatcher_t *dispatcher_make(void)
{
    apr_array_header_t *services = apr_array_make(unit_pool, 1, sizeof(const pay_service_t *));
    pay_reconcile_dispatcher_t *dispatcher;

    APR_ARRAY_PUSH(services, const pay_service_t *) = &shop->service;
    ck_assert_int_eq(pay_reconcile_create(&dispatcher, shop->store, services, unit_pool),
                     APR_SUCCESS);
    settled = 0;
    return dispatcher;
}

/* `dispatcher` NULL: without another round. */
#define WAIT_FOR(dispatcher, condition)                                                            \
    do {                                                                                           \
        const apr_time_t until_ = apr_time_now() + WAIT_S_MAX * SECOND;                            \
        while (!(condition)) {                                                                     \
            ck_assert_msg(apr_time_now() < until_, "in vain: %s", #condition);                     \
            apr_sleep(1000);                                                                       \
            round_of(dispatcher);                                                                  \
        }                                                                                          \
    } while (0)

static void decided_check(int bank, int count)
{
    const char *reference;
    int i;

    for (i = 0; i < count; i++) {
        reference = apr_psprintf(unit_pool, "%03d-%s", i, acquirers[bank].name);
        ck_assert_msg(charge_of(reference)->state == PAY_CHARGE_SUCCESSFUL, "%s", reference);
        ck_assert_msg(banks[bank].asked[i] == 1, "%s: asked %d times", reference,
                      banks[bank].asked[i]);
    }
}

/* All of a backlog of several batches, each row once, and no more at once than there are places. */
START_TEST(test_backlog)
{
    pay_reconcile_dispatcher_t *dispatcher;

    banks_make();
    set_up(unit_dir());
    charges_open(0, 150);
    dispatcher = dispatcher_make();
    round_of(dispatcher); /* nothing is due yet */
    ck_assert_int_eq(settled + banks[0].queries, 0);
    shop_clock_set(NOW + SECOND);
    WAIT_FOR(dispatcher, settled == 150);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
    decided_check(0, 150);
    ck_assert_int_le(banks[0].peak, PAY_RECONCILE_QUERIES_MAX / 2);
    ck_assert_int_gt(banks[0].peak, 1);
    ck_assert_int_eq(banks[0].twice, 0);
}
END_TEST

/* While three acquirers are stuck with all their places, the fourth one's rows go on; rounds end as
 * usual. */
START_TEST(test_stuck)
{
    pay_reconcile_dispatcher_t *dispatcher;
    int i;

    banks_make();
    set_up(unit_dir());
    for (i = 0; i < BANKS_MAX; i++) {
        charges_open(i, 40);
    }
    banks[0].stuck = banks[1].stuck = banks[2].stuck = 1;
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    WAIT_FOR(dispatcher, settled == 40);
    decided_check(3, 40);
    WAIT_FOR(dispatcher, all_inside >= 12);
    for (i = 0; i < 3; i++) {
        ck_assert_int_ge(banks[i].inside, 2);
        ck_assert_int_le(banks[i].inside, PAY_RECONCILE_QUERIES_MAX / 2);
    }
    ck_assert_int_eq(settled, 40);
    banks[0].stuck = banks[1].stuck = banks[2].stuck = 0;
    WAIT_FOR(dispatcher, settled == 160);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
    for (i = 0; i < BANKS_MAX; i++) {
        decided_check(i, 40);
    }
    ck_assert_int_le(all_peak, PAY_RECONCILE_QUERIES_MAX);
}
END_TEST

/* Rows that come after an acquirer has been stuck for some time are not behind its rows. */
START_TEST(test_stuck_before)
{
    pay_reconcile_dispatcher_t *dispatcher;

    banks_make();
    set_up(unit_dir());
    charges_open(0, 100);
    banks[0].stuck = 1;
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    WAIT_FOR(dispatcher, banks[0].inside == PAY_RECONCILE_QUERIES_MAX / 2);
    charges_open(1, 50);
    WAIT_FOR(dispatcher, settled == 50);
    ck_assert_int_eq(banks[0].inside, PAY_RECONCILE_QUERIES_MAX / 2);
    decided_check(1, 50);
    banks[0].stuck = 0;
    WAIT_FOR(dispatcher, settled == 150);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
}
END_TEST

/* A call under way is waited for, up to the given time; nothing else begins. */
START_TEST(test_stop)
{
    pay_reconcile_dispatcher_t *dispatcher;
    apr_time_t began;
    int queries;

    banks_make();
    set_up(unit_dir());
    charges_open(0, 100);
    banks[0].stuck = 1;
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    round_of(dispatcher);
    WAIT_FOR(NULL, banks[0].queries == PAY_RECONCILE_QUERIES_MAX / 2); /* counted last */
    queries = banks[0].queries;
    began = apr_time_now();
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, SECOND / 10), APR_TIMEUP);
    ck_assert_int_ge(apr_time_now() - began, SECOND / 10);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, 0), APR_TIMEUP);
    banks[0].stuck = 0;
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
    ck_assert_int_eq(banks[0].queries, queries);
    ck_assert_int_eq(banks[0].inside, 0);
}
END_TEST

START_TEST(test_stop_idle)
{
    pay_reconcile_dispatcher_t *dispatcher;

    banks_make();
    set_up(unit_dir());
    dispatcher = dispatcher_make();
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, 0), APR_SUCCESS); /* no thread ever started */
    charges_open(0, 1);
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    WAIT_FOR(dispatcher, settled == 1);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
    dispatcher_make(); /* ends with its pool */
}
END_TEST

/* A row for which no thread could start waits for a round in which one can. */
START_TEST(test_no_thread)
{
    pay_reconcile_dispatcher_t *dispatcher;
    pthread_attr_t usual, huge;

    banks_make();
    set_up(unit_dir());
    charges_open(0, 3);
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
    ck_assert_int_eq(pthread_attr_init(&huge), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, STACK_HUGE), 0);
    ck_assert_int_eq(pthread_setattr_default_np(&huge), 0);
    round_of(dispatcher);
    ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
    ck_assert_int_gt(said(PAY_LOG_ERR, "PAY00430: "), 0);
    ck_assert_int_eq(banks[0].queries, 0);
    WAIT_FOR(dispatcher, settled == 3);
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, MINUTE), APR_SUCCESS);
    decided_check(0, 3);
    (void)pthread_attr_destroy(&huge);
    (void)pthread_attr_destroy(&usual);
}
END_TEST

static apr_status_t take_fails(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                               apr_interval_time_t lease, int limit, apr_pool_t *p)
{
    (void)store, (void)now, (void)lease, (void)limit, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static apr_status_t account_fails(pay_account_t **out, pay_store_t *store, const char *name,
                                  apr_pool_t *p)
{
    (void)store, (void)name, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

START_TEST(test_store_down)
{
    pay_reconcile_dispatcher_t *dispatcher;
    int now = 7;

    banks_make();
    set_up(unit_dir());
    charges_open(0, 1);
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    store_script.due_take = take_fails;
    ck_assert_int_eq(pay_reconcile_round(&now, dispatcher, unit_pool), PAY_STORE_EDOWN);
    ck_assert_int_eq(now, 0);
    store_script.due_take = NULL;
    store_script.account_get = account_fails;
    ck_assert_int_eq(pay_reconcile_round(&now, dispatcher, unit_pool), PAY_STORE_EDOWN);
    ck_assert_int_eq(banks[0].queries, 0);
    store_script.account_get = NULL;
    ck_assert_int_eq(pay_reconcile_stop(dispatcher, 0), APR_SUCCESS);
}
END_TEST

/* ---- two dispatchers */

static void *rounds(void *baton)
{
    pay_reconcile_dispatcher_t *dispatcher = baton;
    apr_pool_t *pool;
    int now;

    apr_pool_create(&pool, NULL);
    while (all_inside < PAY_RECONCILE_QUERIES_MAX && !banks[BANKS_MAX - 1].stuck) {
        if (pay_reconcile_round(&now, dispatcher, pool) != APR_SUCCESS) {
            break;
        }
        apr_sleep(1000);
    }
    apr_pool_destroy(pool);
    return NULL;
}

/* The places are the process's: two dispatchers together make no more queries than one may. */
START_TEST(test_two_dispatchers)
{
    pay_reconcile_dispatcher_t *dispatchers[2];
    pthread_t threads[2];
    int i;

    banks_make();
    set_up(unit_dir());
    for (i = 0; i < BANKS_MAX - 1; i++) {
        charges_open(i, 60);
        banks[i].stuck = 1;
    }
    shop_clock_set(NOW + SECOND);
    for (i = 0; i < 2; i++) {
        dispatchers[i] = dispatcher_make();
        ck_assert_int_eq(pthread_create(&threads[i], NULL, rounds, dispatchers[i]), 0);
    }
    WAIT_FOR(dispatchers[0], all_inside >= 12);
    banks[BANKS_MAX - 1].stuck = 1; /* enough */
    for (i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (i = 0; i < BANKS_MAX; i++) {
        banks[i].stuck = 0;
    }
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(pay_reconcile_stop(dispatchers[i], MINUTE), APR_SUCCESS);
    }
    ck_assert_int_ge(all_peak, 12);
    ck_assert_int_le(all_peak, PAY_RECONCILE_QUERIES_MAX);
    ck_assert_int_eq(banks[0].twice + banks[1].twice + banks[2].twice, 0);
}
END_TEST

#define SHARED_ROWS 150

/* One of the processes; both work until nothing is due. */
static void work_as_child(const char *dir, int start_fd)
{
    const apr_time_t until = apr_time_now() + WAIT_S_MAX * SECOND;
    pay_reconcile_dispatcher_t *dispatcher;
    char byte;

    set_up(dir);
    shop_clock_set(NOW + SECOND);
    dispatcher = dispatcher_make();
    if (read(start_fd, &byte, 1) != 0) { /* both begin when the pipe is closed */
        _exit(1);
    }
    while (banks[0].queries < SHARED_ROWS && apr_time_now() < until) {
        round_of(dispatcher);
        apr_sleep(1000);
    }
    _exit(pay_reconcile_stop(dispatcher, MINUTE) == APR_SUCCESS ? 0 : 1);
}

/* Two processes on one store share the work by its leases: no row is queried twice. */
START_TEST(test_two_processes)
{
    const char *dir = unit_dir();
    pid_t children[3];
    int start[2], status, i;

    banks_make();
    ck_assert_int_eq(pipe(start), 0);
    for (i = 0; i < 3; i++) {
        children[i] = fork(); /* no environment is open yet */
        ck_assert_int_ge(children[i], 0);
        if (children[i]) {
            continue;
        }
        if (i == 0) {
            set_up(dir);
            charges_open(0, SHARED_ROWS);
            _exit(0);
        }
        close(start[1]);
        work_as_child(dir, start[0]);
    }
    ck_assert_int_eq(waitpid(children[0], &status, 0), children[0]);
    ck_assert_int_eq(status, 0);
    close(start[1]);
    for (i = 1; i < 3; i++) {
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    close(start[0]);
    set_up(dir);
    decided_check(0, SHARED_ROWS);
    ck_assert_int_eq(banks[0].queries, SHARED_ROWS);
    ck_assert_int_eq(banks[0].twice, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_backlog);
    tcase_add_test(tcase, test_stuck);
    tcase_add_test(tcase, test_stuck_before);
    tcase_add_test(tcase, test_stop);
    tcase_add_test(tcase, test_stop_idle);
    tcase_add_test(tcase, test_no_thread);
    tcase_add_test(tcase, test_store_down);
    tcase_add_test(tcase, test_two_dispatchers);
    tcase_add_test(tcase, test_two_processes);
}

UNIT_PROGRAM(add)
