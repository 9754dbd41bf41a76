/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#define LATER (TILL_NOW + apr_time_from_sec(60))

/* A refund that the tool wrote for the server to send. */
static pay_refund_t *waiting(int i)
{
    pay_refund_t *proposal, *refund;
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    (void)till_charge(i, "order-1", 1000);
    proposal = till_refund_proposal(i, "order-1", 100);
    proposal->waiting = 1;
    proposal->worker = (pay_worker_t){0, 0, 0};
    proposal->due_at = TILL_NOW;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
    return refund;
}

static int claim(pay_refund_t **out, int i, const char *refund_reference)
{
    const pay_worker_t self = pay_worker_self();
    int claimed;

    ck_assert_int_eq(pay_store_refund_claim(out, &claimed, till->store, &till->scopes[i],
                                            refund_reference, &self, 5, 6, LATER, unit_pool),
                     APR_SUCCESS);
    return claimed;
}

static void modes_set(pay_mode_t mode)
{
    const pay_account_settings_t same = {0};
    apr_array_header_t *accounts;
    pay_account_t *account;
    int i;

    ck_assert_int_eq(pay_store_account_list(&accounts, till->store, unit_pool), APR_SUCCESS);
    for (i = 0; i < accounts->nelts; i++) {
        ck_assert_int_eq(pay_store_account_set(&account, till->store,
                                               APR_ARRAY_IDX(accounts, i, pay_account_t *)->name,
                                               &same, &mode, unit_pool),
                         APR_SUCCESS);
    }
}

/* It is claimed once, by any process, and is then work in flight like any other. */
START_TEST(test_once)
{
    const pay_worker_t self = pay_worker_self();
    pay_refund_t *refund, *out;
    apr_array_header_t *rows;
    const char *before;
    int i;

    modes_set(PAY_LIVE);
    for (i = 0; i < TILL_SCOPES; i++) {
        refund = waiting(i);
        ck_assert_int_eq(refund->waiting, 1);
        ck_assert_int_eq(claim(&out, i, refund->refund_reference), 1);
        ck_assert_int_eq(out->waiting, 0);
        ck_assert_int_eq(out->worker.pid, self.pid);
        ck_assert(out->send_before_ms == 5 && out->wait_until_ms == 6 && out->due_at == LATER);
        before = till_snapshot();
        ck_assert_int_eq(claim(&out, i, refund->refund_reference), 0);
        ck_assert_str_eq(till_snapshot(), before);
        till_check_clean();
    }
    ck_assert_int_eq(pay_store_due_take(&rows, till->store, LATER - 1, 1, 16, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(rows->nelts, 0);
}
END_TEST

/* Waiting refunds in Live Mode of an account that was switched to Test Mode are not claimed. */
START_TEST(test_switched_off)
{
    pay_refund_t *refund, *out;
    const char *before;
    int i;

    modes_set(PAY_TEST);
    for (i = 0; i < TILL_SCOPES; i++) {
        refund = waiting(i);
        before = till_snapshot();
        ck_assert_int_eq(claim(&out, i, refund->refund_reference),
                         till->scopes[i].mode == PAY_TEST);
        if (till->scopes[i].mode == PAY_LIVE) {
            ck_assert_str_eq(till_snapshot(), before);
            modes_set(PAY_LIVE);
            ck_assert_int_eq(claim(&out, i, refund->refund_reference), 1);
            modes_set(PAY_TEST);
        }
    }
}
END_TEST

START_TEST(test_not_waiting)
{
    pay_refund_t *refund, *out;
    int claimed;

    (void)till_charge(0, "order-1", 1000);
    refund = till_refund(0, "order-1", 100, PAY_REFUND_OPENED);
    ck_assert_int_eq(claim(&out, 0, refund->refund_reference), 0);
    ck_assert_int_eq(till_refund_resolve(&out, 0, refund->refund_reference, PAY_OUTCOME_APPROVED),
                     1);
    ck_assert_int_eq(claim(&out, 0, refund->refund_reference), 0);
    ck_assert_int_eq(out->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(pay_store_refund_claim(&out, &claimed, till->store, &till->scopes[1],
                                            refund->refund_reference, &refund->worker, 5, 6, LATER,
                                            unit_pool),
                     APR_NOTFOUND);
    ck_assert_int_eq(claimed, 0);
}
END_TEST

/* One that was decided while it waited (by a person) is not sent. */
START_TEST(test_decided_while_waiting)
{
    pay_refund_t *refund = waiting(2), *out;

    ck_assert_int_eq(till_refund_resolve(&out, 2, refund->refund_reference, PAY_OUTCOME_DECLINED),
                     1);
    ck_assert_int_eq(out->waiting, 0);
    ck_assert_int_eq(claim(&out, 2, refund->refund_reference), 0);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_once);
    tcase_add_test(tcase, test_switched_off);
    tcase_add_test(tcase, test_not_waiting);
    tcase_add_test(tcase, test_decided_while_waiting);
}

UNIT_PROGRAM(add)
