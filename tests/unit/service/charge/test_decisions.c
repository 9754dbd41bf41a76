/* SPDX-License-Identifier: Apache-2.0 */
#include "decide.h"
#include "till.h"

#include "base/text/time.h"

static const struct {
    const char *name;
    const char *reason;
    int fault;
} reason_cases[] = {
    {"empty", "", 1},       {"blanks", "   ", 1},    {"a word", "seen", 0},
    {"control", "a\nb", 1}, {"no UTF-8", "\xff", 1}, {"a card", "paid by 5555 5555 5555 4444", 1},
};

START_TEST(test_reason)
{
    const char *fault = pay_decision_reason_fault(reason_cases[_i].reason);

    ck_assert_msg((fault != NULL) == reason_cases[_i].fault, "%s: %s", reason_cases[_i].name,
                  fault ? fault : "no fault");
}
END_TEST

START_TEST(test_reason_length)
{
    char reason[PAY_RESOLUTION_MAX + 2];

    memset(reason, 'x', sizeof(reason) - 1);
    reason[PAY_RESOLUTION_MAX + 1] = '\0';
    ck_assert_ptr_nonnull(pay_decision_reason_fault(reason));
    reason[PAY_RESOLUTION_MAX] = '\0';
    ck_assert_ptr_null(pay_decision_reason_fault(reason));
}
END_TEST

static pay_charge_t *decide(pay_decision_t want, const pay_charge_t *charge, int approved)
{
    return decide_charge(want, till->store, charge, approved, "seen");
}

/* A pending row without work in flight. */
static pay_charge_t *left_alone(int i, const char *reference)
{
    const pay_outcome_t unknown = {.kind = PAY_OUTCOME_UNKNOWN};
    pay_charge_t *charge = till_open(i, reference, 1000);
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[i],
                                              charge->seq, &unknown, TILL_NOW, unit_pool),
                     APR_SUCCESS);
    return charge;
}

START_TEST(test_charge)
{
    pay_charge_t *charge, *out;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        charge = left_alone(i, "order-1");
        out = decide(PAY_DECISION_DONE, charge, _i);
        ck_assert_int_eq(out->state, _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_FAILED);
        ck_assert_str_eq(out->resolution, "seen");
        out = decide(PAY_DECISION_MEANWHILE, charge, !_i); /* as it was read */
        ck_assert_int_eq(out->state, _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_FAILED);
        out = decide(PAY_DECISION_NOT_WAITING, out, _i);
        ck_assert_int_eq(out->state, _i ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_FAILED);
    }
    till_check_clean();
}
END_TEST

/* Its process is at work: the acquirer's answer decides. */
START_TEST(test_charge_busy)
{
    pay_charge_t busy = *left_alone(0, "order-1");

    busy.worker = pay_worker_self();
    busy.send_before_ms = pay_time_boot_ms() + 5000;
    busy.wait_until_ms = pay_time_boot_ms() + 5000;
    (void)decide(PAY_DECISION_BUSY, &busy, 1);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_PENDING);
    ck_assert_int_ge(pay_decision_wait(pay_charge_busy_for(&busy)), 1);
    ck_assert_int_le(pay_decision_wait(pay_charge_busy_for(&busy)), 6);
    ck_assert_int_eq(pay_decision_wait(0), 1);
    ck_assert_int_eq(pay_decision_wait(apr_time_from_sec(55)), 56);
}
END_TEST

/* A payment that failed but was executed can only be closed as failed. */
START_TEST(test_charge_late)
{
    const pay_late_step_t found = {.from = PAY_LATE_NONE,
                                   .to = PAY_LATE_FOUND,
                                   .outcome = till_outcome(PAY_OUTCOME_APPROVED),
                                   .held = PAY_HELD_LATE};
    pay_charge_t *charge = left_alone(1, "order-1");
    int changed;

    (void)till_resolve(&charge, 1, charge->seq, PAY_OUTCOME_DECLINED);
    ck_assert_int_eq(pay_store_charge_late(&charge, &changed, till->store, &till->scopes[1],
                                           charge->seq, &found, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    charge = decide(PAY_DECISION_STAYS_FAILED, charge, 1);
    ck_assert_int_eq(charge->held, PAY_HELD_LATE);
    charge = decide(PAY_DECISION_DONE, charge, 0);
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_int_eq(charge->held, PAY_NOT_HELD);
    (void)decide(PAY_DECISION_NOT_WAITING, charge, 0);
}
END_TEST

/* A checkout without a page, about which its acquirer is queried for days. */
START_TEST(test_checkout_asked)
{
    const pay_outcome_t unopened = {.kind = PAY_OUTCOME_DECLINED,
                                    .message = "No page was opened.",
                                    .late_check_at = TILL_NOW + apr_time_from_sec(3600)};
    pay_charge_t *charge = _i ? till_open(1, "order-1", 1000) : till_checkout(1, "order-1", 1000);
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[1],
                                              charge->seq, &unopened, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(charge->due_at != 0, 1);
    if (_i) { /* a charge of a token is queried further */
        (void)decide(PAY_DECISION_NOT_WAITING, charge, 0);
        return;
    }
    (void)decide(PAY_DECISION_STAYS_FAILED, charge, 1);
    charge = decide(PAY_DECISION_DONE, charge, 0);
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_int_eq(charge->due_at, 0);
    (void)decide(PAY_DECISION_NOT_WAITING, charge, 0);
    till_check_clean();
}
END_TEST

static pay_refund_t *decide_refund(pay_decision_t want, const pay_refund_t *refund, int approved)
{
    const pay_outcome_t outcome = pay_decision_outcome(approved, "seen");
    pay_decision_t decision;
    pay_refund_t *out;

    ck_assert_int_eq(pay_refund_decide(&out, &decision, till->store, refund, &outcome, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(decision, want);
    return out;
}

START_TEST(test_refund)
{
    const pay_outcome_t unknown = {.kind = PAY_OUTCOME_UNKNOWN};
    pay_refund_t *refund, *out;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        refund = till_refund(i, "order-1", 100, PAY_REFUND_OPENED);
        ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[i],
                                                  refund->refund_reference, &unknown, TILL_NOW,
                                                  unit_pool),
                         APR_SUCCESS);
        out = decide_refund(PAY_DECISION_DONE, refund, _i);
        ck_assert_int_eq(out->state, _i ? PAY_REFUND_PROCESSED : PAY_REFUND_FAILED);
        (void)decide_refund(PAY_DECISION_MEANWHILE, refund, !_i);
        (void)decide_refund(PAY_DECISION_NOT_WAITING, out, _i);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_texts)
{
    int held;

    ck_assert_ptr_null(pay_held_text(PAY_NOT_HELD));
    for (held = PAY_NOT_HELD + 1; held < PAY_HELD_COUNT; held++) {
        ck_assert_ptr_nonnull(pay_held_text((pay_held_t)held));
    }
    ck_assert_ptr_nonnull(pay_held_text(PAY_HELD_COUNT)); /* a damaged row */
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_reason, 0, UNIT_ROWS(reason_cases));
    tcase_add_test(tcase, test_reason_length);
    tcase_add_loop_test(tcase, test_charge, 0, 2);
    tcase_add_test(tcase, test_charge_busy);
    tcase_add_test(tcase, test_charge_late);
    tcase_add_loop_test(tcase, test_checkout_asked, 0, 2);
    tcase_add_loop_test(tcase, test_refund, 0, 2);
    tcase_add_test(tcase, test_texts);
}

UNIT_PROGRAM(add)
