/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "inherited.h"

#include <pthread.h>
#include <sys/resource.h>

#define THREADS 8

static void *ready_thread(void *store)
{
    return (void *)(intptr_t)pay_store_ready(NULL, store, NULL);
}

/* However many threads come first, there is one environment. */
START_TEST(test_threads_open_one)
{
    const char *dir = unit_dir();
    pay_store_t *stores[THREADS];
    pthread_t threads[THREADS];
    void *result;
    int i;

    for (i = 0; i < THREADS; i++) {
        stores[i] = fixture_open(dir);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ready_thread, stores[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        ck_assert_int_eq((intptr_t)result, APR_SUCCESS);
        ck_assert_ptr_eq((stores[i])->env, (stores[0])->env);
    }
    ck_assert_uint_eq((stores[0])->env->handles, THREADS);
    ck_assert_uint_eq((stores[0])->env->uses, 0);
}
END_TEST

START_TEST(test_never_unsafe)
{
    static const unsigned int never = MDB_NOSYNC | MDB_NOMETASYNC | MDB_WRITEMAP | MDB_MAPASYNC;
    pay_store_t *store = fixture_open(unit_dir());
    unsigned int flags = 0;

    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(mdb_env_get_flags(store->env->mdb, &flags), 0);
    ck_assert_uint_eq(flags & never, 0);
    ck_assert_uint_eq(flags & MDB_NOTLS, MDB_NOTLS);
}
END_TEST

static int make_store(const char *dir, int ready_fd)
{
    (void)ready_fd;
    return fixture_put_meta(fixture_open(dir), "a") == APR_SUCCESS ? 0 : 1;
}

/*
 * Not from the process that makes it, and not from the next one that opens it, to write or to read.
 */
START_TEST(test_no_program_inherits_it)
{
    const int before = inherited_count();
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();

    if (_i > 0) {
        ck_assert_int_eq(fixture_wait(fixture_fork(make_store, dir)), 0);
    }
    options.read_only = _i == 2;
    ck_assert_int_eq(pay_store_ready(NULL, fixture_open_with(dir, &options), unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(inherited_count(), before);
}
END_TEST

START_TEST(test_the_map_in_whole_pages)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    MDB_envinfo info;

    options.map_bytes = (APR_INT64_C(8) << 20) + 1;
    store = fixture_open_with(unit_dir(), &options);
    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(mdb_env_info(store->env->mdb, &info), 0);
    ck_assert_uint_eq(info.me_mapsize, 8 << 20);
}
END_TEST

START_TEST(test_a_map_larger_than_the_process_may_have)
{
    pay_store_options_t options = fixture_options();
    struct rlimit limit, before;
    const char *reason = NULL;
    pay_store_t *store;
    apr_status_t rv;

    options.map_bytes = APR_INT64_C(1) << 60; /* refused before it is tried */
    store = fixture_open_with(unit_dir(), &options);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)1 << 59;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    rv = pay_store_ready(&reason, store, unit_pool);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    ck_assert_int_eq(rv, PAY_STORE_EDOWN);
    ck_assert(strstr(reason, "PaymentsStoreSize") != NULL);
}
END_TEST

START_TEST(test_a_file_that_is_no_store)
{
    const char *dir = unit_dir();
    const char *reason = NULL;
    char junk[8192];
    int fd;

    memset(junk, 'j', sizeof(junk));
    fd = open(apr_pstrcat(unit_pool, dir, "/data.mdb", NULL), O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(write(fd, junk, sizeof(junk)), (ssize_t)sizeof(junk));
    close(fd);
    ck_assert_int_eq(pay_store_ready(&reason, fixture_open(dir), unit_pool), PAY_STORE_EDOWN);
    ck_assert(strstr(reason, dir) != NULL);
}
END_TEST

/* The path leads to another directory by now: the next opening takes that one. */
START_TEST(test_a_directory_in_the_place_of_another)
{
    const char *above = unit_dir();
    const char *dir = apr_pstrcat(unit_pool, above, "/store", NULL);
    pay_store_t *store = fixture_open(dir);
    pay_store_t *db = store;
    pay_lmdb_env_t *first;

    ck_assert_int_eq(fixture_put_meta(store, "old"), APR_SUCCESS);
    first = db->env;
    ck_assert_int_eq(rename(dir, apr_pstrcat(unit_pool, above, "/aside", NULL)), 0);
    ck_assert_int_eq(pay_store_housekeep(store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(first->state, PAY_LMDB_CLOSED);
    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    ck_assert_ptr_ne(db->env, first);
    ck_assert_uint_eq(first->handles, 0);
    ck_assert(!fixture_has(store, "old"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_threads_open_one);
    tcase_add_test(tcase, test_never_unsafe);
    tcase_add_loop_test(tcase, test_no_program_inherits_it, 0, 3);
    tcase_add_test(tcase, test_the_map_in_whole_pages);
    tcase_add_test(tcase, test_a_map_larger_than_the_process_may_have);
    tcase_add_test(tcase, test_a_file_that_is_no_store);
    tcase_add_test(tcase, test_a_directory_in_the_place_of_another);
}

UNIT_PROGRAM(add)
