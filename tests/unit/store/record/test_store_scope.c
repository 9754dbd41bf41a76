/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/record/scope.h"

#define MS APR_TIME_C(1000)

static const struct {
    const char *name;
    apr_time_t last;
    apr_time_t now;
    apr_time_t want;
    apr_interval_time_t want_step;
} stamp_cases[] = {
    {"the first", 0, TILL_NOW, TILL_NOW, 0},
    {"whole milliseconds", 0, TILL_NOW + 999, TILL_NOW, 0},
    {"before 1970, towards the past", -5000 * MS, -1, -MS, 0},
    {"forward", TILL_NOW, TILL_NOW + 5 * MS, TILL_NOW + 5 * MS, 0},
    {"the same millisecond", TILL_NOW, TILL_NOW + 1, TILL_NOW, 0},
    {"1 ms back is raised", TILL_NOW, TILL_NOW - MS, TILL_NOW, 0},
    {"2 s back is raised", TILL_NOW, TILL_NOW - 2000 * MS, TILL_NOW, 0},
    {"2.001 s back: the clock wins", TILL_NOW, TILL_NOW - 2001 * MS, TILL_NOW - 2001 * MS,
     2001 * MS},
    {"an hour back: the clock wins", TILL_NOW, TILL_NOW - 3600000 * MS, TILL_NOW - 3600000 * MS,
     3600000 * MS},
};

START_TEST(test_stamp)
{
    const char *name = stamp_cases[_i].name;
    pay_store_scope_t row = {.created_at = stamp_cases[_i].last};
    apr_interval_time_t step = -1;
    apr_time_t got;

    till_clock = stamp_cases[_i].now;
    got = pay_store_scope_stamp(&step, &row);
    ck_assert_msg(got == stamp_cases[_i].want, "%s: got %" APR_INT64_T_FMT, name, got);
    ck_assert_msg(row.created_at == got, "%s: the row keeps another", name);
    ck_assert_msg(step == stamp_cases[_i].want_step, "%s: step %" APR_INT64_T_FMT, name, step);
}
END_TEST

START_TEST(test_step_is_logged)
{
    pay_store_scope_log_step(&till->scopes[0], 0);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 0);
    pay_store_scope_log_step(&till->scopes[0], 2001 * MS);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_ptr_nonnull(strstr(till_line, "2001 ms"));
}
END_TEST

static int write_all(pay_rows_txn_t *txn, void *baton)
{
    pay_store_scope_t row;
    int i, rc = 0;

    (void)baton;
    for (i = 0; i < TILL_SCOPES && !rc; i++) {
        memset(&row, 0, sizeof(row));
        row.charge_seq = APR_UINT64_MAX - (apr_uint64_t)i;
        row.refund_seq = (apr_uint64_t)i;
        row.created_at = -i;
        row.import_given = APR_UINT32_MAX;
        row.import_open = (apr_uint32_t)i + 10;
        row.import_left = (apr_uint32_t)i + 20;
        row.import_done = (apr_uint32_t)i + 30;
        row.import_worker = (pay_worker_t){i + 1, i + 2, i + 3};
        row.import_until_at = i + 40;
        rc = pay_store_scope_put(txn, &till->scopes[i], &row, unit_pool);
    }
    return rc;
}

static int read_all(pay_rows_txn_t *txn, void *baton)
{
    pay_scope_t nobody = {9999, PAY_LIVE};
    pay_store_scope_t row;
    int i;

    (void)baton;
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(pay_store_scope_get(&row, txn, &till->scopes[i]), 0);
        ck_assert(row.charge_seq == APR_UINT64_MAX - (apr_uint64_t)i);
        ck_assert(row.refund_seq == (apr_uint64_t)i);
        ck_assert(row.created_at == -i);
        ck_assert(row.import_given == APR_UINT32_MAX);
        ck_assert(row.import_open == (apr_uint32_t)i + 10);
        ck_assert(row.import_left == (apr_uint32_t)i + 20);
        ck_assert(row.import_done == (apr_uint32_t)i + 30);
        ck_assert(row.import_worker.pid == i + 1 && row.import_worker.start_ticks == i + 2
                  && row.import_worker.boot_id == i + 3);
        ck_assert(row.import_until_at == i + 40);
    }
    ck_assert_int_eq(pay_store_scope_get(&row, txn, &nobody), 0);
    ck_assert(row.charge_seq == 0 && row.created_at == 0 && row.import_done == 0);
    return 0;
}

START_TEST(test_round_trip)
{
    till_raw(write_all, NULL);
    till_raw(read_all, NULL);
}
END_TEST

static int read_bad(pay_rows_txn_t *txn, void *baton)
{
    pay_store_scope_t row;

    (void)baton;
    ck_assert_int_eq(pay_store_scope_get(&row, txn, &till->scopes[1]), PAY_ROWS_BAD);
    return 0;
}

START_TEST(test_bad_row)
{
    pay_store_key_t key;

    pay_store_key_of_scope(&key, &till->scopes[1]);
    till_plant(PAY_TABLE_SCOPE, &key, "\xff", 1);
    till_raw(read_bad, NULL);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_stamp, 0, UNIT_ROWS(stamp_cases));
    tcase_add_test(tcase, test_step_is_logged);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_test(tcase, test_bad_row);
}

UNIT_PROGRAM(add)
