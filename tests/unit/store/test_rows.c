/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <pthread.h>

/*
 * The guarantees of the store's seam to units of work, for any engine below it (store/rows.h). The
 * scans have a program of their own.
 */

#define THREADS 8
#define ROUNDS 50

static pay_store_t *store;

static pay_bytes_t val_of(const char *text)
{
    return (pay_bytes_t){strlen(text), text};
}

static int is_text(const pay_bytes_t *val, const char *text)
{
    return val->len == strlen(text) && !memcmp(val->data, text, val->len);
}

static void set_up(void)
{
    store = fixture_open(unit_dir());
    fixture_listen();
}

/* The row in a read transaction of its own; NULL: none. */
static const char *stored(const char *key)
{
    pay_bytes_t at = val_of(key), row;
    const char *text = NULL;
    pay_rows_txn_t txn;

    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    if (pay_rows_get(&row, &txn, PAY_TABLE_META, &at) == 0) {
        text = apr_pstrmemdup(unit_pool, row.data, row.len);
    }
    pay_rows_end(&txn);
    return text;
}

static apr_status_t commit(pay_rows_work_t work, void *baton)
{
    return pay_rows_commit(store, pay_turn_store(), 0, work, baton);
}

static int sees_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t at = val_of("a"), row = val_of("1"), got;

    (void)baton;
    ck_assert_int_eq(pay_rows_get(&got, txn, PAY_TABLE_META, &at), PAY_ROWS_NOTFOUND);
    ck_assert_int_eq(pay_rows_del(txn, PAY_TABLE_META, &at), PAY_ROWS_NOTFOUND);
    ck_assert_int_eq(pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0), 0);
    ck_assert_int_eq(pay_rows_get(&got, txn, PAY_TABLE_META, &at), 0);
    ck_assert(is_text(&got, "1"));
    ck_assert_ptr_null(stored("a")); /* nobody else sees it until it is committed */
    row = val_of("2");
    ck_assert_int_eq(pay_rows_put(txn, PAY_TABLE_META, &at, &row, PAY_ROWS_NOOVERWRITE),
                     PAY_ROWS_EXISTS);
    ck_assert(is_text(&row, "1"));
    row = val_of("3");
    ck_assert_int_eq(pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0), 0);
    at = val_of("b");
    ck_assert_int_eq(pay_rows_put(txn, PAY_TABLE_META, &at, &row, PAY_ROWS_NOOVERWRITE), 0);
    ck_assert_int_eq(pay_rows_del(txn, PAY_TABLE_META, &at), 0);
    ck_assert_int_eq(pay_rows_get(&got, txn, PAY_TABLE_META, &at), PAY_ROWS_NOTFOUND);
    return 0;
}

START_TEST(test_a_work_sees_what_it_wrote)
{
    set_up();
    ck_assert_int_eq(commit(sees_work, NULL), APR_SUCCESS);
    ck_assert_str_eq(stored("a"), "3");
    ck_assert_ptr_null(stored("b"));
}
END_TEST

/* How a work ends, and its effects. */
static const struct {
    const char *name;
    int code;
    apr_status_t want;
    int is_kept;
} end_rows[] = {
    {"done", 0, APR_SUCCESS, 1},
    {"refused, with what it noted", PAY_ROWS_SILENT, APR_SUCCESS, 1},
    {"not found", PAY_ROWS_NOTFOUND, APR_NOTFOUND, 0},
    {"known", PAY_ROWS_EXISTS, APR_EEXIST, 0},
    {"a damaged row", PAY_ROWS_BAD, PAY_STORE_ECORRUPT, 0},
    {"no argument", EINVAL, APR_EINVAL, 0},
    {"full", MDB_MAP_FULL, PAY_STORE_EFULL, 0},
    {"no space", ENOSPC, PAY_STORE_EFULL, 0},
    {"anything else", EIO, PAY_STORE_EDOWN, 0},
};

static int end_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t at = val_of("a"), row = val_of("1");

    ck_assert_int_eq(pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0), 0);
    return *(int *)baton;
}

START_TEST(test_how_a_work_ends)
{
    int code = end_rows[_i].code;

    set_up();
    ck_assert_msg(commit(end_work, &code) == end_rows[_i].want, "%s", end_rows[_i].name);
    ck_assert_msg((stored("a") != NULL) == end_rows[_i].is_kept, "%s", end_rows[_i].name);
}
END_TEST

START_TEST(test_a_reader_sees_one_moment)
{
    pay_bytes_t at = val_of("a"), row;
    pay_rows_txn_t before;
    apr_uint64_t count, more;
    int code = 0;

    set_up();
    ck_assert_int_eq(pay_rows_begin(&before, store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_count(&count, &before, PAY_TABLE_META), 0);
    ck_assert_int_eq(commit(end_work, &code), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_get(&row, &before, PAY_TABLE_META, &at), PAY_ROWS_NOTFOUND);
    ck_assert_int_eq(pay_rows_count(&more, &before, PAY_TABLE_META), 0);
    ck_assert_uint_eq(more, count);
    pay_rows_end(&before);
    ck_assert_str_eq(stored("a"), "1");
    ck_assert_int_eq(pay_rows_begin(&before, store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_count(&more, &before, PAY_TABLE_META), 0);
    ck_assert_uint_eq(more, count + 1);
    pay_rows_end(&before);
}
END_TEST

/* Adds one to a number; every third time it fails after that. */
static int add_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t at = val_of("sum"), row;
    apr_uint64_t sum = 0;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &at);
    if (!rc) {
        ck_assert_uint_eq(row.len, sizeof(sum));
        memcpy(&sum, row.data, sizeof(sum));
    } else if (rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    sum++;
    row = (pay_bytes_t){sizeof(sum), &sum};
    rc = pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0);
    return rc || *(int *)baton % 3 ? rc : EINVAL;
}

static void *add_thread(void *data)
{
    int i;

    (void)data;
    for (i = 1; i <= ROUNDS; i++) {
        if (commit(add_work, &i) != (i % 3 ? APR_SUCCESS : APR_EINVAL)) {
            return "not as it ended";
        }
    }
    return NULL;
}

/* Works of many threads run one after the other, whether one commit makes them durable or many; one
 * that fails removes nothing of the others with it. */
START_TEST(test_works_follow_each_other)
{
    const apr_uint64_t each = ROUNDS - ROUNDS / 3;
    pay_bytes_t at = val_of("sum"), row;
    pthread_t threads[THREADS];
    pay_rows_txn_t txn;
    apr_uint64_t sum;
    void *fault;
    int i;

    set_up();
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, add_thread, NULL), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &fault), 0);
        ck_assert_msg(fault == NULL, "%s", (const char *)fault);
    }
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_get(&row, &txn, PAY_TABLE_META, &at), 0);
    memcpy(&sum, row.data, sizeof(sum));
    ck_assert_uint_eq(sum, THREADS * each);
    pay_rows_end(&txn);
}
END_TEST

/* ---- turns */

static const pay_scope_t one = {1, PAY_TEST}, one_live = {1, PAY_LIVE}, other = {2, PAY_TEST};

enum { AT_SCOPE, AT_TIME, AT_ACCOUNT, AT_NAME, AT_SHORT };

/* Keys of account 1 in Test Mode. */
static pay_store_key_t key_at(int where)
{
    pay_store_key_t key;

    pay_store_key_start(&key);
    switch (where) {
    case AT_SCOPE:
        pay_store_key_scope(&key, &one);
        break;
    case AT_TIME:
        pay_store_key_time(&key, apr_time_from_sec(1800000000));
        pay_store_key_scope(&key, &one);
        break;
    case AT_ACCOUNT:
        pay_store_key_u32(&key, one.account);
        break;
    case AT_SHORT:
        (void)pay_store_key_bytes(&key, "abc", 3);
        break;
    default:
        (void)pay_store_key_bytes(&key, "name", 4);
    }
    return key;
}

static const struct {
    const char *name;
    pay_table_t table;
    int key;
    const char
        *want; /* allowed turns: own scope, live, other scope, account, other account, Store, All */
} turn_rows[] = {
    {"a charge", PAY_TABLE_CHARGE, AT_SCOPE, "o....../A"},
    {"what is due", PAY_TABLE_PENDING_DUE, AT_TIME, "o....../A"},
    {"what is asked about late", PAY_TABLE_LATE_DUE, AT_TIME, "o....../A"},
    {"when an endpoint is looked at", PAY_TABLE_ENDPOINT_DUE, AT_TIME, "o....../A"},
    {"an account", PAY_TABLE_ACCOUNT, AT_ACCOUNT, "...a.S./A"},
    {"its audit", PAY_TABLE_AUDIT, AT_ACCOUNT, "...a.S./A"},
    {"its grants", PAY_TABLE_GRANT, AT_ACCOUNT, "...a.S./A"},
    {"its name", PAY_TABLE_ACCOUNT_NAME, AT_NAME, ".....S./A"},
    {"who has a grant", PAY_TABLE_GRANT_USER, AT_NAME, ".....S./A"},
    {"a key", PAY_TABLE_API_KEY, AT_NAME, "olxabS./A"},
    {"a page", PAY_TABLE_PAGE, AT_NAME, "olxabS./A"},
    {"a damaged key", PAY_TABLE_CHARGE, AT_SHORT, "......./A"},
    {"a damaged key behind a time", PAY_TABLE_PENDING_DUE, AT_SCOPE, "......./A"},
};

static int write_work(pay_rows_txn_t *txn, void *baton)
{
    const pay_store_key_t key = key_at(turn_rows[*(int *)baton].key);
    const pay_table_t table = turn_rows[*(int *)baton].table;
    pay_bytes_t at = pay_store_key_val(&key), row = val_of("x");
    int rc;

    rc = pay_rows_put(txn, table, &at, &row, 0);
    ck_assert_int_eq(pay_rows_del(txn, table, &at), rc);
    return rc ? rc : pay_rows_put(txn, table, &at, &row, 0);
}

START_TEST(test_only_within_the_turn)
{
    const struct {
        char letter;
        pay_turn_t turn;
    } turns[] = {
        {'o', pay_turn_scope(&one)},
        {'l', pay_turn_scope(&one_live)},
        {'x', pay_turn_scope(&other)},
        {'a', pay_turn_account(one.account)},
        {'b', pay_turn_account(other.account)},
        {'S', pay_turn_store()},
        {'n', (pay_turn_t){.kind = PAY_TURN_NONE}},
        {'A', pay_turn_all()},
    };
    apr_status_t rv;
    int i, may;

    set_up();
    for (i = 0; i < UNIT_ROWS(turns); i++) {
        may = strchr(turn_rows[_i].want, turns[i].letter) != NULL;
        fixture_listen();
        rv = pay_rows_commit(store, turns[i].turn, 0, write_work, &(int){_i});
        ck_assert_msg(rv == (may ? APR_SUCCESS : PAY_STORE_EDOWN), "%s: %c", turn_rows[_i].name,
                      turns[i].letter);
        ck_assert_msg(fixture_logged("PAY00117: ") == !may, "%s: %c: %s", turn_rows[_i].name,
                      turns[i].letter, fixture_log);
    }
}
END_TEST

START_TEST(test_a_reader_writes_nothing)
{
    pay_bytes_t at = val_of("a"), row = val_of("1");
    pay_rows_txn_t txn;

    set_up();
    ck_assert_int_eq(pay_rows_begin(&txn, store), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_put(&txn, PAY_TABLE_META, &at, &row, 0), EACCES);
    ck_assert_int_eq(pay_rows_del(&txn, PAY_TABLE_META, &at), EACCES);
    pay_rows_end(&txn);
    ck_assert_ptr_null(stored("a"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_a_work_sees_what_it_wrote);
    tcase_add_loop_test(tcase, test_how_a_work_ends, 0, UNIT_ROWS(end_rows));
    tcase_add_test(tcase, test_a_reader_sees_one_moment);
    tcase_add_test(tcase, test_works_follow_each_other);
    tcase_add_loop_test(tcase, test_only_within_the_turn, 0, UNIT_ROWS(turn_rows));
    tcase_add_test(tcase, test_a_reader_writes_nothing);
}

UNIT_PROGRAM(add)
