/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"
#include "store/payment/charge.h"

#include <limits.h>

/* ---- a page leads to its checkout, in each scope its own */

static pay_store_page_t page_of(const char *page_id)
{
    pay_store_page_t page;

    ck_assert_int_eq(pay_store_page_find(&page, till->store, page_id, unit_pool), APR_SUCCESS);
    return page;
}

START_TEST(test_page)
{
    const pay_charge_t *made[TILL_SCOPES];
    pay_store_page_t page;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        made[i] = till_checkout(i, "page-of-one-name", 1000 + i);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        page = page_of(made[i]->checkout->page_id);
        ck_assert_uint_eq(page.account->number, till->scopes[i].account);
        ck_assert_int_eq(page.charge->scope.mode, till->scopes[i].mode);
        ck_assert_int_eq(page.charge->money.amount_minor, 1000 + i);
        ck_assert_int_eq(page.charge->channel, PAY_CHANNEL_CARD);
        ck_assert_str_eq(page.charge->checkout->redirect_url, "https://shop.example/done");
        ck_assert_str_eq(page.charge->checkout->metadata, "{\"cart\": 7}");
        ck_assert_int_eq(page.charge->checkout->step, PAY_CHECKOUT_OPEN);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_unknown_page)
{
    static const char *const ids[] = {"", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaazzzz",
                                      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    pay_store_page_t page;
    size_t i;

    (void)till_checkout(0, "order-1", 1000);
    for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        ck_assert_int_eq(pay_store_page_find(&page, till->store, ids[i], unit_pool), APR_NOTFOUND);
        ck_assert_ptr_null(page.charge);
    }
}
END_TEST

/* The id is drawn at random, so this never happens; if it does, nothing of the second one is
 * stored. */
START_TEST(test_page_id_twice)
{
    pay_charge_t *first = till_checkout(0, "order-1", 1000);
    pay_charge_t *proposal = till_proposal(1, "order-2", 2000), *charge;
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->checkout = first->checkout;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_EINVAL);
    ck_assert_int_eq(page_of(first->checkout->page_id).charge->money.amount_minor, 1000);
    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[1], "order-2", unit_pool),
        APR_NOTFOUND);
    till_check_clean();
}
END_TEST

START_TEST(test_withdrawn_goes_whole)
{
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);
    pay_store_page_t page;

    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &charge->scope, charge->seq, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_page_find(&page, till->store, charge->checkout->page_id, unit_pool),
                     APR_NOTFOUND);
    till_check_clean();
}
END_TEST

/* The state of the money does not depend on the row beside it. */
START_TEST(test_damaged_row)
{
    pay_charge_t *charge = till_checkout(0, "order-1", 1000), *found;
    pay_store_page_t page;
    pay_store_key_t key;

    pay_store_key_of_scope(&key, &charge->scope);
    pay_store_key_u64(&key, charge->seq);
    till_plant(PAY_TABLE_CHECKOUT, &key, "nonsense", 8);
    ck_assert_int_eq(pay_store_page_find(&page, till->store, charge->checkout->page_id, unit_pool),
                     APR_NOTFOUND);
    found = till_find(0, "order-1");
    ck_assert_ptr_null(found->checkout);
    ck_assert_int_eq(till_resolve(&found, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
    ck_assert_int_eq(found->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(till_faults("checkout"), 1);
}
END_TEST

#define OLDER_FIELDS 11 /* without return_trusted, anonymous, ended_at */

static int shorten_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_key_t *key = baton;
    pay_bytes_t at = pay_store_key_val(key), row;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_CHECKOUT, &at);
    if (rc) {
        return rc;
    }
    till_cut(&row, OLDER_FIELDS);
    return pay_rows_put(txn, PAY_TABLE_CHECKOUT, &at, &row, 0);
}

/* It is no longer known who chose the payer's return address: the payer is asked. */
START_TEST(test_row_of_an_older_store)
{
    pay_charge_t *charge = till_checkout(0, "order-1", 1000);
    pay_store_key_t key;

    pay_store_charge_key(&key, &charge->scope, charge->seq);
    till_raw(shorten_work, &key);
    charge = till_find(0, "order-1");
    ck_assert_ptr_nonnull(charge->checkout);
    ck_assert_int_eq(charge->checkout->return_trusted, 0);
    ck_assert_str_eq(charge->checkout->acquirer_url, "");
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_page);
    tcase_add_test(tcase, test_unknown_page);
    tcase_add_test(tcase, test_page_id_twice);
    tcase_add_test(tcase, test_withdrawn_goes_whole);
    tcase_add_test(tcase, test_damaged_row);
    tcase_add_test(tcase, test_row_of_an_older_store);
}

UNIT_PROGRAM(add)
