/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

/* A bare environment with as many named tables as asked for, in the order of their enum. */
static MDB_env *bare(const char *dir, int tables)
{
    MDB_env *mdb;
    MDB_txn *txn;
    MDB_dbi dbi;
    int i;

    ck_assert_int_eq(mdb_env_create(&mdb), 0);
    ck_assert_int_eq(mdb_env_set_maxdbs(mdb, PAY_TABLE_COUNT), 0);
    ck_assert_int_eq(mdb_env_open(mdb, dir, MDB_NOTLS, 0600), 0);
    ck_assert_int_eq(mdb_txn_begin(mdb, NULL, 0, &txn), 0);
    for (i = 0; i < tables; i++) {
        ck_assert_int_eq(mdb_dbi_open(txn, pay_rows_table_name((pay_table_t)i), MDB_CREATE, &dbi),
                         0);
    }
    ck_assert_int_eq(mdb_txn_commit(txn), 0);
    mdb_env_close(mdb);
    ck_assert_int_eq(mdb_env_create(&mdb), 0);
    ck_assert_int_eq(mdb_env_set_maxdbs(mdb, PAY_TABLE_COUNT), 0);
    ck_assert_int_eq(mdb_env_open(mdb, dir, MDB_NOTLS, 0600), 0);
    return mdb;
}

START_TEST(test_names_are_distinct)
{
    int i, j;

    for (i = 0; i < PAY_TABLE_COUNT; i++) {
        const char *name = pay_rows_table_name((pay_table_t)i);

        ck_assert_ptr_nonnull(name);
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(name, pay_rows_table_name((pay_table_t)j));
        }
    }
}
END_TEST

START_TEST(test_all_or_none_are_made)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason = {""};
    MDB_env *mdb = bare(dir, 0);
    apr_uint32_t version;
    MDB_txn *txn;
    MDB_stat stat;
    int i;

    ck_assert_int_eq(pay_lmdb_tables_open(mdb, dir, 0, 0, &reason), PAY_STORE_EDOWN);
    ck_assert(strstr(reason.text, "no tables") != NULL);
    ck_assert_int_eq(pay_lmdb_tables_open(mdb, dir, 1, 0, &reason), APR_SUCCESS);
    ck_assert_int_eq(pay_lmdb_tables_open(mdb, dir, 1, 0, &reason), APR_SUCCESS);
    ck_assert_int_eq(mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn), 0);
    for (i = 0; i < PAY_TABLE_COUNT; i++) {
        ck_assert_int_eq(mdb_stat(txn, pay_lmdb_dbi((pay_table_t)i), &stat), 0);
        ck_assert_uint_eq(stat.ms_entries, i == PAY_TABLE_META ? 1 : 0);
    }
    ck_assert_int_eq(pay_lmdb_schema_get(&version, txn), 0);
    ck_assert_uint_eq(version, PAY_STORE_SCHEMA_VERSION);
    mdb_txn_abort(txn);
    mdb_env_close(mdb);
}
END_TEST

/* Another program's environment, or one that lost a table, is not taken for ours. */
START_TEST(test_a_store_without_its_schema)
{
    const char *dir = unit_dir();
    pay_lmdb_reason_t reason = {""};
    MDB_env *mdb = bare(dir, PAY_TABLE_COUNT);

    ck_assert_int_ne(pay_lmdb_tables_open(mdb, dir, 1, 0, &reason), APR_SUCCESS);
    ck_assert(strstr(reason.text, dir) != NULL);
    mdb_env_close(mdb);
}
END_TEST

static int drop_work(pay_rows_txn_t *txn, void *baton)
{
    return mdb_drop(txn->native, pay_lmdb_dbi(*(pay_table_t *)baton), 1);
}

/* As a build before the first release made it: the version is ours, a table is missing. */
START_TEST(test_a_store_that_lacks_a_table)
{
    const pay_store_options_t options = fixture_options();
    pay_table_t table = PAY_TABLE_TOTAL;
    const char *dir = unit_dir();
    const char *reason = NULL;
    apr_pool_t *pool;
    pay_store_t *store;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_open(&store, apr_pstrcat(unit_pool, "lmdb:", dir, NULL), &options, pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, drop_work, &table), APR_SUCCESS);
    apr_pool_destroy(pool);
    store = fixture_open(dir);
    ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), PAY_STORE_ESCHEMA);
    ck_assert_msg(strstr(reason, "Move it away") != NULL, "%s", reason);
}
END_TEST

static const struct {
    const char *name;
    unsigned char version[4];
    size_t len;
    apr_status_t want;
    const char *word;
} schema_rows[] = {
    {"newer", {0, 0, 0, PAY_STORE_SCHEMA_VERSION + 1}, 4, PAY_STORE_ESCHEMA, "newer mod_payments"},
    {"much newer", {1, 0, 0, 0}, 4, PAY_STORE_ESCHEMA, "16777216"},
    {"older", {0, 0, 0, 0}, 4, PAY_STORE_ESCHEMA, "store upgrade"},
    {"short", {0, 0, 0, 1}, 3, PAY_STORE_ECORRUPT, "does not decode"},
};

START_TEST(test_other_schemas_are_refused)
{
    const char *dir = unit_dir();
    const pay_store_options_t options = fixture_options();
    const char *url = apr_pstrcat(unit_pool, "lmdb:", dir, NULL);
    const char *reason = NULL;
    apr_pool_t *pool;
    pay_store_t *store;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&store, url, &options, pool), APR_SUCCESS);
    ck_assert_int_eq(
        fixture_put(store, (fixture_row_t){PAY_TABLE_META, "schema", 0, schema_rows[_i].version,
                                           schema_rows[_i].len}),
        APR_SUCCESS);
    apr_pool_destroy(pool);
    store = fixture_open(dir);
    ck_assert_msg(
        pay_store_ready(&reason, store, unit_pool)
            == (schema_rows[_i].want == PAY_STORE_ESCHEMA ? PAY_STORE_ESCHEMA : PAY_STORE_EDOWN),
        "%s", schema_rows[_i].name);
    ck_assert_msg(strstr(reason, schema_rows[_i].word) != NULL, "%s: %s", schema_rows[_i].name,
                  reason);
    /* Its operations return that too, while the back-off lasts. */
    ck_assert_msg(
        fixture_put_meta(store, "a")
            == (schema_rows[_i].want == PAY_STORE_ESCHEMA ? PAY_STORE_ESCHEMA : PAY_STORE_EDOWN),
        "%s", schema_rows[_i].name);
}
END_TEST

START_TEST(test_a_long_key_is_cut_in_the_log)
{
    char bytes[PAY_STORE_KEY_MAX];
    pay_bytes_t key = {sizeof(bytes), bytes};

    memset(bytes, 0xAB, sizeof(bytes));
    fixture_listen();
    ck_assert_int_eq(pay_rows_bad(PAY_TABLE_CHARGE_REF, &key), PAY_ROWS_BAD);
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("table charge_ref"));
    ck_assert(fixture_logged("abab..."));
    ck_assert_uint_lt(strlen(fixture_log), 400);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_names_are_distinct);
    tcase_add_test(tcase, test_all_or_none_are_made);
    tcase_add_test(tcase, test_a_store_without_its_schema);
    tcase_add_test(tcase, test_a_store_that_lacks_a_table);
    tcase_add_loop_test(tcase, test_other_schemas_are_refused, 0, UNIT_ROWS(schema_rows));
    tcase_add_test(tcase, test_a_long_key_is_cut_in_the_log);
}

UNIT_PROGRAM(add)
