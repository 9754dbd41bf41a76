/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/idempotency.h"

#include <errno.h>

#define END (TILL_NOW + PAY_IDEMPOTENCY_KEEP)

static pay_bytes_t text_of(const char *text)
{
    pay_bytes_t val = {strlen(text), text};

    return val;
}

static void key_of(pay_store_key_t *key, int i)
{
    till_idempotency_key(key, i, till_use(PAY_OPERATION_VOID, "k", "r"));
}

static int write_work(pay_rows_txn_t *txn, void *baton)
{
    const pay_store_idempotency_t *record = baton;
    pay_store_key_t key;
    pay_bytes_t at;
    int i, rc = 0;

    for (i = 0; !rc && i < TILL_SCOPES; i++) {
        key_of(&key, i);
        at = pay_store_key_val(&key);
        rc = pay_store_idempotency_write(txn, &at, NULL, record, unit_pool);
    }
    return rc;
}

typedef struct reread_t {
    pay_store_idempotency_t record;
    int rc;
    int due; /* 1: its time is in kept_due */
} reread_t;

/* The last scope's row. */
static int read_work(pay_rows_txn_t *txn, void *baton)
{
    reread_t *reread = baton;
    pay_store_key_t key, due;
    pay_bytes_t at, row, val;
    int rc;

    key_of(&key, TILL_SCOPES - 1);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    if (rc) {
        return rc;
    }
    reread->rc = pay_store_idempotency_decode(&reread->record, &at, &row);
    if (!reread->rc && reread->record.text.len) {
        reread->record.text =
            text_of(apr_pstrmemdup(unit_pool, reread->record.text.data, reread->record.text.len));
    }
    pay_store_idempotency_due_key(&due, reread->record.due_at, &at);
    at = pay_store_key_val(&due);
    reread->due = pay_rows_get(&val, txn, PAY_TABLE_IDEMPOTENCY_DUE, &at) == 0;
    return 0;
}

static const struct {
    const char *name;
    pay_store_idempotency_what_t what;
    apr_uint64_t seq;
    pay_refund_verdict_t refusal;
    apr_time_t due_at;
    const char *text;
    int sound;
} cases[] = {
    {"a charge", PAY_IDEMPOTENCY_CHARGE, 7, 0, END, "", 1},
    {"a charge of number 0", PAY_IDEMPOTENCY_CHARGE, 0, 0, END, "", 0},
    {"a charge without end", PAY_IDEMPOTENCY_CHARGE, 7, 0, 0, "", 0},
    {"a charge with a text", PAY_IDEMPOTENCY_CHARGE, 7, 0, END, "{}", 0},
    {"a refund", PAY_IDEMPOTENCY_REFUND, 7, 0, 0, "", 1},
    {"a refund of number 0", PAY_IDEMPOTENCY_REFUND, 0, 0, 0, "", 0},
    {"a refund with an end", PAY_IDEMPOTENCY_REFUND, 7, 0, END, "", 0},
    {"a refund with a text", PAY_IDEMPOTENCY_REFUND, 7, 0, 0, "{}", 0},
    {"R1", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_STATE, END, "", 1},
    {"R2", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_ABOVE, END, "", 1},
    {"R3", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_FULL, END, "", 1},
    {"R4", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_BUSY, END, "", 0},
    {"R5", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_REPEATED, END, "", 0},
    {"no refusal", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_OPENED, END, "", 0},
    {"a refusal without end", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_STATE, 0, "", 0},
    {"a refusal with a text", PAY_IDEMPOTENCY_REFUSAL, 0, PAY_REFUND_REFUSED_STATE, END, "{}", 0},
    {"a text", PAY_IDEMPOTENCY_TEXT, 0, 0, END, "{\"status\":\"success\"}", 1},
    {"no text", PAY_IDEMPOTENCY_TEXT, 0, 0, END, "", 0},
    {"a text without end", PAY_IDEMPOTENCY_TEXT, 0, 0, 0, "{}", 0},
    {"an erased request", PAY_IDEMPOTENCY_REPEAT, 7, 0, END, "", 1},
    {"an erased request without end", PAY_IDEMPOTENCY_REPEAT, 7, 0, 0, "", 0},
    {"an erased request of none", PAY_IDEMPOTENCY_REPEAT, 0, 0, END, "", 0},
    {"nothing known", PAY_IDEMPOTENCY_REPEAT + 1, 7, 0, END, "", 0},
    {"nothing", 0, 7, 0, END, "", 0},
};

START_TEST(test_rows)
{
    const char *name = cases[_i].name;
    pay_store_idempotency_t record = {.what = cases[_i].what,
                                      .seq = cases[_i].seq,
                                      .refund_created_at = -5,
                                      .refusal = cases[_i].refusal,
                                      .created_at = TILL_NOW,
                                      .due_at = cases[_i].due_at,
                                      .text = text_of(cases[_i].text)};
    reread_t reread;

    memset(record.digest, 0xA5, sizeof(record.digest));
    till_raw(write_work, &record);
    till_raw(read_work, &reread);
    if (!cases[_i].sound) {
        ck_assert_msg(reread.rc == PAY_ROWS_BAD, "%s: %d", name, reread.rc);
        ck_assert_msg(strstr(till_line, "kept") != NULL, "%s: '%s'", name, till_line);
        return;
    }
    ck_assert_msg(reread.rc == 0, "%s: %d", name, reread.rc);
    ck_assert_msg(reread.due == (cases[_i].due_at != 0), "%s", name);
    ck_assert_mem_eq(reread.record.digest, record.digest, sizeof(record.digest));
    ck_assert_int_eq(reread.record.what, record.what);
    ck_assert(reread.record.seq == record.seq && reread.record.refund_created_at == -5);
    ck_assert_int_eq(reread.record.refusal, record.refusal);
    ck_assert(reread.record.created_at == TILL_NOW && reread.record.due_at == record.due_at);
    ck_assert_uint_eq(reread.record.text.len, record.text.len);
    ck_assert(record.text.len == 0
              || memcmp(reread.record.text.data, record.text.data, record.text.len) == 0);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 0);
}
END_TEST

/* Copies the last scope's row as it is in the table. */
static int copy_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t *row = baton, at, val;
    pay_store_key_t key;
    int rc;

    key_of(&key, TILL_SCOPES - 1);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_IDEMPOTENCY, &at);
    if (!rc) {
        row->len = val.len;
        row->data = apr_pmemdup(unit_pool, val.data, val.len);
    }
    return rc;
}

START_TEST(test_damaged)
{
    pay_store_idempotency_t record = {
        .what = PAY_IDEMPOTENCY_TEXT, .created_at = TILL_NOW, .due_at = END, .text = text_of("{}")};
    pay_bytes_t row, at, cut;
    pay_store_key_t key = {.len = 0};
    unsigned char *bytes;
    size_t len;

    till_raw(write_work, &record);
    till_raw(copy_work, &row);
    key_of(&key, 0);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_store_idempotency_decode(&record, &at, &row), 0);
    for (len = 0; len <= row.len - strlen("{}"); len++) { /* the text may be shorter */
        cut = (pay_bytes_t){len, apr_pmemdup(unit_pool, row.data, len)};
        ck_assert_msg(pay_store_idempotency_decode(&record, &at, &cut) == PAY_ROWS_BAD, "%d bytes",
                      (int)len);
    }
    bytes = (unsigned char *)row.data; /* of a pool */
    bytes[row.len - 1] = '\0';
    ck_assert_int_eq(pay_store_idempotency_decode(&record, &at, &row), PAY_ROWS_BAD);
    bytes[row.len - 1] = '}';
    for (at.len = 1; at.len <= PAY_STORE_IDEMPOTENCY_KEY_LEN + 1; at.len++) {
        ck_assert_int_eq(pay_store_idempotency_decode(&record, &at, &row),
                         at.len == PAY_STORE_IDEMPOTENCY_KEY_LEN ? 0 : PAY_ROWS_BAD);
    }
}
END_TEST

static int too_long_work(pay_rows_txn_t *txn, void *baton)
{
    ck_assert_int_eq(write_work(txn, baton), ENAMETOOLONG);
    return 0;
}

START_TEST(test_longest_text)
{
    pay_store_idempotency_t record = {
        .what = PAY_IDEMPOTENCY_TEXT, .created_at = TILL_NOW, .due_at = END};
    char *text = apr_palloc(unit_pool, PAY_STORE_IDEMPOTENCY_TEXT_MAX + 1);
    const char *before = till_snapshot();
    reread_t reread;

    memset(text, 'x', PAY_STORE_IDEMPOTENCY_TEXT_MAX + 1);
    record.text = (pay_bytes_t){PAY_STORE_IDEMPOTENCY_TEXT_MAX + 1, text};
    till_raw(too_long_work, &record);
    ck_assert_str_eq(till_snapshot(), before);
    record.text.len = PAY_STORE_IDEMPOTENCY_TEXT_MAX;
    till_raw(write_work, &record);
    till_raw(read_work, &reread);
    ck_assert_int_eq(reread.rc, 0);
    ck_assert_uint_eq(reread.record.text.len, PAY_STORE_IDEMPOTENCY_TEXT_MAX);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_rows, 0, UNIT_ROWS(cases));
    tcase_add_test(tcase, test_damaged);
    tcase_add_test(tcase, test_longest_text);
}

UNIT_PROGRAM(add)
