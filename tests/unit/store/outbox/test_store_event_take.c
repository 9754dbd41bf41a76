/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#include "between.h"
#include "child_fixture.h"
#include "store/lmdb/env.h"
#include "store/payment/charge.h"

#define LEASE apr_time_from_msec(PAY_STORE_LEASE_MS)
#define WAITED_MS 7000
#define MANY 1000
#define PUT_OFF 130        /* more endpoints than two transactions examine */
#define PUT_OFF_FIRST 1000 /* of the accounts that they are of */

static void charges(int i, int count)
{
    int k;

    for (k = 0; k < count; k++) {
        (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
}

static int parked_in(int i)
{
    apr_array_header_t *parked;

    ck_assert_int_eq(pay_store_event_list(&parked, till->store, &till->scopes[i], 1, NULL,
                                          PAY_STORE_ROWS_MAX, unit_pool),
                     APR_SUCCESS);
    return parked->nelts;
}

static void refund(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *out = till_refund(i, reference, amount_minor, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&out, i, out->refund_reference, PAY_OUTCOME_APPROVED);
}

/* The number of the last transaction that wrote. */
static apr_uint64_t last_write(void)
{
    pay_rows_txn_t txn;
    apr_uint64_t id;

    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    id = mdb_txn_id(txn.native);
    pay_rows_end(&txn);
    return id;
}

/* However many endpoints have some, no more are taken than requested. */
START_TEST(test_no_more_than_asked_for)
{
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
        charges(i, 2);
    }
    ck_assert_int_eq(outlet_take(2 * TILL_SCOPES - 1, 10)->nelts, 2 * TILL_SCOPES - 1);
}
END_TEST

START_TEST(test_lease_and_records)
{
    const pay_event_t *event;
    pay_taken_t taken;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
        (void)till_charge(i, "order-1", 1000 + i);
    }
    apr_array_header_t *list = outlet_take(10, 10);
    ck_assert_int_eq(list->nelts, TILL_SCOPES);
    for (i = 0; i < TILL_SCOPES; i++) {
        taken = APR_ARRAY_IDX(list, i, pay_taken_t);
        event = taken.event;
        ck_assert_uint_eq(event->leases, 1);
        ck_assert_int_eq(event->lease_worker.pid, getpid());
        ck_assert_int_eq(event->due_at, TILL_NOW + LEASE);
        ck_assert_int_gt(event->lease_until_ms, pay_time_boot_ms() + PAY_STORE_LEASE_MS - 30000);
        ck_assert_int_le(event->lease_until_ms, pay_time_boot_ms() + PAY_STORE_LEASE_MS);
        ck_assert_str_eq(event->charge->reference, "order-1");
        ck_assert_uint_eq(event->charge->scope.account, event->scope.account);
        ck_assert_int_eq(event->charge->scope.mode, event->scope.mode);
        ck_assert_ptr_null(event->refund);
        ck_assert_str_eq(taken.endpoint->address, "there");
        ck_assert_int_eq(taken.endpoint->kind, PAY_ENDPOINT_WEBHOOK);
    }
    till_check_clean();
}
END_TEST

/*
 * Postponed while the clock was ahead: sent as soon as it is right again, and reported as overdue.
 */
START_TEST(test_put_off_ahead)
{
    pay_event_stat_t stat;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    till_clock += 365 * OUTLET_DAY;
    (void)till_charge(0, "order-1", 1000);
    ck_assert_int_eq(outlet_run(PAY_EVENT_FAILED), 1);
    till_clock = TILL_NOW;
    ck_assert_int_eq(pay_store_event_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(stat.overdue, apr_time_from_sec(14 * 3600));
    (void)till_charge(0, "order-2", 1000);
    ck_assert_int_eq(outlet_run(_i ? PAY_EVENT_DELIVERED : PAY_EVENT_FAILED), 2);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 0);
    till_check_clean();
    ck_assert_int_eq(pay_store_event_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(stat.overdue, 0);
    if (!_i) {
        till_clock += apr_time_from_sec(10);
        ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    }
}
END_TEST

START_TEST(test_records_of_a_refund)
{
    const pay_event_t *event;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 1);
    till_clock += apr_time_from_sec(5);
    refund(0, "order-1", 300);
    event = outlet_event(outlet_take(10, 10), 0);
    ck_assert_int_eq(event->kind, PAY_EVENT_REFUND);
    ck_assert_int_eq(event->refund->money.amount_minor, 300);
    ck_assert_int_eq(event->charge->refunded_minor, 300);
    ck_assert_str_eq(event->refund->transaction_reference, "order-1");
}
END_TEST

/* A take without work must not wait for the writer lock, nor delay others. */
START_TEST(test_nothing_due_is_no_write)
{
    apr_uint64_t before;

    (void)till_charge(0, "order-0", 1000);
    before = last_write();
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert_uint_eq(last_write(), before);
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1);
    ck_assert_uint_gt(last_write(), before + 2);
    before = last_write();
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0); /* leased */
    till_clock += LEASE - 1;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert_uint_eq(last_write(), before);
    till_clock += 1; /* by the wall clock its lease is over: it must be examined */
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert_uint_eq(last_write(), before + 1);
}
END_TEST

START_TEST(test_limit_and_budget)
{
    apr_uint64_t before;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 150);
    before = last_write();
    ck_assert_int_eq(outlet_take(10, 0)->nelts, 0); /* it has its greatest number */
    ck_assert_uint_eq(last_write(), before + 1);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0); /* and is left alone for a moment */
    ck_assert_uint_eq(last_write(), before + 1);
    till_clock += apr_time_from_msec(100);
    ck_assert_int_eq(outlet_take(10, -1)->nelts, 0); /* nothing can be sent there */
    till_clock += apr_time_from_sec(5) - 1;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    till_clock += 1;
    ck_assert_int_eq(outlet_take(1, 16)->nelts, 1);
    ck_assert_int_eq(outlet_take(100, 16)->nelts, 16);
    ck_assert_int_eq(outlet_take(5, 16)->nelts, 5);
    ck_assert_int_eq(outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY)->nelts, 100);
    ck_assert_int_eq(outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY)->nelts, 28);
    ck_assert_int_eq(outlet_take(PAY_STORE_LEASES_MAX, OUTLET_ANY)->nelts, 0);
    till_check_clean();
}
END_TEST

/* A new event is no reason to wait out the minute of an endpoint that could not be sent to. */
START_TEST(test_new_events_wake_an_endpoint)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 1);
    ck_assert_int_eq(outlet_take(10, -1)->nelts, 0);
    (void)till_charge(0, "another", 1000);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 2);
}
END_TEST

/* One after the other within a transaction and endpoint, whatever happens to others. */
START_TEST(test_order_within_a_transaction)
{
    static const char *const want[] = {
        "webhook 1.1 transaction successful*", "webhook 1.2 refund processed*",
        "webhook 1.3 refund processed*", "webhook 1.4 transaction reversed*"};
    apr_array_header_t *taken;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    refund(0, "order-1", 300);
    refund(0, "order-1", 700);
    for (k = 0; k < UNIT_ROWS(want); k++) {
        taken = outlet_take(100, 100);
        ck_assert_int_eq(taken->nelts, 1);
        ck_assert_str_eq(outlet_name(outlet_event(taken, 0)), want[k]);
        ck_assert_int_eq(outlet_take(100, 100)->nelts, 0); /* none overtakes it */
        till_check_clean();
        (void)outlet_finish(outlet_event(taken, 0), PAY_EVENT_DELIVERED);
        till_check_clean();
    }
    ck_assert_int_eq(outlet_take(100, 100)->nelts, 0);
    ck_assert_str_eq(outlet_waiting(0), "");
}
END_TEST

/* Endpoints of one transaction do not wait for each other. */
START_TEST(test_order_is_each_endpoints_own)
{
    apr_array_header_t *taken;

    outlet_open_all(0);
    (void)till_charge(0, "order-1", 1000);
    refund(0, "order-1", 1000);
    taken = outlet_take(100, 100);
    ck_assert_int_eq(taken->nelts, 3);
    (void)outlet_finish(outlet_event(taken, 1), PAY_EVENT_DELIVERED);
    taken = outlet_take(100, 100);
    ck_assert_int_eq(taken->nelts, 1);
    ck_assert_str_eq(outlet_name(outlet_event(taken, 0)), "receipt 1.2 refund processed*");
    ck_assert_str_eq(outlet_waiting(0),
                     "webhook 1.1 transaction successful*; webhook 1.2 refund processed behind; "
                     "webhook 1.3 transaction reversed behind; receipt 1.2 refund processed*; "
                     "notice 1.1 transaction successful*; notice 1.2 refund processed behind");
    till_check_clean();
}
END_TEST

/* The remains of a worker, by the known data of it. */
static void worker_dead(pay_event_t *event)
{
    event->lease_worker.start_ticks++; /* its pid is another process's by now */
}
static void worker_other_boot(pay_event_t *event)
{
    event->lease_worker.boot_id++;
}
static void worker_earlier(pay_event_t *event)
{
    worker_other_boot(event);
    event->lease_until_at = 0;
}
static void worker_late(pay_event_t *event)
{
    event->lease_until_ms = pay_time_boot_ms();
}
static void worker_nobody(pay_event_t *event)
{
    memset(&event->lease_worker, 0, sizeof(event->lease_worker));
}
static void worker_far(pay_event_t *event)
{
    event->lease_until_ms = pay_time_boot_ms() + 1000 * PAY_STORE_LEASE_MS;
}
static void worker_as_it_was(pay_event_t *event)
{
    (void)event;
}

static const struct {
    const char *name;
    void (*change)(pay_event_t *event);
    int want;
} worker_cases[] = {
    {"at work, and the wall clock jumped", worker_as_it_was, 0},
    {"dead", worker_dead, 1},
    {"of another boot, which may be another machine", worker_other_boot, 0},
    {"of another boot, as an earlier version wrote it", worker_earlier, 1},
    {"its lease is over", worker_late, 1},
    {"nobody", worker_nobody, 1},
    {"at work for longer than a lease lasts", worker_far, 0},
};

START_TEST(test_lease_of_another)
{
    const char *name = worker_cases[_i].name;
    const pay_event_t *event;
    apr_array_header_t *taken;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    event = outlet_event(outlet_take(10, 10), 0);
    outlet_change(event, worker_cases[_i].change);
    till_clock += LEASE - 1;
    ck_assert_msg(outlet_take(10, 10)->nelts == 0, "%s", name);
    till_clock += 1;
    taken = outlet_take(10, 10);
    ck_assert_msg(taken->nelts == worker_cases[_i].want, "%s", name);
    if (taken->nelts == 0) { /* it is examined again, a lease later at most */
        till_clock += LEASE;
        outlet_change(event, worker_late);
        taken = outlet_take(10, 10);
    }
    ck_assert_msg(taken->nelts == 1, "%s", name);
    ck_assert_uint_eq(outlet_event(taken, 0)->leases, 2);
    ck_assert_msg(!outlet_finish(event, PAY_EVENT_DELIVERED).stored, "%s", name);
    ck_assert_msg(outlet_finish(outlet_event(taken, 0), PAY_EVENT_DELIVERED).stored, "%s", name);
    ck_assert_str_eq(outlet_waiting(0), "");
    till_check_clean();
}
END_TEST

static int slow_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    if (!(flags & MDB_RDONLY)) {
        unit_boot_pass(WAITED_MS);
        till_clock += apr_time_from_msec(WAITED_MS);
    }
    return between_real_txn_begin(env, parent, flags, txn);
}

/* The wait for the writer lock is part of its own time, and of nobody else's. */
START_TEST(test_lease_of_one_that_waited)
{
    const pay_event_t *event;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    unit_boot_stop(1000);
    between.txn_begin = slow_begin;
    event = outlet_event(outlet_take(10, 10), 0);
    between.txn_begin = NULL;
    ck_assert_int_eq(pay_time_boot_ms(), 1000 + WAITED_MS);
    ck_assert_int_eq(event->lease_until_ms, 1000 + PAY_STORE_LEASE_MS);
    ck_assert_int_eq(event->lease_until_at, TILL_NOW + apr_time_from_msec(WAITED_MS) + LEASE);
}
END_TEST

/* A process of its own takes one event and dies of it, or lives until it is stopped. */
static int take_one(const char *url, int ready_fd, int lives)
{
    pay_store_t *store;
    apr_array_header_t *taken;
    apr_pool_t *pool;
    int budget = 1;

    apr_pool_create(&pool, NULL);
    store = till_store(url, pool);
    if (!store
        || pay_store_event_take(&taken, store, 1, outlet_budget, &budget, pool) != APR_SUCCESS
        || taken->nelts != 1) {
        return 1;
    }
    (void)!write(ready_fd, "", 1);
    while (lives) {
        pause();
    }
    return 0;
}

static int take_and_die(const char *url, int ready_fd)
{
    return take_one(url, ready_fd, 0);
}

static int take_and_live(const char *url, int ready_fd)
{
    return take_one(url, ready_fd, 1);
}

START_TEST(test_two_processes)
{
    pid_t dead, alive;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 3);
    till_close();
    dead = fixture_fork(take_and_die, till->url);
    ck_assert_int_eq(fixture_wait(dead), 0);
    alive = fixture_fork(take_and_live, till->url);
    till_reopen();
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful*; "
                                        "webhook 2.1 transaction successful*; "
                                        "webhook 3.1 transaction successful");
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1); /* the third */
    till_clock += LEASE;
    ck_assert_str_eq(outlet_name(outlet_event(outlet_take(10, 10), 0)),
                     "webhook 1.1 transaction successful*"); /* the dead one's alone */
    ck_assert_int_eq(kill(alive, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(alive), 128 + SIGKILL);
    till_clock += LEASE;
    ck_assert_str_eq(outlet_name(outlet_event(outlet_take(10, 10), 0)),
                     "webhook 2.1 transaction successful*");
    till_check_clean();
}
END_TEST

/* A thousand waiting events of one endpoint do not delay those of another. */
START_TEST(test_fairness)
{
    int count[TILL_SCOPES] = {0, 0, 0}, least, most;
    apr_array_header_t *taken;
    int i, k, round;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
        charges(i, MANY);
    }
    for (round = 0; round < 12; round++) {
        till_clock += 1;
        taken = outlet_take(100, 16);
        ck_assert_int_eq(taken->nelts, TILL_SCOPES * 16);
        for (k = 0; k < taken->nelts; k++) {
            for (i = 0; i < TILL_SCOPES; i++) {
                count[i] += outlet_event(taken, k)->scope.account == till->scopes[i].account
                            && outlet_event(taken, k)->scope.mode == till->scopes[i].mode;
            }
        }
    }
    for (round = 0; round < 12; round++) { /* a limit that one endpoint could use up alone */
        till_clock += 1;
        taken = outlet_take(20, OUTLET_ANY);
        ck_assert_int_eq(taken->nelts, 20);
        for (k = 0; k < taken->nelts; k++) {
            for (i = 0; i < TILL_SCOPES; i++) {
                count[i] += outlet_event(taken, k)->scope.account == till->scopes[i].account
                            && outlet_event(taken, k)->scope.mode == till->scopes[i].mode;
            }
        }
    }
    least = most = count[0];
    for (i = 1; i < TILL_SCOPES; i++) {
        least = count[i] < least ? count[i] : least;
        most = count[i] > most ? count[i] : most;
    }
    ck_assert_int_eq(count[0] + count[1] + count[2], 12 * (TILL_SCOPES * 16 + 20));
    ck_assert_int_le(most - least, 20);
    till_check_clean();
}
END_TEST

/* The oldest go first. */
START_TEST(test_oldest_first)
{
    apr_array_header_t *taken;
    int k;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    for (k = 0; k < 20; k++) {
        till_clock += k % 2 ? 5 : -3; /* a clock that goes back a little */
        (void)till_charge(0, apr_psprintf(unit_pool, "order-%d", k), 1000);
    }
    till_clock += apr_time_from_sec(1);
    taken = outlet_take(100, 100);
    ck_assert_int_eq(taken->nelts, 20);
    for (k = 0; k < 20; k += 2) {
        ck_assert_uint_lt(outlet_event(taken, k)->charge_seq, 2 * (apr_uint64_t)k + 4);
    }
}
END_TEST

/* A clock that was wrong by half a day: new events are still sent at once. */
START_TEST(test_clock_set_back)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 2);
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_FAILED); /* due in some seconds */
    till_clock -= OUTLET_DAY / 2;
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    (void)till_charge(0, "new", 1000);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 1);
    till_clock += OUTLET_DAY / 2 + apr_time_from_sec(6);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    till_check_clean();
}
END_TEST

/* Entries that lead nowhere are no reason to stop. */
START_TEST(test_leftover_entries)
{
    pay_event_t place = {.scope = till->scopes[0],
                         .endpoint = PAY_ENDPOINT_WEBHOOK,
                         .charge_seq = 99,
                         .due_at = TILL_NOW - 1};
    pay_store_key_t key, endpoint;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 2);
    pay_store_event_due_key(&key, &place);
    till_plant(PAY_TABLE_EVENT_DUE, &key, "", 0);
    place.charge_seq = 1; /* its event is due at another time */
    pay_store_event_due_key(&key, &place);
    till_plant(PAY_TABLE_EVENT_DUE, &key, "", 0);
    key.len--; /* and one that is too short */
    till_plant(PAY_TABLE_EVENT_DUE, &key, "", 0);
    pay_store_endpoint_key(&endpoint, &till->scopes[1], PAY_ENDPOINT_WEBHOOK);
    pay_store_key_start(&key);
    pay_store_key_time(&key, 1);
    till_plant(PAY_TABLE_ENDPOINT_DUE, &key, "", 0);
    ck_assert(pay_store_key_bytes(&key, endpoint.bytes, endpoint.len));
    till_plant(PAY_TABLE_ENDPOINT_DUE, &key, "", 0);
    pay_store_endpoint_key(&endpoint, &till->scopes[0], PAY_ENDPOINT_WEBHOOK);
    pay_store_key_start(&key);
    pay_store_key_time(&key, 2); /* it is examined at another time */
    ck_assert(pay_store_key_bytes(&key, endpoint.bytes, endpoint.len));
    till_plant(PAY_TABLE_ENDPOINT_DUE, &key, "", 0);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    ck_assert_int_eq(till_faults(NULL), 2); /* those of no right length */
}
END_TEST

/* A charge that is gone: a person must look, and the others go on. */
START_TEST(test_record_that_is_gone)
{
    pay_store_key_t key;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 2);
    pay_store_charge_key(&key, &till->scopes[0], 1);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 1);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful parked");
    ck_assert_int_ge(till_faults("a record that it reports is not there"), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, "a record that it reports is not there"));
}
END_TEST

/*
 * Only the last account's can be sent; the others wait for a master key, or have their greatest
 * number.
 */
static int last_only(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    (void)taken;
    return endpoint->scope.account == PUT_OFF_FIRST + PUT_OFF - 1 ? 1 : *(const int *)baton;
}

/* However many are postponed, due events behind them are found by the same take. */
START_TEST(test_many_that_are_put_off)
{
    pay_endpoint_t proposal = {.kind = PAY_ENDPOINT_WEBHOOK, .enabled = 1, .address = "https://a"};
    int k, others = _i - 1; /* -1, 0 */
    apr_array_header_t *taken;
    pay_endpoint_t *endpoint;
    pay_event_t *test;

    for (k = 0; k < PUT_OFF; k++) {
        proposal.scope.account = (apr_uint32_t)(PUT_OFF_FIRST + k);
        proposal.scope.mode = PAY_TEST;
        ck_assert_int_eq(pay_store_endpoint_put(&endpoint, till->store, &proposal, NULL, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(pay_store_event_test(&test, till->store, &proposal.scope,
                                              PAY_ENDPOINT_WEBHOOK, unit_pool),
                         APR_SUCCESS);
        till_clock += 1;
    }
    ck_assert_int_eq(pay_store_event_take(&taken, till->store, 100, last_only, &others, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(taken->nelts, 1);
    ck_assert_uint_eq(outlet_event(taken, 0)->scope.account, PUT_OFF_FIRST + PUT_OFF - 1);
}
END_TEST

/* Its calls and results. */
typedef struct budget_log_t {
    int asked, told;
} budget_log_t;

static int budget_noting(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    budget_log_t *log = baton;

    (void)endpoint;
    if (taken == PAY_EVENT_BUDGET_ASK) {
        log->asked++;
    } else {
        log->told += 1 << taken; /* which numbers, in any order */
    }
    return 4;
}

/* Unused grants are for others, so they are reported. */
START_TEST(test_budget_is_told_what_was_taken)
{
    apr_array_header_t *taken;
    budget_log_t log = {0, 0};

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    outlet_open(1, PAY_ENDPOINT_WEBHOOK);
    charges(0, 3);
    till_clock += 1;
    charges(1, 9);
    ck_assert_int_eq(pay_store_event_take(&taken, till->store, 100, budget_noting, &log, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(taken->nelts, 7);
    ck_assert_int_eq(log.asked, 2);
    ck_assert_int_eq(log.told, (1 << 3) + (1 << 4));
    till_check_clean();
}
END_TEST

/* Those that were tried once are not tried for ever, a probe each: one of them stays the probe. */
START_TEST(test_tried_ones_are_given_up_with_their_endpoint)
{
    const apr_array_header_t *taken;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charges(0, 16);
    taken = outlet_take(100, 16);
    ck_assert_int_eq(taken->nelts, 16);
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    till_clock += PAY_EVENT_TRY_FOR - apr_time_from_sec(60);
    taken = outlet_take(100, 16);
    ck_assert_int_eq(taken->nelts, 1); /* a minute is left to all */
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    till_clock += apr_time_from_sec(24 * 3600);
    ck_assert_int_eq(outlet_take(100, 16)->nelts, 0); /* this look gives the others up */
    taken = outlet_take(100, 16);
    ck_assert_int_eq(taken->nelts, 1);
    (void)outlet_finish_all(taken, PAY_EVENT_FAILED);
    ck_assert_int_eq(parked_in(0), 16);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_no_more_than_asked_for);
    tcase_add_test(tcase, test_lease_and_records);
    tcase_add_test(tcase, test_records_of_a_refund);
    tcase_add_loop_test(tcase, test_put_off_ahead, 0, 2);
    tcase_add_test(tcase, test_nothing_due_is_no_write);
    tcase_add_test(tcase, test_limit_and_budget);
    tcase_add_test(tcase, test_new_events_wake_an_endpoint);
    tcase_add_test(tcase, test_order_within_a_transaction);
    tcase_add_test(tcase, test_order_is_each_endpoints_own);
    tcase_add_loop_test(tcase, test_lease_of_another, 0, UNIT_ROWS(worker_cases));
    tcase_add_test(tcase, test_lease_of_one_that_waited);
    tcase_add_test(tcase, test_two_processes);
    tcase_add_test(tcase, test_fairness);
    tcase_add_test(tcase, test_oldest_first);
    tcase_add_test(tcase, test_clock_set_back);
    tcase_add_test(tcase, test_leftover_entries);
    tcase_add_test(tcase, test_record_that_is_gone);
    tcase_add_loop_test(tcase, test_many_that_are_put_off, 0, 2);
    tcase_add_test(tcase, test_budget_is_told_what_was_taken);
    tcase_add_test(tcase, test_tried_ones_are_given_up_with_their_endpoint);
}

UNIT_PROGRAM(add)
