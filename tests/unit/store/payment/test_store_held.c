/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/held.h"

#include <apr_strings.h>

static void hold_charge(int i, const pay_charge_t *charge, pay_held_t held)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_UNKNOWN, .held = held};
    pay_charge_t *out;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, till->store, &till->scopes[i],
                                              charge->seq, &outcome, TILL_NOW, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(out->held, held);
}

static void hold_refund(int i, const pay_refund_t *refund, pay_held_t held)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_UNKNOWN, .held = held};
    pay_refund_t *out;
    int changed;

    ck_assert_int_eq(pay_store_refund_resolve(&out, &changed, till->store, &till->scopes[i],
                                              refund->refund_reference, &outcome, TILL_NOW,
                                              unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(out->held, held);
}

static apr_array_header_t *list(const pay_scope_t *scope, const pay_due_t *after, int limit)
{
    apr_array_header_t *rows;

    ck_assert_int_eq(pay_store_held_list(&rows, till->store, scope, after, limit, unit_pool),
                     APR_SUCCESS);
    return rows;
}

static apr_uint64_t counted(void)
{
    pay_store_stat_t stat;

    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    return stat.held;
}

/* Two charges and a refund of each scope wait for a person. */
static void fill(void)
{
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        hold_charge(i, till_open(i, "order-1", 1000), PAY_HELD_OVERDUE);
        hold_charge(i, till_open(i, "order-2", 1000), PAY_HELD_DIFFERENT);
        (void)till_open(i, "order-3", 1000);
        (void)till_charge(i, "order-4", 1000);
        refund = till_refund(i, "order-4", 100, PAY_REFUND_OPENED);
        hold_refund(i, refund, PAY_HELD_NO_ACQUIRER);
    }
    till_check_clean();
}

START_TEST(test_list)
{
    apr_array_header_t *rows;
    const pay_due_t *row;
    int i;

    ck_assert_int_eq(list(NULL, NULL, 1)->nelts, 0);
    fill();
    ck_assert_uint_eq(counted(), 3 * TILL_SCOPES);
    for (i = 0; i < TILL_SCOPES; i++) {
        rows = list(&till->scopes[i], NULL, 16);
        ck_assert_int_eq(rows->nelts, 3);
        row = &APR_ARRAY_IDX(rows, 0, pay_due_t);
        ck_assert_str_eq(row[0].charge->reference, "order-1");
        ck_assert_int_eq(row[0].charge->held, PAY_HELD_OVERDUE);
        ck_assert_str_eq(row[1].charge->reference, "order-2");
        ck_assert_ptr_null(row[2].charge);
        ck_assert_int_eq(row[2].refund->held, PAY_HELD_NO_ACQUIRER);
        ck_assert_uint_eq(row[2].refund->scope.account, till->scopes[i].account);
    }
}
END_TEST

/* One by one, each once and none left out. */
START_TEST(test_batches)
{
    const pay_due_t *after = NULL;
    apr_array_header_t *rows;
    int seen = 0;

    fill();
    for (;;) {
        rows = list(_i ? &till->scopes[1] : NULL, after, 1);
        if (rows->nelts == 0) {
            break;
        }
        ck_assert_int_eq(rows->nelts, 1);
        after = &APR_ARRAY_IDX(rows, 0, pay_due_t);
        ck_assert_int_le(++seen, 3 * TILL_SCOPES);
    }
    ck_assert_int_eq(seen, _i ? 3 : 3 * TILL_SCOPES);
}
END_TEST

/* Any decision ends it; so does a query without a reason to hold it. */
START_TEST(test_ends)
{
    pay_charge_t *charge = till_open(0, "order-1", 1000), *out;
    pay_refund_t *refund, *refund_out;

    hold_charge(0, charge, PAY_HELD_DIFFERENT);
    if (_i == 0) {
        hold_charge(0, charge, PAY_NOT_HELD);
    } else {
        ck_assert_int_eq(till_resolve(&out, 0, charge->seq,
                                      _i == 1 ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED),
                         1);
        ck_assert_int_eq(out->held, PAY_NOT_HELD);
    }
    ck_assert_uint_eq(counted(), 0);
    (void)till_charge(0, "order-2", 1000);
    refund = till_refund(0, "order-2", 100, PAY_REFUND_OPENED);
    hold_refund(0, refund, PAY_HELD_OVERDUE);
    ck_assert_uint_eq(counted(), 1);
    ck_assert_int_eq(till_refund_resolve(&refund_out, 0, refund->refund_reference,
                                         _i == 1 ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED),
                     1);
    ck_assert_uint_eq(counted(), 0);
    till_check_clean();
}
END_TEST

/* A payment withdrawn because it never left this process does not wait for a person either. */
START_TEST(test_taken_back)
{
    pay_charge_t *charge = till_open(0, "order-1", 1000);

    hold_charge(0, charge, PAY_HELD_OVERDUE);
    ck_assert_uint_eq(counted(), 1);
    ck_assert_int_eq(
        pay_store_charge_withdraw(till->store, &till->scopes[0], charge->seq, unit_pool),
        APR_SUCCESS);
    ck_assert_uint_eq(counted(), 0);
    till_check_clean();
}
END_TEST

/* How long it has been absent is stored while it is undecided, and removed with the decision. */
START_TEST(test_absent_since)
{
    const pay_outcome_t absent = {.kind = PAY_OUTCOME_UNKNOWN, .absent_since = TILL_NOW - 5};
    pay_charge_t *charge = till_open(0, "order-1", 1000), *out;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, till->store, &till->scopes[0],
                                              charge->seq, &absent, TILL_NOW, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(till_find(0, "order-1")->absent_since, TILL_NOW - 5);
    ck_assert_int_eq(till_resolve(&out, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(till_find(0, "order-1")->absent_since, 0);
}
END_TEST

START_TEST(test_spoiled_entries)
{
    pay_store_key_t key;

    fill();
    pay_store_held_key(&key, &till->scopes[0], PAY_DUE_CHARGE, 99);
    till_plant(PAY_TABLE_HELD, &key, "", 0);
    pay_store_held_key(&key, &till->scopes[0], PAY_DUE_REFUND, 99);
    till_plant(PAY_TABLE_HELD, &key, "x", 1);
    pay_store_key_start(&key);
    pay_store_key_u32(&key, 1);
    till_plant(PAY_TABLE_HELD, &key, "", 0);
    ck_assert_int_eq(list(NULL, NULL, 100)->nelts, 3 * TILL_SCOPES);
    ck_assert_int_eq(till_faults("leads to nothing that waits for a person"), 3);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_list);
    tcase_add_loop_test(tcase, test_batches, 0, 2);
    tcase_add_loop_test(tcase, test_ends, 0, 3);
    tcase_add_test(tcase, test_taken_back);
    tcase_add_test(tcase, test_absent_since);
    tcase_add_test(tcase, test_spoiled_entries);
}

UNIT_PROGRAM(add)
