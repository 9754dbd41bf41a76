/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"
#include "till.h"

static pay_waiting_t count(int i, int limit)
{
    pay_waiting_t waiting;

    ck_assert_int_eq(pay_store_waiting_count(&waiting, till->store, &till->scopes[i], limit),
                     APR_SUCCESS);
    return waiting;
}

static void hold(int i, const pay_charge_t *charge, pay_held_t held)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_UNKNOWN, .held = held};
    pay_charge_t *out;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, till->store, &till->scopes[i],
                                              charge->seq, &outcome, TILL_NOW, unit_pool),
                     APR_SUCCESS);
}

static void check_none(const pay_waiting_t *waiting, int charges)
{
    ck_assert_int_eq(waiting->pending, 0);
    ck_assert_int_eq(waiting->held, 0);
    ck_assert_int_eq(waiting->webhooks, 0);
    ck_assert_int_eq(waiting->parked, 0);
    ck_assert_int_eq(waiting->charges, charges);
}

/* One scope's payments do not show in the others. */
START_TEST(test_scopes)
{
    pay_waiting_t waiting;
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        waiting = count(i, 10);
        check_none(&waiting, 0);
    }
    charge = till_open(1, "order-1", 1000);
    (void)till_open(1, "order-2", 1000);
    hold(1, charge, PAY_HELD_OVERDUE);
    (void)till_charge(1, "order-3", 1000);
    (void)till_refund(1, "order-3", 100, PAY_REFUND_OPENED); /* pending, and no charge */
    (void)till_charge(2, "order-1", 1000);
    waiting = count(1, 10);
    ck_assert_int_eq(waiting.pending, 2);
    ck_assert_int_eq(waiting.held, 1);
    ck_assert_int_eq(waiting.charges, 1);
    waiting = count(0, 10);
    check_none(&waiting, 0);
    waiting = count(2, 10);
    check_none(&waiting, 1);
}
END_TEST

START_TEST(test_limit)
{
    pay_waiting_t waiting;
    int n;

    for (n = 0; n < 4; n++) {
        hold(0, till_open(0, apr_itoa(unit_pool, n), 1000), PAY_HELD_OVERDUE);
    }
    waiting = count(0, 3);
    ck_assert_int_eq(waiting.pending, 3);
    ck_assert_int_eq(waiting.held, 3);
    waiting = count(0, 5);
    ck_assert_int_eq(waiting.pending, 4);
    ck_assert_int_eq(waiting.held, 4);
}
END_TEST

START_TEST(test_events)
{
    pay_waiting_t waiting;

    (void)outlet_open(1, PAY_ENDPOINT_WEBHOOK);
    (void)outlet_open(1, PAY_ENDPOINT_RECEIPT);
    (void)till_charge(1, "order-1", 1000);
    (void)till_charge(1, "order-2", 1000);
    waiting = count(1, 10);
    ck_assert_int_eq(waiting.webhooks, 2); /* the e-mails are not among them */
    ck_assert_int_eq(waiting.parked, 0);
    ck_assert_int_gt(outlet_run(PAY_EVENT_REFUSED), 0);
    waiting = count(1, 10);
    ck_assert_int_eq(waiting.webhooks, 2);
    ck_assert_int_eq(waiting.parked, 2);
    waiting = count(0, 10);
    check_none(&waiting, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_scopes);
    tcase_add_test(tcase, test_limit);
    tcase_add_test(tcase, test_events);
}

UNIT_PROGRAM(add)
