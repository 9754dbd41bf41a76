/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/record/scope.h"

/* Damage to the row of charge "partly": 1,000, of which 300 are refunded and 200 pending. */
typedef enum spoil_t {
    SPOIL_ROW,
    SPOIL_KEY_LENGTH,
    SPOIL_REF_GONE,
    SPOIL_REF_OTHER,
    SPOIL_REF_EXTRA,
    SPOIL_REF_SHORT,
    SPOIL_REFUNDED,
    SPOIL_PENDING,
    SPOIL_NOT_AT_ACQUIRER,
    SPOIL_OTHER_AT_ACQUIRER,
    SPOIL_AMOUNT,
    SPOIL_REVERSED,
    SPOIL_SUCCESSFUL,
    SPOIL_DECIDED,
    SPOIL_FEE,
    SPOIL_STATE_PENDING,
    SPOIL_VOID,
    SPOIL_KEY_ID,
    SPOIL_SCOPE
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"the row does not decode", SPOIL_ROW, 1, "the row does not decode"},
    {"a key of a wrong length", SPOIL_KEY_LENGTH, 1, "wrong length"},
    {"its reference is gone", SPOIL_REF_GONE, 1, "its reference does not lead to it"},
    {"its reference leads elsewhere", SPOIL_REF_OTHER, 2, "charge_ref"},
    {"a reference of no charge", SPOIL_REF_EXTRA, 1, "leads to no charge"},
    {"a reference's row is too short", SPOIL_REF_SHORT, 1, "leads to no charge"},
    {"refunded is another sum", SPOIL_REFUNDED, 1, "processed refunds come to 300"},
    {"pending is another sum", SPOIL_PENDING, 1, "pending refunds come to 200"},
    {"no refund at the acquirer", SPOIL_NOT_AT_ACQUIRER, 1,
     "refund 0 is said to be at the acquirer"},
    {"another one at the acquirer", SPOIL_OTHER_AT_ACQUIRER, 1, "the last of them 2"},
    {"refunds exceed the amount", SPOIL_AMOUNT, 2, "exceed its amount"},
    {"reversed too early", SPOIL_REVERSED, 1, "its refunds contradict"},
    {"successful though all is back", SPOIL_SUCCESSFUL, 3, "exceed its amount"},
    {"decided otherwise", SPOIL_DECIDED, 1, "was decided failed"},
    {"a fee, and decided otherwise", SPOIL_FEE, 3, "it has a fee but was not approved"},
    {"pending without an entry", SPOIL_STATE_PENDING, 3, "nothing will query it"},
    {"void, but decided", SPOIL_VOID, 2, "it is void but was decided successful"},
    {"a key id that is not known", SPOIL_KEY_ID, 1, "no key has the id key_gone"},
    {"a number that was never given", SPOIL_SCOPE, 1, "never gave this number"},
};

typedef struct change_t {
    spoil_t how;
    int i;
} change_t;

/* The row alone: its indexes stay as they are. */
static int change_row(pay_rows_txn_t *txn, void *baton)
{
    const change_t *change = baton;
    pay_charge_t *charge;
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    rc = pay_store_charge_get(&charge, txn, &till->scopes[change->i], 1, unit_pool);
    ck_assert_int_eq(rc, 0);
    switch (change->how) {
    case SPOIL_REFUNDED:
        charge->refunded_minor++;
        break;
    case SPOIL_PENDING:
        charge->refunds_pending_minor--;
        break;
    case SPOIL_NOT_AT_ACQUIRER:
        charge->refund_at_acquirer = 0;
        break;
    case SPOIL_OTHER_AT_ACQUIRER:
        charge->refund_at_acquirer--;
        break;
    case SPOIL_AMOUNT:
        charge->money.amount_minor = 499;
        break;
    case SPOIL_REVERSED:
        charge->state = PAY_CHARGE_REVERSED;
        break;
    case SPOIL_SUCCESSFUL:
        charge->money.amount_minor = 300;
        break;
    case SPOIL_DECIDED:
        charge->decided_state = PAY_CHARGE_FAILED;
        break;
    case SPOIL_FEE:
        charge->decided_state = PAY_CHARGE_FAILED;
        charge->fee_minor = 5;
        break;
    case SPOIL_STATE_PENDING:
        charge->state = PAY_CHARGE_PENDING;
        break;
    case SPOIL_VOID:
        charge->state = PAY_CHARGE_VOID;
        break;
    default:
        charge->key_id = "key_gone";
    }
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_store_charge_encode(&val, charge, unit_pool), 0);
    return pay_rows_put(txn, PAY_TABLE_CHARGE, &at, &val, 0);
}

static int change_scope(pay_rows_txn_t *txn, void *baton)
{
    const pay_scope_t *scope = &till->scopes[((change_t *)baton)->i];
    pay_store_scope_t row;
    int rc;

    rc = pay_store_scope_get(&row, txn, scope);
    row.charge_seq = 1;
    return rc ? rc : pay_store_scope_put(txn, scope, &row, unit_pool);
}

static void spoil_ref(spoil_t how, int i)
{
    static const unsigned char two[8] = {0, 0, 0, 0, 0, 0, 0, 2};
    pay_store_key_t key;

    ck_assert(pay_store_charge_ref_key(&key, &till->scopes[i],
                                       how == SPOIL_REF_EXTRA ? "nothing" : "partly"));
    switch (how) {
    case SPOIL_REF_GONE:
        till_plant(PAY_TABLE_CHARGE_REF, &key, NULL, 0);
        return;
    case SPOIL_REF_SHORT:
        ck_assert(pay_store_charge_ref_key(&key, &till->scopes[i], "short"));
        till_plant(PAY_TABLE_CHARGE_REF, &key, two, 7);
        return;
    default:
        till_plant(PAY_TABLE_CHARGE_REF, &key, two, sizeof(two));
    }
}

static void spoil(spoil_t how, int i)
{
    change_t change = {how, i};
    pay_store_key_t key;

    switch (how) {
    case SPOIL_ROW:
        pay_store_charge_key(&key, &till->scopes[i], 2);
        till_plant(PAY_TABLE_CHARGE, &key, "\xff", 1);
        return;
    case SPOIL_KEY_LENGTH:
        pay_store_charge_key(&key, &till->scopes[i], 1);
        (void)pay_store_key_bytes(&key, "x", 1);
        till_plant(PAY_TABLE_CHARGE, &key, "\xff", 1);
        return;
    case SPOIL_REF_GONE:
    case SPOIL_REF_OTHER:
    case SPOIL_REF_EXTRA:
    case SPOIL_REF_SHORT:
        spoil_ref(how, i);
        return;
    case SPOIL_SCOPE:
        till_raw(change_scope, &change);
        return;
    default:
        till_raw(change_row, &change);
    }
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    pay_refund_t *refund;
    int i, faults;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "partly", 1000);
        (void)till_charge(i, "other", 1000);
        refund = till_refund(i, "partly", 300, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        (void)till_refund(i, "partly", 200, PAY_REFUND_OPENED);
    }
    till_check_clean();
    spoil(spoil_cases[_i].how, _i % TILL_SCOPES);
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
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
