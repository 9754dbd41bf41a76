/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/check/check.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/payment/total.h"

#include <pthread.h>

#define STEP PAY_TOTAL_STEP

/* Two charges, one of which failed, and one refund in scope 1; others have similar ones. */
static void fill(void)
{
    pay_charge_t *charge;
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "paid", 1000);
        charge = till_open(i, "declined", 500);
        (void)till_resolve(&charge, i, charge->seq, PAY_OUTCOME_DECLINED);
        refund = till_refund(i, "paid", 400, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
}

typedef enum spoil_t {
    SPOIL_NOTHING,
    SPOIL_GONE,
    SPOIL_CHARGE_MORE,
    SPOIL_FEE_MORE,
    SPOIL_REFUND_LESS,
    SPOIL_OTHER_CURRENCY,
    SPOIL_OTHER_STEP,
    SPOIL_OTHER_IMPORT,
    SPOIL_OTHER_ACCOUNT,
    SPOIL_ROW,
    SPOIL_KEY_SHORT,
    SPOIL_FIRST_TIME,
    SPOIL_LAST_TIME,
    SPOIL_ENTRY_GONE,
    SPOIL_ENTRY_EXTRA,
    SPOIL_ENTRY_SHORT,
    SPOIL_ENTRY_TINY,
    SPOIL_ENTRY_VALUE
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"nothing", SPOIL_NOTHING, 0, ""},
    {"the row is gone", SPOIL_GONE, 1, "NGN: there is no row, but there are 1 charges of 10.00, 1"},
    {"a charge with a fee too many", SPOIL_FEE_MORE, 1,
     "1 refunds of 4.00, fees of 0.07, but there are 1 charges of 10.00"},
    {"a charge too many", SPOIL_CHARGE_MORE, 1,
     "stored as 2 charges of 11.11, 1 failed, 1 refunds"},
    {"a refund too few", SPOIL_REFUND_LESS, 1,
     "1 refunds of 4.00, but there are 1 charges of 10.00, 1 failed, 2 ref"},
    {"a row in another currency", SPOIL_OTHER_CURRENCY, 1, "EUR: stored as 1 charges of 1.11"},
    {"a row of another step", SPOIL_OTHER_STEP, 1, "but there are 0 charges of 0.00, 0 failed"},
    {"a row of no import", SPOIL_OTHER_IMPORT, 2, "of an unknown import"},
    {"a row of no account", SPOIL_OTHER_ACCOUNT, 2, "there is no such account"},
    {"the row does not decode", SPOIL_ROW, 1, "the row does not decode"},
    {"a key that is too short", SPOIL_KEY_SHORT, 1, "the row does not decode"},
    {"a refund at the first time of all", SPOIL_FIRST_TIME, 1, "refund "},
    {"a total at the last time of all", SPOIL_LAST_TIME, 1, "the row does not decode"},
    {"no entry by time", SPOIL_ENTRY_GONE, 2, "the list by time does not lead to it"},
    {"an entry of no charge", SPOIL_ENTRY_EXTRA, 1, "leads to no charge of that time"},
    {"an entry's key is too short", SPOIL_ENTRY_SHORT, 1, "leads to no charge of that time"},
    {"an entry's key has no time", SPOIL_ENTRY_TINY, 1, "leads to no charge of that time"},
    {"an entry with a value", SPOIL_ENTRY_VALUE, 1, "leads to no charge of that time"},
};

typedef struct change_t {
    pay_charge_t charge;
    pay_refund_t refund;
    int count; /* of the charge; of the refund if the charge has no amount */
} change_t;

static int change_total(pay_rows_txn_t *txn, void *baton)
{
    const change_t *change = baton;

    if (change->charge.money.amount_minor) {
        return pay_store_total_charge(txn, &change->charge, change->count, unit_pool);
    }
    return pay_store_total_refund(txn, &change->refund, change->count, unit_pool);
}

static void spoil_total(spoil_t how)
{
    change_t change = {
        .charge = {.scope = till->scopes[1],
                   .state = PAY_CHARGE_SUCCESSFUL,
                   .created_at = TILL_NOW,
                   .money = {111, "NGN"}},
        .refund = {.scope = till->scopes[1], .created_at = TILL_NOW, .money = {111, "NGN"}},
        .count = 1};

    if (how == SPOIL_OTHER_CURRENCY) {
        memcpy(change.charge.money.currency, "EUR", sizeof(change.charge.money.currency));
    } else if (how == SPOIL_FEE_MORE) {
        change.charge.fee_minor = 7;
    } else if (how == SPOIL_OTHER_STEP) {
        change.charge.created_at += STEP;
    } else if (how == SPOIL_OTHER_ACCOUNT) {
        change.charge.scope.account = 9999;
    } else if (how == SPOIL_OTHER_IMPORT) {
        change.charge.money.amount_minor = 0;
        change.refund.import_number = 7;
    } else if (how == SPOIL_REFUND_LESS) {
        change.charge.money.amount_minor = 0;
        change.count = -1;
    }
    till_raw(change_total, &change);
}

/* Another table's row, or an invalid one. */
static void spoil_row(spoil_t how)
{
    pay_store_total_t total = {.scope = till->scopes[1],
                               .total = {.from = pay_total_step(TILL_NOW), .currency = "NGN"}};
    pay_store_key_t key, entry;

    pay_store_charge_time_key(&entry, &till->scopes[1], TILL_NOW, 1);
    total.total.from = how == SPOIL_LAST_TIME ? APR_INT64_MAX : total.total.from;
    pay_store_total_key(&key, &total);
    switch (how) {
    case SPOIL_GONE:
        till_plant(PAY_TABLE_TOTAL, &key, NULL, 0);
        break;
    case SPOIL_KEY_SHORT:
        key.len--;
        till_plant(PAY_TABLE_TOTAL, &key, "x", 1);
        break;
    case SPOIL_FIRST_TIME:
        pay_store_refund_key(&key, &till->scopes[1], APR_INT64_MIN, 1);
        till_plant(PAY_TABLE_REFUND, &key, "x", 1);
        break;
    case SPOIL_ENTRY_GONE:
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &entry, NULL, 0);
        break;
    case SPOIL_ENTRY_EXTRA:
        pay_store_charge_time_key(&entry, &till->scopes[1], TILL_NOW, 99);
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &entry, "", 0);
        break;
    case SPOIL_ENTRY_SHORT:
        entry.len--;
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &entry, "", 0);
        break;
    case SPOIL_ENTRY_TINY:
        entry.len = 3;
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &entry, "", 0);
        break;
    case SPOIL_ENTRY_VALUE:
        till_plant(PAY_TABLE_CHARGE_BY_TIME, &entry, "x", 1);
        break;
    default: /* SPOIL_ROW, SPOIL_LAST_TIME */
        till_plant(PAY_TABLE_TOTAL, &key, "\xff", 1);
    }
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    spoil_t how = spoil_cases[_i].how;
    int faults;

    fill();
    till_check_clean();
    if (how == SPOIL_REFUND_LESS) { /* take_away needs the existing sum */
        pay_refund_t *refund = till_refund(1, "paid", 111, PAY_REFUND_OPENED);

        (void)till_refund_resolve(&refund, 1, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
    if (how >= SPOIL_CHARGE_MORE && how <= SPOIL_OTHER_ACCOUNT) {
        spoil_total(how);
    } else if (how != SPOIL_NOTHING) {
        spoil_row(how);
    }
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults, among them: %s", name, faults,
                  till_fault);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: told '%s'", name,
                  till_fault);
}
END_TEST

/* More steps than one part examines, in every scope, and a fault in the last one. */
START_TEST(test_more_than_one_part)
{
    pay_charge_t charge = {.state = PAY_CHARGE_FAILED, .money = {1, "NGN"}};
    change_t change = {.count = 1};
    int i, n;

    for (n = 0; n < PAY_STORE_CHECK_ROWS_MAX + 1; n++) {
        till_clock = TILL_NOW + n * STEP;
        for (i = 0; i < TILL_SCOPES; i++) {
            if (n % 100 == 0 || n == PAY_STORE_CHECK_ROWS_MAX) {
                (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", n), 100);
            } else {
                (void)till_open(i, apr_psprintf(unit_pool, "order-%d", n), 100);
            }
        }
    }
    till_check_clean();
    charge.scope = till->scopes[0]; /* the last one in the order of keys */
    charge.created_at = till_clock;
    change.charge = charge;
    till_raw(change_total, &change);
    ck_assert_int_eq(till_faults("1 charges of 1.00, 1 failed"), 1);
    ck_assert_ptr_nonnull(strstr(till_fault, "1 charges of 1.00, 1 failed"));
}
END_TEST

#define WRITER_CHARGES 600

static void *write_on(void *data)
{
    int *stop = data;
    pay_charge_t *charge;
    pay_claim_t claim;
    apr_pool_t *pool;
    int n, changed, failed = 0;

    apr_pool_create(&pool, NULL);
    for (n = 0; n < WRITER_CHARGES && !failed; n++) {
        pay_charge_t proposal = {.scope = till->scopes[n % TILL_SCOPES],
                                 .token = "tok",
                                 .card = {.issuer = "", .country = "", .type = ""},
                                 .money = {5, "NGN"},
                                 .email = "",
                                 .first_name = "",
                                 .last_name = "",
                                 .request_ip = "",
                                 .acquirer = "",
                                 .key_id = "",
                                 .due_at = TILL_NOW};

        proposal.reference = apr_psprintf(pool, "written-%d", n);
        failed =
            pay_store_charge_open(&charge, &claim, till->store, &proposal, NULL, NULL, pool)
            || pay_store_charge_resolve(&charge, &changed, till->store, &proposal.scope,
                                        charge->seq, till_outcome(PAY_OUTCOME_APPROVED), 0, pool);
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
    return failed ? stop : NULL;
}

/* A store in use shows no false fault: each step is counted and compared in one view. */
START_TEST(test_in_use)
{
    pthread_t writer;
    void *failed;
    int stop = 0, runs = 0;

    fill();
    ck_assert_int_eq(pthread_create(&writer, NULL, write_on, &stop), 0);
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        till_check_clean();
        runs++;
    }
    ck_assert_int_eq(pthread_join(writer, &failed), 0);
    ck_assert_ptr_null(failed);
    ck_assert_int_gt(runs, 0);
    till_check_clean();
}
END_TEST

/* Keys after all that any step can have: the check reports them, and ends. */
START_TEST(test_last_keys)
{
    static const pay_table_t tables[] = {PAY_TABLE_CHARGE_BY_TIME, PAY_TABLE_REFUND,
                                         PAY_TABLE_TOTAL};
    pay_store_key_t key;
    int i;

    pay_store_key_start(&key);
    memset(key.bytes, 0xff, sizeof(key.bytes));
    for (i = 0; i < UNIT_ROWS(tables); i++) {
        key.len = sizeof(key.bytes);
        till_plant(tables[i], &key, "x", 1);
        pay_store_key_of_scope(&key, &till->scopes[i]);
        pay_store_key_time(&key, pay_total_step(TILL_NOW) + PAY_TOTAL_STEP - 1);
        memset(key.bytes + key.len, 0xff, sizeof(key.bytes) - key.len);
        key.len = sizeof(key.bytes);
        till_plant(tables[i], &key, "x", 1);
        memset(key.bytes, 0xff, sizeof(key.bytes));
    }
    ck_assert_int_ge(till_faults(NULL), 2 * UNIT_ROWS(tables));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
    tcase_add_test(tcase, test_more_than_one_part);
    tcase_add_test(tcase, test_last_keys);
    tcase_add_test(tcase, test_in_use);
}

UNIT_PROGRAM(add)
