/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void fill(pay_store_t *store)
{
    int i;

    for (i = 0; i < 6; i++) {
        pay_token_t token = {.token = apr_psprintf(unit_pool, "tok_%d", i), .email = "a@b.example"};
        pay_token_t *made;

        token.scope = fixture_scopes[i % FIXTURE_SCOPES];
        token.card = (pay_card_t){"", "", "", "", ""};
        ck_assert_int_eq(pay_store_token_create(&made, store, &token, unit_pool), APR_SUCCESS);
    }
}

static void keep(pay_store_t *store, const char *key)
{
    pay_idempotency_t use = {.operation = PAY_OPERATION_VERIFY, .key = key};
    pay_idempotency_record_t *record;

    ck_assert_int_eq(
        pay_store_idempotency_put(&record, store, &fixture_scopes[0], &use, "{}", unit_pool),
        APR_SUCCESS);
}

START_TEST(test_stat_counts)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_store_stat_t stat;

    fill(store);
    keep(store, "key-1");
    keep(store, "key-2");
    ck_assert_int_eq(pay_store_stat(&stat, store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(stat.accounts, 2);
    ck_assert_uint_eq(stat.tokens, 6);
    ck_assert_uint_eq(stat.api_keys, 0);
    ck_assert_uint_eq(stat.charges, 0);
    ck_assert_uint_eq(stat.refunds, 0);
    ck_assert_uint_eq(stat.pending, 0);
    ck_assert_uint_eq(stat.idempotency_records, 2);
    ck_assert_uint_eq(stat.schema_version, PAY_STORE_SCHEMA_VERSION);
    ck_assert_int_eq(stat.map_bytes, fixture_options().map_bytes);
    ck_assert_int_gt(stat.used_bytes, 0);
    ck_assert_int_le(stat.used_bytes, stat.file_bytes);
    ck_assert_int_gt(stat.disk_free_bytes, 0);
    ck_assert_uint_eq(stat.readers_max, 64);
}
END_TEST

START_TEST(test_a_backup_is_a_store)
{
    const char *dir = unit_dir();
    const char *copy = apr_pstrcat(unit_pool, unit_dir(), "/copy", NULL);
    pay_store_t *store = fixture_shop(dir);
    pay_store_stat_t counts;
    struct stat info;

    fill(store);
    ck_assert_int_eq(pay_store_backup(store, copy, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(stat(copy, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, copy, "/data.mdb", NULL), &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    store = fixture_open(copy);
    ck_assert_int_eq(pay_store_stat(&counts, store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(counts.accounts, 2);
    ck_assert_uint_eq(counts.tokens, 6);
}
END_TEST

static const struct {
    const char *name;
    const char *below; /* under a new directory; "" for the directory itself */
    apr_status_t want;
} target_rows[] = {
    {"one that is there", "", APR_EEXIST},
    {"nothing above it", "/a/b", APR_ENOENT},
};

START_TEST(test_a_backup_needs_a_new_directory)
{
    pay_store_t *store = fixture_shop(unit_dir());
    const char *target = apr_pstrcat(unit_pool, unit_dir(), target_rows[_i].below, NULL);

    ck_assert_msg(pay_store_backup(store, target, unit_pool) == target_rows[_i].want, "%s",
                  target_rows[_i].name);
    ck_assert_int_ne(access(apr_pstrcat(unit_pool, target, "/data.mdb", NULL), F_OK), 0);
}
END_TEST

/* Half a copy is useless: it is reported, and removed. */
START_TEST(test_a_backup_on_a_full_disk)
{
    const char *target = apr_pstrcat(unit_pool, unit_dir(), "/copy", NULL);
    pay_store_t *store = fixture_shop(unit_dir());
    struct rlimit limit, before;

    fill(store);
    fixture_listen();
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 8 * 1024;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_ne(pay_store_backup(store, target, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert(fixture_logged("PAY00115: backup of store "));
    ck_assert_int_ne(access(target, F_OK), 0);
    ck_assert_int_eq(pay_store_backup(store, target, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(access(target, F_OK), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_stat_counts);
    tcase_add_test(tcase, test_a_backup_is_a_store);
    tcase_add_loop_test(tcase, test_a_backup_needs_a_new_directory, 0, UNIT_ROWS(target_rows));
    tcase_add_test(tcase, test_a_backup_on_a_full_disk);
}

UNIT_PROGRAM(add)
