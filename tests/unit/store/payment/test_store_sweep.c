/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/import.h"

/* More than one part of each kind: of examined rows and of deleted rows. */
#define SWEPT (2 * PAY_STORE_SWEEP_ROWS_MAX + 1)
#define KEPT (PAY_STORE_SWEEP_VISITS_MAX + 1)

/* `count` records from `number` on, each on charge "order-1" when `reference` says so. */
static pay_import_t import(int i, int number, int count, const char *reference)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    pay_import_t run;
    int n, at;

    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(i, number + n, TILL_NOW - n * 1000, PAY_REFUND_PROCESSED, reference, 1);
        if (rows->nelts == PAY_STORE_ROWS_MAX || n == count - 1) {
            ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool),
                             APR_SUCCESS);
            apr_array_clear(rows);
        }
    }
    return run;
}

static int count_refunds(pay_rows_txn_t *txn, void *baton)
{
    MDB_stat stat;
    int rc;

    rc = mdb_stat(txn->native, pay_lmdb_dbi(PAY_TABLE_REFUND), &stat);
    *(size_t *)baton = stat.ms_entries;
    return rc;
}

static size_t refunds(void)
{
    size_t count;

    till_raw(count_refunds, &count);
    return count;
}

START_TEST(test_sweep)
{
    pay_import_t run;
    pay_charge_t *charge;
    int i;

    (void)till_charge(_i, "order-1", 5000);
    run = import(_i, 0, KEPT, NULL);
    ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    for (i = 0; i < TILL_SCOPES; i++) {
        if (i != _i) {
            (void)import(i, 0, 10, NULL); /* the same number in another scope */
        }
    }
    run = import(_i, 10000, SWEPT, "order-1");
    ck_assert(till_find(_i, "order-1")->refunded_minor == SWEPT);
    ck_assert_uint_eq(refunds(), KEPT + SWEPT + 20);
    ck_assert_int_eq(pay_store_sweep(till->store, &till->scopes[_i], run.number, unit_pool),
                     APR_SUCCESS);
    charge = till_find(_i, "order-1");
    ck_assert(charge->refunded_minor == 0);
    ck_assert_uint_eq(refunds(), KEPT + 20);
    ck_assert_int_eq(pay_store_sweep(till->store, &till->scopes[_i], run.number, unit_pool),
                     APR_SUCCESS); /* a repetition does no harm */
    ck_assert_uint_eq(refunds(), KEPT + 20);
    till_check_clean();
}
END_TEST

START_TEST(test_nothing_to_sweep)
{
    ck_assert_int_eq(pay_store_sweep(till->store, &till->scopes[_i], 1, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(refunds(), 0);
}
END_TEST

START_TEST(test_charge_is_gone)
{
    pay_store_key_t key;
    pay_import_t run;

    (void)till_charge(_i, "order-1", 5000);
    run = import(_i, 0, 2, "order-1");
    pay_store_charge_key(&key, &till->scopes[_i], 1);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    ck_assert_int_eq(pay_store_sweep(till->store, &till->scopes[_i], run.number, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_uint_eq(refunds(), 2);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_sweep, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_nothing_to_sweep, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_charge_is_gone, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
