/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/lmdb/env.h"
#include "store/payment/charge.h"
#include "store/record/scope.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEC(n) apr_time_from_sec(n)

static char buffer[PAY_STORE_CHUNK_SIZE];

static int listed(int i)
{
    pay_time_range_t range = {0, APR_INT64_MAX};
    pay_refund_cursor_t cursor = {.done = 0};
    apr_size_t len, count;
    int sum = 0;

    while (!cursor.done) {
        ck_assert_int_eq(pay_store_refund_scan(&cursor, &len, &count, till->store, &till->scopes[i],
                                               &range, buffer, sizeof(buffer)),
                         APR_SUCCESS);
        sum += (int)count;
    }
    return sum;
}

static int found(int i, const char *refund_reference)
{
    pay_refund_t *refund;
    apr_status_t rv;

    rv = pay_store_refund_find(&refund, till->store, &till->scopes[i], refund_reference, unit_pool);
    ck_assert(rv == APR_SUCCESS || rv == APR_NOTFOUND);
    return rv == APR_SUCCESS;
}

static pay_import_t begin(int i)
{
    pay_import_t run;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    return run;
}

static apr_status_t put(pay_import_t *run, int *at, pay_refund_t *a, pay_refund_t *b)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 2, sizeof(pay_refund_t *));

    APR_ARRAY_PUSH(rows, pay_refund_t *) = a;
    if (b) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) = b;
    }
    return pay_store_import_rows(run, at, till->store, rows, unit_pool);
}

static void finish(pay_import_t *run)
{
    ck_assert_int_eq(pay_store_import_finish(run, till->store, unit_pool), APR_SUCCESS);
}

START_TEST(test_visible_at_once_at_the_end)
{
    pay_refund_t *refund;
    pay_import_t runs[TILL_SCOPES];
    int i, at, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        runs[i] = begin(i);
        ck_assert_uint_eq(runs[i].number, 1);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(put(&runs[i], &at,
                             till_history(i, 1, TILL_NOW - SEC(2), PAY_REFUND_PROCESSED, NULL, 5),
                             till_history(i, 2, TILL_NOW - SEC(1), PAY_REFUND_PENDING, NULL, 6)),
                         APR_SUCCESS);
        ck_assert(runs[i].written == 2 && runs[i].skipped == 0);
        ck_assert_int_eq(listed(i), 0);
        ck_assert_int_eq(found(i, "oldref_1"), 0);
        ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[i],
                                                  "oldref_2", till_outcome(PAY_OUTCOME_APPROVED), 0,
                                                  unit_pool),
                         APR_NOTFOUND);
    }
    finish(&runs[_i]);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(listed(i), i == _i ? 2 : 0);
        ck_assert_int_eq(found(i, "oldref_1"), i == _i);
    }
    till_check_clean();
    ck_assert_uint_eq(begin(_i).number, 2);
}
END_TEST

START_TEST(test_again_is_skipped)
{
    pay_refund_t *row = till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5);
    pay_import_t run = begin(_i);
    int at;

    ck_assert_int_eq(put(&run, &at, row, row), APR_SUCCESS); /* in one batch */
    ck_assert(run.written == 1 && run.skipped == 1);
    ck_assert_int_eq(put(&run, &at, row, NULL), APR_SUCCESS); /* in one import */
    ck_assert(run.written == 1 && run.skipped == 2);
    finish(&run);
    run = begin(_i);
    ck_assert_int_eq(put(&run, &at, row, NULL), APR_SUCCESS); /* in another one */
    ck_assert(run.written == 0 && run.skipped == 1);
    finish(&run);
    ck_assert_int_eq(listed(_i), 1);
    till_check_clean();
}
END_TEST

START_TEST(test_own_records_are_skipped)
{
    pay_refund_t *refund;
    pay_import_t run;
    int at;

    (void)till_charge(_i, "order-1", 1000);
    refund = till_refund(_i, "order-1", 400, PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    run = begin(_i);
    ck_assert_int_eq(put(&run, &at, refund, NULL), APR_SUCCESS);
    ck_assert(run.written == 0 && run.skipped == 1);
    finish(&run);
    ck_assert(till_find(_i, "order-1")->refunded_minor == 400);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    int in_batch; /* the first one stands in the same batch */
    const char *id, *reference;
    apr_int64_t amount_minor;
    apr_interval_time_t ahead;
    apr_status_t want;
} refused_cases[] = {
    {"same id, other amount", 0, "old_1", "oldref_1", 6, 0, APR_EEXIST},
    {"same id, other reference", 0, "old_1", "oldref_2", 5, 0, APR_EEXIST},
    {"same reference, other id", 0, "old_2", "oldref_1", 5, 0, APR_EEXIST},
    {"same id, other amount, in the batch", 1, "old_1", "oldref_1", 6, 0, APR_EEXIST},
    {"same reference, other id, in the batch", 1, "old_2", "oldref_1", 5, 0, APR_EEXIST},
    {"5 minutes ahead", 0, "old_2", "oldref_2", 5, SEC(300), APR_SUCCESS},
    {"more than 5 minutes ahead", 0, "old_2", "oldref_2", 5, SEC(300) + 1000, APR_EINVAL},
    {"well", 1, "old_2", "oldref_2", 5, 0, APR_SUCCESS},
};

START_TEST(test_refused)
{
    const char *name = refused_cases[_i].name;
    pay_refund_t *first, *second;
    pay_import_t run;
    apr_status_t rv;
    int i, at;

    for (i = 0; i < TILL_SCOPES; i++) {
        first = till_history(i, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5);
        second = till_history(i, 1, TILL_NOW + refused_cases[_i].ahead, PAY_REFUND_PROCESSED, NULL,
                              refused_cases[_i].amount_minor);
        second->id = refused_cases[_i].id;
        second->refund_reference = refused_cases[_i].reference;
        run = begin(i);
        if (!refused_cases[_i].in_batch) {
            ck_assert_int_eq(put(&run, &at, first, NULL), APR_SUCCESS);
            first = till_history(i, 3, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5);
        }
        rv = put(&run, &at, first, second);
        ck_assert_msg(rv == refused_cases[_i].want, "%s: %d", name, rv);
        ck_assert_msg(at == (rv != APR_SUCCESS), "%s: at %d", name, at);
        finish(&run);
        /* Nothing of a refused batch is written. */
        ck_assert_msg(listed(i) == (rv != APR_SUCCESS ? 0 : 2) + !refused_cases[_i].in_batch,
                      "%s: listed", name);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_full_batch)
{
    apr_array_header_t *rows =
        apr_array_make(unit_pool, PAY_STORE_ROWS_MAX, sizeof(pay_refund_t *));
    pay_import_t run = begin(_i);
    int n, at;

    for (n = 0; n < PAY_STORE_ROWS_MAX; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(_i, n, TILL_NOW - n * 1000, PAY_REFUND_PROCESSED, NULL, 5);
    }
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    ck_assert(run.written == PAY_STORE_ROWS_MAX);
    finish(&run);
    ck_assert_int_eq(listed(_i), PAY_STORE_ROWS_MAX);
}
END_TEST

static const struct {
    const char *name;
    pay_refund_state_t state;
    apr_int64_t amount_minor;
    const char *currency;
    apr_int64_t want_refunded, want_pending;
    pay_charge_state_t want_state;
} charge_cases[] = {
    {"processed", PAY_REFUND_PROCESSED, 400, "NGN", 400, 0, PAY_CHARGE_SUCCESSFUL},
    {"all processed", PAY_REFUND_PROCESSED, 1000, "NGN", 1000, 0, PAY_CHARGE_REVERSED},
    {"more than the charge", PAY_REFUND_PROCESSED, 1001, "NGN", 1001, 0, PAY_CHARGE_REVERSED},
    {"pending", PAY_REFUND_PENDING, 400, "NGN", 0, 400, PAY_CHARGE_SUCCESSFUL},
    {"failed", PAY_REFUND_FAILED, 400, "NGN", 0, 0, PAY_CHARGE_SUCCESSFUL},
    {"another currency", PAY_REFUND_PROCESSED, 400, "USD", 0, 0, PAY_CHARGE_SUCCESSFUL},
    {"no amount", PAY_REFUND_PROCESSED, 0, "", 0, 0, PAY_CHARGE_SUCCESSFUL},
};

static void check_charge(const char *name, int i, apr_int64_t refunded, apr_int64_t pending,
                         pay_charge_state_t state)
{
    pay_charge_t *charge = till_find(i, "order-1");

    ck_assert_msg(charge->refunded_minor == refunded, "%s: refunded", name);
    ck_assert_msg(charge->refunds_pending_minor == pending, "%s: pending", name);
    ck_assert_msg(charge->state == state, "%s: state", name);
}

START_TEST(test_charge_known_here)
{
    const char *name = charge_cases[_i].name;
    pay_import_t run;
    pay_refund_t *row;
    int i, at;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        row = till_history(i, 1, TILL_NOW, charge_cases[_i].state, "order-1",
                           charge_cases[_i].amount_minor);
        apr_cpystrn(row->money.currency, charge_cases[_i].currency, 4);
        run = begin(i);
        ck_assert_int_eq(put(&run, &at, row, NULL), APR_SUCCESS);
        finish(&run);
        check_charge(name, i, charge_cases[_i].want_refunded, charge_cases[_i].want_pending,
                     charge_cases[_i].want_state);
        ck_assert_int_eq(listed(i), 1);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_history_counts_against_what_is_left)
{
    pay_import_t run;
    pay_refund_t *refund;
    int at;

    (void)till_charge(_i, "order-1", 1000);
    run = begin(_i);
    ck_assert_int_eq(put(&run, &at,
                         till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", 300),
                         till_history(_i, 2, TILL_NOW, PAY_REFUND_PENDING, "order-1", 200)),
                     APR_SUCCESS);
    finish(&run);
    (void)till_refund(_i, "order-1", 501, PAY_REFUND_REFUSED_ABOVE);
    (void)till_refund(_i, "order-1", 701, PAY_REFUND_REFUSED_ABOVE);
    refund = till_refund(_i, "order-1", 0, PAY_REFUND_OPENED); /* history causes no work in
                                                                * flight */
    ck_assert(refund->money.amount_minor == 500);
    (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    (void)till_refund(_i, "order-1", 0, PAY_REFUND_REFUSED_FULL);
    till_check_clean();
}
END_TEST

/* The state of history does not end that a refund of ours is at the acquirer. */
START_TEST(test_history_makes_nobody_free)
{
    pay_import_t run = begin(_i);
    pay_refund_t *refund, *out;
    int at;

    (void)till_charge(_i, "order-1", 1000);
    ck_assert_int_eq(
        put(&run, &at, till_history(_i, 1, TILL_NOW, PAY_REFUND_PENDING, "order-1", 200), NULL),
        APR_SUCCESS);
    finish(&run);
    refund = till_refund(_i, "order-1", 300, PAY_REFUND_OPENED);
    ck_assert_int_eq(
        till_refund_resolve(&out, _i, till_history(_i, 1, TILL_NOW, 0, NULL, 0)->refund_reference,
                            PAY_OUTCOME_DECLINED),
        1);
    ck_assert_uint_eq(till_find(_i, "order-1")->refund_at_acquirer, refund->seq);
    (void)till_refund(_i, "order-1", 100, PAY_REFUND_REFUSED_BUSY);
    till_check_clean();
}
END_TEST

/* A charge whose refunds are known was sent: it is not withdrawn. */
START_TEST(test_charge_with_history_stays)
{
    pay_charge_t *charge = till_open(0, "order-1", 1000);
    pay_import_t run = begin(0);
    int at;

    ck_assert_int_eq(
        put(&run, &at,
            till_history(0, 1, TILL_NOW, _i ? PAY_REFUND_PENDING : PAY_REFUND_PROCESSED, "order-1",
                         200),
            NULL),
        APR_SUCCESS);
    finish(&run);
    ck_assert_int_eq(
        pay_store_charge_withdraw(till->store, &till->scopes[0], charge->seq, unit_pool),
        APR_EINVAL);
    ck_assert_uint_eq(till_find(0, "order-1")->seq, charge->seq);
    till_check_clean();
}
END_TEST

/* Rows of an acquirer's books name their charge by the acquirer's name: the shop's text may belong
 * to others. */
static const struct {
    const char *name;
    const char *charge;
    apr_int64_t refunded;
    const char *shown;
} name_cases[] = {
    {"the acquirer's name", "acquirer-order-1", 500, "order-1"},
    {"the shop's own text", "order-1", 0, NULL},
    {"a charge without a name there", "order-2", 0, NULL},
    {"one that is not known", "acquirer-order-9", 0, "acquirer-order-9"},
    {"a text of somebody else's", "their-order", 0, "their-order"},
    {"no name", "", 0, NULL},
};

START_TEST(test_charges_by_the_acquirers_name)
{
    pay_refund_t *row = till_history(0, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 500);
    pay_charge_t *proposal = till_proposal(0, "order-1", 1000);
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_import_t run;
    pay_claim_t claim;
    int at;

    proposal->acquirer_reference = "acquirer-order-1";
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    (void)till_resolve(&charge, 0, 1, PAY_OUTCOME_APPROVED);
    (void)till_charge(0, "order-2", 1000);
    row->acquirer_charge = name_cases[_i].charge;
    run = begin(0);
    run.by_acquirer = 1;
    ck_assert_int_eq(put(&run, &at, row, NULL), APR_SUCCESS);
    ck_assert_int_eq(put(&run, &at, row, NULL), APR_SUCCESS); /* known by now */
    ck_assert_msg(run.written == 1 && run.skipped == 1, "%s", name_cases[_i].name);
    ck_assert_uint_eq(run.unlinked, name_cases[_i].refunded == 0);
    finish(&run);
    ck_assert_msg(till_find(0, "order-1")->refunded_minor == name_cases[_i].refunded, "%s",
                  name_cases[_i].name);
    ck_assert_int_eq(till_find(0, "order-2")->refunded_minor, 0);
    ck_assert_int_eq(
        pay_store_refund_find(&refund, till->store, &till->scopes[0], "oldref_1", unit_pool),
        APR_SUCCESS);
    ck_assert_pstr_eq(refund->transaction_reference, name_cases[_i].shown);
    till_check_clean();
}
END_TEST

/* ---- a batch that is run again */

typedef struct company_t {
    pthread_t thread;
    pay_import_t run;
    apr_array_header_t *rows;
    apr_pool_t *pool;
    apr_status_t rv;
} company_t;

static void *put_beside(void *baton)
{
    company_t *company = baton;
    int at;

    company->rv =
        pay_store_import_rows(&company->run, &at, till->store, company->rows, company->pool);
    return NULL;
}

/* Leads until the rows are queued: they run in one transaction with this. */
static int wait_for_company(pay_rows_txn_t *txn, void *baton)
{
    company_t *company = baton;
    unsigned int queued = 0;

    (void)txn;
    if (company->pool) { /* else it runs again */
        return 0;
    }
    apr_pool_create(&company->pool, unit_pool);
    ck_assert_int_eq(pthread_create(&company->thread, NULL, put_beside, company), 0);
    while (queued == 0) {
        pthread_mutex_lock(&txn->store->env->mutex);
        queued = txn->store->env->queued;
        pthread_mutex_unlock(&txn->store->env->mutex);
        (void)sched_yield();
    }
    return 0;
}

/*
 * Rows whose charge cannot be read are not taken for rows without one when they are run once more.
 */
START_TEST(test_spoiled_charge_in_company)
{
    pay_refund_t *row = till_history(0, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", 500);
    company_t company = {.rv = APR_EGENERAL};
    pay_store_key_t key;

    pay_store_charge_key(&key, &till->scopes[0], till_charge(0, "order-1", 1000)->seq);
    till_plant(PAY_TABLE_CHARGE, &key, "x", 1);
    company.run = begin(0);
    company.rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    APR_ARRAY_PUSH(company.rows, pay_refund_t *) = row;
    till_raw(wait_for_company, &company);
    ck_assert_int_eq(pthread_join(company.thread, NULL), 0);
    ck_assert_int_eq(company.rv, PAY_STORE_ECORRUPT);
    ck_assert_int_eq(company.run.written, 0);
}
END_TEST

START_TEST(test_last_time_does_not_move)
{
    pay_import_t run = begin(_i);
    pay_refund_t *row;
    int at;

    ck_assert_int_eq(put(&run, &at,
                         till_history(_i, 1, TILL_NOW + SEC(200), PAY_REFUND_PROCESSED, NULL, 5),
                         till_history(_i, 2, TILL_NOW + 7, PAY_REFUND_PROCESSED, NULL, 5)),
                     APR_SUCCESS);
    finish(&run);
    ck_assert(till_open(_i, "order-1", 100)->created_at == TILL_NOW);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 0);
    ck_assert_int_eq(
        pay_store_refund_find(&row, till->store, &till->scopes[_i], "oldref_2", unit_pool),
        APR_SUCCESS);
    ck_assert(row->created_at == TILL_NOW); /* in the text's milliseconds */
    till_check_clean();
}
END_TEST

/* ---- one at a time, and what an unfinished one left */

START_TEST(test_begin_again_takes_over)
{
    pay_import_t first = begin(_i), second;
    int at;

    (void)till_charge(_i, "order-1", 1000);
    ck_assert_int_eq(put(&first, &at,
                         till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", 1000),
                         till_history(_i, 2, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5)),
                     APR_SUCCESS);
    check_charge("unfinished", _i, 1000, 0, PAY_CHARGE_REVERSED);
    second = begin(_i);
    ck_assert_uint_eq(second.number, first.number + 1);
    check_charge("given back", _i, 0, 0, PAY_CHARGE_SUCCESSFUL);
    till_check_clean();
    /* The first one is over. */
    ck_assert_int_eq(
        put(&first, &at, till_history(_i, 3, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5), NULL),
        APR_EBUSY);
    ck_assert_int_eq(pay_store_import_finish(&first, till->store, unit_pool), APR_EBUSY);
    ck_assert_int_eq(
        put(&second, &at, till_history(_i, 1, TILL_NOW, PAY_REFUND_PROCESSED, NULL, 5), NULL),
        APR_SUCCESS);
    finish(&second);
    ck_assert_int_eq(listed(_i), 1);
    ck_assert_int_eq(pay_store_import_finish(&second, till->store, unit_pool), APR_EBUSY);
    till_check_clean();
}
END_TEST

/* In the child: a part of an import, and then nothing more. Its exit code is the result. */
static void import_in_child(int i, int told)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_store_t *store = till_store(till->url, unit_pool);
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1", 1000);
    if (!store || pay_store_import_begin(&run, store, &till->scopes[i], unit_pool) != APR_SUCCESS
        || pay_store_import_rows(&run, &at, store, rows, unit_pool) != APR_SUCCESS
        || write(told, "x", 1) != 1) {
        _exit(1);
    }
    for (;;) {
        pause();
    }
}

START_TEST(test_another_process)
{
    int told[2], status, i;
    pay_import_t run;
    pid_t child;
    char byte;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
    }
    till_close();
    ck_assert_int_eq(pipe(told), 0);
    child = fork();
    if (child == 0) {
        import_in_child(_i, told[1]);
    }
    ck_assert_int_gt(child, 0);
    close(told[1]);
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    till_reopen();
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                         i == _i ? APR_EBUSY : APR_SUCCESS);
    }
    till_check_clean(); /* the running import's rows are no fault */
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    check_charge("killed", _i, 1000, 0, PAY_CHARGE_REVERSED);
    ck_assert_uint_eq(begin(_i).number, 2);
    check_charge("given back", _i, 0, 0, PAY_CHARGE_SUCCESSFUL);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_visible_at_once_at_the_end, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_again_is_skipped, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_own_records_are_skipped, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_refused, 0, UNIT_ROWS(refused_cases));
    tcase_add_loop_test(tcase, test_full_batch, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_charge_known_here, 0, UNIT_ROWS(charge_cases));
    tcase_add_loop_test(tcase, test_history_counts_against_what_is_left, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_history_makes_nobody_free, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_charge_with_history_stays, 0, 2);
    tcase_add_loop_test(tcase, test_charges_by_the_acquirers_name, 0, UNIT_ROWS(name_cases));
    tcase_add_test(tcase, test_spoiled_charge_in_company);
    tcase_add_loop_test(tcase, test_last_time_does_not_move, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_begin_again_takes_over, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_another_process, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
