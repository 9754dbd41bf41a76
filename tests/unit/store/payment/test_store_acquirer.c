/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/acquirer.h"

#include <apr_strings.h>

#define NAME "0123456789abcdef0123456789abcdef"

static pay_charge_t *open_named(int i, const char *reference, const char *name)
{
    pay_charge_t *proposal = till_proposal(i, reference, 1000), *charge;
    pay_claim_t claim;

    proposal->acquirer_reference = name;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

static apr_status_t find_charge(pay_charge_t **out, int i, const char *name)
{
    return pay_store_charge_find_acquirer(out, till->store, &till->scopes[i], name, unit_pool);
}

/* The same name in three scopes leads to each one's own charge. */
START_TEST(test_charges)
{
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)open_named(i, "order-1", NAME);
        (void)open_named(i, "order-2", "");
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(find_charge(&charge, i, NAME), APR_SUCCESS);
        ck_assert_str_eq(charge->reference, "order-1");
        ck_assert_str_eq(charge->acquirer_reference, NAME);
        ck_assert_uint_eq(charge->scope.account, till->scopes[i].account);
        ck_assert_int_eq(charge->scope.mode, till->scopes[i].mode);
    }
    ck_assert_int_eq(find_charge(&charge, 0, ""), APR_NOTFOUND);
    ck_assert_ptr_null(charge);
    ck_assert_int_eq(find_charge(&charge, 0, "order-1"), APR_NOTFOUND);
    ck_assert_int_eq(find_charge(&charge, 0, apr_psprintf(unit_pool, "%600d", 1)), APR_NOTFOUND);
    till_check_clean();
}
END_TEST

/* A withdrawn one frees its name: the next attempt uses it again. */
START_TEST(test_withdrawn)
{
    pay_charge_t *charge = open_named(1, "order-1", NAME), *found;

    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &charge->scope, charge->seq, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(find_charge(&found, 1, NAME), APR_NOTFOUND);
    till_check_clean();
    charge = open_named(1, "order-1", NAME);
    ck_assert_int_eq(find_charge(&found, 1, NAME), APR_SUCCESS);
    ck_assert_uint_eq(found->seq, charge->seq);
    till_check_clean();
}
END_TEST

/* A name that another charge has is never used twice: the second one is not made. */
START_TEST(test_name_taken)
{
    pay_charge_t *proposal = till_proposal(0, "order-2", 1000), *charge;
    pay_claim_t claim;

    (void)open_named(0, "order-1", NAME);
    proposal->acquirer_reference = NAME;
    ck_assert_int_ne(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[0], "order-2", unit_pool),
        APR_NOTFOUND);
    till_check_clean();
}
END_TEST

static pay_refund_t *open_tagged(int i, const char *tag)
{
    pay_refund_t *proposal = till_refund_proposal(i, "order-1", 100), *refund;
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    proposal->tag = tag;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
    ck_assert_str_eq(refund->tag, tag);
    return refund;
}

static void resolve_named(int i, const pay_refund_t *refund, pay_outcome_kind_t kind,
                          const char *name, int want_changed)
{
    const pay_outcome_t outcome = {.kind = kind, .acquirer_reference = name};
    pay_refund_t *out;
    int changed;

    ck_assert_int_eq(pay_store_refund_resolve(
                         &out, &changed, till->store, &till->scopes[i], refund->refund_reference,
                         &outcome, kind == PAY_OUTCOME_UNKNOWN ? TILL_NOW : 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, want_changed);
}

static const struct {
    const char *name;
    const char *acquirer_reference, *tag; /* looked for */
    int found;
} refund_cases[] = {
    {"by the acquirer's name", "up-1", "", 1},
    {"by its tag", "", "tag-1", 1},
    {"by its tag, with a name nobody has", "up-9", "tag-1", 1},
    {"by neither", "up-9", "tag-9", 0},
    {"by nothing", "", "", 0},
    {"the name is not a tag", "tag-1", "", 0},
    {"the tag is not a name", "", "up-1", 0},
};

START_TEST(test_refunds)
{
    const char *name = refund_cases[_i].name;
    pay_refund_t *refund, *found;
    apr_status_t rv;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        refund = open_tagged(i, "tag-1");
        resolve_named(i, refund, PAY_OUTCOME_UNKNOWN, "up-1", 1);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        rv = pay_store_refund_find_acquirer(&found, till->store, &till->scopes[i],
                                            refund_cases[_i].acquirer_reference,
                                            refund_cases[_i].tag, unit_pool);
        ck_assert_msg(rv == (refund_cases[_i].found ? APR_SUCCESS : APR_NOTFOUND), "%s: %d", name,
                      rv);
        if (refund_cases[_i].found) {
            ck_assert_str_eq(found->tag, "tag-1");
            ck_assert_str_eq(found->acquirer_reference, "up-1");
            ck_assert_uint_eq(found->scope.account, till->scopes[i].account);
        }
    }
    till_check_clean();
}
END_TEST

/* The first name stays; a decision may bring it, and one that another refund has is left to it. */
START_TEST(test_names_of_refunds)
{
    pay_refund_t *first, *second, *found;

    (void)till_charge(0, "order-1", 1000);
    first = open_tagged(0, "tag-1");
    resolve_named(0, first, PAY_OUTCOME_UNKNOWN, "up-1", 1);
    resolve_named(0, first, PAY_OUTCOME_APPROVED, "up-2", 1);
    ck_assert_int_eq(pay_store_refund_find_acquirer(&found, till->store, &till->scopes[0], "up-2",
                                                    "", unit_pool),
                     APR_NOTFOUND);
    second = open_tagged(0, "tag-2");
    resolve_named(0, second, PAY_OUTCOME_APPROVED, "up-1", 1);
    ck_assert_int_eq(till_logged("PAY00170"), 1);
    ck_assert_int_eq(pay_store_refund_find_acquirer(&found, till->store, &till->scopes[0], "up-1",
                                                    "", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(found->refund_reference, first->refund_reference);
}
END_TEST

/*
 * A name that is too long counts as absent: cut, it would be another's, and the refund not found by
 * it.
 */
START_TEST(test_long_name)
{
    const char *longest = apr_psprintf(unit_pool, "%0*d", PAY_REFUND_REFERENCE_MAX, 7);
    pay_refund_t *refund, *found;

    (void)till_charge(0, "order-1", 1000);
    refund = open_tagged(0, "tag-1");
    resolve_named(0, refund, PAY_OUTCOME_UNKNOWN, apr_pstrcat(unit_pool, longest, "8", NULL), 1);
    ck_assert_int_eq(pay_store_refund_find_acquirer(&found, till->store, &till->scopes[0], "",
                                                    "tag-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(found->acquirer_reference, "");
    resolve_named(0, refund, PAY_OUTCOME_UNKNOWN, longest, 1);
    ck_assert_int_eq(pay_store_refund_find_acquirer(&found, till->store, &till->scopes[0], longest,
                                                    "", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(found->acquirer_reference, longest);
    till_check_clean();
}
END_TEST

START_TEST(test_entry_without_a_row)
{
    pay_store_key_t key;
    pay_charge_t *charge;
    pay_refund_t *refund;

    ck_assert_int_eq(pay_store_acquirer_key(&key, &till->scopes[0], PAY_ACQUIRER_CHARGE, NAME), 1);
    till_plant(PAY_TABLE_ACQUIRER, &key, _i ? "\0\0\0\0\0\0\0\x63" : "x", _i ? 8 : 1);
    ck_assert_int_eq(find_charge(&charge, 0, NAME), PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(charge);
    ck_assert_int_eq(pay_store_acquirer_key(&key, &till->scopes[0], PAY_ACQUIRER_TAG, NAME), 1);
    till_plant(PAY_TABLE_ACQUIRER, &key, "x", 1);
    ck_assert_int_eq(
        pay_store_refund_find_acquirer(&refund, till->store, &till->scopes[0], "", NAME, unit_pool),
        PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(refund);
    ck_assert_int_eq(till_faults("leads to nothing of that name at the acquirer"), 2);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_charges);
    tcase_add_test(tcase, test_withdrawn);
    tcase_add_test(tcase, test_name_taken);
    tcase_add_loop_test(tcase, test_refunds, 0, UNIT_ROWS(refund_cases));
    tcase_add_test(tcase, test_names_of_refunds);
    tcase_add_test(tcase, test_long_name);
    tcase_add_loop_test(tcase, test_entry_without_a_row, 0, 2);
}

UNIT_PROGRAM(add)
