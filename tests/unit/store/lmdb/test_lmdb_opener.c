/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "base/shared/worker.h"
#include "store/row.h"

/* The row as store/lmdb/opener.c writes it. */
typedef struct opener_t {
    apr_int64_t boot_id;
    apr_int64_t namespace_id;
} opener_t;

static const pay_row_field_t fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, opener_t, boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, opener_t, namespace_id),
};

static opener_t read_opener(pay_store_t *store)
{
    pay_store_t *db = store;
    pay_bytes_t key = {6, "opener"};
    opener_t opener = {0, 0};
    pay_bytes_t val;
    pay_rows_txn_t txn;

    ck_assert_int_eq(pay_rows_begin(&txn, db), APR_SUCCESS);
    ck_assert_int_eq(pay_rows_get(&val, &txn, PAY_TABLE_META, &key), 0);
    ck_assert_int_eq(pay_row_decode(&opener, fields, UNIT_ROWS(fields), &val, NULL, NULL), 0);
    pay_rows_end(&txn);
    return opener;
}

static apr_status_t write_opener(pay_store_t *store, apr_int64_t boot_change,
                                 apr_int64_t namespace_change)
{
    const opener_t opener = {pay_worker_self().boot_id + boot_change,
                             pay_worker_namespace() + namespace_change};
    pay_bytes_t row;

    if (pay_row_encode(&row, fields, UNIT_ROWS(fields), &opener, unit_pool) != 0) {
        return APR_EGENERAL;
    }
    return fixture_put(store, (fixture_row_t){PAY_TABLE_META, "opener", 0, row.data, row.len});
}

static const struct {
    const char *name;
    apr_int64_t boot_change; /* of the row against ours; 0: the same */
    apr_int64_t namespace_change;
    int alive; /* the process of that row still has the store open */
    int fine;
} opener_rows[] = {
    {"ours, alive", 0, 0, 1, 1},
    {"ours, gone", 0, 0, 0, 1},
    {"another namespace, alive", 0, 1, 1, 0},
    {"another namespace, gone", 0, 1, 0, 1},
    {"another boot", 1, 0, 0, 1},
    {"another boot and namespace", 1, 1, 0, 1},
};

static int row_number;

/* Stands for a process that opened the store as the row says. */
static int open_child(const char *dir, int ready_fd)
{
    pay_store_t *store = fixture_open(dir);

    if (write_opener(store, opener_rows[row_number].boot_change,
                     opener_rows[row_number].namespace_change)
        != APR_SUCCESS) {
        return 1;
    }
    (void)!write(ready_fd, "", 1);
    (void)pause();
    return 0;
}

START_TEST(test_who_may_open)
{
    const char *dir = unit_dir();
    const char *reason = NULL;
    pay_store_t *store;
    apr_status_t rv;
    pid_t pid;

    row_number = _i;
    pid = fixture_fork(open_child, dir);
    if (!opener_rows[_i].alive) {
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
    }
    store = fixture_open(dir);
    rv = pay_store_ready(&reason, store, unit_pool);
    ck_assert_msg((rv == APR_SUCCESS) == opener_rows[_i].fine, "%s: %s", opener_rows[_i].name,
                  reason ? reason : "");
    if (opener_rows[_i].fine) {
        ck_assert_int_eq(read_opener(store).boot_id, pay_worker_self().boot_id);
        ck_assert_int_eq(read_opener(store).namespace_id, pay_worker_namespace());
    } else {
        ck_assert_int_eq(rv, PAY_STORE_EDOWN);
        ck_assert(strstr(reason, "PID namespace") != NULL);
    }
    if (opener_rows[_i].alive) {
        ck_assert_int_eq(kill(pid, SIGKILL), 0);
        ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
        /* The process that was refused gets in now. */
        ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), APR_SUCCESS);
    }
}
END_TEST

START_TEST(test_a_damaged_row_names_nobody)
{
    const char *dir = unit_dir();
    apr_pool_t *pool;
    pay_store_t *store;
    const pay_store_options_t options = fixture_options();

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&store, apr_pstrcat(pool, "lmdb:", dir, NULL), &options, pool),
                     APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(store, "opener"), APR_SUCCESS);
    apr_pool_destroy(pool);
    store = fixture_open(dir);
    ck_assert_int_eq(read_opener(store).boot_id, pay_worker_self().boot_id);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_who_may_open, 0, UNIT_ROWS(opener_rows));
    tcase_add_test(tcase, test_a_damaged_row_names_nobody);
}

UNIT_PROGRAM(add)
