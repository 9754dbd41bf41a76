/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/refund.h"

#define SEC(n) apr_time_from_sec(n)

static char buffer[PAY_STORE_CHUNK_SIZE];

/* Returns whether it changed. */
static int take_back(pay_refund_t **refund, int i, const char *refund_reference)
{
    int changed;

    ck_assert_int_eq(pay_store_refund_fail(refund, &changed, till->store, &till->scopes[i],
                                           refund_reference, unit_pool),
                     APR_SUCCESS);
    return changed;
}

static pay_refund_t *find(int i, const char *refund_reference)
{
    pay_refund_t *refund;

    ck_assert_int_eq(
        pay_store_refund_find(&refund, till->store, &till->scopes[i], refund_reference, unit_pool),
        APR_SUCCESS);
    return refund;
}

/* A processed refund; its reference. */
static const char *processed(int i, apr_int64_t amount_minor)
{
    pay_refund_t *refund = till_refund(i, "order-1", amount_minor, PAY_REFUND_OPENED);

    ck_assert_int_eq(
        till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED), 1);
    return refund->refund_reference;
}

/* The scope's refunds as a list contains them. */
static const char *list(int i)
{
    pay_time_range_t range = {0, APR_INT64_MAX};
    pay_refund_cursor_t cursor = {.done = 0};
    apr_size_t len, count;

    ck_assert_int_eq(pay_store_refund_scan(&cursor, &len, &count, till->store, &till->scopes[i],
                                           &range, buffer, sizeof(buffer)),
                     APR_SUCCESS);
    ck_assert_int_eq(cursor.done, 1);
    return apr_pstrmemdup(unit_pool, buffer, len);
}

static void import(int i, pay_refund_t *refund, int finish)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) = refund;
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    if (finish) {
        ck_assert_int_eq(pay_store_import_finish(&run, till->store, unit_pool), APR_SUCCESS);
    }
}

static const struct {
    const char *name;
    apr_int64_t first, second; /* refunds of a charge of 1000; 0: none */
    apr_int64_t history;       /* an imported one */
    int which;                 /* the one that fails */
    pay_charge_state_t was, want;
    apr_int64_t want_refunded;
} fail_cases[] = {
    {"the only one", 400, 0, 0, 1, PAY_CHARGE_SUCCESSFUL, PAY_CHARGE_SUCCESSFUL, 0},
    {"one of two", 400, 500, 0, 1, PAY_CHARGE_SUCCESSFUL, PAY_CHARGE_SUCCESSFUL, 500},
    {"the whole charge", 1000, 0, 0, 1, PAY_CHARGE_REVERSED, PAY_CHARGE_SUCCESSFUL, 0},
    {"the first of all", 400, 600, 0, 1, PAY_CHARGE_REVERSED, PAY_CHARGE_SUCCESSFUL, 600},
    {"the last of all", 999, 1, 0, 2, PAY_CHARGE_REVERSED, PAY_CHARGE_SUCCESSFUL, 999},
    {"history refunded as much", 400, 0, 1000, 1, PAY_CHARGE_REVERSED, PAY_CHARGE_REVERSED, 1000},
    {"history refunded too much", 400, 0, 601, 1, PAY_CHARGE_REVERSED, PAY_CHARGE_SUCCESSFUL, 601},
};

START_TEST(test_fail)
{
    const char *name = fail_cases[_i].name, *first, *second = NULL, *which;
    pay_refund_t *refund;
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        till_clock = TILL_NOW;
        (void)till_charge(i, "order-1", 1000);
        till_clock = TILL_NOW + SEC(1);
        first = processed(i, fail_cases[_i].first);
        if (fail_cases[_i].second) {
            second = processed(i, fail_cases[_i].second);
        }
        if (fail_cases[_i].history) {
            import(i,
                   till_history(i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "order-1",
                                fail_cases[_i].history),
                   1);
        }
        ck_assert_msg(till_find(i, "order-1")->state == fail_cases[_i].was, "%s: before", name);
        which = fail_cases[_i].which == 1 ? first : second;
        till_clock = TILL_NOW + SEC(2);
        ck_assert_msg(take_back(&refund, i, which) == 1, "%s", name);
        ck_assert_int_eq(refund->state, PAY_REFUND_FAILED);
        refund = find(i, which);
        ck_assert_int_eq(refund->state, PAY_REFUND_FAILED);
        ck_assert(refund->created_at == TILL_NOW + SEC(1));
        ck_assert(refund->updated_at == TILL_NOW + SEC(2));
        ck_assert_int_eq(refund->decided_state, PAY_REFUND_PROCESSED); /* the answer */
        ck_assert(refund->decided_at == TILL_NOW + SEC(1));
        charge = till_find(i, "order-1");
        ck_assert_msg(charge->state == fail_cases[_i].want, "%s: charge", name);
        ck_assert_msg(charge->refunded_minor == fail_cases[_i].want_refunded, "%s: refunded", name);
        ck_assert(charge->refunds_pending_minor == 0 && charge->updated_at == TILL_NOW + SEC(2));
        ck_assert_int_eq(charge->decided_state, PAY_CHARGE_SUCCESSFUL);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_told)
{
    const char *reference;
    pay_refund_t *refund;

    (void)till_charge(_i, "order-1", 1000);
    reference = processed(_i, 1000);
    ck_assert_ptr_null(strstr(list(_i), "\"failed\""));
    (void)till_refund(_i, "order-1", 0, PAY_REFUND_REFUSED_FULL);
    memset(till_lines, 0, sizeof(till_lines));
    ck_assert_int_eq(take_back(&refund, _i, reference), 1);
    ck_assert_ptr_nonnull(strstr(list(_i), "\"failed\""));
    ck_assert_ptr_null(strstr(list(_i), "\"processed\""));
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    ck_assert_int_eq(till_logged("PAY00160"), 1);
    ck_assert_ptr_nonnull(strstr(till_line, reference));
    ck_assert_ptr_nonnull(strstr(till_line, till->key_ids[_i]));
    ck_assert_ptr_null(strstr(till_line, "payer@"));
    /* A repeated report makes no event; the amount can be refunded again. */
    ck_assert_int_eq(take_back(&refund, _i, reference), 0);
    ck_assert_int_eq(refund->state, PAY_REFUND_FAILED);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 1);
    refund = till_refund(_i, "order-1", 0, PAY_REFUND_OPENED);
    ck_assert(refund->money.amount_minor == 1000);
    till_check_clean();
}
END_TEST

/* Later reports change nothing. They can contradict only the decided and reported outcome. */
START_TEST(test_resolve_after)
{
    const char *reference, *before;
    pay_refund_t *refund;

    (void)till_charge(0, "order-1", 1000);
    reference = processed(0, 400);
    (void)take_back(&refund, 0, reference);
    before = till_snapshot();
    ck_assert_int_eq(till_refund_resolve(&refund, 0, reference, PAY_OUTCOME_APPROVED), 0);
    ck_assert_int_eq(till_refund_resolve(&refund, 0, reference, PAY_OUTCOME_UNKNOWN), 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 0);
    ck_assert_int_eq(find(0, reference)->state, PAY_REFUND_FAILED);
    ck_assert_int_eq(till_refund_resolve(&refund, 0, reference, PAY_OUTCOME_DECLINED), 0);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
    ck_assert_int_eq(find(0, reference)->state, PAY_REFUND_FAILED);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_refund_state_t state;
    const char *reference; /* of a charge */
    int finish;
    apr_status_t want;
    int want_changed;
} history_cases[] = {
    {"of a charge", PAY_REFUND_PROCESSED, "order-1", 1, APR_SUCCESS, 1},
    {"of a charge that is not known", PAY_REFUND_PROCESSED, "other", 1, APR_SUCCESS, 1},
    {"of none", PAY_REFUND_PROCESSED, NULL, 1, APR_SUCCESS, 1},
    {"pending", PAY_REFUND_PENDING, "order-1", 1, APR_SUCCESS, 0},
    {"failed", PAY_REFUND_FAILED, "order-1", 1, APR_SUCCESS, 0},
    {"of an import that is not finished", PAY_REFUND_PROCESSED, "order-1", 0, APR_NOTFOUND, 0},
};

START_TEST(test_history)
{
    const char *name = history_cases[_i].name, *before;
    apr_time_t decided_at = TILL_NOW - SEC(3600);
    pay_refund_t *refund;
    apr_status_t rv;
    int changed;

    (void)till_charge(0, "order-1", 1000);
    import(
        0,
        till_history(0, 1, decided_at, history_cases[_i].state, history_cases[_i].reference, 1000),
        history_cases[_i].finish);
    before = till_snapshot();
    rv = pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[0], "oldref_1",
                               unit_pool);
    ck_assert_msg(rv == history_cases[_i].want, "%s: %d", name, rv);
    ck_assert_msg(changed == history_cases[_i].want_changed, "%s: changed", name);
    ck_assert_msg((refund != NULL) == (rv == APR_SUCCESS), "%s: out", name);
    ck_assert_msg((strcmp(till_snapshot(), before) != 0) == changed, "%s: written", name);
    if (changed) {
        refund = find(0, "oldref_1");
        ck_assert_int_eq(refund->state, PAY_REFUND_FAILED);
        ck_assert_int_eq(refund->decided_state, PAY_REFUND_PROCESSED);
        ck_assert(refund->decided_at == decided_at && refund->updated_at == till_clock);
        ck_assert(till_find(0, "order-1")->refunded_minor == 0);
        ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_no_such_refund)
{
    int other = (_i + 1) % TILL_SCOPES, changed = 1;
    const char *reference, *before;
    pay_refund_t *refund;

    (void)till_charge(other, "order-1", 1000);
    reference = processed(other, 400);
    before = till_snapshot();
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[_i],
                                           reference, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(refund);
    ck_assert_int_eq(changed, 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 0);
}
END_TEST

static int take_amounts(pay_rows_txn_t *txn, void *baton)
{
    pay_charge_t *charge;
    int rc;

    (void)baton;
    rc = pay_store_charge_get(&charge, txn, &till->scopes[0], 1, unit_pool);
    ck_assert_int_eq(rc, 0);
    charge->refunded_minor = 399;
    return pay_store_charge_put(txn, charge, unit_pool);
}

/*
 * The charge is gone, does not decode, or does not contain the refund's amount: nothing is written.
 */
START_TEST(test_bad_charge)
{
    const char *reference, *before;
    pay_refund_t *refund;
    pay_store_key_t key;
    int changed;

    (void)till_charge(0, "order-1", 1000);
    reference = processed(0, 400);
    pay_store_charge_key(&key, &till->scopes[0], 1);
    if (_i == 2) {
        till_raw(take_amounts, NULL);
    } else {
        till_plant(PAY_TABLE_CHARGE, &key, _i ? "\x01\x01" : NULL, _i ? 2 : 0);
    }
    before = till_snapshot();
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[0],
                                           reference, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(refund);
    ck_assert_int_eq(changed, 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(till_lines[PAY_LOG_WARNING], 0);
    ck_assert_int_eq(find(0, reference)->state, PAY_REFUND_PROCESSED);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_fail, 0, UNIT_ROWS(fail_cases));
    tcase_add_loop_test(tcase, test_told, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_resolve_after);
    tcase_add_loop_test(tcase, test_history, 0, UNIT_ROWS(history_cases));
    tcase_add_loop_test(tcase, test_no_such_refund, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_charge, 0, 3);
}

UNIT_PROGRAM(add)
