/* SPDX-License-Identifier: Apache-2.0 */
#include "between.h"
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/import.h"
#include "store/record/scope.h"

#define SWEPT (PAY_STORE_SWEEP_ROWS_MAX + 1) /* more than one part */

static const void *saved_row;
static size_t saved_len;

static pay_import_t begin(int i)
{
    pay_import_t run;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    return run;
}

static apr_status_t finish(pay_import_t *run)
{
    return pay_store_import_finish(run, till->store, unit_pool);
}

static apr_status_t give_up(pay_import_t *run)
{
    return pay_store_import_abort(run, till->store, unit_pool);
}

/* One batch of `count` records of 1 each, on charge "order-1". */
static apr_status_t put(pay_import_t *run, int i, int count)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    int n, at;

    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(i, n, TILL_NOW - n * 1000, PAY_REFUND_PROCESSED, "order-1", 1);
    }
    return pay_store_import_rows(run, &at, till->store, rows, unit_pool);
}

static void check_charge(int i, apr_int64_t refunded, pay_charge_state_t state)
{
    pay_charge_t *charge = till_find(i, "order-1");

    ck_assert_int_eq(charge->refunded_minor, refunded);
    ck_assert_int_eq(charge->state, state);
}

typedef struct look_t {
    const pay_scope_t *scope;
    pay_store_scope_t row;
    size_t refunds; /* of all scopes */
} look_t;

static int look_work(pay_rows_txn_t *txn, void *baton)
{
    look_t *look = baton;
    MDB_stat stat;

    ck_assert_int_eq(pay_store_scope_get(&look->row, txn, look->scope), 0);
    ck_assert_int_eq(mdb_stat(txn->native, pay_lmdb_dbi(PAY_TABLE_REFUND), &stat), 0);
    look->refunds = stat.ms_entries;
    return 0;
}

static look_t look(int i)
{
    look_t look = {.scope = &till->scopes[i]};

    till_raw(look_work, &look);
    return look;
}

static void check_no_import(int i)
{
    look_t now = look(i);

    ck_assert_uint_eq(now.row.import_open, 0);
    ck_assert_uint_eq(now.row.import_left, 0);
    ck_assert_int_eq(now.row.import_worker.pid, 0);
    ck_assert_int_eq(now.row.import_until_at, 0);
}

START_TEST(test_leaves_nothing)
{
    int i, other = (_i + 1) % TILL_SCOPES;
    pay_import_t runs[TILL_SCOPES];

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", SWEPT);
        runs[i] = begin(i);
        ck_assert_int_eq(put(&runs[i], i, SWEPT), APR_SUCCESS);
        check_charge(i, SWEPT, PAY_CHARGE_REVERSED);
    }
    ck_assert_int_eq(give_up(&runs[_i]), APR_SUCCESS);
    for (i = 0; i < TILL_SCOPES; i++) {
        look_t now = look(i);

        ck_assert_uint_eq(pay_store_scope_count(&now.row), i == _i ? 1 : 1 + SWEPT);
        check_charge(i, i == _i ? 0 : SWEPT, i == _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_REVERSED);
    }
    ck_assert_uint_eq(look(_i).refunds, (TILL_SCOPES - 1) * SWEPT);
    check_no_import(_i);
    ck_assert_uint_eq(look(other).row.import_open, runs[other].number);
    till_check_clean();

    /* The same records can be imported then; another scope's import goes on. */
    runs[_i] = begin(_i);
    ck_assert_uint_eq(runs[_i].number, 2);
    ck_assert_int_eq(put(&runs[_i], _i, SWEPT), APR_SUCCESS);
    ck_assert_uint_eq(runs[_i].written, SWEPT);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(finish(&runs[i]), APR_SUCCESS);
    }
    till_check_clean();
}
END_TEST

static int writes;

/* Each transaction finds that the one before it has held the scope from its own time on. */
static int write_a_minute_later(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    pay_rows_txn_t rows = {.store = till->store};
    pay_store_scope_t row;
    int rc;

    rc = between_real_txn_begin(env, parent, flags, txn);
    if (rc || (flags & MDB_RDONLY)) {
        return rc;
    }
    rows.native = *txn;
    ck_assert_int_eq(pay_store_scope_get(&row, &rows, &till->scopes[0]), 0);
    ck_assert_int_eq(row.import_until_at, till_clock + PAY_STORE_IMPORT_LEASE);
    till_clock += apr_time_from_sec(60);
    writes++;
    return rc;
}

/* However long it takes, no other machine takes it for abandoned. */
START_TEST(test_holds_the_scope)
{
    pay_import_t run;

    (void)till_charge(0, "order-1", SWEPT);
    run = begin(0);
    ck_assert_int_eq(put(&run, 0, SWEPT), APR_SUCCESS);
    writes = 0;
    between.txn_begin = write_a_minute_later;
    ck_assert_int_eq(give_up(&run), APR_SUCCESS);
    between.txn_begin = NULL;
    ck_assert_int_eq(writes, 4); /* closed, two parts removed, released */
    check_no_import(0);
    till_check_clean();
}
END_TEST

START_TEST(test_nothing_written)
{
    pay_import_t run = begin(_i);

    ck_assert_int_eq(give_up(&run), APR_SUCCESS);
    check_no_import(_i);
    ck_assert_int_eq(put(&run, _i, 1), APR_EBUSY);
    ck_assert_int_eq(finish(&run), APR_EBUSY);
    ck_assert_int_eq(give_up(&run), APR_EBUSY);
    till_check_clean();
}
END_TEST

/* A finished import stays; so does a later one. */
START_TEST(test_over_already)
{
    pay_import_t first = begin(_i), second;

    (void)till_charge(_i, "order-1", 1000);
    ck_assert_int_eq(put(&first, _i, 3), APR_SUCCESS);
    ck_assert_int_eq(finish(&first), APR_SUCCESS);
    ck_assert_int_eq(give_up(&first), APR_EBUSY);
    check_charge(_i, 3, PAY_CHARGE_SUCCESSFUL);
    first = begin(_i);
    second = begin(_i); /* takes over */
    ck_assert_int_eq(put(&second, _i, 5), APR_SUCCESS);
    ck_assert_int_eq(give_up(&first), APR_EBUSY);
    ck_assert_int_eq(finish(&second), APR_SUCCESS);
    check_charge(_i, 5, PAY_CHARGE_SUCCESSFUL);
    ck_assert_uint_eq(look(_i).refunds, 5);
    till_check_clean();
}
END_TEST

/* Another process's import is left alone, in either state. */
static const struct {
    const char *name;
    int left;
} foreign_cases[] = {{"open", 0}, {"being removed", 1}};

static int steal_work(pay_rows_txn_t *txn, void *baton)
{
    look_t *look = baton;

    return pay_store_scope_put(txn, look->scope, &look->row, unit_pool);
}

START_TEST(test_of_another_process)
{
    pay_import_t run = begin(1);
    look_t now;

    (void)till_charge(1, "order-1", 1000);
    ck_assert_int_eq(put(&run, 1, 3), APR_SUCCESS);
    now = look(1);
    now.row.import_worker.start_ticks++;
    if (foreign_cases[_i].left) {
        now.row.import_left = now.row.import_open;
        now.row.import_open = 0;
    }
    till_raw(steal_work, &now);
    ck_assert_msg(give_up(&run) == APR_EBUSY, "%s", foreign_cases[_i].name);
    check_charge(1, 3, PAY_CHARGE_SUCCESSFUL);
    ck_assert_uint_eq(look(1).refunds, 3);
}
END_TEST

static int charge_row_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = pay_store_key_val(baton), row;

    ck_assert_int_eq(pay_rows_get(&row, txn, PAY_TABLE_CHARGE, &key), 0);
    saved_len = row.len;
    saved_row = apr_pmemdup(unit_pool, row.data, row.len);
    return 0;
}

/* A charge with a damaged row stops it; it goes on when it is called again. */
START_TEST(test_again_after_a_fault)
{
    pay_import_t run = begin(_i);
    pay_store_key_t key;

    pay_store_charge_key(&key, &till->scopes[_i], till_charge(_i, "order-1", 1000)->seq);
    ck_assert_int_eq(put(&run, _i, 3), APR_SUCCESS);
    till_raw(charge_row_work, &key);
    till_plant(PAY_TABLE_CHARGE, &key, "?", 1);
    ck_assert_int_eq(give_up(&run), PAY_STORE_ECORRUPT);
    ck_assert_uint_eq(look(_i).refunds, 3);
    ck_assert_int_eq(put(&run, _i, 1), APR_EBUSY); /* closed nevertheless */
    ck_assert_int_eq(finish(&run), APR_EBUSY);
    till_plant(PAY_TABLE_CHARGE, &key, saved_row, saved_len);
    ck_assert_int_eq(give_up(&run), APR_SUCCESS);
    check_charge(_i, 0, PAY_CHARGE_SUCCESSFUL);
    ck_assert_uint_eq(look(_i).refunds, 0);
    check_no_import(_i);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_leaves_nothing, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_holds_the_scope);
    tcase_add_loop_test(tcase, test_nothing_written, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_over_already, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_of_another_process, 0, UNIT_ROWS(foreign_cases));
    tcase_add_loop_test(tcase, test_again_after_a_fault, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
