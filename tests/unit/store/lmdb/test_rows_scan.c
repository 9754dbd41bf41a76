/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "store/rows_scan.h"

#define SAID_MAX 64

/* Rows whose keys and values are these letters. */
static const char *const stored[] = {"a", "b", "ba", "bab", "bc", "c", "ca"};

static int fill_work(pay_rows_txn_t *txn, void *baton)
{
    int i, rc = 0;

    (void)baton;
    for (i = 0; !rc && i < UNIT_ROWS(stored); i++) {
        pay_bytes_t key = {strlen(stored[i]), stored[i]}, row = key;

        rc = pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
    }
    return rc;
}

static pay_store_key_t key_of(const char *text)
{
    pay_store_key_t key;

    (void)pay_store_key_of(&key, text, strlen(text));
    return key;
}

static const struct {
    const char *name;
    const char *prefix, *from; /* NULL: none */
    pay_rows_way_t way;
    const char *want;
} scan_rows[] = {
    {"all", NULL, NULL, PAY_ROWS_FROM, "a b ba bab bc c ca"},
    {"from a row", NULL, "b", PAY_ROWS_FROM, "b ba bab bc c ca"},
    {"from between rows", NULL, "bb", PAY_ROWS_FROM, "bc c ca"},
    {"from behind the last", NULL, "d", PAY_ROWS_FROM, ""},
    {"from an empty key", NULL, "", PAY_ROWS_FROM, "a b ba bab bc c ca"},
    {"behind a row", NULL, "b", PAY_ROWS_AFTER, "ba bab bc c ca"},
    {"behind what is no row", NULL, "bb", PAY_ROWS_AFTER, "bc c ca"},
    {"behind the last", NULL, "ca", PAY_ROWS_AFTER, ""},
    {"behind an empty key", NULL, "", PAY_ROWS_AFTER, "a b ba bab bc c ca"},
    {"downward", NULL, NULL, PAY_ROWS_BEFORE, "ca c bc bab ba b a"},
    {"below a row", NULL, "bc", PAY_ROWS_BEFORE, "bab ba b a"},
    {"below what is no row", NULL, "bb", PAY_ROWS_BEFORE, "bab ba b a"},
    {"below the first", NULL, "a", PAY_ROWS_BEFORE, ""},
    {"below what is behind the last", NULL, "d", PAY_ROWS_BEFORE, "ca c bc bab ba b a"},
    {"a prefix", "b", NULL, PAY_ROWS_FROM, "b ba bab bc"},
    {"a longer one", "ba", NULL, PAY_ROWS_FROM, "ba bab"},
    {"one that no row has", "bb", NULL, PAY_ROWS_FROM, ""},
    {"one behind all", "x", NULL, PAY_ROWS_FROM, ""},
    {"an empty one", "", NULL, PAY_ROWS_FROM, "a b ba bab bc c ca"},
    {"a prefix, from a row", "b", "bab", PAY_ROWS_FROM, "bab bc"},
    {"a prefix, behind a row", "b", "bab", PAY_ROWS_AFTER, "bc"},
    {"a prefix, behind an empty key", "b", "", PAY_ROWS_AFTER, "b ba bab bc"},
    {"a prefix, below a row", "b", "bc", PAY_ROWS_BEFORE, "bab ba b"},
    {"a prefix, below what is behind it", "b", "c", PAY_ROWS_BEFORE, "bc bab ba b"},
    {"a prefix, from a row that lacks it", "b", "c", PAY_ROWS_FROM, ""},
};

static void said(char *text, const pay_bytes_t *key, const pay_bytes_t *row)
{
    const size_t len = strlen(text);

    ck_assert_uint_eq(key->len, row->len);
    ck_assert_mem_eq(key->data, row->data, key->len);
    (void)snprintf(text + len, SAID_MAX - len, "%s%.*s", len ? " " : "", (int)key->len,
                   (const char *)key->data);
}

START_TEST(test_scan)
{
    pay_store_t *store = fixture_open(unit_dir());
    const char *prefix_text = scan_rows[_i].prefix, *from_text = scan_rows[_i].from;
    const pay_store_key_t prefix = key_of(prefix_text ? prefix_text : "");
    const pay_store_key_t from = key_of(from_text ? from_text : "");
    char got[SAID_MAX] = "";
    pay_rows_txn_t txn;
    pay_rows_scan_t scan;
    pay_bytes_t key, row;
    int rc;

    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, fill_work, NULL), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    /* The store's own rows in the table begin with later letters. */
    scan = pay_rows_scan(&txn, PAY_TABLE_META, prefix_text ? &prefix : NULL,
                         from_text ? &from : NULL, scan_rows[_i].way);
    for (rc = pay_rows_next(&key, &row, &scan); !rc; rc = pay_rows_next(&key, &row, &scan)) {
        if (*(const char *)key.data <= 'c' && key.len < 4) {
            said(got, &key, &row);
        }
    }
    ck_assert_int_eq(rc, PAY_ROWS_NOTFOUND);
    ck_assert_int_eq(pay_rows_scan_end(&scan, rc), 0);
    ck_assert_msg(!strcmp(got, scan_rows[_i].want), "%s: %s", scan_rows[_i].name, got);
    pay_rows_end(&txn);
}
END_TEST

START_TEST(test_moved)
{
    pay_store_t *store = fixture_open(unit_dir());
    const pay_store_key_t prefix = key_of("b"), there = key_of("bb");
    char got[SAID_MAX] = "";
    pay_rows_txn_t txn;
    pay_rows_scan_t scan;
    pay_bytes_t key, row;

    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, fill_work, NULL), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    scan = pay_rows_scan(&txn, PAY_TABLE_META, &prefix, NULL, PAY_ROWS_FROM);
    ck_assert_int_eq(pay_rows_next(&key, &row, &scan), 0);
    said(got, &key, &row);
    pay_rows_scan_move(&scan, &there);
    ck_assert_int_eq(pay_rows_next(&key, &row, &scan), 0);
    said(got, &key, &row);
    pay_rows_scan_move(&scan, NULL);
    ck_assert_int_eq(pay_rows_next(&key, &row, &scan), 0);
    said(got, &key, &row);
    ck_assert_str_eq(got, "b bc b");
    ck_assert_int_eq(pay_rows_scan_end(&scan, EIO), EIO);
    pay_rows_end(&txn);
}
END_TEST

/* Rows that were read may be deleted, and others written, while a scan goes on. */
static int take_out_work(pay_rows_txn_t *txn, void *baton)
{
    pay_rows_scan_t scan;
    const pay_store_key_t prefix = key_of("b");
    pay_bytes_t key, row;
    int rc;

    scan = pay_rows_scan(txn, PAY_TABLE_META, &prefix, NULL, PAY_ROWS_FROM);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        pay_bytes_t copy = pay_rows_dup(&key, unit_pool);

        said(baton, &key, &row);
        rc = pay_rows_del(txn, PAY_TABLE_META, &copy);
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

START_TEST(test_taken_out_meanwhile)
{
    pay_store_t *store = fixture_open(unit_dir());
    const pay_store_key_t prefix = key_of("b");
    char got[SAID_MAX] = "";
    pay_rows_txn_t txn;
    pay_bytes_t key, row;

    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, fill_work, NULL), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, take_out_work, got), APR_SUCCESS);
    ck_assert_str_eq(got, "b ba bab bc");
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_first(&key, &row, &txn, PAY_TABLE_META, &prefix, NULL, PAY_ROWS_FROM),
                     PAY_ROWS_NOTFOUND);
    pay_rows_end(&txn);
    ck_assert(fixture_has(store, "a"));
    ck_assert(fixture_has(store, "ca"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_scan, 0, UNIT_ROWS(scan_rows));
    tcase_add_test(tcase, test_moved);
    tcase_add_test(tcase, test_taken_out_meanwhile);
}

UNIT_PROGRAM(add)
