/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "store/record/walk.h"

#include <errno.h>

typedef struct seen_t {
    apr_uint64_t count;
    apr_uint64_t next; /* the number that the next key must have */
    int wrong;
    int stop_at; /* 0: never */
    int stop_with;
} seen_t;

/* Keys are scope, number. */
static int fill_work(pay_rows_txn_t *txn, void *baton)
{
    const int rows = *(int *)baton;
    pay_bytes_t val = {1, "x"};
    pay_store_key_t key;
    pay_bytes_t at;
    int rc = 0;
    int i;

    for (i = 0; !rc && i < rows * FIXTURE_SCOPES; i++) {
        pay_store_key_of_scope(&key, &fixture_scopes[i % FIXTURE_SCOPES]);
        pay_store_key_u64(&key, (apr_uint64_t)(i / FIXTURE_SCOPES));
        at = pay_store_key_val(&key);
        rc = pay_rows_put(txn, PAY_TABLE_TOKEN, &at, &val, 0);
    }
    return rc;
}

static int see(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key, const pay_bytes_t *val)
{
    seen_t *seen = baton;

    (void)txn;
    (void)val;
    if (pay_store_read_u64((const char *)key->data + PAY_STORE_SCOPE_LEN) != seen->next) {
        seen->wrong = 1;
    }
    seen->next++;
    seen->count++;
    return seen->stop_at && seen->count == (apr_uint64_t)seen->stop_at ? seen->stop_with : 0;
}

static const struct {
    const char *name;
    int rows; /* of each scope */
} row_counts[] = {
    {"none", 0},
    {"one", 1},
    {"a whole transaction", PAY_STORE_ROWS_MAX},
    {"one past a transaction", PAY_STORE_ROWS_MAX + 1},
    {"two transactions", 2 * PAY_STORE_ROWS_MAX},
    {"some more", 2 * PAY_STORE_ROWS_MAX + 7},
};

START_TEST(test_every_row_once_in_order)
{
    pay_store_t *db = fixture_open(unit_dir());
    int rows = row_counts[_i].rows;
    pay_store_key_t prefix;
    int scope;

    ck_assert_int_eq(pay_rows_commit(db, pay_turn_all(), 0, fill_work, &rows), APR_SUCCESS);
    for (scope = 0; scope < FIXTURE_SCOPES; scope++) {
        seen_t seen = {0};

        pay_store_key_of_scope(&prefix, &fixture_scopes[scope]);
        ck_assert_int_eq(pay_store_walk(db, PAY_TABLE_TOKEN, &prefix, see, &seen), APR_SUCCESS);
        ck_assert_msg(seen.count == (apr_uint64_t)rows, "%s", row_counts[_i].name);
        ck_assert_msg(!seen.wrong, "%s", row_counts[_i].name);
    }
}
END_TEST

static int count_only(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    (void)txn;
    (void)key;
    (void)val;
    ++*(int *)baton;
    return 0;
}

START_TEST(test_without_a_prefix)
{
    pay_store_t *db = fixture_open(unit_dir());
    int rows = PAY_STORE_ROWS_MAX;
    int count = 0;

    ck_assert_int_eq(pay_rows_commit(db, pay_turn_all(), 0, fill_work, &rows), APR_SUCCESS);
    ck_assert_int_eq(pay_store_walk(db, PAY_TABLE_TOKEN, NULL, count_only, &count), APR_SUCCESS);
    ck_assert_int_eq(count, FIXTURE_SCOPES * rows);
}
END_TEST

static const struct {
    const char *name;
    int stop_with;
    apr_status_t want;
} stop_rows[] = {
    {"a bad row", PAY_ROWS_BAD, PAY_STORE_ECORRUPT},
    {"a missing row is not the end", PAY_ROWS_NOTFOUND, PAY_STORE_ECORRUPT},
    {"a refusal", EINVAL, APR_EINVAL},
};

START_TEST(test_a_visit_may_end_it)
{
    pay_store_t *db = fixture_open(unit_dir());
    seen_t seen = {.stop_at = 2, .stop_with = stop_rows[_i].stop_with};
    int rows = 5;

    ck_assert_int_eq(pay_rows_commit(db, pay_turn_all(), 0, fill_work, &rows), APR_SUCCESS);
    ck_assert_msg(pay_store_walk(db, PAY_TABLE_TOKEN, NULL, see, &seen) == stop_rows[_i].want, "%s",
                  stop_rows[_i].name);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->uses, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_every_row_once_in_order, 0, UNIT_ROWS(row_counts));
    tcase_add_test(tcase, test_without_a_prefix);
    tcase_add_loop_test(tcase, test_a_visit_may_end_it, 0, UNIT_ROWS(stop_rows));
}

UNIT_PROGRAM(add)
