/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/idempotency.h"

#define END (TILL_NOW + PAY_IDEMPOTENCY_KEEP)

static const pay_idempotency_t *charge_use(void)
{
    return till_use(PAY_OPERATION_CHARGE, "key-1", "a");
}

static const pay_idempotency_t *refund_use(void)
{
    return till_use(PAY_OPERATION_REFUND, "key-1", "a");
}

static const pay_idempotency_t *text_use(void)
{
    return till_use(PAY_OPERATION_VOID, "key-1", "a");
}

/* A charge, a refund and a text under keys in each scope. */
static void fill(void)
{
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_claim_t claim;
    pay_idempotency_record_t *record;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                               till_proposal(i, "order-1", 1000), NULL,
                                               charge_use(), unit_pool),
                         APR_SUCCESS);
        (void)till_resolve(&charge, i, 1, PAY_OUTCOME_APPROVED);
        ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                               till_refund_proposal(i, "order-1", 100),
                                               refund_use(), 0, unit_pool),
                         APR_SUCCESS);
        ck_assert_ptr_nonnull(refund);
        ck_assert_int_eq(pay_store_idempotency_put(&record, till->store, &till->scopes[i],
                                                   text_use(), "{}", unit_pool),
                         APR_SUCCESS);
    }
    till_check_clean();
}

typedef struct rewrite_t {
    int i;
    const pay_idempotency_t *use;
    pay_store_idempotency_t record;
} rewrite_t;

static int rewrite_work(pay_rows_txn_t *txn, void *baton)
{
    rewrite_t *rewrite = baton;
    pay_store_key_t key;
    void *before;
    pay_bytes_t at;
    int rc;

    till_idempotency_key(&key, rewrite->i, rewrite->use);
    at = pay_store_key_val(&key);
    rc = pay_store_idempotency_record.load(&before, txn, &at, unit_pool);
    return pay_store_idempotency_write(txn, &at, rc ? NULL : before, &rewrite->record, unit_pool);
}

/* The row is written again as a charge's or refund's of this number. */
static void lead_to(int i, const pay_idempotency_t *use, pay_store_idempotency_what_t what,
                    apr_uint64_t seq)
{
    rewrite_t rewrite = {.i = i, .use = use};

    rewrite.record.what = what;
    rewrite.record.seq = seq;
    rewrite.record.refund_created_at = TILL_NOW;
    rewrite.record.created_at = TILL_NOW;
    rewrite.record.due_at = what == PAY_IDEMPOTENCY_REFUND ? 0 : END;
    till_raw(rewrite_work, &rewrite);
}

static void plant_due(int i, const pay_idempotency_t *use, apr_time_t due_at, const char *bytes)
{
    pay_store_key_t record, due;
    pay_bytes_t at;

    till_idempotency_key(&record, i, use);
    at = pay_store_key_val(&record);
    pay_store_idempotency_due_key(&due, due_at, &at);
    till_plant(PAY_TABLE_IDEMPOTENCY_DUE, &due, bytes, 0);
}

static void spoil_row(int i)
{
    pay_store_key_t key;

    till_idempotency_key(&key, i, text_use());
    till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
}

static void spoil_key(int i, size_t at, unsigned char byte)
{
    pay_store_key_t key;

    till_idempotency_key(&key, i, text_use());
    if (at < key.len) {
        key.bytes[at] = byte;
    } else {
        key.len--;
    }
    till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
}

static void spoil_key_length(int i)
{
    spoil_key(i, PAY_STORE_IDEMPOTENCY_KEY_LEN, 0);
}

static void spoil_kind(int i)
{
    spoil_key(i, PAY_STORE_SCOPE_LEN, PAY_KEY_PUBLIC + 1);
}

static void spoil_operation(int i)
{
    spoil_key(i, PAY_STORE_SCOPE_LEN + 1, PAY_OPERATION_ORDER + 1);
}

static void spoil_no_operation(int i)
{
    spoil_key(i, PAY_STORE_SCOPE_LEN + 1, 0);
}

static void spoil_account(int i)
{
    spoil_key(i, 0, 0x77); /* reported beside the row, which does not decode */
}

static void spoil_charge_gone(int i)
{
    lead_to(i, charge_use(), PAY_IDEMPOTENCY_CHARGE, 99);
}

static void spoil_another_charge(int i)
{
    (void)till_open(i, "order-2", 1000);
    lead_to(i, charge_use(), PAY_IDEMPOTENCY_CHARGE, 2);
}

static void spoil_charge_under_a_refund(int i)
{
    lead_to(i, till_use(PAY_OPERATION_PARTIAL_REFUND, "key-1", "a"), PAY_IDEMPOTENCY_CHARGE, 1);
}

static void spoil_refund_gone(int i)
{
    lead_to(i, refund_use(), PAY_IDEMPOTENCY_REFUND, 99);
}

static void spoil_no_entry(int i)
{
    plant_due(i, text_use(), END, NULL);
}

static void spoil_two_entries(int i)
{
    plant_due(i, text_use(), END + 1, "");
}

static void spoil_entry_of_a_refund(int i)
{
    plant_due(i, refund_use(), END, "");
}

static void spoil_entry_of_nothing(int i)
{
    plant_due(i, till_use(PAY_OPERATION_VOID, "key-9", "a"), END, "");
}

static void spoil_entry_length(int i)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    pay_store_key_time(&key, END);
    pay_store_key_scope(&key, &till->scopes[i]);
    till_plant(PAY_TABLE_IDEMPOTENCY_DUE, &key, "", 0);
}

static const struct {
    const char *name;
    void (*spoil)(int i);
    int want;
    const char *told;
} cases[] = {
    {"a row that does not decode", spoil_row, 1, "kept "},
    {"a key of a wrong length", spoil_key_length, 1, "malformed"},
    {"a kind that is none", spoil_kind, 1, "malformed"},
    {"an operation that is none", spoil_operation, 1, "malformed"},
    {"no operation", spoil_no_operation, 1, "malformed"},
    {"an account that is none", spoil_account, 2, "no such account"},
    {"a charge that is gone", spoil_charge_gone, 1, "leads to no charge"},
    {"another charge", spoil_another_charge, 1, "leads to no charge"},
    {"a charge under a refund's key", spoil_charge_under_a_refund, 1, "leads to no charge"},
    {"a refund that is gone", spoil_refund_gone, 1, "leads to no refund"},
    {"no entry", spoil_no_entry, 1, "nothing will remove it"},
    {"two entries", spoil_two_entries, 1, "ends at another time"},
    {"an entry of a refund", spoil_entry_of_a_refund, 1, "ends at another time"},
    {"an entry of nothing", spoil_entry_of_nothing, 1, "no idempotency record"},
    {"an entry of a wrong length", spoil_entry_length, 1, "wrong length"},
};

START_TEST(test_spoiled)
{
    const char *name = cases[_i].name;
    int i, faults;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(till_faults(NULL), 0);
    }
    fill();
    cases[_i].spoil(_i % TILL_SCOPES);
    faults = till_faults(cases[_i].told);
    ck_assert_msg(faults == cases[_i].want, "%s: %d faults, among them: %s", name, faults,
                  till_fault);
    ck_assert_msg(strstr(till_fault, cases[_i].told) != NULL, "%s: told '%s'", name, till_fault);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(cases));
}

UNIT_PROGRAM(add)
