/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"
#include "store/payment/charge.h"
#include "store/payment/due.h"
#include "store/payment/refund.h"
#include "store_options.h"

#include <sys/wait.h>
#include <unistd.h>

#define SEC(n) apr_time_from_sec(n)
#define GRACE_MS apr_time_as_msec(PAY_WORKER_GRACE)
#define LEASE SEC(60)

static apr_array_header_t *take(apr_time_t now, int limit)
{
    apr_array_header_t *due;

    ck_assert_int_eq(pay_store_due_take(&due, till->store, now, LEASE, limit, unit_pool),
                     APR_SUCCESS);
    return due;
}

static pay_charge_t *open_due(int i, const char *reference, apr_time_t due_at)
{
    pay_charge_t *proposal = till_proposal(i, reference, 1000), *charge;
    pay_claim_t claim;

    proposal->due_at = due_at;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    return charge;
}

/* A checkout that may be paid for a minute. */
static pay_charge_t *open_checkout(int i, const char *reference)
{
    pay_charge_t *proposal = till_proposal(i, reference, 1000), *charge;
    pay_checkout_t *checkout = checkout_make(till_clock + SEC(60), unit_pool);
    pay_claim_t claim;

    checkout->acquirer_url = "https://pay.example/1";
    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = checkout;
    proposal->due_at = checkout->expires_at;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    return charge;
}

static void move(const pay_charge_t *charge, pay_checkout_step_t from, pay_checkout_step_t to,
                 apr_time_t due_at)
{
    const pay_checkout_move_t what = {
        .from = from, .to = to, .now = till_clock, .due_at = due_at, .channel = charge->channel};
    pay_charge_t *moved;
    int changed;

    ck_assert_int_eq(pay_store_checkout_move(&moved, &changed, till->store, &charge->scope,
                                             charge->seq, &what, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void void_it(const pay_charge_t *charge)
{
    pay_charge_t *voided;
    pay_idempotency_record_t *record;
    int done;

    ck_assert_int_eq(pay_store_charge_void(&voided, &done, &record, till->store, &charge->scope,
                                           charge->reference, NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(done, 1);
}

static void check_counts(const char *when, apr_uint64_t pending, apr_uint64_t open)
{
    pay_store_stat_t stat;

    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_msg(stat.pending == pending && stat.checkouts_open == open, "%s: %d pending, %d open",
                  when, (int)stat.pending, (int)stat.checkouts_open);
    till_check_clean();
}

/* The waiting payments of one scope. */
static void check_waiting(int i, int pending, int open)
{
    pay_waiting_t waiting;

    ck_assert_int_eq(pay_store_waiting_count(&waiting, till->store, &till->scopes[i], 100),
                     APR_SUCCESS);
    ck_assert_int_eq(waiting.pending, pending);
    ck_assert_int_eq(waiting.open, open);
}

START_TEST(test_open_checkouts_count_apart)
{
    pay_charge_t *paid, *cancelled, *voided, *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        (void)till_open(i, "order-2", 1000);
        (void)till_refund(i, "order-1", 100, PAY_REFUND_OPENED);
        (void)open_checkout(i, "order-3");
    }
    check_counts("opened", 2 * TILL_SCOPES, TILL_SCOPES);
    paid = open_checkout(_i, "order-4");
    cancelled = open_checkout(_i, "order-5");
    voided = open_checkout(_i, "order-6");
    check_counts("more", 2 * TILL_SCOPES, TILL_SCOPES + 3);
    check_waiting(_i, 1, 4);
    move(paid, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_CODE, paid->checkout->expires_at);
    check_counts("a code is asked for", 2 * TILL_SCOPES, TILL_SCOPES + 3);
    move(paid, PAY_CHECKOUT_CODE, PAY_CHECKOUT_SENT, till_clock + SEC(1));
    check_counts("sent", 2 * TILL_SCOPES + 1, TILL_SCOPES + 2);
    check_waiting(_i, 2, 3);
    ck_assert_int_eq(till_resolve(&charge, _i, paid->seq, PAY_OUTCOME_APPROVED), 1);
    check_counts("paid", 2 * TILL_SCOPES, TILL_SCOPES + 2);
    move(cancelled, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_CANCELLED, till_clock + SEC(3600));
    check_counts("cancelled, and asked about late", 2 * TILL_SCOPES, TILL_SCOPES + 1);
    void_it(voided);
    check_counts("voided", 2 * TILL_SCOPES, TILL_SCOPES);
    check_waiting(_i, 1, 1);
    check_waiting((_i + 1) % TILL_SCOPES, 1, 1);
}
END_TEST

/* An open one is due when its time is over, like all others; from then on it is queried. */
START_TEST(test_open_checkouts_are_due)
{
    apr_array_header_t *due;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)open_checkout(i, "order-1");
        (void)open_due(i, "order-2", TILL_NOW + SEC(90));
        (void)open_due(i, "order-3", TILL_NOW + SEC(60));
    }
    ck_assert_int_eq(take(TILL_NOW + SEC(60) - 1, 10)->nelts, 0);
    due = take(TILL_NOW + SEC(60), 4);
    ck_assert_int_eq(due->nelts, 4);
    ck_assert_str_eq(APR_ARRAY_IDX(due, 2, pay_due_t).charge->reference, "order-3");
    ck_assert_str_eq(APR_ARRAY_IDX(due, 3, pay_due_t).charge->reference, "order-1");
    check_counts("one is taken", 2 * TILL_SCOPES + 1, TILL_SCOPES - 1);
    due = take(TILL_NOW + SEC(60), 10);
    ck_assert_int_eq(due->nelts, TILL_SCOPES - 1);
    check_counts("all are taken", 3 * TILL_SCOPES, 0);
    ck_assert_int_eq(take(TILL_NOW + SEC(60), 10)->nelts, 0);
    ck_assert_int_eq(take(TILL_NOW + SEC(60) + LEASE, 10)->nelts, 3 * TILL_SCOPES);
}
END_TEST

/* As written by a program in which open ones were among the others. */
static pay_charge_t *checkout_of_old(int i, const char *reference)
{
    pay_charge_t *charge = open_checkout(i, reference);
    pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX];

    ck_assert_int_eq(pay_store_due_places(places, charge), PAY_STORE_DUE_PLACES_MAX);
    till_plant(PAY_TABLE_PENDING_DUE, &places[1], NULL, 0);
    till_plant(PAY_TABLE_PENDING_DUE, &places[0], "", 0);
    return charge;
}

START_TEST(test_a_store_of_before)
{
    pay_charge_t *paid = checkout_of_old(_i, "order-1"), *voided = checkout_of_old(_i, "order-2");
    pay_charge_t *asked = checkout_of_old(_i, "order-3"), *charge;

    (void)checkout_of_old(_i, "order-4");
    check_counts("as it was", 4, 0);
    move(paid, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_SENT, till_clock + SEC(1));
    ck_assert_int_eq(till_resolve(&charge, _i, paid->seq, PAY_OUTCOME_APPROVED), 1);
    void_it(voided);
    check_counts("paid, and voided", 2, 0);
    move(asked, PAY_CHECKOUT_OPEN, PAY_CHECKOUT_CODE, asked->due_at);
    check_counts("moved", 1, 1);
    /* In Live Mode the voided one is queried as well. */
    ck_assert_int_eq(take(TILL_NOW + SEC(60), 10)->nelts, 2 + (till->scopes[_i].mode == PAY_LIVE));
    check_counts("taken when its time is over", 2, 0);
}
END_TEST

typedef struct crowd_t {
    int count;
    apr_time_t from;
} crowd_t;

static int put_crowd(pay_rows_txn_t *txn, void *baton)
{
    const crowd_t *crowd = baton;
    pay_bytes_t at, val = {0, NULL};
    pay_store_key_t key;
    int i, rc = 0;

    for (i = 1; !rc && i <= crowd->count; i++) {
        pay_store_due_key(&key, crowd->from, &till->scopes[0], PAY_DUE_CHARGE, (apr_uint64_t)i);
        at = pay_store_key_val(&key);
        rc = pay_rows_put(txn, PAY_TABLE_PENDING_DUE, &at, &val, 0);
    }
    return rc;
}

/* Beyond the counted ones nothing is hidden: all count as sent. */
START_TEST(test_the_most_that_is_counted)
{
    crowd_t sent = {PAY_STORE_DUE_COUNT_MAX - 1, TILL_NOW};
    crowd_t open = {PAY_STORE_DUE_COUNT_MAX + 10, PAY_STORE_DUE_OPEN_FROM + TILL_NOW};
    pay_store_stat_t stat;

    till_raw(put_crowd, &sent);
    till_raw(put_crowd, &open);
    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(stat.pending, PAY_STORE_DUE_COUNT_MAX - 1);
    ck_assert_uint_eq(stat.checkouts_open, PAY_STORE_DUE_COUNT_MAX + 10);
    sent = (crowd_t){1, TILL_NOW + 1};
    till_raw(put_crowd, &sent);
    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(stat.pending, 2 * PAY_STORE_DUE_COUNT_MAX + 10);
    ck_assert_uint_eq(stat.checkouts_open, 0);
}
END_TEST

START_TEST(test_order_and_limit)
{
    static const int seconds[] = {3, 1, 2};
    apr_array_header_t *due;
    pay_charge_t *charge;
    int i, n;

    for (n = 0; n < 3; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            open_due(i, apr_psprintf(unit_pool, "order-%d", seconds[n]),
                     TILL_NOW + SEC(seconds[n]));
        }
    }
    ck_assert_int_eq(take(TILL_NOW + SEC(1) - 1, 10)->nelts, 0);
    due = take(TILL_NOW + SEC(2), 4);
    ck_assert_int_eq(due->nelts, 4);
    for (n = 0; n < 4; n++) {
        ck_assert_str_eq(APR_ARRAY_IDX(due, n, pay_due_t).charge->reference,
                         n < 3 ? "order-1" : "order-2");
        ck_assert_ptr_null(APR_ARRAY_IDX(due, n, pay_due_t).refund);
        ck_assert_uint_eq(APR_ARRAY_IDX(due, n, pay_due_t).charge->attempts, 1);
    }
    ck_assert_int_eq(take(TILL_NOW + SEC(2), 10)->nelts, 2);
    ck_assert_int_eq(take(TILL_NOW + SEC(2), 10)->nelts, 0); /* all are leased */
    charge = till_find(0, "order-1");
    ck_assert(charge->due_at == TILL_NOW + SEC(2) + LEASE);
    ck_assert_uint_eq(charge->attempts, 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    till_check_clean();
    due = take(TILL_NOW + SEC(2) + LEASE, PAY_STORE_ROWS_MAX); /* nobody answered: again */
    ck_assert_int_eq(due->nelts, 9);
    ck_assert_uint_eq(till_find(0, "order-1")->attempts, 2);
    ck_assert_uint_eq(till_find(0, "order-3")->attempts, 1);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t ahead; /* its due time */
    int is_due;
} ahead_cases[] = {
    {"a day", SEC(86400), 0},
    {"the longest", SEC(90000), 0},
    {"longer", SEC(90000) + 1, 1},
    {"a year", SEC(365 * 86400), 1},
    {"for ever", PAY_STORE_DUE_OPEN_FROM - TILL_NOW - 1, 1},
};

/* Payments postponed while the clock was ahead do not stand still; nor do unpaid checkouts. */
START_TEST(test_due_too_far_ahead)
{
    apr_array_header_t *due;
    int i, k;

    for (k = 0; k < 2; k++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            (void)open_due(i, apr_psprintf(unit_pool, "order-%d", k),
                           TILL_NOW + (k ? ahead_cases[_i].ahead : SEC(30)));
        }
    }
    till_clock += 1000 * SEC(86400);
    (void)open_checkout(0, "order-2");
    till_clock = TILL_NOW;
    due = take(TILL_NOW, 10);
    ck_assert_msg(due->nelts == (ahead_cases[_i].is_due ? TILL_SCOPES : 0) + 1, "%s: %d",
                  ahead_cases[_i].name, due->nelts);
    ck_assert_str_eq(APR_ARRAY_IDX(due, due->nelts - 1, pay_due_t).charge->reference, "order-2");
    for (i = 0; i < due->nelts - 1; i++) {
        ck_assert_str_eq(APR_ARRAY_IDX(due, i, pay_due_t).charge->reference, "order-1");
        ck_assert_int_eq(APR_ARRAY_IDX(due, i, pay_due_t).charge->due_at, TILL_NOW + LEASE);
    }
    ck_assert_int_eq(take(TILL_NOW, 10)->nelts, 0);
    ck_assert_int_eq(take(TILL_NOW + LEASE, 10)->nelts,
                     (ahead_cases[_i].is_due ? 2 * TILL_SCOPES : TILL_SCOPES) + 1);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t ahead; /* the end of its time */
    int is_due;
} open_cases[] = {
    {"its time is to come", SEC(60), 0},
    {"the longest", SEC(169 * 3600), 0},
    {"longer", SEC(169 * 3600) + 1, 1},
    {"a year", SEC(365 * 86400), 1},
};

/* An open checkout may last long, but not longer than the maximum. */
START_TEST(test_open_checkout_too_far_ahead)
{
    apr_array_header_t *due;

    till_clock += open_cases[_i].ahead - SEC(60);
    (void)open_checkout(_i % TILL_SCOPES, "order-1");
    till_clock = TILL_NOW;
    due = take(TILL_NOW, 10);
    ck_assert_msg(due->nelts == open_cases[_i].is_due, "%s: %d", open_cases[_i].name, due->nelts);
    ck_assert_int_eq(take(TILL_NOW, 10)->nelts, 0);
    till_check_clean();
}
END_TEST

/* An older store has open checkouts among the others: they are moved where they belong. */
START_TEST(test_open_checkout_of_before_is_not_too_far_ahead)
{
    till_clock += 6 * SEC(86400);
    (void)checkout_of_old(_i, "order-1");
    till_clock = TILL_NOW;
    check_counts("as it was", 1, 0);
    ck_assert_int_eq(take(TILL_NOW, 10)->nelts, 0);
    check_counts("put where it belongs", 0, 1);
    ck_assert_int_eq(take(TILL_NOW + 7 * SEC(86400), 10)->nelts, 1);
}
END_TEST

START_TEST(test_refunds_come_with_their_charge)
{
    apr_array_header_t *due;
    const pay_due_t *row;
    pay_refund_t *refund;
    int i, n;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        (void)till_refund(i, "order-1", 400, PAY_REFUND_OPENED);
    }
    due = take(TILL_NOW + SEC(60), 10);
    ck_assert_int_eq(due->nelts, TILL_SCOPES);
    for (n = 0; n < due->nelts; n++) {
        row = &APR_ARRAY_IDX(due, n, pay_due_t);
        ck_assert_ptr_nonnull(row->refund);
        ck_assert_str_eq(row->charge->reference, "order-1");
        ck_assert_uint_eq(row->charge->scope.account, row->refund->scope.account);
        ck_assert(row->refund->money.amount_minor == 400);
        ck_assert_uint_eq(row->refund->attempts, 1);
    }
    ck_assert_int_eq(pay_store_refund_find(&refund, till->store, &till->scopes[_i],
                                           apr_psprintf(unit_pool, "rfd_%d", _i + 1), unit_pool),
                     APR_SUCCESS);
    ck_assert(refund->due_at == TILL_NOW + SEC(60) + LEASE);
    ck_assert(refund->created_at == TILL_NOW && refund->updated_at == TILL_NOW);
    till_check_clean();
}
END_TEST

START_TEST(test_decided_rows_are_not_due)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "order-1", 1000);
        (void)till_open(i, "order-2", 1000);
        (void)till_resolve(&charge, i, 1, i ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED);
        ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[i], 2, unit_pool),
                         APR_SUCCESS);
    }
    ck_assert_int_eq(take(TILL_NOW + SEC(100000), 10)->nelts, 0);
    till_check_clean();
}
END_TEST

/* A process that ended: its slot in the table of processes is gone. */
static pay_worker_t dead_worker(void)
{
    pay_worker_t worker = pay_worker_self();
    int status;
    pid_t child;

    child = fork();
    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    worker.pid = child;
    return worker;
}

static const struct {
    const char *name;
    int alive;
    apr_int64_t wait_until_ms; /* from now on, by the boot clock */
    int want;
} worker_cases[] = {
    {"at work", 1, 5000, 0},
    {"within the grace", 1, -GRACE_MS + 5000, 0},
    {"past the grace", 1, -GRACE_MS - 1, 1},
    {"dead", 0, 5000, 1},
};

START_TEST(test_worker)
{
    const char *name = worker_cases[_i].name;
    pay_charge_t *proposal, *charge;
    apr_array_header_t *due;
    pay_claim_t claim;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        proposal = till_proposal(i, "order-1", 1000);
        proposal->worker = worker_cases[_i].alive ? pay_worker_self() : dead_worker();
        proposal->wait_until_ms = pay_time_boot_ms() + worker_cases[_i].wait_until_ms;
        proposal->due_at = TILL_NOW;
        ck_assert_int_eq(
            pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
            APR_SUCCESS);
    }
    due = take(TILL_NOW, 10);
    ck_assert_msg(due->nelts == worker_cases[_i].want * TILL_SCOPES, "%s: %d", name, due->nelts);
    for (i = 0; i < TILL_SCOPES; i++) {
        charge = till_find(i, "order-1");
        ck_assert_msg(charge->attempts == (apr_uint32_t)worker_cases[_i].want, "%s: attempts",
                      name);
        ck_assert_msg(charge->due_at > TILL_NOW, "%s: pushed", name);
        ck_assert_msg(
            worker_cases[_i].want
                || charge->due_at
                       <= TILL_NOW + apr_time_from_msec(worker_cases[_i].wait_until_ms + GRACE_MS),
            "%s: pushed too far", name);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_busy_rows_bound_the_step)
{
    pay_charge_t *proposal, *charge;
    pay_claim_t claim;
    int n;

    /* Five rows in flight come before one that is due: four of them are examined for each row. */
    for (n = 0; n < 5; n++) {
        proposal = till_proposal(_i, apr_psprintf(unit_pool, "order-%d", n), 1000);
        proposal->worker = pay_worker_self();
        proposal->wait_until_ms = pay_time_boot_ms() + 60000;
        proposal->due_at = TILL_NOW;
        ck_assert_int_eq(
            pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
            APR_SUCCESS);
    }
    open_due((_i + 1) % TILL_SCOPES, "order-1", TILL_NOW + 1);
    ck_assert_int_eq(take(TILL_NOW + 1, 1)->nelts, 0);
    ck_assert_int_eq(take(TILL_NOW + 1, 1)->nelts, 1);
}
END_TEST

START_TEST(test_bad_rows_block_nobody)
{
    pay_store_key_t key;
    int n;

    for (n = 0; n < 5; n++) {
        open_due(_i, apr_psprintf(unit_pool, "order-%d", n), TILL_NOW);
        pay_store_charge_key(&key, &till->scopes[_i], (apr_uint64_t)n + 1);
        till_plant(PAY_TABLE_CHARGE, &key, "\xff", 1);
    }
    open_due((_i + 1) % TILL_SCOPES, "order-1", TILL_NOW);
    ck_assert_int_eq(take(TILL_NOW, 1)->nelts + take(TILL_NOW, 1)->nelts, 1);
    ck_assert_int_eq(take(TILL_NOW, 1)->nelts, 0);
    ck_assert_int_gt(till_lines[PAY_LOG_ERR] + till_lines[PAY_LOG_CRIT], 0);
}
END_TEST

START_TEST(test_stale_entries_go)
{
    pay_charge_t *charge;
    pay_store_key_t key;

    /* One entry too many for a pending row, one for a decided row, one for no row at all. */
    (void)till_open(_i, "order-1", 1000);
    (void)till_charge(_i, "order-2", 1000);
    pay_store_due_key(&key, TILL_NOW, &till->scopes[_i], PAY_DUE_CHARGE, 1);
    till_plant(PAY_TABLE_PENDING_DUE, &key, "", 0);
    pay_store_due_key(&key, TILL_NOW, &till->scopes[_i], PAY_DUE_CHARGE, 2);
    till_plant(PAY_TABLE_PENDING_DUE, &key, "", 0);
    pay_store_due_key(&key, TILL_NOW, &till->scopes[_i], PAY_DUE_CHARGE, 3);
    till_plant(PAY_TABLE_PENDING_DUE, &key, "", 0);
    ck_assert_int_eq(till_faults(NULL), 3);
    ck_assert_int_eq(take(TILL_NOW, 10)->nelts, 0);
    till_check_clean();
    charge = till_find(_i, "order-1");
    ck_assert_uint_eq(charge->attempts, 0);
    ck_assert_int_eq(take(charge->due_at, 10)->nelts, 1);
}
END_TEST

START_TEST(test_lost_entry_is_made_anew)
{
    pay_charge_t *charge = till_open(_i, "order-1", 1000);
    pay_store_key_t key;

    /* The row's own entry is gone, another one leads to it. */
    pay_store_due_key(&key, charge->due_at, &till->scopes[_i], PAY_DUE_CHARGE, 1);
    till_plant(PAY_TABLE_PENDING_DUE, &key, NULL, 0);
    pay_store_due_key(&key, TILL_NOW, &till->scopes[_i], PAY_DUE_CHARGE, 1);
    till_plant(PAY_TABLE_PENDING_DUE, &key, "", 0);
    ck_assert_int_eq(take(TILL_NOW, 10)->nelts, 0);
    till_check_clean();
    ck_assert_int_eq(take(charge->due_at, 10)->nelts, 1);
}
END_TEST

START_TEST(test_a_store_that_is_not_there)
{
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), "/missing", NULL);
    pay_store_options_t options = unit_store_options();
    apr_array_header_t *due;
    pay_store_t *store;

    options.create = 0;
    ck_assert_int_eq(pay_store_open(&store, url, &options, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_due_take(&due, store, till_clock, LEASE, 1, unit_pool),
                     PAY_STORE_EDOWN);
    ck_assert_int_eq(due->nelts, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_open_checkouts_count_apart, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_open_checkouts_are_due);
    tcase_add_loop_test(tcase, test_a_store_of_before, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_the_most_that_is_counted);
    tcase_add_test(tcase, test_order_and_limit);
    tcase_add_loop_test(tcase, test_due_too_far_ahead, 0, UNIT_ROWS(ahead_cases));
    tcase_add_loop_test(tcase, test_open_checkout_too_far_ahead, 0, UNIT_ROWS(open_cases));
    tcase_add_loop_test(tcase, test_open_checkout_of_before_is_not_too_far_ahead, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_refunds_come_with_their_charge, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_decided_rows_are_not_due);
    tcase_add_loop_test(tcase, test_worker, 0, UNIT_ROWS(worker_cases));
    tcase_add_loop_test(tcase, test_busy_rows_bound_the_step, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_rows_block_nobody, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_stale_entries_go, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_lost_entry_is_made_anew, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_a_store_that_is_not_there);
}

UNIT_PROGRAM(add)
