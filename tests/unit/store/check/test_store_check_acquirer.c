/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/acquirer.h"
#include "store/payment/held.h"

#define NAME "0123456789abcdef0123456789abcdef"

/* In each scope a charge that its acquirer knows and a refund under a tag; both are held. */
static void fill(void)
{
    const pay_outcome_t held = {
        .kind = PAY_OUTCOME_UNKNOWN, .held = PAY_HELD_OVERDUE, .acquirer_reference = "up-1"};
    pay_charge_t *proposal, *charge;
    pay_refund_t *refund;
    pay_refund_verdict_t verdict;
    pay_claim_t claim;
    pay_idempotency_record_t *record;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        proposal = till_proposal(i, "order-1", 1000);
        proposal->acquirer_reference = NAME;
        ck_assert_int_eq(
            pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
            APR_SUCCESS);
        ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[i],
                                                  charge->seq, &held, TILL_NOW, unit_pool),
                         APR_SUCCESS);
        (void)till_charge(i, "order-2", 1000);
        refund = till_refund_proposal(i, "order-2", 100);
        refund->tag = "tag-1";
        ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                               refund, NULL, 0, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[i],
                                                  refund->refund_reference, &held, TILL_NOW,
                                                  unit_pool),
                         APR_SUCCESS);
    }
    till_check_clean();
}

static const struct {
    const char *name;
    pay_table_t table;
    int kind;          /* of the entry that is removed, or planted */
    const char *text;  /* of table acquirer: the name */
    apr_uint64_t seq;  /* of table held */
    const char *plant; /* NULL: it is removed */
    int len;
    const char *fault;
} spoils[] = {
    {"a charge without its name", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_CHARGE, NAME, 0, NULL, 0,
     "not found by its name"},
    {"a refund without its tag", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_TAG, "tag-1", 0, NULL, 0,
     "not found by its name"},
    {"a refund without its name", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_REFUND, "up-1", 0, NULL, 0,
     "not found by its name"},
    {"a name of another charge", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_CHARGE, "x", 0,
     "\0\0\0\0\0\0\0\x01", 8, "nothing of that name"},
    {"a name of no charge", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_CHARGE, "x", 0, "\0\0\0\0\0\0\0\x63",
     8, "nothing of that name"},
    {"a name that leads nowhere", PAY_TABLE_ACQUIRER, PAY_ACQUIRER_REFUND, "x", 0, "x", 1,
     "nothing of that name"},
    {"a name of no kind", PAY_TABLE_ACQUIRER, 9, "x", 0, "x", 1, "nothing of that name"},
    {"a charge that is held, but not listed", PAY_TABLE_HELD, PAY_DUE_CHARGE, NULL, 1, NULL, 0,
     "not in that list"},
    {"a refund that is held, but not listed", PAY_TABLE_HELD, PAY_DUE_REFUND, NULL, 1, NULL, 0,
     "not in that list"},
    {"a charge that is listed, but not held", PAY_TABLE_HELD, PAY_DUE_CHARGE, NULL, 2, "", 0,
     "nothing that waits"},
    {"no charge", PAY_TABLE_HELD, PAY_DUE_CHARGE, NULL, 99, "", 0, "nothing that waits"},
};

START_TEST(test_spoiled)
{
    const char *name = spoils[_i].name;
    pay_store_key_t key;
    int faults;

    fill();
    if (spoils[_i].table == PAY_TABLE_ACQUIRER) {
        (void)pay_store_acquirer_key(&key, &till->scopes[1],
                                     (pay_store_acquirer_kind_t)spoils[_i].kind, spoils[_i].text);
    } else {
        pay_store_held_key(&key, &till->scopes[1], (pay_store_due_kind_t)spoils[_i].kind,
                           spoils[_i].seq);
    }
    till_plant(spoils[_i].table, &key, spoils[_i].plant, (size_t)spoils[_i].len);
    faults = till_faults(spoils[_i].fault);
    ck_assert_msg(faults == 1, "%s: %d faults", name, faults);
    ck_assert_msg(strstr(till_fault, spoils[_i].fault) != NULL, "%s: %s", name, till_fault);
}
END_TEST

START_TEST(test_short_keys)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    pay_store_key_u32(&key, 1);
    till_plant(_i ? PAY_TABLE_HELD : PAY_TABLE_ACQUIRER, &key, "x", 1);
    ck_assert_int_eq(till_faults("the key has a wrong length"), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, "wrong length"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoils));
    tcase_add_loop_test(tcase, test_short_keys, 0, 2);
}

UNIT_PROGRAM(add)
