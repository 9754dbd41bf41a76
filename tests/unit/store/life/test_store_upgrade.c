/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

static const struct {
    const char *name;
    unsigned char version;
    apr_status_t want;
    const char *word;
} version_rows[] = {
    {"this one", PAY_STORE_SCHEMA_VERSION, APR_SUCCESS, "nothing to do"},
    {"a newer one", PAY_STORE_SCHEMA_VERSION + 1, PAY_STORE_ESCHEMA, "newer mod_payments"},
};

START_TEST(test_versions)
{
    const pay_store_options_t options = fixture_options();
    const unsigned char version[4] = {0, 0, 0, version_rows[_i].version};
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
    const char *text = NULL;
    apr_pool_t *pool;
    pay_store_t *store;
    int dry_run;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&store, url, &options, pool), APR_SUCCESS);
    ck_assert_int_eq(fixture_put(store, (fixture_row_t){PAY_TABLE_META, "schema", 0, version, 4}),
                     APR_SUCCESS);
    apr_pool_destroy(pool);
    for (dry_run = 0; dry_run < 2; dry_run++) {
        ck_assert_msg(pay_store_upgrade(&text, url, &options, dry_run, unit_pool)
                          == version_rows[_i].want,
                      "%s", version_rows[_i].name);
        ck_assert_msg(strstr(text, version_rows[_i].word) != NULL, "%s: %s", version_rows[_i].name,
                      text);
    }
}
END_TEST

/* Nothing is made if there is nothing. */
START_TEST(test_no_store)
{
    const pay_store_options_t options = fixture_options();
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/none", NULL);
    const char *text = NULL;

    ck_assert_int_eq(pay_store_upgrade(&text, apr_pstrcat(unit_pool, "lmdb:", dir, NULL), &options,
                                       0, unit_pool),
                     PAY_STORE_EDOWN);
    ck_assert(strstr(text, "does not exist") != NULL);
    ck_assert_int_ne(access(dir, F_OK), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_versions, 0, UNIT_ROWS(version_rows));
    tcase_add_test(tcase, test_no_store);
}

UNIT_PROGRAM(add)
