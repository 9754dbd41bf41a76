/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/check/check.h"
#include "store/record/scope.h"

/* Every scope with a charge of each kind, refunds of each kind, history and a token. */
static void fill(void)
{
    apr_array_header_t *rows;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_import_t run;
    pay_token_t token, *made;
    int i, at;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "pending", 1000);
        charge = till_open(i, "declined", 1000);
        (void)till_resolve(&charge, i, charge->seq, PAY_OUTCOME_DECLINED);
        (void)till_charge(i, "reversed", 1000);
        refund = till_refund(i, "reversed", 0, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        (void)till_charge(i, "partly", 1000);
        refund = till_refund(i, "partly", 100, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_DECLINED);
        (void)till_refund(i, "partly", 200, PAY_REFUND_OPENED);
        rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
        APR_ARRAY_PUSH(rows, pay_refund_t *) =
            till_history(i, 1, TILL_NOW, PAY_REFUND_PROCESSED, "partly", 900);
        ck_assert_int_eq(pay_store_import_begin(&run, till->store, &till->scopes[i], unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(pay_store_import_rows(&run, &at, till->store, rows, unit_pool),
                         APR_SUCCESS);
        memset(&token, 0, sizeof(token));
        token.scope = till->scopes[i];
        token.token = "tok_of_a_payer";
        apr_cpystrn(token.card.first6, "555555", sizeof(token.card.first6));
        apr_cpystrn(token.card.last4, "4444", sizeof(token.card.last4));
        token.card.issuer = token.card.country = token.card.type = "";
        token.email = "payer@shop.example";
        ck_assert_int_eq(pay_store_token_create(&made, till->store, &token, unit_pool),
                         APR_SUCCESS);
    }
}

START_TEST(test_clean)
{
    ck_assert_int_eq(till_faults(NULL), 0);
    fill();
    till_check_clean();
}
END_TEST

START_TEST(test_more_than_one_part)
{
    pay_store_key_t key;
    int i, n;

    for (n = 0; n < PAY_STORE_CHECK_ROWS_MAX; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            (void)till_open(i, apr_psprintf(unit_pool, "order-%d", n), 1000);
        }
    }
    till_check_clean();
    /* The last row of the last scope is reached. */
    pay_store_key_of_scope(&key, &till->scopes[0]);
    pay_store_key_u64(&key, PAY_STORE_CHECK_ROWS_MAX);
    till_plant(PAY_TABLE_CHARGE, &key, "\xff", 1);
    ck_assert_int_eq(till_faults("charge "), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, "charge "));
}
END_TEST

typedef enum spoil_t {
    SPOIL_SCOPE_ROW,
    SPOIL_SCOPE_ACCOUNT,
    SPOIL_SCOPE_KEY,
    SPOIL_SCOPE_IMPORT
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"a scope row does not decode", SPOIL_SCOPE_ROW, 1, "scope "},
    {"a scope of no account", SPOIL_SCOPE_ACCOUNT, 1, "no such account"},
    {"a scope's key is too short", SPOIL_SCOPE_KEY, 1, "wrong length"},
    {"an import number that was never given", SPOIL_SCOPE_IMPORT, 1, "never given"},
};

static const pay_scope_t nobody = {9999, PAY_LIVE};

static int bad_import(pay_rows_txn_t *txn, void *baton)
{
    pay_store_scope_t row;
    int rc;

    (void)baton;
    rc = pay_store_scope_get(&row, txn, &till->scopes[1]);
    row.import_open = row.import_given + 1;
    return rc ? rc : pay_store_scope_put(txn, &till->scopes[1], &row, unit_pool);
}

static void spoil(spoil_t how)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    if (how == SPOIL_SCOPE_IMPORT) {
        till_raw(bad_import, NULL);
    } else if (how == SPOIL_SCOPE_ROW) {
        pay_store_key_scope(&key, &till->scopes[1]);
        till_plant(PAY_TABLE_SCOPE, &key, "\xff", 1);
    } else if (how == SPOIL_SCOPE_KEY) {
        pay_store_key_u32(&key, 1);
        till_plant(PAY_TABLE_SCOPE, &key, "\xff", 1);
    } else {
        pay_store_key_scope(&key, &nobody);
        till_plant(PAY_TABLE_SCOPE, &key, "\x01\x00", 2); /* no field: all are zero */
    }
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    int faults;

    spoil(spoil_cases[_i].how);
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults, among them: %s", name, faults,
                  till_fault);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: told '%s'", name,
                  till_fault);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_clean);
    tcase_add_test(tcase, test_more_than_one_part);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
