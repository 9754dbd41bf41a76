/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two machines with one store: a process with another boot id, which the kernel reports to it, is
 * at work on a row, and this one wants it. Both are real and have the store open.
 */

#include "between.h"
#include "child_fixture.h"
#include "outlet.h"

#include "base/shared/worker.h"
#include "checkout_goods.h"
#include "service/charge/decisions.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/scope.h"

#include <sys/mman.h>

#define SEC(n) apr_time_from_sec(n)
#define MSEC(n) apr_time_from_msec(n)
#define BOOT_FILE "/proc/sys/kernel/random/boot_id"
#define OTHER_BOOT "01234567-89ab-4cde-8f01-23456789abcd\n"
#define UPTIME_MS (40 * 1000)
#define TERM SEC(25) /* of a charge: sent within 5 s, it has 20 s to be answered */
#define LEASE MSEC(PAY_STORE_LEASE_MS)

/* ---- the other machine */

static int other_open(const char *path, int flags, mode_t mode)
{
    const ssize_t len = sizeof(OTHER_BOOT) - 1;
    int fd;

    if (strcmp(path, BOOT_FILE) != 0) {
        return between_real_open(path, flags, mode);
    }
    fd = memfd_create("boot_id", MFD_CLOEXEC);
    if (fd < 0 || write(fd, OTHER_BOOT, (size_t)len) != len || lseek(fd, 0, SEEK_SET) != 0) {
        return -1;
    }
    return fd;
}

static void (*there_begin)(void);
static apr_int64_t here_boot;
static int there_is_here; /* 1: the process is of this machine after all */

/* It has been up for much longer: times of its boot clock mean nothing here. */
static int be_there(const char *dir, int ready_fd)
{
    (void)dir;
    if (!there_is_here) {
        between.open = other_open;
        unit_boot_pass(1000 * UPTIME_MS);
    }
    till_reopen();
    if ((pay_worker_self().boot_id == here_boot) != there_is_here) {
        return 1;
    }
    there_begin();
    (void)!write(ready_fd, "", 1);
    (void)pause();
    return 0;
}

static pid_t start_there(void (*begin)(void), int is_here)
{
    pid_t pid;

    unit_boot_stop(UPTIME_MS);
    here_boot = pay_worker_self().boot_id;
    there_begin = begin;
    there_is_here = is_here;
    till_close();
    pid = fixture_fork(be_there, till->url);
    till_reopen();
    return pid;
}

static void end_there(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
}

/* ---- what it is at work on, and how this one asks for that: 1 if it gets it */

static void prepare_event(void)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
}

static void begin_event(void)
{
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1);
}

static int ask_event(void)
{
    const apr_array_header_t *taken = outlet_take(10, 10);

    return taken->nelts == 1 && outlet_finish(outlet_event(taken, 0), PAY_EVENT_DELIVERED).stored;
}

static void begin_charge(void)
{
    pay_charge_t *proposal = till_proposal(0, "order-1", 1000), *charge;
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->checkout = checkout_make(TILL_NOW + SEC(600), unit_pool);
    proposal->worker = pay_worker_self();
    proposal->send_before_ms = pay_time_boot_ms() + 5000;
    proposal->wait_until_ms = pay_time_boot_ms() + apr_time_as_msec(TERM);
    proposal->due_at = TILL_NOW; /* nothing but its worker keeps it from being queried */
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
}

static int ask_charge_find(void)
{
    return !pay_charge_in_flight(till_find(0, "order-1"));
}

static int ask_charge_void(void)
{
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    int voided;

    ck_assert_int_eq(pay_store_charge_void(&charge, &voided, &record, till->store, &till->scopes[0],
                                           "order-1", NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(charge->state, voided ? PAY_CHARGE_VOID : PAY_CHARGE_PENDING);
    return voided;
}

static int ask_due(void)
{
    apr_array_header_t *due;

    ck_assert_int_eq(pay_store_due_take(&due, till->store, till_clock, SEC(60), 10, unit_pool),
                     APR_SUCCESS);
    return due->nelts;
}

static int ask_charge_decide(void)
{
    const pay_outcome_t outcome = pay_decision_outcome(0, "the acquirer's books");
    pay_decision_t decision;
    pay_charge_t *charge;

    ck_assert_int_eq(pay_charge_decide(&charge, &decision, till->store, till_find(0, "order-1"),
                                       &outcome, unit_pool),
                     APR_SUCCESS);
    if (decision == PAY_DECISION_BUSY) { /* the caller gets the time of the next attempt */
        ck_assert_int_eq(pay_decision_wait(pay_charge_busy_for(charge)),
                         apr_time_sec(TILL_NOW + TERM + PAY_WORKER_GRACE - till_clock) + 1);
    }
    return decision == PAY_DECISION_DONE;
}

static void prepare_refund(void)
{
    pay_refund_t *proposal, *refund;
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    (void)till_charge(0, "order-1", 1000);
    proposal = till_refund_proposal(0, "order-1", 100);
    proposal->waiting = 1;
    proposal->due_at = TILL_NOW;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
}

static int claim(void)
{
    const pay_worker_t self = pay_worker_self();
    const apr_int64_t now_ms = pay_time_boot_ms();
    pay_refund_t *refund;
    int claimed;

    ck_assert_int_eq(pay_store_refund_claim(&refund, &claimed, till->store, &till->scopes[0],
                                            "rfd_1", &self, now_ms + 5000,
                                            now_ms + apr_time_as_msec(TERM), TILL_NOW, unit_pool),
                     APR_SUCCESS);
    return claimed;
}

static void begin_refund(void)
{
    ck_assert_int_eq(claim(), 1);
}

/* No other process ever sends it, whatever happens to the claimant. */
static int ask_refund_due(void)
{
    ck_assert_int_eq(claim(), 0);
    return ask_due();
}

static int ask_refund_decide(void)
{
    const pay_outcome_t outcome = pay_decision_outcome(1, "the acquirer's books");
    pay_decision_t decision;
    pay_refund_t *refund;

    ck_assert_int_eq(
        pay_store_refund_find(&refund, till->store, &till->scopes[0], "rfd_1", unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(
        pay_refund_decide(&refund, &decision, till->store, refund, &outcome, unit_pool),
        APR_SUCCESS);
    ck_assert(decision == PAY_DECISION_BUSY || decision == PAY_DECISION_DONE);
    return decision == PAY_DECISION_DONE;
}

static pay_import_t import_here(apr_status_t want)
{
    pay_import_t run;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[0], unit_pool), want);
    return run;
}

static void import_one(pay_import_t *run)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(0, 1, TILL_NOW - SEC(60), PAY_REFUND_PROCESSED, "order-1", 100);
    ck_assert_int_eq(pay_store_import_rows(run, &at, till->store, rows, unit_pool), APR_SUCCESS);
}

static void prepare_import(void)
{
    (void)till_charge(0, "order-1", 1000);
}

static void begin_import(void)
{
    pay_import_t run = import_here(APR_SUCCESS);

    import_one(&run);
}

static int ask_import(void)
{
    pay_import_t run;
    apr_status_t rv;

    rv = pay_store_import_begin(&run, till->store, &till->scopes[0], unit_pool);
    ck_assert(rv == APR_SUCCESS || rv == APR_EBUSY);
    ck_assert_int_eq(till_find(0, "order-1")->refunded_minor, rv == APR_SUCCESS ? 0 : 100);
    return rv == APR_SUCCESS;
}

/* ---- rows of an earlier version, which do not tell a time of the store's */

static void age(pay_event_t *event)
{
    event->lease_until_at = 0;
}

static int age_work(pay_rows_txn_t *txn, void *baton)
{
    const pay_scope_t *scope = &till->scopes[0];
    pay_store_refund_t *refund;
    pay_store_scope_t last;
    pay_charge_t *charge;
    int rc;

    (void)baton;
    ck_assert_int_eq(pay_store_charge_get_ref(&charge, txn, scope, "order-1", unit_pool), 0);
    charge->wait_until_at = 0;
    ck_assert_int_eq(pay_store_charge_put(txn, charge, unit_pool), 0);
    rc = pay_store_refund_get_name(&refund, txn, PAY_TABLE_REFUND_REF, scope, "rfd_1", unit_pool);
    if (rc == 0) {
        refund->refund.wait_until_at = 0;
        ck_assert_int_eq(pay_store_refund_put(txn, refund, unit_pool), 0);
    }
    ck_assert_int_eq(pay_store_scope_get(&last, txn, scope), 0);
    last.import_until_at = 0;
    return pay_store_scope_put(txn, scope, &last, unit_pool);
}

static void age_all(void)
{
    apr_array_header_t *list;
    int i;

    till_raw(age_work, NULL);
    ck_assert_int_eq(
        pay_store_event_list(&list, till->store, &till->scopes[0], 0, NULL, 10, unit_pool),
        APR_SUCCESS);
    for (i = 0; i < list->nelts; i++) {
        outlet_change(APR_ARRAY_IDX(list, i, pay_event_t *), age);
    }
}

/* ---- all of it */

static void nothing(void)
{
}

static const struct {
    const char *name;
    void (*prepare)(void); /* here, before */
    void (*begin)(void);   /* there */
    int (*ask)(void);      /* here */
    apr_interval_time_t term;
    apr_interval_time_t looked_at; /* it is not examined before, whoever has it */
} kinds[] = {
    {"an event", prepare_event, begin_event, ask_event, LEASE, LEASE},
    {"a charge: its answer", nothing, begin_charge, ask_charge_find, TERM, 0},
    {"a charge: void", nothing, begin_charge, ask_charge_void, TERM, 0},
    {"a charge: reconciliation", nothing, begin_charge, ask_due, TERM, 0},
    {"a charge: a person decides", nothing, begin_charge, ask_charge_decide, TERM, 0},
    {"a refund: reconciliation", prepare_refund, begin_refund, ask_refund_due, TERM, 0},
    {"a refund: a person decides", prepare_refund, begin_refund, ask_refund_decide, TERM, 0},
    {"an import", prepare_import, begin_import, ask_import, PAY_STORE_IMPORT_LEASE, 0},
};

enum { LIVES, DEAD, OF_EARLIER_VERSION, DEAD_HERE, CASES };
static const char *const case_names[CASES] = {"lives", "is dead", "of an earlier version",
                                              "is dead, and was of this machine"};

/*
 * It is impossible to know here whether a process of another boot lives: its deadline and 30 s
 * decide.
 */
START_TEST(test_until_its_deadline)
{
    const int kind = _i / CASES, of = _i % CASES;
    const char *name = kinds[kind].name, *who = case_names[of];
    const apr_interval_time_t over = kinds[kind].term + PAY_WORKER_GRACE;
    const apr_interval_time_t waits[] = {0, kinds[kind].looked_at, kinds[kind].term, over - 1};
    pid_t pid;
    int i;

    kinds[kind].prepare();
    pid = start_there(kinds[kind].begin, of == DEAD_HERE);
    if (of != LIVES) {
        end_there(pid);
    }
    if (of == OF_EARLIER_VERSION) {
        age_all();
    }
    if (of == LIVES || of == DEAD) {
        for (i = 0; i < UNIT_ROWS(waits); i++) {
            till_clock = TILL_NOW + waits[i];
            ck_assert_msg(!kinds[kind].ask(), "%s: %s: after %d s", name, who,
                          (int)apr_time_sec(waits[i]));
        }
        till_clock = TILL_NOW + over;
    } else {
        till_clock = TILL_NOW + kinds[kind].looked_at;
    }
    ck_assert_msg(kinds[kind].ask(), "%s: %s: in the end", name, who);
    till_check_clean();
    if (of == LIVES) {
        end_there(pid);
    }
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t by;
    int want, want_by_time; /* of rows that are examined when their time has come */
} jumps[] = {
    {"back by ten days", -SEC(10 * 24 * 3600), 1, 1}, /* otherwise it would be left alone for as
                                                       * long */
    {"back by more than a deadline may be ahead", -PAY_WORKER_TERM_MAX, 1, 0},
    {"back by a minute", -SEC(60), 0, 0},
    {"on by a second", SEC(1), 0, 0},
    {"on by a day", SEC(24 * 3600), 1, 1},
};

/* The clock is set while it is at work there. */
START_TEST(test_the_clock_jumps)
{
    const int kind = _i / UNIT_ROWS(jumps), jump = _i % UNIT_ROWS(jumps);
    const char *name = kinds[kind].name;
    const int by_time = kinds[kind].ask == ask_event || kinds[kind].ask == ask_due
                        || kinds[kind].ask == ask_refund_due;
    const int want = by_time ? jumps[jump].want_by_time : jumps[jump].want;
    pid_t pid;

    kinds[kind].prepare();
    pid = start_there(kinds[kind].begin, 0);
    till_clock = TILL_NOW + jumps[jump].by;
    ck_assert_msg(kinds[kind].ask() == want, "%s: %s", name, jumps[jump].name);
    if (!want) {
        till_clock = TILL_NOW + kinds[kind].term + PAY_WORKER_GRACE;
        ck_assert_msg(kinds[kind].ask(), "%s: %s: in the end", name, jumps[jump].name);
    }
    till_check_clean();
    end_there(pid);
}
END_TEST

/* Each batch shows that the import goes on. */
static void begin_long_import(void)
{
    pay_import_t run = import_here(APR_SUCCESS);

    till_clock += SEC(50);
    import_one(&run);
}

START_TEST(test_an_import_goes_on)
{
    const apr_time_t over = TILL_NOW + SEC(50) + PAY_STORE_IMPORT_LEASE + PAY_WORKER_GRACE;
    pid_t pid;

    prepare_import();
    pid = start_there(begin_long_import, 0);
    till_clock = over - 1;
    ck_assert_int_eq(ask_import(), 0);
    till_clock = over;
    ck_assert_int_eq(ask_import(), 1);
    till_check_clean();
    end_there(pid);
}
END_TEST

/* The result of its worker counts, although this one was queried meanwhile. */
START_TEST(test_its_outcome_counts)
{
    pay_charge_t *charge;
    pid_t pid;

    pid = start_there(begin_charge, 0);
    ck_assert_int_eq(ask_charge_void() + ask_due() + ask_charge_decide(), 0);
    ck_assert_int_eq(till_resolve(&charge, 0, 1, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert(charge->wait_until_at == 0 && charge->worker.pid == 0);
    till_check_clean();
    end_there(pid);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_until_its_deadline, 0, UNIT_ROWS(kinds) * CASES);
    tcase_add_loop_test(tcase, test_the_clock_jumps, 0, UNIT_ROWS(kinds) * UNIT_ROWS(jumps));
    tcase_add_test(tcase, test_an_import_goes_on);
    tcase_add_test(tcase, test_its_outcome_counts);
}

UNIT_PROGRAM(add)
