/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "store/lmdb/backoff.h"
#include "store/lmdb/open.h"

#include <errno.h>

static const struct {
    const char *name;
    int rc;
    apr_status_t want;
} status_rows[] = {
    {"success", 0, APR_SUCCESS},
    {"not found", PAY_ROWS_NOTFOUND, APR_NOTFOUND},
    {"exists", PAY_ROWS_EXISTS, APR_EEXIST},
    {"map full", MDB_MAP_FULL, PAY_STORE_EFULL},
    {"disk full", ENOSPC, PAY_STORE_EFULL},
    {"quota", EDQUOT, PAY_STORE_EFULL},
    {"panic", MDB_PANIC, PAY_STORE_EDOWN},
    {"readers full", MDB_READERS_FULL, PAY_STORE_EDOWN},
    {"input/output", EIO, PAY_STORE_EDOWN},
    {"no right", EACCES, PAY_STORE_EDOWN},
    {"corrupted", PAY_ROWS_CORRUPTED, PAY_STORE_ECORRUPT},
    {"bad row", PAY_ROWS_BAD, PAY_STORE_ECORRUPT},
    {"a closure's EINVAL", EINVAL, APR_EINVAL},
    {"a closure's EBUSY", EBUSY, APR_EBUSY},
    {"a status of ours", PAY_STORE_ESCHEMA, PAY_STORE_ESCHEMA},
    {"a status of APR's", APR_NOTFOUND, APR_NOTFOUND},
    {"unknown to us", -12345, PAY_STORE_EDOWN},
};

START_TEST(test_codes_are_mapped)
{
    ck_assert_msg(pay_rows_status(status_rows[_i].rc) == status_rows[_i].want, "%s",
                  status_rows[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *path;
    int fine;
} path_rows[] = {
    {"absolute", "/var/lib/payments", 1},
    {"trailing slash", "/var/lib/payments/", 1},
    {"dots inside a name", "/var/..lib/pay..", 1},
    {"empty", "", 0},
    {"relative", "payments", 0},
    {"the root", "/", 0},
    {"the root twice", "//", 0},
    {"upwards inside", "/var/../etc", 0},
    {"upwards at the end", "/var/lib/..", 0},
    {"control character", "/var/lib\n", 0},
};

START_TEST(test_paths_are_judged)
{
    ck_assert_msg((pay_lmdb_path_fault(path_rows[_i].path) == NULL) == path_rows[_i].fine, "%s",
                  path_rows[_i].name);
}
END_TEST

START_TEST(test_length_of_paths)
{
    char path[4096];

    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[4080] = '\0';
    ck_assert_ptr_null(pay_lmdb_path_fault(path));
    path[4080] = 'x';
    path[4081] = '\0';
    ck_assert_ptr_nonnull(pay_lmdb_path_fault(path));
}
END_TEST

START_TEST(test_handles_of_one_directory_share_an_environment)
{
    const char *dir = unit_dir();
    pay_store_t *one = fixture_open(dir);
    pay_store_t *slash = fixture_open(apr_pstrcat(unit_pool, dir, "//", NULL));
    pay_store_t *dot = fixture_open(apr_pstrcat(unit_pool, dir, "/.", NULL));

    ck_assert_int_eq(fixture_put_meta(one, "a"), APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(slash, "b"), APR_SUCCESS);
    ck_assert(fixture_has(dot, "a"));
    ck_assert(fixture_has(dot, "b"));
    ck_assert_ptr_eq((one)->env, (slash)->env);
    ck_assert_ptr_eq((one)->env, (dot)->env);
    ck_assert_ptr_ne((fixture_open(unit_dir()))->env, (one)->env);
}
END_TEST

START_TEST(test_the_last_handle_closes)
{
    const pay_store_options_t options = fixture_options();
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
    apr_pool_t *pools[2];
    pay_store_t *stores[2];
    pay_lmdb_env_t *env;
    int i;

    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(apr_pool_create(&pools[i], unit_pool), APR_SUCCESS);
        ck_assert_int_eq(pay_store_open(&stores[i], url, &options, pools[i]), APR_SUCCESS);
        ck_assert_int_eq(pay_store_ready(NULL, stores[i], pools[i]), APR_SUCCESS);
    }
    env = (stores[0])->env;
    apr_pool_destroy(pools[0]);
    ck_assert_int_eq(env->state, PAY_LMDB_OPEN);
    ck_assert(!fixture_has(stores[1], "nothing"));
    /* A thread that comes late finds a closed store, not freed memory. */
    ck_assert_int_eq(fixture_put_meta(stores[0], "late"), PAY_STORE_EDOWN);
    apr_pool_destroy(pools[1]);
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
    ck_assert_ptr_null(env->mdb);
    ck_assert(!fixture_has(fixture_open(strchr(url, '/')), "late"));
}
END_TEST

START_TEST(test_a_missing_store_is_logged_once)
{
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/missing", NULL);
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    int i;

    options.create = 0;
    store = fixture_open_with(dir, &options);
    fixture_listen();
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(fixture_put_meta(store, "a"), PAY_STORE_EDOWN);
        ck_assert_int_eq(pay_store_housekeep(store, unit_pool), PAY_STORE_EDOWN);
    }
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("PAY00100: ") && fixture_logged("does not exist"));
    ck_assert(fixture_logged("paymentsctl"));
    ck_assert(fixture_logged(dir));
}
END_TEST

START_TEST(test_a_store_that_comes_back_is_opened)
{
    const char *dir = apr_pstrcat(unit_pool, unit_dir(), "/later", NULL);
    pay_store_options_t options = fixture_options();
    pay_store_t *store;

    options.create = 0;
    store = fixture_open_with(dir, &options);
    ck_assert_int_eq(fixture_put_meta(store, "a"), PAY_STORE_EDOWN);
    ck_assert_int_eq(store->delay_ms, PAY_LMDB_BACKOFF_MIN_MS);
    ck_assert_int_eq(pay_store_ready(NULL, fixture_open(dir), unit_pool), APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(store, "a"), PAY_STORE_EDOWN); /* not before its time */
    store->next_try_ms = 0;
    ck_assert_int_eq(fixture_put_meta(store, "a"), APR_SUCCESS);
    ck_assert_int_eq(store->delay_ms, 0);
}
END_TEST

START_TEST(test_ready_says_why_not)
{
    pay_store_options_t options = fixture_options();
    const char *reason = NULL;
    pay_store_t *store;

    options.create = 0;
    store = fixture_open_with(unit_dir(), &options);
    fixture_listen();
    ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), PAY_STORE_EDOWN);
    ck_assert_ptr_nonnull(reason);
    ck_assert(strstr(reason, "holds no store") != NULL);
    ck_assert_int_eq(fixture_lines, 0); /* the caller has it: no extra log line */
}
END_TEST

START_TEST(test_housekeep_sees_a_replaced_store)
{
    const char *dir = unit_dir();
    pay_store_t *store = fixture_open(dir);
    const char *data = apr_pstrcat(unit_pool, dir, "/data.mdb", NULL);

    ck_assert_int_eq(fixture_put_meta(store, "a"), APR_SUCCESS);
    fixture_listen();
    ck_assert_int_eq(pay_store_housekeep(store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(fixture_lines, 0);
    ck_assert_int_eq(rename(data, apr_pstrcat(unit_pool, dir, "/aside.mdb", NULL)), 0);
    ck_assert_int_eq(pay_store_housekeep(store, unit_pool), APR_SUCCESS);
    ck_assert(fixture_logged("PAY00114: "));
    ck_assert_int_eq(fixture_put_meta(store, "b"), PAY_STORE_EDOWN);
    ck_assert_int_eq(store->env->state, PAY_LMDB_CLOSED);
}
END_TEST

START_TEST(test_reading_only)
{
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();
    apr_pool_t *pool;
    pay_store_t *store;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_open(&store, apr_pstrcat(pool, "lmdb:", dir, NULL), &options, pool),
                     APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(store, "a"), APR_SUCCESS);
    apr_pool_destroy(pool);
    options.read_only = 1;
    store = fixture_open_with(dir, &options);
    ck_assert(fixture_has(store, "a"));
    ck_assert_int_eq(fixture_put_meta(store, "b"), PAY_STORE_EDOWN);
    ck_assert(!fixture_has(store, "b"));
    ck_assert_int_eq(pay_store_ready(NULL, fixture_open(dir), unit_pool), PAY_STORE_EDOWN);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_codes_are_mapped, 0, UNIT_ROWS(status_rows));
    tcase_add_loop_test(tcase, test_paths_are_judged, 0, UNIT_ROWS(path_rows));
    tcase_add_test(tcase, test_length_of_paths);
    tcase_add_test(tcase, test_handles_of_one_directory_share_an_environment);
    tcase_add_test(tcase, test_the_last_handle_closes);
    tcase_add_test(tcase, test_a_missing_store_is_logged_once);
    tcase_add_test(tcase, test_a_store_that_comes_back_is_opened);
    tcase_add_test(tcase, test_ready_says_why_not);
    tcase_add_test(tcase, test_housekeep_sees_a_replaced_store);
    tcase_add_test(tcase, test_reading_only);
}

UNIT_PROGRAM(add)
