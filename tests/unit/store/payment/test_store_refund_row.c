/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/refund.h"

#include <errno.h>

static pay_store_refund_t *record_of(int i)
{
    pay_store_refund_t *row = apr_pcalloc(unit_pool, sizeof(*row));

    row->refund = *till_refund_proposal(i, "order-1", 1050);
    row->refund.customer_note = "line one\nline \"two\" \xc3\xa9";
    row->refund.created_at = TILL_NOW;
    row->refund.updated_at = TILL_NOW + 1000;
    row->refund.seq = 9;
    row->refund.charge_seq = 3;
    row->refund.import_number = 4;
    row->refund.worker = (pay_worker_t){1, 2, 3};
    row->refund.send_before_ms = 5;
    row->refund.wait_until_ms = 6;
    row->refund.wait_until_at = 15;
    row->refund.attempts = 7;
    row->refund.decided_at = 8;
    row->refund.waiting = 1;
    row->refund.tag = "tag-of-the-refund";
    row->refund.acquirer_reference = "rfd_elsewhere";
    row->refund.absent_since = 10;
    row->refund.absent_from = (pay_moment_t){11, 12};
    row->refund.opened = (pay_moment_t){13, 14};
    row->refund.held = PAY_HELD_DIFFERENT;
    row->refund.resolution = "seen in the acquirer's books";
    row->refund.acquirer_charge = "";
    row->refund.asked_digest = "0123456789abcdef0123456789abcdef";
    row->contradiction = "declined 05: no";
    return row;
}

static int insert_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_refund_t *row;
    int i, rc = 0;

    (void)baton;
    for (i = 0; i < TILL_SCOPES && !rc; i++) {
        row = record_of(i);
        rc = pay_store_refund_insert(txn, row, pay_store_refund_text(&row->refund, unit_pool),
                                     unit_pool);
    }
    return rc;
}

static void check_same(const pay_store_refund_t *got, int i)
{
    pay_store_refund_t *want = record_of(i);

    ck_assert_str_eq(got->refund.customer_note, want->refund.customer_note);
    ck_assert_ptr_null(got->refund.merchant_note);
    ck_assert_str_eq(got->refund.channel, "API");
    ck_assert_str_eq(got->refund.transaction_reference, "order-1");
    ck_assert(got->refund.money.amount_minor == 1050);
    ck_assert_str_eq(got->refund.money.currency, "NGN");
    ck_assert(got->refund.created_at == TILL_NOW && got->refund.updated_at == TILL_NOW + 1000);
    ck_assert_uint_eq(got->refund.scope.account, till->scopes[i].account);
    ck_assert_int_eq(got->refund.scope.mode, till->scopes[i].mode);
    ck_assert(got->refund.seq == 9 && got->refund.charge_seq == 3);
    ck_assert_uint_eq(got->refund.import_number, 4);
    ck_assert_str_eq(got->refund.acquirer, "simulator");
    ck_assert_str_eq(got->refund.key_id, till->key_ids[i]);
    ck_assert(got->refund.worker.pid == 1 && got->refund.worker.boot_id == 3);
    ck_assert(got->refund.waiting == 1 && got->refund.absent_since == 10);
    ck_assert(got->refund.absent_from.boot_id == 11 && got->refund.absent_from.ms == 12);
    ck_assert(got->refund.opened.boot_id == 13 && got->refund.opened.ms == 14);
    ck_assert_int_eq(got->refund.held, PAY_HELD_DIFFERENT);
    ck_assert_str_eq(got->refund.tag, "tag-of-the-refund");
    ck_assert_str_eq(got->refund.acquirer_reference, "rfd_elsewhere");
    ck_assert_str_eq(got->refund.resolution, "seen in the acquirer's books");
    ck_assert_str_eq(got->refund.acquirer_charge, "");
    ck_assert_str_eq(got->refund.asked_digest, "0123456789abcdef0123456789abcdef");
    ck_assert(got->refund.send_before_ms == 5 && got->refund.wait_until_ms == 6);
    ck_assert(got->refund.wait_until_at == 15 && got->refund.read_at == till_clock);
    ck_assert(got->refund.due_at == want->refund.due_at);
    ck_assert_uint_eq(got->refund.attempts, 7);
    ck_assert_int_eq(got->refund.decided_state, PAY_REFUND_PENDING);
    ck_assert(got->refund.decided_at == 8);
    ck_assert_str_eq(got->contradiction, "declined 05: no");
}

static int read_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_refund_t *row;
    int i, visible;

    (void)baton;
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(
            pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, &till->scopes[i],
                                      apr_psprintf(unit_pool, "rfd_%d", i + 1), unit_pool),
            0);
        check_same(row, i);
        ck_assert_int_eq(pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_ID, &till->scopes[i],
                                                   apr_psprintf(unit_pool, "ref_%d", i + 1),
                                                   unit_pool),
                         0);
        check_same(row, i);
        ck_assert_int_eq(pay_store_refund_visible(&visible, txn, &row->refund), 0);
        ck_assert_int_eq(visible, 0); /* no import was ever finished */
        ck_assert_int_eq(pay_store_refund_remove(txn, &row->refund), 0);
        ck_assert_int_eq(pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_ID, &till->scopes[i],
                                                   apr_psprintf(unit_pool, "ref_%d", i + 1),
                                                   unit_pool),
                         PAY_ROWS_NOTFOUND);
    }
    return 0;
}

static int count_work(pay_rows_txn_t *txn, void *baton)
{
    static const pay_table_t tables[] = {PAY_TABLE_REFUND, PAY_TABLE_REFUND_REF,
                                         PAY_TABLE_REFUND_ID, PAY_TABLE_REFUND_BY_CHARGE};
    MDB_stat stat;
    size_t i;

    for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        ck_assert_int_eq(mdb_stat(txn->native, pay_lmdb_dbi(tables[i]), &stat), 0);
        ck_assert_uint_eq(stat.ms_entries, *(size_t *)baton);
    }
    return 0;
}

START_TEST(test_round_trip)
{
    size_t count = TILL_SCOPES;

    till_raw(insert_work, NULL);
    till->names = 0;
    till_raw(count_work, &count);
    till_raw(read_work, NULL);
    count = 0;
    till_raw(count_work, &count);
}
END_TEST

/* A row as it is written, to be damaged. */
static pay_bytes_t encoded(void)
{
    pay_charge_t *charge = till_charge(0, "order-1", 1050);
    pay_refund_t *refund = till_refund(0, "order-1", 1050, PAY_REFUND_OPENED);
    pay_bytes_t row = {0, NULL};
    pay_rows_txn_t txn;
    pay_store_key_t key;
    pay_bytes_t at, val;

    (void)charge;
    pay_store_refund_key(&key, &refund->scope, refund->created_at, refund->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_get(&val, &txn, PAY_TABLE_REFUND, &at), 0);
    row.len = val.len;
    row.data = apr_pmemdup(unit_pool, val.data, val.len);
    pay_rows_end(&txn);
    return row;
}

typedef enum spoil_t {
    SPOIL_NOTHING,
    SPOIL_EMPTY,
    SPOIL_HEAD_ONLY,
    SPOIL_VERSION,
    SPOIL_SEQ,
    SPOIL_LENGTH,
    SPOIL_FIELDS,
    SPOIL_TEXT,
    SPOIL_CUT,
    SPOIL_STATUS,
    SPOIL_AMOUNT,
    SPOIL_TIME
} spoil_t;

static void replace(pay_bytes_t *row, const char *from, const char *to)
{
    char *at = memmem(row->data, row->len, from, strlen(from));

    ck_assert_ptr_nonnull(at);
    memcpy(at, to, strlen(to));
}

static void spoil(pay_bytes_t *row, spoil_t how)
{
    unsigned char *at = (unsigned char *)row->data; /* of a pool */

    switch (how) {
    case SPOIL_NOTHING:
        return;
    case SPOIL_EMPTY:
        row->len = 0;
        return;
    case SPOIL_HEAD_ONLY:
        row->len = PAY_STORE_REFUND_HEAD_LEN;
        return;
    case SPOIL_VERSION:
        at[0] = PAY_STORE_REFUND_VERSION + 1;
        return;
    case SPOIL_SEQ:
        at[8] ^= 1;
        return;
    case SPOIL_LENGTH:
        at[13] = 0xff;
        return;
    case SPOIL_FIELDS:
        at[PAY_STORE_REFUND_HEAD_LEN] = 0xff;
        return;
    case SPOIL_TEXT:
        at[row->len - 1] = ' ';
        return;
    case SPOIL_CUT:
        row->len -= 40;
        return;
    case SPOIL_STATUS:
        replace(row, "\"pending\"", "\"pendimg\"");
        return;
    case SPOIL_AMOUNT:
        replace(row, "\"10.50\"", "\"10.51\"");
        return;
    case SPOIL_TIME:
        replace(row, "\"createdAt\":\"2027", "\"createdAt\":\"2028");
        return;
    }
}

static const struct {
    const char *name;
    spoil_t how;
    int want;
} spoil_cases[] = {
    {"as written", SPOIL_NOTHING, 0},
    {"empty", SPOIL_EMPTY, PAY_ROWS_BAD},
    {"no text", SPOIL_HEAD_ONLY, PAY_ROWS_BAD},
    {"another version", SPOIL_VERSION, PAY_ROWS_BAD},
    {"another seq than the key's", SPOIL_SEQ, PAY_ROWS_BAD},
    {"fields beyond the row", SPOIL_LENGTH, PAY_ROWS_BAD},
    {"fields of another version", SPOIL_FIELDS, PAY_ROWS_BAD},
    {"text that is not JSON", SPOIL_TEXT, PAY_ROWS_BAD},
    {"text cut short", SPOIL_CUT, PAY_ROWS_BAD},
    {"another status in the text", SPOIL_STATUS, PAY_ROWS_BAD},
    {"another amount in the text", SPOIL_AMOUNT, PAY_ROWS_BAD},
    {"another createdAt in the text", SPOIL_TIME, PAY_ROWS_BAD},
};

START_TEST(test_spoiled_row)
{
    pay_store_refund_t *got;
    pay_bytes_t row = encoded(), at;
    pay_store_key_t key;
    int rc;

    pay_store_refund_key(&key, &till->scopes[0], TILL_NOW, 1);
    at = pay_store_key_val(&key);
    spoil(&row, spoil_cases[_i].how);
    rc = pay_store_refund_decode(&got, &at, &row, unit_pool);
    ck_assert_msg(rc == spoil_cases[_i].want, "%s: %d", spoil_cases[_i].name, rc);
    ck_assert_msg((got == NULL) == (rc != 0), "%s: out", spoil_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t amount_minor;
    const char *currency;
    int want;
} money_cases[] = {
    {"an amount", 1050, "NGN", 0},
    {"a currency alone", 0, "NGN", 0},
    {"neither", 0, "", 0},
    {"an amount alone", 1050, "", PAY_ROWS_BAD},
    {"an amount of no such currency", 1050, "XXQ", PAY_ROWS_BAD},
    {"no such currency alone", 0, "XXQ", PAY_ROWS_BAD},
    {"below 0", -1, "NGN", PAY_ROWS_BAD},
};

static int money_work(pay_rows_txn_t *txn, void *baton)
{
    int i = *(int *)baton;
    pay_store_refund_t *row = record_of(0), *got;
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    row->refund.money.amount_minor = money_cases[i].amount_minor;
    apr_cpystrn(row->refund.money.currency, money_cases[i].currency, PAY_CURRENCY_LEN + 1);
    ck_assert_int_eq(pay_store_refund_put(txn, row, unit_pool), 0);
    pay_store_refund_key(&key, &row->refund.scope, row->refund.created_at, row->refund.seq);
    at = pay_store_key_val(&key);
    rc = pay_store_refund_get(&got, txn, &at, unit_pool);
    ck_assert_msg(rc == money_cases[i].want, "%s: %d", money_cases[i].name, rc);
    return 0;
}

START_TEST(test_money)
{
    till_raw(money_work, &_i);
}
END_TEST

START_TEST(test_peek_needs_no_text)
{
    pay_bytes_t row = encoded(), at;
    pay_store_refund_t *got;
    pay_store_key_t key;

    spoil(&row, SPOIL_TEXT);
    pay_store_refund_key(&key, &till->scopes[0], TILL_NOW, 1);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_store_refund_peek(&got, &at, &row, unit_pool), 0);
    ck_assert_int_eq(got->refund.state, PAY_REFUND_PENDING);
    ck_assert(got->refund.money.amount_minor == 1050 && got->refund.charge_seq == 1);
}
END_TEST

/* A state that does not follow from the decision is not reported. */
static const struct {
    const char *name;
    int state, decided_state, want;
} decided_cases[] = {
    {"pending", PAY_REFUND_PENDING, PAY_REFUND_PENDING, 0},
    {"processed", PAY_REFUND_PROCESSED, PAY_REFUND_PROCESSED, 0},
    {"failed", PAY_REFUND_FAILED, PAY_REFUND_FAILED, 0},
    {"failed after it was processed", PAY_REFUND_FAILED, PAY_REFUND_PROCESSED, 0},
    {"processed after it failed", PAY_REFUND_PROCESSED, PAY_REFUND_FAILED, PAY_ROWS_BAD},
    {"processed, never decided", PAY_REFUND_PROCESSED, PAY_REFUND_PENDING, PAY_ROWS_BAD},
    {"failed, never decided", PAY_REFUND_FAILED, PAY_REFUND_PENDING, PAY_ROWS_BAD},
    {"pending, decided no state", PAY_REFUND_PENDING, PAY_REFUND_STATE_COUNT, PAY_ROWS_BAD},
    {"failed, decided no state", PAY_REFUND_FAILED, PAY_REFUND_STATE_COUNT, PAY_ROWS_BAD},
};

typedef struct planted_t {
    pay_store_refund_t *row;
    int want;
} planted_t;

static int plant_work(pay_rows_txn_t *txn, void *baton)
{
    const planted_t *planted = baton;
    const pay_refund_t *refund = &planted->row->refund;
    pay_store_refund_t *got;
    pay_store_key_t key;
    pay_bytes_t at, row;

    ck_assert_int_eq(pay_store_refund_put(txn, planted->row, unit_pool), 0);
    pay_store_refund_key(&key, &refund->scope, refund->created_at, refund->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_rows_get(&row, txn, PAY_TABLE_REFUND, &at), 0);
    ck_assert_int_eq(pay_store_refund_decode(&got, &at, &row, unit_pool), planted->want);
    ck_assert_int_eq(pay_store_refund_peek(&got, &at, &row, unit_pool), planted->want);
    if (planted->want == 0) {
        ck_assert_int_eq(got->refund.state, refund->state);
        ck_assert_int_eq(got->refund.decided_state, refund->decided_state);
        ck_assert(got->refund.decided_at == refund->decided_at);
    }
    return 0;
}

START_TEST(test_decided)
{
    planted_t planted = {record_of(1), decided_cases[_i].want};

    planted.row->refund.state = (pay_refund_state_t)decided_cases[_i].state;
    planted.row->refund.decided_state = (pay_refund_state_t)decided_cases[_i].decided_state;
    till_raw(plant_work, &planted);
}
END_TEST

START_TEST(test_text_limit)
{
    pay_store_refund_t *row = record_of(0);
    char *text = apr_palloc(unit_pool, PAY_REFUND_TEXT_MAX + 2);
    pay_rows_txn_t txn;

    /* Only to compare the length with the limit: the read transaction refuses the write after. */
    memset(text, ' ', PAY_REFUND_TEXT_MAX + 1);
    text[PAY_REFUND_TEXT_MAX + 1] = '\0';
    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    ck_assert_int_eq(pay_store_refund_insert(&txn, row, text, unit_pool), ENAMETOOLONG);
    text[PAY_REFUND_TEXT_MAX] = '\0';
    ck_assert_int_eq(pay_store_refund_insert(&txn, row, text, unit_pool), EACCES);
    pay_rows_end(&txn);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_loop_test(tcase, test_spoiled_row, 0, UNIT_ROWS(spoil_cases));
    tcase_add_loop_test(tcase, test_money, 0, UNIT_ROWS(money_cases));
    tcase_add_test(tcase, test_peek_needs_no_text);
    tcase_add_loop_test(tcase, test_decided, 0, UNIT_ROWS(decided_cases));
    tcase_add_test(tcase, test_text_limit);
}

UNIT_PROGRAM(add)
