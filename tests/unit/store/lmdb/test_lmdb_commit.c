/* SPDX-License-Identifier: Apache-2.0 */
#include "between.h"
#include "lmdb_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#define THREADS 8
#define ROUNDS 40
#define SHORT_WAIT_MS 400

/* The scripted result in place of LMDB's own; 0: none. */
static int begin_says;
static int commit_says;
static int failed_begin_says; /* from the next failed commit on */

static int said_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    return begin_says ? begin_says : between_real_txn_begin(env, parent, flags, txn);
}

static int said_commit(MDB_txn *txn)
{
    if (commit_says) {
        mdb_txn_abort(txn);
        begin_says = failed_begin_says;
        return commit_says;
    }
    return between_real_txn_commit(txn);
}

static int count_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = {5, "count"};
    apr_uint64_t count = 0;
    pay_bytes_t val;
    int rc;

    (void)baton;
    rc = pay_rows_get(&val, txn, PAY_TABLE_META, &key);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    if (!rc) {
        memcpy(&count, val.data, sizeof(count));
    }
    count++;
    val.len = sizeof(count);
    val.data = &count;
    return pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
}

static apr_uint64_t count_read(pay_store_t *store)
{
    pay_store_t *db = store;
    pay_bytes_t key = {5, "count"};
    apr_uint64_t count = 0;
    pay_bytes_t val;
    pay_rows_txn_t txn;

    ck_assert_int_eq(pay_rows_begin(&txn, db), APR_SUCCESS);
    if (pay_rows_get(&val, &txn, PAY_TABLE_META, &key) == 0) {
        memcpy(&count, val.data, sizeof(count));
    }
    pay_rows_end(&txn);
    return count;
}

static apr_status_t count_up(pay_store_t *store)
{
    return pay_rows_commit(store, pay_turn_all(), 0, count_work, NULL);
}

static void *count_thread(void *store)
{
    apr_uint64_t done = 0;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        done += count_up(store) == APR_SUCCESS;
    }
    return (void *)(uintptr_t)done;
}

static int count_child(const char *dir, int ready_fd)
{
    pay_store_t *store = fixture_open(dir);
    void *done = count_thread(store);

    (void)!write(ready_fd, "", 1);
    return (uintptr_t)done == ROUNDS ? 0 : 1;
}

START_TEST(test_threads_and_processes_share_the_writer_lock)
{
    const char *dir = unit_dir();
    pthread_t threads[THREADS];
    pay_store_t *store;
    void *done;
    pid_t pid;
    int i;

    pid = fixture_fork(count_child, dir);
    store = fixture_open(dir);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_thread, store), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_uint_eq((uintptr_t)done, ROUNDS);
    }
    ck_assert_int_eq(fixture_wait(pid), 0);
    ck_assert_uint_eq(count_read(store), (THREADS + 1) * ROUNDS);
}
END_TEST

static const struct {
    const char *name;
    int rc;
    apr_status_t want;
} refusal_rows[] = {
    {"exists", PAY_ROWS_EXISTS, APR_EEXIST},
    {"not found", PAY_ROWS_NOTFOUND, APR_NOTFOUND},
    {"bad row", PAY_ROWS_BAD, PAY_STORE_ECORRUPT},
    {"map full", MDB_MAP_FULL, PAY_STORE_EFULL},
    {"disk full", ENOSPC, PAY_STORE_EFULL},
    {"input/output", EIO, PAY_STORE_EDOWN},
    {"invalid", EINVAL, APR_EINVAL},
};

static int refuse_work(pay_rows_txn_t *txn, void *baton)
{
    int rc = count_work(txn, NULL);

    return rc ? rc : *(int *)baton;
}

START_TEST(test_what_a_closure_refuses_is_not_written)
{
    pay_store_t *store = fixture_open(unit_dir());
    int rc = refusal_rows[_i].rc;

    ck_assert_msg(pay_rows_commit(store, pay_turn_all(), 0, refuse_work, &rc)
                      == refusal_rows[_i].want,
                  "%s", refusal_rows[_i].name);
    ck_assert_uint_eq(count_read(store), 0);
    ck_assert_int_eq(count_up(store), APR_SUCCESS); /* the lock was released */
}
END_TEST

/* A hook around the work of a handle, and its observations. */
typedef struct hook_t {
    int refuses;
    int says; /* what it returns once the work has run */
    int committed;
    apr_status_t rv;
} hook_t;

static int hook_run(int *refused, pay_rows_txn_t *txn, pay_rows_work_t work, void *baton)
{
    const hook_t *hook = txn->store->hook_data;
    int rc;

    if (hook->refuses) {
        *refused = 1;
        return 0;
    }
    rc = work(txn, baton);
    return rc ? rc : hook->says;
}

static void hook_committed(pay_store_t *db, apr_status_t rv)
{
    hook_t *hook = db->hook_data;

    hook->committed++;
    hook->rv = rv;
}

static const pay_lmdb_hook_t hook_functions = {hook_run, hook_committed};

static const struct {
    const char *name;
    int refuses;
    int says;
    int commit_says;
    apr_status_t want;
    apr_uint64_t want_count;
} hook_rows[] = {
    {"the work is run", 0, 0, 0, APR_SUCCESS, 1},
    {"silent is success", 0, PAY_ROWS_SILENT, 0, APR_SUCCESS, 1},
    {"a refusal runs nothing", 1, 0, 0, PAY_STORE_EFULL, 0},
    {"what it returns aborts", 0, EINVAL, 0, APR_EINVAL, 0},
    {"a failed commit", 0, 0, EIO, PAY_STORE_EUNKNOWN, 0},
};

START_TEST(test_a_hook_runs_the_work)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_store_t *opened = store;
    hook_t hook = {hook_rows[_i].refuses, hook_rows[_i].says, 0, APR_SUCCESS};
    pay_store_t hooked = {.path = opened->path,
                          .options = opened->options,
                          .base = opened,
                          .hook = &hook_functions,
                          .hook_data = &hook};

    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    fixture_listen();
    commit_says = hook_rows[_i].commit_says;
    ck_assert_msg(pay_rows_commit(&hooked, pay_turn_all(), 0, count_work, NULL)
                      == hook_rows[_i].want,
                  "%s", hook_rows[_i].name);
    commit_says = 0;
    ck_assert_int_eq(hook.committed, 1);
    ck_assert_int_eq(hook.rv, hook_rows[_i].want);
    ck_assert_uint_eq(count_read(store), hook_rows[_i].want_count);
    ck_assert_int_eq(count_up(store), APR_SUCCESS); /* the handle below has no hook */
    ck_assert_int_eq(hook.committed, 1);
}
END_TEST

/* Holds LMDB's write lock until it is killed, or stopped and continued. */
static int hold_work(pay_rows_txn_t *txn, void *baton)
{
    (void)txn;
    (void)!write(*(int *)baton, "", 1);
    (void)raise(SIGSTOP);
    return 0;
}

static int hold_child(const char *dir, int ready_fd)
{
    pay_store_t *store = fixture_open(dir);
    apr_status_t rv = pay_rows_commit(store, pay_turn_all(), 0, hold_work, &ready_fd);

    return rv == APR_SUCCESS ? 0 : 1;
}

static pid_t fork_holder(const char *dir)
{
    pid_t pid = fixture_fork(hold_child, dir);
    int status;

    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
    return pid;
}

static void *lead_thread(void *store)
{
    return (void *)(intptr_t)count_up(store);
}

/* Until the thread that leads waits for the other process's lock. */
static void wait_for_leader(pay_store_t *store)
{
    const pay_store_t *db = store;
    int waiting = 0;

    while (!waiting) {
        pay_lmdb_env_t *env = db->env;

        if (env) {
            pthread_mutex_lock(&env->mutex);
            waiting = env->begin_since_ms != 0;
            pthread_mutex_unlock(&env->mutex);
        }
        usleep(1000);
    }
}

START_TEST(test_a_stopped_process_makes_busy)
{
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();
    apr_int64_t started;
    pthread_t leader;
    pay_store_t *store;
    void *result;
    pid_t pid;

    options.commit_wait = apr_time_from_msec(SHORT_WAIT_MS);
    pid = fork_holder(dir);
    store = fixture_open_with(dir, &options);
    fixture_listen();
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS); /* nobody here wants to write */
    ck_assert_int_eq(pthread_create(&leader, NULL, lead_thread, store), 0);
    wait_for_leader(store);

    started = pay_clock_ms();
    ck_assert_int_eq(count_up(store), PAY_STORE_EBUSY);
    ck_assert_int_ge(pay_clock_ms() - started, SHORT_WAIT_MS - 1);
    ck_assert(fixture_logged("PAY00109: ") && fixture_logged("PaymentsCommitWait"));

    /* By now the leader has waited longer than that: nobody joins the queue any more. */
    started = pay_clock_ms();
    ck_assert_int_eq(count_up(store), PAY_STORE_EBUSY);
    ck_assert_int_lt(pay_clock_ms() - started, SHORT_WAIT_MS);
    ck_assert_uint_eq(count_read(store), 0); /* readers go on */
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EBUSY);

    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(fixture_wait(pid), 0);
    ck_assert_int_eq(pthread_join(leader, &result), 0);
    ck_assert_int_eq((intptr_t)result, PAY_STORE_EBUSY); /* too late: nothing was done */
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    ck_assert_uint_eq(count_read(store), 0);
    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert_int_eq(fixture_lines, 1);
}
END_TEST

START_TEST(test_a_killed_process_leaves_no_lock)
{
    const char *dir = unit_dir();
    pay_store_t *store;
    pid_t pid = fork_holder(dir);

    store = fixture_open(dir);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(fixture_wait(pid), 128 + SIGKILL);
    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert_uint_eq(count_read(store), 1);
}
END_TEST

START_TEST(test_a_failed_commit_is_unknown)
{
    pay_store_t *store = fixture_open(unit_dir());

    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    fixture_listen();
    commit_says = EIO;
    ck_assert_int_eq(count_up(store), PAY_STORE_EUNKNOWN);
    commit_says = MDB_MAP_FULL; /* whatever the code */
    ck_assert_int_eq(count_up(store), PAY_STORE_EUNKNOWN);
    commit_says = 0;
    ck_assert_int_eq(fixture_lines, 2);
    ck_assert(fixture_logged("PAY00112: "));
    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert_uint_eq(count_read(store), 2);
}
END_TEST

static int large_work(pay_rows_txn_t *txn, void *baton)
{
    static char bytes[64 * 1024];
    pay_bytes_t key = {5, "large"};
    pay_bytes_t val = {sizeof(bytes), bytes};

    (void)baton;
    return pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
}

/* A real one: the file must not grow, which shows when the pages are written. */
START_TEST(test_a_full_disk_is_survived)
{
    pay_store_t *store = fixture_open(unit_dir());
    struct rlimit limit, before;

    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 64 * 1024;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, large_work, NULL),
                     PAY_STORE_EUNKNOWN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_uint_eq(count_read(store), 1);
    ck_assert(!fixture_has(store, "large"));
    ck_assert_int_eq(pay_rows_commit(store, pay_turn_all(), 0, large_work, NULL), APR_SUCCESS);
    ck_assert(fixture_has(store, "large"));
}
END_TEST

START_TEST(test_a_panic_closes_and_opens_again)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_store_t *db = store;
    pay_lmdb_env_t *env;
    pay_rows_txn_t reader;

    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    env = db->env;
    ck_assert_int_eq(pay_rows_begin(&reader, db), APR_SUCCESS);
    fixture_listen();
    begin_says = MDB_PANIC;
    ck_assert_int_eq(count_up(store), PAY_STORE_EDOWN);
    begin_says = 0;
    ck_assert_int_eq(fixture_level, PAY_LOG_EMERG);
    ck_assert_int_eq(env->state, PAY_LMDB_DOWN);
    ck_assert_int_eq(count_up(store), PAY_STORE_EDOWN);
    ck_assert_ptr_nonnull(env->mdb); /* the reader still has it */
    pay_rows_end(&reader);
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
    ck_assert_ptr_null(env->mdb);
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);

    db->next_try_ms = 0;
    ck_assert_int_eq(count_up(store), PAY_STORE_EDOWN); /* the back-off is not over */
    db->next_try_ms = 0;
    env->reopen_at_ms = 0;
    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert_uint_eq(count_read(store), 2);
}
END_TEST

/* A caller after the back-off finds it open, even if there was no call since the fault. */
START_TEST(test_a_panic_is_seen_by_the_commit_that_failed)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_store_t *db = store;
    pay_lmdb_env_t *env;

    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    env = db->env;
    fixture_listen();
    commit_says = EIO;
    failed_begin_says = MDB_PANIC;
    ck_assert_int_eq(count_up(store), PAY_STORE_EUNKNOWN);
    commit_says = begin_says = 0;
    ck_assert_int_eq(fixture_level, PAY_LOG_EMERG);
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
    ck_assert_int_gt(env->reopen_at_ms, 0);

    env->reopen_at_ms = 0;
    ck_assert_int_eq(count_up(store), APR_SUCCESS);
    ck_assert_uint_eq(count_read(store), 2);
}
END_TEST

static const struct {
    const char *name;
    unsigned char version[4];
    size_t len;
    apr_status_t want;
} schema_rows[] = {
    {"newer", {0, 0, 0, PAY_STORE_SCHEMA_VERSION + 1}, 4, PAY_STORE_ESCHEMA},
    {"older", {0, 0, 0, 0}, 4, PAY_STORE_ESCHEMA},
    {"damaged", {0, 0, 0, 0}, 3, PAY_STORE_ECORRUPT},
};

START_TEST(test_every_commit_checks_the_schema)
{
    pay_store_t *store = fixture_open(unit_dir());

    ck_assert_int_eq(
        fixture_put(store, (fixture_row_t){PAY_TABLE_META, "schema", 0, schema_rows[_i].version,
                                           schema_rows[_i].len}),
        APR_SUCCESS);
    ck_assert_msg(pay_store_probe(store) == schema_rows[_i].want, "%s", schema_rows[_i].name);
    ck_assert_msg(count_up(store) == schema_rows[_i].want, "%s", schema_rows[_i].name);
    ck_assert_uint_eq(count_read(store), 0);
}
END_TEST

START_TEST(test_a_probe_sees_a_replaced_store)
{
    const char *above = unit_dir();
    const char *dir = apr_pstrcat(unit_pool, above, "/store", NULL);
    const char *aside = apr_pstrcat(unit_pool, above, "/aside", NULL);
    pay_store_options_t options = fixture_options();
    pay_store_t *store = fixture_open_with(dir, &options);
    pay_store_t *db = store;

    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
    fixture_listen();
    ck_assert_int_eq(rename(dir, aside), 0);
    db->options.create = 0; /* as in a child of the server */
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);
    ck_assert(fixture_logged("replaced"));
    ck_assert_int_eq(pay_store_probe(store), PAY_STORE_EDOWN);
    ck_assert_int_eq(rename(aside, dir), 0);
    db->next_try_ms = 0;
    db->env->reopen_at_ms = 0;
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_threads_and_processes_share_the_writer_lock);
    tcase_add_loop_test(tcase, test_what_a_closure_refuses_is_not_written, 0,
                        UNIT_ROWS(refusal_rows));
    tcase_add_loop_test(tcase, test_a_hook_runs_the_work, 0, UNIT_ROWS(hook_rows));
    tcase_add_test(tcase, test_a_stopped_process_makes_busy);
    tcase_add_test(tcase, test_a_killed_process_leaves_no_lock);
    tcase_add_test(tcase, test_a_failed_commit_is_unknown);
    tcase_add_test(tcase, test_a_full_disk_is_survived);
    tcase_add_test(tcase, test_a_panic_closes_and_opens_again);
    tcase_add_test(tcase, test_a_panic_is_seen_by_the_commit_that_failed);
    tcase_add_loop_test(tcase, test_every_commit_checks_the_schema, 0, UNIT_ROWS(schema_rows));
    tcase_add_test(tcase, test_a_probe_sees_a_replaced_store);
}

static void prepare(void)
{
    between.txn_begin = said_begin;
    between.txn_commit = said_commit;
}

UNIT_PROGRAM_PREPARED(add, prepare)
