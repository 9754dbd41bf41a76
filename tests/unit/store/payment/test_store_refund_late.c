/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#define HOUR apr_time_from_sec(3600)

static const pay_outcome_t processed = {
    .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "ok"};

/* A refund that failed for absence. */
static pay_refund_t *absent(int i)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_DECLINED, .late_check_at = TILL_NOW + HOUR};
    pay_refund_t *refund;
    int changed;

    (void)till_charge(i, "order-1", 1000);
    refund = till_refund(i, "order-1", 100, PAY_REFUND_OPENED);
    ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[i],
                                              refund->refund_reference, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(refund->due_at, TILL_NOW + HOUR);
    till_check_clean();
    return refund;
}

static const struct {
    const char *name;
    const pay_outcome_t *found;
    apr_time_t due_at;
    pay_held_t held;
    const char *resolution;
    int alert;
} late_cases[] = {
    {"asked again", NULL, TILL_NOW + 2 * HOUR, PAY_NOT_HELD, NULL, 0},
    {"asked for the last time", NULL, 0, PAY_NOT_HELD, NULL, 0},
    {"processed all the same", &processed, 0, PAY_HELD_LATE, NULL, 1},
    {"closed by a person", NULL, 0, PAY_NOT_HELD, "seen", 0},
};

START_TEST(test_late)
{
    const char *name = late_cases[_i].name;
    pay_refund_t *refund, *out;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        refund = absent(i);
        ck_assert_int_eq(pay_store_refund_late(&out, &changed, till->store, &till->scopes[i],
                                               refund->refund_reference, late_cases[_i].found,
                                               late_cases[_i].due_at, late_cases[_i].held,
                                               late_cases[_i].resolution, unit_pool),
                         APR_SUCCESS);
        ck_assert_msg(changed, "%s", name);
        ck_assert_int_eq(out->state, PAY_REFUND_FAILED);
        ck_assert_msg(out->due_at == late_cases[_i].due_at && out->held == late_cases[_i].held,
                      "%s", name);
        ck_assert_str_eq(out->resolution,
                         late_cases[_i].resolution ? late_cases[_i].resolution : "");
        ck_assert_int_eq(till_find(i, "order-1")->refunded_minor, 0);
        till_check_clean();
    }
    ck_assert_msg(till_lines[PAY_LOG_ALERT] == TILL_SCOPES * late_cases[_i].alert, "%s", name);
}
END_TEST

/* Found twice, it is reported once. */
START_TEST(test_told_once)
{
    pay_refund_t *refund = absent(0), *out;
    int changed, n;

    for (n = 0; n < 2; n++) {
        ck_assert_int_eq(pay_store_refund_late(&out, &changed, till->store, &till->scopes[0],
                                               refund->refund_reference, &processed, 0,
                                               PAY_HELD_LATE, NULL, unit_pool),
                         APR_SUCCESS);
    }
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
}
END_TEST

START_TEST(test_not_failed)
{
    pay_refund_t *refund, *out;
    const char *before;
    int changed;

    (void)till_charge(0, "order-1", 1000);
    refund = till_refund(0, "order-1", 100, PAY_REFUND_OPENED);
    if (_i) {
        (void)till_refund_resolve(&out, 0, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
    before = till_snapshot();
    ck_assert_int_eq(pay_store_refund_late(&out, &changed, till->store, &till->scopes[0],
                                           refund->refund_reference, &processed, TILL_NOW,
                                           PAY_HELD_LATE, NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(pay_store_refund_late(&out, &changed, till->store, &till->scopes[0], "no-such",
                                           NULL, 0, PAY_NOT_HELD, NULL, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(out);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_late, 0, UNIT_ROWS(late_cases));
    tcase_add_test(tcase, test_told_once);
    tcase_add_loop_test(tcase, test_not_failed, 0, 2);
}

UNIT_PROGRAM(add)
