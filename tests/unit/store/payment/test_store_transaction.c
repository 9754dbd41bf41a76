/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/refund.h"

#define VISITS_MAX 1000 /* as in the source file */

/* The promises of docs/api.md, "Verify"; all other tests depend on the name. */
_Static_assert(PAY_TRANSACTION_REFUNDS_MAX == 100, "100 references");

static pay_transaction_t find(int i, const char *reference)
{
    pay_transaction_t transaction;

    ck_assert_int_eq(pay_store_transaction_find(&transaction, till->store, &till->scopes[i],
                                                reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_nonnull(transaction.charge);
    ck_assert_str_eq(transaction.charge->reference, reference);
    return transaction;
}

/* The references in one line. */
static const char *shown(const pay_transaction_t *transaction)
{
    return apr_array_pstrcat(unit_pool, transaction->refunds, ' ');
}

/* History of numbers `from` on, of charge `reference`, one minor unit each. */
static pay_import_t import(int i, int from, int count, const char *reference)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, count, sizeof(pay_refund_t *));
    pay_import_t run;
    int n, at;

    for (n = 0; n < count; n++) {
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(i, from + n, TILL_NOW - apr_time_from_sec(from + n), PAY_REFUND_PROCESSED,
                         reference, 1);
    }
    ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool), APR_SUCCESS);
    return run;
}

static void finish(pay_import_t *run)
{
    ck_assert_int_eq(pay_store_import_finish(run, till->store, unit_pool), APR_SUCCESS);
}

/* An own refund of one minor unit, processed. */
static const char *refund_one(int i, const char *reference)
{
    pay_refund_t *refund = till_refund(i, reference, 1, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    return refund->refund_reference;
}

/* Oldest first, of this charge and this scope only, with any outcome. */
START_TEST(test_order)
{
    const char *first[TILL_SCOPES], *second[TILL_SCOPES], *third[TILL_SCOPES];
    pay_transaction_t transaction;
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        (void)till_charge(i, "order-2", 1000);
        (void)till_charge(i, "order-3", 1000);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        (void)refund_one(i, "order-1");
        first[i] = refund_one(i, "order-2");
        (void)refund_one(i, "order-3");
    }
    till_clock -= apr_time_from_sec(60); /* the clock goes back: the order of creation stays */
    for (i = 0; i < TILL_SCOPES; i++) {
        second[i] = till_refund(i, "order-2", 1, PAY_REFUND_OPENED)->refund_reference;
        (void)till_refund_resolve(&refund, i, second[i], PAY_OUTCOME_DECLINED);
        third[i] = till_refund(i, "order-2", 5, PAY_REFUND_OPENED)->refund_reference;
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        transaction = find(i, "order-2");
        ck_assert_str_eq(shown(&transaction),
                         apr_pstrcat(unit_pool, first[i], " ", second[i], " ", third[i], NULL));
        ck_assert_int_eq(transaction.refunds_complete, 1);
        ck_assert(transaction.charge->refunded_minor == 1);
        ck_assert(transaction.charge->refunds_pending_minor == 5);
        ck_assert_int_eq(find(i, "order-1").refunds->nelts, 1);
        ck_assert_int_eq(find(i, "order-3").refunds->nelts, 1);
    }
}
END_TEST

START_TEST(test_none)
{
    pay_transaction_t transaction;

    (void)till_open(_i, "order-1", 1000);
    transaction = find(_i, "order-1");
    ck_assert_int_eq(transaction.charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(transaction.refunds->nelts, 0);
    ck_assert_int_eq(transaction.refunds_complete, 1);
}
END_TEST

static const struct {
    const char *name;
    int count;
    int want_shown, want_complete;
} limit_cases[] = {
    {"one below", PAY_TRANSACTION_REFUNDS_MAX - 1, PAY_TRANSACTION_REFUNDS_MAX - 1, 1},
    {"as many as are shown", PAY_TRANSACTION_REFUNDS_MAX, PAY_TRANSACTION_REFUNDS_MAX, 1},
    {"one above", PAY_TRANSACTION_REFUNDS_MAX + 1, PAY_TRANSACTION_REFUNDS_MAX, 0},
};

START_TEST(test_limit)
{
    const char *name = limit_cases[_i].name;
    pay_transaction_t transaction;
    pay_import_t run;
    int n;

    (void)till_charge(1, "order-1", 1000000);
    (void)till_charge(1, "order-2", 1000000);
    run = import(1, 1, limit_cases[_i].count, "order-1");
    finish(&run);
    (void)refund_one(1, "order-2");
    transaction = find(1, "order-1");
    ck_assert_msg(transaction.refunds->nelts == limit_cases[_i].want_shown, "%s: %d", name,
                  transaction.refunds->nelts);
    ck_assert_msg(transaction.refunds_complete == limit_cases[_i].want_complete, "%s", name);
    for (n = 0; n < transaction.refunds->nelts; n++) {
        ck_assert_str_eq(APR_ARRAY_IDX(transaction.refunds, n, const char *),
                         apr_psprintf(unit_pool, "oldref_%d", n + 1));
    }
}
END_TEST

START_TEST(test_unfinished_import)
{
    pay_transaction_t transaction;
    pay_import_t run;
    const char *before, *after;

    (void)till_charge(_i, "order-1", 1000000);
    before = refund_one(_i, "order-1");
    run = import(_i, 1, 2, "order-1");
    after = refund_one(_i, "order-1");
    transaction = find(_i, "order-1");
    ck_assert_str_eq(shown(&transaction), apr_pstrcat(unit_pool, before, " ", after, NULL));
    ck_assert(transaction.charge->refunded_minor == 4); /* the hidden ones count already */
    ck_assert_int_eq(transaction.refunds_complete, 0);
    finish(&run);
    transaction = find(_i, "order-1");
    ck_assert_str_eq(shown(&transaction),
                     apr_pstrcat(unit_pool, before, " oldref_1 oldref_2 ", after, NULL));
    ck_assert_int_eq(transaction.refunds_complete, 1);
}
END_TEST

/* Rows that an aborted import had hidden are gone. */
START_TEST(test_aborted_import)
{
    pay_transaction_t transaction;
    pay_import_t run;

    (void)till_charge(_i, "order-1", 1000000);
    run = import(_i, 1, 2, "order-1");
    transaction = find(_i, "order-1");
    ck_assert_int_eq(transaction.refunds->nelts, 0);
    ck_assert_int_eq(transaction.refunds_complete, 0);
    ck_assert_int_eq(pay_store_import_abort(&run, till->store, unit_pool), APR_SUCCESS);
    transaction = find(_i, "order-1");
    ck_assert(transaction.charge->refunded_minor == 0);
    ck_assert_int_eq(transaction.refunds->nelts, 0);
    ck_assert_int_eq(transaction.refunds_complete, 1);
}
END_TEST

/* Skipped rows count against the time that a reader may take. */
static const struct {
    const char *name;
    int hidden;
    int want_shown;
} visit_cases[] = {
    {"the last one that is looked at", VISITS_MAX - 1, 1},
    {"the first one that is not", VISITS_MAX, 0},
};

START_TEST(test_visits)
{
    pay_transaction_t transaction;

    (void)till_charge(0, "order-1", 1000000);
    (void)import(0, 1, visit_cases[_i].hidden, "order-1");
    (void)refund_one(0, "order-1");
    transaction = find(0, "order-1");
    ck_assert_msg(transaction.refunds->nelts == visit_cases[_i].want_shown, "%s: %d",
                  visit_cases[_i].name, transaction.refunds->nelts);
    ck_assert_int_eq(transaction.refunds_complete, 0);
}
END_TEST

START_TEST(test_unknown)
{
    pay_transaction_t transaction = {NULL, NULL, 7};

    (void)till_charge((_i + 1) % TILL_SCOPES, "order-1", 1000);
    ck_assert_int_eq(pay_store_transaction_find(&transaction, till->store, &till->scopes[_i],
                                                "order-1", unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(transaction.charge);
    ck_assert_int_eq(transaction.refunds->nelts, 0);
}
END_TEST

typedef enum spoil_t {
    SPOIL_CHARGE,
    SPOIL_REFUND,      /* its fields */
    SPOIL_REFUND_TEXT, /* only its text, which names it */
    SPOIL_REFUND_GONE,
    SPOIL_INDEX
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
} spoil_cases[] = {
    {"the charge does not decode", SPOIL_CHARGE},    {"a refund does not decode", SPOIL_REFUND},
    {"a refund's text does not", SPOIL_REFUND_TEXT}, {"a refund is gone", SPOIL_REFUND_GONE},
    {"the index leads nowhere", SPOIL_INDEX},
};

static int spoil_text(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = pay_store_key_val(baton), row;
    unsigned char *bytes;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_REFUND, &key);
    ck_assert_int_eq(rc, 0);
    bytes = apr_pmemdup(unit_pool, row.data, row.len);
    bytes[row.len - 1] = ' ';
    row.data = bytes;
    return pay_rows_put(txn, PAY_TABLE_REFUND, &key, &row, 0);
}

static void spoil(spoil_t how)
{
    const pay_scope_t *scope = &till->scopes[0];
    pay_store_key_t key;

    pay_store_refund_key(&key, scope, TILL_NOW, 1);
    switch (how) {
    case SPOIL_CHARGE:
        pay_store_charge_key(&key, scope, 1);
        till_plant(PAY_TABLE_CHARGE, &key, "\x01\x01", 2);
        return;
    case SPOIL_REFUND:
        till_plant(PAY_TABLE_REFUND, &key, "{}", 2);
        return;
    case SPOIL_REFUND_TEXT:
        till_raw(spoil_text, &key);
        return;
    case SPOIL_REFUND_GONE:
        till_plant(PAY_TABLE_REFUND, &key, NULL, 0);
        return;
    case SPOIL_INDEX:
        pay_store_refund_by_charge_key(&key, scope, 1, 1);
        till_plant(PAY_TABLE_REFUND_BY_CHARGE, &key, "", 0);
        return;
    }
}

START_TEST(test_bad_rows)
{
    pay_transaction_t transaction;
    apr_status_t rv;

    (void)till_charge(0, "order-1", 1000);
    (void)refund_one(0, "order-1");
    (void)refund_one(0, "order-1");
    spoil(spoil_cases[_i].how);
    rv = pay_store_transaction_find(&transaction, till->store, &till->scopes[0], "order-1",
                                    unit_pool);
    ck_assert_msg(rv == PAY_STORE_ECORRUPT, "%s: %d", spoil_cases[_i].name, rv);
    ck_assert_ptr_null(transaction.charge);
}
END_TEST

/* By its seq a transaction is the same as by its reference. */
START_TEST(test_by_seq)
{
    pay_transaction_t found, got;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", i), 1000 + i);
        (void)refund_one(i, apr_psprintf(unit_pool, "order-%d", i));
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        found = find(i, apr_psprintf(unit_pool, "order-%d", i));
        ck_assert_int_eq(pay_store_transaction_get(&got, till->store, &till->scopes[i],
                                                   found.charge->seq, unit_pool),
                         APR_SUCCESS);
        ck_assert_str_eq(got.charge->reference, found.charge->reference);
        ck_assert_str_eq(shown(&got), shown(&found));
        ck_assert_int_eq(got.refunds_complete, 1);
        ck_assert_int_eq(pay_store_transaction_get(&got, till->store, &till->scopes[i],
                                                   found.charge->seq + 1, unit_pool),
                         APR_NOTFOUND);
        ck_assert_ptr_null(got.charge);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_by_seq);
    tcase_add_loop_test(tcase, test_none, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_limit, 0, UNIT_ROWS(limit_cases));
    tcase_add_loop_test(tcase, test_unfinished_import, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_aborted_import, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_visits, 0, UNIT_ROWS(visit_cases));
    tcase_add_loop_test(tcase, test_unknown, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_rows, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
