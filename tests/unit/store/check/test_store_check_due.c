/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"
#include "store/payment/due.h"
#include "store/payment/refund.h"

#define LATE (TILL_NOW + apr_time_from_sec(6 * 3600))
#define DUE (TILL_NOW + apr_time_from_sec(60)) /* of everything that till.h opens */

static const struct {
    const char *name;
    apr_time_t due_at;
    int kind;
    apr_uint64_t seq;
    int gone; /* the entry is removed, else added */
    int want;
    const char *told;
    int late; /* the entry is of table late_due */
} spoil_cases[] = {
    {"a charge's entry is gone", DUE, PAY_DUE_CHARGE, 1, 1, 1, "nothing will query it", 0},
    {"a refund's entry is gone", DUE, PAY_DUE_REFUND, 1, 1, 1, "nothing will query it", 0},
    {"another entry of a charge", DUE + 1, PAY_DUE_CHARGE, 1, 0, 1, "due at another time", 0},
    {"another entry of a refund", DUE + 1, PAY_DUE_REFUND, 1, 0, 1, "due at another time", 0},
    {"of a charge that was decided", DUE, PAY_DUE_CHARGE, 2, 0, 1, "nothing that is due", 0},
    {"of no charge", DUE, PAY_DUE_CHARGE, 99, 0, 1, "nothing that is due", 0},
    {"of no refund", DUE, PAY_DUE_REFUND, 99, 0, 1, "nothing that is due", 0},
    {"stands apart, and is no open checkout", PAY_STORE_DUE_OPEN_FROM + DUE, PAY_DUE_CHARGE, 1, 0,
     1, "counts as an open checkout", 0},
    {"stands apart at another time", PAY_STORE_DUE_OPEN_FROM + DUE + 1, PAY_DUE_CHARGE, 4, 0, 1,
     "due at another time", 0},
    {"an open checkout's entry is gone", PAY_STORE_DUE_OPEN_FROM + DUE, PAY_DUE_CHARGE, 4, 1, 1,
     "nothing will query it", 0},
    {"of no known kind", DUE, 3, 1, 0, 1, "nothing that is due", 0},
    {"late, and pending", DUE, PAY_DUE_CHARGE, 1, 0, 1, "nothing that is due", 1},
    {"late, and a pending refund", DUE, PAY_DUE_REFUND, 1, 0, 1, "nothing that is due", 1},
    {"late, and decided for good", DUE, PAY_DUE_CHARGE, 2, 0, 1, "nothing that is due", 1},
    {"late, and failed for absence, at another time", DUE, PAY_DUE_CHARGE, 3, 0, 1,
     "due at another time", 1},
    {"failed for absence, and pending", LATE, PAY_DUE_CHARGE, 3, 0, 1, "nothing that is due", 0},
    {"a late charge's entry is gone", LATE, PAY_DUE_CHARGE, 3, 1, 1, "nothing will query it", 1},
};

static void fail_for_absence(int i, const pay_charge_t *charge)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_DECLINED, .late_check_at = LATE};
    pay_charge_t *out;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, till->store, &till->scopes[i],
                                              charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static pay_charge_t *open_checkout(int i, const char *reference)
{
    pay_charge_t *proposal = till_proposal(i, reference, 1000), *charge;
    pay_checkout_t *checkout = checkout_make(proposal->due_at, unit_pool);
    pay_claim_t claim;

    checkout->acquirer_url = "https://pay.example/1";
    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = checkout;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    return charge;
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    const pay_table_t table = spoil_cases[_i].late ? PAY_TABLE_LATE_DUE : PAY_TABLE_PENDING_DUE;
    pay_store_key_t key, refund_key;
    int i, faults;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "order-1", 1000);
        (void)till_charge(i, "order-2", 1000);
        (void)till_refund(i, "order-2", 200, PAY_REFUND_OPENED);
        fail_for_absence(i, till_open(i, "order-3", 1000));
        (void)open_checkout(i, "order-4");
    }
    till_check_clean();
    i = _i % TILL_SCOPES;
    pay_store_due_key(&key, spoil_cases[_i].due_at, &till->scopes[i],
                      (pay_store_due_kind_t)spoil_cases[_i].kind, spoil_cases[_i].seq);
    pay_store_refund_key(&refund_key, &till->scopes[i], TILL_NOW, spoil_cases[_i].seq);
    if (spoil_cases[_i].gone) {
        till_plant(table, &key, NULL, 0);
    } else if (spoil_cases[_i].kind == PAY_DUE_REFUND) {
        till_plant(table, &key, refund_key.bytes, refund_key.len);
    } else {
        till_plant(table, &key, "", 0);
    }
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults, among them: %s", name, faults,
                  till_fault);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: told '%s'", name,
                  till_fault);
}
END_TEST

START_TEST(test_key_of_a_wrong_length)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    pay_store_key_time(&key, DUE);
    pay_store_key_scope(&key, &till->scopes[_i]);
    till_plant(PAY_TABLE_PENDING_DUE, &key, "", 0);
    ck_assert_int_eq(till_faults(NULL), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, "pending_due"));
    ck_assert_ptr_nonnull(strstr(till_fault, "wrong length"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
    tcase_add_loop_test(tcase, test_key_of_a_wrong_length, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
