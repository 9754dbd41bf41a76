/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/refund.h"
#include "store/record/scope.h"

/* Damage to refund rfd_N (seq 1, processed) of charge "order-1" (seq 1) of its scope. */
typedef enum spoil_t {
    SPOIL_ROW,
    SPOIL_REF_GONE,
    SPOIL_ID_GONE,
    SPOIL_BY_CHARGE_GONE,
    SPOIL_REF_OTHER,
    SPOIL_ID_DANGLING,
    SPOIL_BY_CHARGE_DANGLING,
    SPOIL_REPEAT_GONE,
    SPOIL_REPEAT_OTHER,
    SPOIL_FAILED,
    SPOIL_NO_CHARGE,
    SPOIL_CHARGE_UNKNOWN,
    SPOIL_KEY_ID,
    SPOIL_IMPORT,
    SPOIL_SCOPE,
    SPOIL_PENDING
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"the row does not decode", SPOIL_ROW, 2, "the row does not decode"}, /* and the charge's sum */
    {"its reference is gone", SPOIL_REF_GONE, 1, "refund_ref does not lead to it"},
    {"its id is gone", SPOIL_ID_GONE, 1, "refund_id does not lead to it"},
    {"its charge does not name it", SPOIL_BY_CHARGE_GONE, 2, "refund_by_charge does not lead"},
    {"its reference leads elsewhere", SPOIL_REF_OTHER, 2, "leads to no refund of that name"},
    {"an id of no refund", SPOIL_ID_DANGLING, 1, "leads to no refund of that name"},
    {"a charge's entry of no refund", SPOIL_BY_CHARGE_DANGLING, 1,
     "leads to no refund of that charge"},
    {"repetitions are not known", SPOIL_REPEAT_GONE, 1, "refund_repeat does not lead to it"},
    {"another one's repetitions", SPOIL_REPEAT_OTHER, 2, "leads to no refund that could be"},
    {"failed, but could be repeated", SPOIL_FAILED, 3, "leads to no refund that could be"},
    {"of no charge", SPOIL_NO_CHARGE, 3, "of no charge"},
    {"of a charge that is not there", SPOIL_CHARGE_UNKNOWN, 5, "its charge is not there"},
    {"a key id that is not known", SPOIL_KEY_ID, 1, "no key has the id key_gone"},
    {"an import that is not known", SPOIL_IMPORT, 4, "of an unknown import"},
    {"a number that was never given", SPOIL_SCOPE, 2, "never gave this number"},
    {"pending without an entry", SPOIL_PENDING, 5, "nothing will query it"},
};

static pay_store_key_t own_key(int i)
{
    pay_store_key_t key;

    pay_store_refund_key(&key, &till->scopes[i], TILL_NOW, 1);
    return key;
}

typedef struct change_t {
    spoil_t how;
    int i;
} change_t;

/* The row alone: its indexes stay as they are. */
static int change_row(pay_rows_txn_t *txn, void *baton)
{
    const change_t *change = baton;
    pay_store_key_t key = own_key(change->i);
    pay_bytes_t at = pay_store_key_val(&key);
    pay_store_refund_t *row;
    pay_bytes_t val;

    ck_assert_int_eq(pay_store_refund_get(&row, txn, &at, unit_pool), 0);
    switch (change->how) {
    case SPOIL_NO_CHARGE:
        row->refund.charge_seq = 0;
        break;
    case SPOIL_CHARGE_UNKNOWN:
        row->refund.charge_seq = 77;
        break;
    case SPOIL_IMPORT:
        row->refund.import_number = 77;
        break;
    case SPOIL_FAILED:
        row->refund.state = PAY_REFUND_FAILED;
        break;
    case SPOIL_PENDING:
        row->refund.state = PAY_REFUND_PENDING;
        break;
    default:
        row->refund.key_id = "key_gone";
    }
    ck_assert_int_eq(pay_store_refund_encode(
                         &val, row, pay_store_refund_text(&row->refund, unit_pool), unit_pool),
                     0);
    return pay_rows_put(txn, PAY_TABLE_REFUND, &at, &val, 0);
}

static int change_scope(pay_rows_txn_t *txn, void *baton)
{
    const pay_scope_t *scope = &till->scopes[((change_t *)baton)->i];
    pay_store_scope_t row;
    int rc;

    rc = pay_store_scope_get(&row, txn, scope);
    row.refund_seq = 0;
    return rc ? rc : pay_store_scope_put(txn, scope, &row, unit_pool);
}

/* Its entry is removed, or leads to the scope's other refund. */
static int spoil_repeat(pay_rows_txn_t *txn, void *baton)
{
    const change_t *change = baton;
    pay_store_key_t key = own_key(change->i), index, other;
    pay_bytes_t at = pay_store_key_val(&key), val;
    pay_store_refund_t *row;

    ck_assert_int_eq(pay_store_refund_get(&row, txn, &at, unit_pool), 0);
    ck_assert_int_eq(pay_store_refund_repeat_key(&index, &row->refund), 0);
    at = pay_store_key_val(&index);
    if (change->how == SPOIL_REPEAT_GONE) {
        return pay_rows_del(txn, PAY_TABLE_REFUND_REPEAT, &at);
    }
    pay_store_refund_key(&other, &till->scopes[change->i], TILL_NOW, 2);
    val = pay_store_key_val(&other);
    return pay_rows_put(txn, PAY_TABLE_REFUND_REPEAT, &at, &val, 0);
}

static void spoil_index(spoil_t how, int i, const char *name)
{
    const pay_scope_t *scope = &till->scopes[i];
    pay_store_key_t key, other;

    pay_store_refund_key(&other, scope, TILL_NOW, how == SPOIL_REF_OTHER ? 2 : 99);
    switch (how) {
    case SPOIL_REF_GONE:
        ck_assert(pay_store_refund_name_key(&key, scope, name));
        till_plant(PAY_TABLE_REFUND_REF, &key, NULL, 0);
        return;
    case SPOIL_REF_OTHER:
        ck_assert(pay_store_refund_name_key(&key, scope, name));
        till_plant(PAY_TABLE_REFUND_REF, &key, other.bytes, other.len);
        return;
    case SPOIL_ID_GONE:
        ck_assert(
            pay_store_refund_name_key(&key, scope, apr_pstrcat(unit_pool, "ref", name + 3, NULL)));
        till_plant(PAY_TABLE_REFUND_ID, &key, NULL, 0);
        return;
    case SPOIL_ID_DANGLING:
        ck_assert(pay_store_refund_name_key(&key, scope, "nothing"));
        till_plant(PAY_TABLE_REFUND_ID, &key, other.bytes, other.len);
        return;
    case SPOIL_BY_CHARGE_GONE:
        pay_store_refund_by_charge_key(&key, scope, 1, 1);
        till_plant(PAY_TABLE_REFUND_BY_CHARGE, &key, NULL, 0);
        return;
    default:
        pay_store_refund_by_charge_key(&key, scope, 2, 99);
        till_plant(PAY_TABLE_REFUND_BY_CHARGE, &key, other.bytes, other.len);
    }
}

static void spoil(spoil_t how, int i, const char *name)
{
    change_t change = {how, i};
    pay_store_key_t key = own_key(i);

    switch (how) {
    case SPOIL_ROW:
        till_plant(PAY_TABLE_REFUND, &key, "{}", 2);
        return;
    case SPOIL_REF_GONE:
    case SPOIL_ID_GONE:
    case SPOIL_BY_CHARGE_GONE:
    case SPOIL_REF_OTHER:
    case SPOIL_ID_DANGLING:
    case SPOIL_BY_CHARGE_DANGLING:
        spoil_index(how, i, name);
        return;
    case SPOIL_REPEAT_GONE:
    case SPOIL_REPEAT_OTHER:
        till_raw(spoil_repeat, &change);
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
    const char *names[TILL_SCOPES];
    pay_refund_t *refund;
    int i, faults;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        (void)till_charge(i, "order-2", 1000);
        refund = till_refund(i, "order-1", 300, PAY_REFUND_OPENED);
        names[i] = refund->refund_reference;
        (void)till_refund_resolve(&refund, i, names[i], PAY_OUTCOME_APPROVED);
        (void)till_refund(i, "order-2", 200, PAY_REFUND_OPENED);
    }
    till_check_clean();
    i = _i % TILL_SCOPES;
    spoil(spoil_cases[_i].how, i, names[i]);
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
