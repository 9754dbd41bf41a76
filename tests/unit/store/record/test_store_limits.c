/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#define MIB (APR_INT64_C(1) << 20)

static void prepare(const char *url, apr_int64_t map_bytes, int rows_max)
{
    pay_store_options_t options = fixture_options();
    const char *reason = NULL;

    options.map_bytes = map_bytes;
    options.reserve_bytes = 0;
    options.account_rows_max = rows_max;
    ck_assert_int_eq(pay_store_prepare(&reason, url, &options, unit_pool), APR_SUCCESS);
}

static pay_store_stat_t stat_with(const char *url, int limits_of_store, pay_account_rows_t *rows)
{
    pay_store_options_t options = pay_store_options_default;
    pay_store_stat_t stat;
    apr_pool_t *pool;
    pay_store_t *store;

    options.limits_of_store = limits_of_store;
    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&store, url, &options, pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_stat(&stat, store, pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_account_rows(rows, store, 1, pool), APR_SUCCESS);
    apr_pool_destroy(pool);
    return stat;
}

/* A program that requests them gets those of the last server that prepared the store. */
START_TEST(test_limits)
{
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
    pay_account_rows_t rows;

    prepare(url, 16 * MIB, 7);
    ck_assert_int_eq(stat_with(url, 1, &rows).map_bytes, 16 * MIB);
    ck_assert_int_eq(rows.rows_max, 7);
    ck_assert_int_eq(stat_with(url, 0, &rows).map_bytes, pay_store_options_default.map_bytes);
    prepare(url, 32 * MIB, 0);
    ck_assert_int_eq(stat_with(url, 1, &rows).map_bytes, 32 * MIB);
    ck_assert_int_eq(rows.rows_max, 0);
}
END_TEST

/*
 * The default's reserve is larger than such a store: the server's counts. A full store reports
 * that.
 */
START_TEST(test_full)
{
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
    static char text[PAY_STORE_IDEMPOTENCY_TEXT_MAX];
    pay_store_options_t options = pay_store_options_default;
    pay_idempotency_t use = {.operation = PAY_OPERATION_VOID, .key = "k"};
    const pay_account_settings_t *settings = &pay_account_settings_builtin;
    pay_scope_t scope = {.mode = PAY_TEST};
    pay_account_t *account;
    pay_store_stat_t stat;
    pay_store_t *store;
    pay_idempotency_record_t *record;
    apr_status_t rv = APR_SUCCESS;
    int n;

    prepare(url, 2 * MIB, 0);
    options.limits_of_store = 1;
    memset(text, 'x', sizeof(text) - 1);
    ck_assert_int_eq(pay_store_open(&store, url, &options, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_account_create(&account, store, "shop", settings, unit_pool),
                     APR_SUCCESS);
    scope.account = account->number;
    for (n = 0; rv == APR_SUCCESS && n < 10000; n++) {
        use.key = apr_psprintf(unit_pool, "k-%d", n);
        rv = pay_store_idempotency_put(&record, store, &scope, &use, text, unit_pool);
    }
    ck_assert_int_eq(rv, PAY_STORE_EFULL);
    ck_assert_int_eq(pay_store_stat(&stat, store, unit_pool), APR_SUCCESS);
    ck_assert_int_le(stat.file_bytes, 2 * MIB);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_limits);
    tcase_add_test(tcase, test_full);
}

UNIT_PROGRAM(add)
