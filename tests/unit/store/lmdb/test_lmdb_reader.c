/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <pthread.h>

#define FEW_READERS 8
#define SMALL_MAP (256 * 1024)
#define THREADS 8
#define ROUNDS 200

START_TEST(test_transactions_are_used_again)
{
    pay_store_t *db = fixture_open(unit_dir());
    pay_rows_txn_t first, second;

    ck_assert_int_eq(pay_rows_begin(&first, db), APR_SUCCESS);
    pay_rows_end(&first);
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->readers_free, 1);
    ck_assert_int_eq(pay_rows_begin(&second, db), APR_SUCCESS);
    ck_assert_ptr_eq(first.native, second.native);
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->readers_free, 0);
    pay_rows_end(&second);
}
END_TEST

START_TEST(test_a_renewed_one_sees_what_is_new)
{
    pay_store_t *store = fixture_open(unit_dir());

    ck_assert(!fixture_has(store, "a"));
    ck_assert_int_eq(fixture_put_meta(store, "a"), APR_SUCCESS);
    ck_assert(fixture_has(store, "a"));
}
END_TEST

START_TEST(test_the_free_list_is_bounded)
{
    pay_rows_txn_t txns[PAY_LMDB_READERS_FREE_MAX + 1];
    pay_store_options_t options = fixture_options();
    pay_store_t *db;
    int i;

    options.readers_max = 4 * (PAY_LMDB_READERS_FREE_MAX + 1);
    db = fixture_open_with(unit_dir(), &options);
    for (i = 0; i < UNIT_ROWS(txns); i++) {
        ck_assert_int_eq(pay_rows_begin(&txns[i], db), APR_SUCCESS);
    }
    for (i = 0; i < UNIT_ROWS(txns); i++) {
        pay_rows_end(&txns[i]);
    }
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->readers_free, PAY_LMDB_READERS_FREE_MAX);
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->uses, 0);
}
END_TEST

/* One reader more than the table has room for is refused, and one that ends makes room. */
START_TEST(test_a_full_reader_table)
{
    pay_rows_txn_t txns[FEW_READERS + 1];
    pay_store_options_t options = fixture_options();
    pay_store_t *db;
    int i;

    options.readers_max = FEW_READERS;
    db = fixture_open_with(unit_dir(), &options);
    for (i = 0; i < FEW_READERS; i++) {
        ck_assert_int_eq(pay_rows_begin(&txns[i], db), APR_SUCCESS);
    }
    fixture_listen();
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(pay_rows_begin(&txns[FEW_READERS], db), PAY_STORE_EDOWN);
        ck_assert_ptr_null(txns[FEW_READERS].native);
    }
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert_uint_eq(((pay_lmdb_env_t *)db->env)->uses, FEW_READERS);
    for (i = 0; i < FEW_READERS; i++) {
        pay_rows_end(&txns[i]);
    }
    ck_assert_int_eq(pay_rows_begin(&txns[0], db), APR_SUCCESS);
    pay_rows_end(&txns[0]);
}
END_TEST

/*
 * Forks before this process opens the store; the child's work begins when `*go` is closed. Data
 * from `*done` shows that it has finished.
 */
static pid_t fork_gated(int (*work)(const char *dir), const char *dir, int *go, int *done)
{
    int gate[2], ready[2];
    pid_t pid;

    ck_assert_int_eq(pipe(gate), 0);
    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char byte;

        close(gate[1]);
        (void)!read(gate[0], &byte, 1);
        byte = (char)work(dir);
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(0);
    }
    close(gate[0]);
    close(ready[1]);
    *go = gate[1];
    *done = ready[0];
    return pid;
}

/* Lets the child do its work, then kills it. */
static void run_gated(pid_t pid, int go, int done)
{
    char failed = 1;

    close(go);
    ck_assert_int_eq(read(done, &failed, 1), 1);
    close(done);
    ck_assert_int_eq(failed, 0);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
}

/* Fills the reader table. */
static int hog_work(const char *dir)
{
    pay_store_t *db = fixture_open(dir);
    pay_rows_txn_t txn;
    int i;

    for (i = 0; i < FEW_READERS; i++) {
        if (pay_rows_begin(&txn, db) != APR_SUCCESS) {
            return 1;
        }
    }
    return pay_rows_begin(&txn, db) == PAY_STORE_EDOWN ? 0 : 1;
}

START_TEST(test_slots_of_the_dead_are_freed)
{
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();
    int go, done;
    pay_rows_txn_t txn;
    pay_store_t *db;
    pid_t pid;

    options.readers_max = FEW_READERS;
    pid = fork_gated(hog_work, dir, &go, &done);
    db = fixture_open_with(dir, &options);
    ck_assert_int_eq(pay_store_ready(NULL, db, unit_pool), APR_SUCCESS);
    run_gated(pid, go, done);
    fixture_listen();
    ck_assert_int_eq(pay_rows_begin(&txn, db), APR_SUCCESS);
    pay_rows_end(&txn);
    ck_assert_int_eq(fixture_lines, 0);
}
END_TEST

START_TEST(test_housekeep_frees_slots_of_the_dead)
{
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();
    int go, done;
    pay_store_t *store;
    pid_t pid;

    options.readers_max = FEW_READERS;
    pid = fork_gated(hog_work, dir, &go, &done);
    store = fixture_open_with(dir, &options);
    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    run_gated(pid, go, done);
    fixture_listen();
    ck_assert_int_eq(pay_store_housekeep(store, unit_pool), APR_SUCCESS);
    ck_assert(fixture_logged("PAY00113: ") && fixture_logged("8 reader slots"));
    ck_assert_int_eq(pay_store_housekeep(store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(fixture_lines, 1);
}
END_TEST

static int grow_work(pay_rows_txn_t *txn, void *baton)
{
    static char bytes[4 * SMALL_MAP];
    pay_bytes_t key = {5, "large"};
    pay_bytes_t val = {sizeof(bytes), bytes};

    (void)baton;
    return pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
}

/* Writes more than the parent's map holds. */
static int grow(const char *dir)
{
    pay_store_t *db = fixture_open(dir);

    return pay_rows_commit(db, pay_turn_all(), 0, grow_work, NULL) == APR_SUCCESS ? 0 : 1;
}

/* Opens `dir` with the small map, then has another process grow the file beyond it. */
static pay_store_t *open_outgrown(const char *dir, pay_rows_txn_t *reader)
{
    pay_store_options_t options = fixture_options();
    int go, done;
    pay_store_t *db;
    pid_t pid;

    pid = fork_gated(grow, dir, &go, &done);
    options.map_bytes = SMALL_MAP;
    db = fixture_open_with(dir, &options);
    ck_assert_int_eq(fixture_put_meta(db, "a"), APR_SUCCESS);
    if (reader) {
        ck_assert_int_eq(pay_rows_begin(reader, db), APR_SUCCESS);
    }
    run_gated(pid, go, done);
    return db;
}

START_TEST(test_a_reader_follows_a_grown_map)
{
    pay_store_t *db = open_outgrown(unit_dir(), NULL);

    ck_assert(fixture_has(db, "large"));
    ck_assert(fixture_has(db, "a"));
    ck_assert_int_eq(fixture_put_meta(db, "b"), APR_SUCCESS);
}
END_TEST

START_TEST(test_a_writer_follows_a_grown_map)
{
    pay_store_t *db = open_outgrown(unit_dir(), NULL);

    ck_assert_int_eq(fixture_put_meta(db, "b"), APR_SUCCESS);
    ck_assert(fixture_has(db, "large"));
    ck_assert(fixture_has(db, "b"));
}
END_TEST

START_TEST(test_a_live_reader_is_not_mapped_away)
{
    pay_bytes_t key = {1, "a"};
    pay_rows_txn_t old, txn;
    pay_bytes_t val;
    pay_store_t *db = open_outgrown(unit_dir(), &old);

    ck_assert_int_eq(pay_rows_begin(&txn, db), PAY_STORE_EDOWN);
    ck_assert_int_eq(pay_rows_get(&val, &old, PAY_TABLE_META, &key), 0);
    ck_assert_int_eq(*(char *)val.data, 'x');
    pay_rows_end(&old);
    ck_assert(fixture_has(db, "large"));
}
END_TEST

static void *read_thread(void *store)
{
    int i;

    for (i = 0; i < ROUNDS; i++) {
        if (!fixture_has(store, "a") || !fixture_has(store, "schema")) {
            return "a row is missing";
        }
    }
    return NULL;
}

START_TEST(test_threads_share_the_list)
{
    pthread_t threads[THREADS];
    pay_store_t *store = open_outgrown(unit_dir(), NULL);
    void *fault;
    int i;

    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_thread, store), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &fault), 0);
        ck_assert_ptr_null(fault);
    }
    ck_assert_uint_eq(((pay_lmdb_env_t *)store->env)->uses, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_transactions_are_used_again);
    tcase_add_test(tcase, test_a_renewed_one_sees_what_is_new);
    tcase_add_test(tcase, test_the_free_list_is_bounded);
    tcase_add_test(tcase, test_a_full_reader_table);
    tcase_add_test(tcase, test_slots_of_the_dead_are_freed);
    tcase_add_test(tcase, test_housekeep_frees_slots_of_the_dead);
    tcase_add_test(tcase, test_a_reader_follows_a_grown_map);
    tcase_add_test(tcase, test_a_writer_follows_a_grown_map);
    tcase_add_test(tcase, test_a_live_reader_is_not_mapped_away);
    tcase_add_test(tcase, test_threads_share_the_list);
}

UNIT_PROGRAM(add)
