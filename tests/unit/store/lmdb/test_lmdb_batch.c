/* SPDX-License-Identifier: Apache-2.0 */
/* Group commit: the work queued while one thread waits for the lock is committed with it. */
#include "lmdb_fixture.h"

#include "between.h"
#include "store/lmdb/queue.h"
#include "store/record/rows.h"

#include <errno.h>
#include <pthread.h>

#define WORKERS_MAX 400
#define SHORT_WAIT_MS 2000
#define CLOSES_AFTER 100
#define QUOTA 3
#define CLOSING_MS 400
#define RESERVE_TOO_LARGE (APR_INT64_C(1) << 60)

/* The gate in front of LMDB's write lock, and the scripted result of its commit. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static int gate_closed, gate_waiting;
static _Atomic int commits;
static int commit_says;

static int gated_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **txn)
{
    if (!(flags & MDB_RDONLY)) {
        pthread_mutex_lock(&gate);
        gate_waiting++;
        pthread_cond_broadcast(&gate_changed);
        while (gate_closed) {
            pthread_cond_wait(&gate_changed, &gate);
        }
        gate_waiting--;
        pthread_mutex_unlock(&gate);
    }
    return between_real_txn_begin(env, parent, flags, txn);
}

static int said_commit(MDB_txn *txn)
{
    commits++;
    if (commit_says) {
        mdb_txn_abort(txn);
        return commit_says;
    }
    return between_real_txn_commit(txn);
}

static void gate_close(void)
{
    pthread_mutex_lock(&gate);
    gate_closed = 1;
    pthread_mutex_unlock(&gate);
}

static void gate_open(void)
{
    pthread_mutex_lock(&gate);
    gate_closed = 0;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate);
}

static void wait_at_gate(void)
{
    pthread_mutex_lock(&gate);
    while (gate_waiting == 0) {
        pthread_cond_wait(&gate_changed, &gate);
    }
    pthread_mutex_unlock(&gate);
}

/* One thread's piece of work: writes its number under meta, then returns `rc`. */
typedef struct worker_t {
    pthread_t thread;
    pay_store_t *store;
    int number;
    int grows;
    int rc;
    int slow_ms;
    int asks_quota; /* like the units that open charges and refunds */
    int runs;
    apr_status_t rv;
} worker_t;

static worker_t workers[WORKERS_MAX];
static _Atomic int returned; /* workers whose work ended, with any result */

static int fill_quota(pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    const pay_store_scope_t row = {.charge_seq = QUOTA};
    apr_pool_t *pool;
    int rc;

    ck_assert_int_eq(apr_pool_create(&pool, NULL), APR_SUCCESS);
    rc = pay_store_scope_put(txn, scope, &row, pool);
    apr_pool_destroy(pool);
    return rc;
}

static int put_number(pay_rows_txn_t *txn, void *baton)
{
    static const pay_scope_t scope = {.account = 1, .mode = PAY_TEST};
    worker_t *worker = baton;
    char name[16];
    pay_bytes_t key = {(size_t)apr_snprintf(name, sizeof(name), "n%d", worker->number), name};
    pay_bytes_t val = {1, "x"};
    int rc, reached = 0;

    worker->runs++;
    if (worker->slow_ms) {
        usleep((useconds_t)worker->slow_ms * 1000);
    }
    if (worker->asks_quota) {
        rc = fill_quota(txn, &scope);
        rc = rc ? rc : pay_store_rows_quota(&reached, txn, &scope);
        if (rc || reached) {
            return rc;
        }
    }
    rc = pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
    return rc ? rc : worker->rc;
}

static void *work(void *baton)
{
    worker_t *worker = baton;

    worker->rv = pay_rows_commit(worker->store, pay_turn_all(), worker->grows, put_number, worker);
    returned++;
    return NULL;
}

static int queued(pay_store_t *store)
{
    pay_lmdb_env_t *env = store->env;
    int count;

    pthread_mutex_lock(&env->mutex);
    count = (int)env->queued;
    pthread_mutex_unlock(&env->mutex);
    return count;
}

/* `count` workers: the first leads and waits at the gate, the others queue behind it. */
static void line_up(pay_store_t *store, int count)
{
    int i;

    gate_close();
    commits = 0;
    returned = 0;
    for (i = 0; i < count; i++) {
        workers[i].store = store;
        workers[i].number = i;
        workers[i].runs = 0;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        if (i == 0) {
            wait_at_gate();
        }
    }
    while (queued(store) + returned < count - 1) {
        usleep(1000);
    }
}

static void finish(int count)
{
    int i;

    gate_open();
    for (i = 0; i < count; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    }
}

static int has_number(pay_store_t *store, int number)
{
    return fixture_has(store, apr_psprintf(unit_pool, "n%d", number));
}

static pay_store_t *set_up(int wait_ms)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;

    options.commit_wait = apr_time_from_msec(wait_ms);
    memset(workers, 0, sizeof(workers));
    gate_closed = gate_waiting = commit_says = 0;
    store = fixture_open_with(unit_dir(), &options);
    ck_assert_int_eq(fixture_put_meta(store, "opened"), APR_SUCCESS);
    fixture_listen();
    return store;
}

START_TEST(test_one_commit_for_all_that_wait)
{
    pay_store_t *store = set_up(20000);
    int i;

    line_up(store, 100);
    finish(100);
    ck_assert_int_eq(commits, 1);
    for (i = 0; i < 100; i++) {
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, 1);
        ck_assert(has_number(store, i));
    }
}
END_TEST

static const struct {
    const char *name;
    int batch; /* PaymentsCommitBatch */
    int want;  /* commits of 20 pieces of work */
} batch_rows[] = {
    {"one each", 1, 20},
    {"three at most", 3, 7},
    {"one below", 19, 2},
    {"all", 20, 1},
};

START_TEST(test_no_more_in_a_commit_than_asked_for)
{
    pay_store_t *store = set_up(20000);
    int i;

    store->options.commit_batch = batch_rows[_i].batch;
    line_up(store, 20);
    finish(20);
    ck_assert_msg(commits == batch_rows[_i].want, "%s: %d commits", batch_rows[_i].name,
                  (int)commits);
    for (i = 0; i < 20; i++) {
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, 1);
        ck_assert(has_number(store, i));
    }
}
END_TEST

static const struct {
    const char *name;
    int rc;
    apr_status_t want;
} spoilers[] = {
    {"map full", MDB_MAP_FULL, PAY_STORE_EFULL},
    {"transaction full", MDB_TXN_FULL, PAY_STORE_EDOWN},
    {"disk full", ENOSPC, PAY_STORE_EFULL},
    {"input/output", EIO, PAY_STORE_EDOWN},
    {"bad row", PAY_ROWS_BAD, PAY_STORE_ECORRUPT},
};

/* Everything is run again by itself, so that only the one at fault fails. */
START_TEST(test_only_the_one_at_fault_fails)
{
    const char *name = spoilers[_i].name;
    pay_store_t *store = set_up(20000);
    apr_status_t want;
    int i;

    workers[7].rc = spoilers[_i].rc;
    line_up(store, 20);
    finish(20);
    for (i = 0; i < 20; i++) {
        want = i == 7 ? spoilers[_i].want : APR_SUCCESS;
        ck_assert_msg(workers[i].rv == want, "%s: worker %d: %d", name, i, workers[i].rv);
        ck_assert_msg(has_number(store, i) == (i != 7), "%s: worker %d", name, i);
    }
    ck_assert_msg(commits == 19, "%s: %d commits", name, commits);
    ck_assert_msg(fixture_logged("PAY00108: ") == (spoilers[_i].rc == ENOSPC), "%s", name);
    ck_assert_msg(fixture_logged("PAY00111: ") == (spoilers[_i].want == PAY_STORE_EDOWN), "%s",
                  name);
}
END_TEST

/* Nobody knows which part of it is on the disk: none is reported as not done, none is run again. */
START_TEST(test_a_failed_commit_is_unknown_to_all)
{
    pay_store_t *store = set_up(20000);
    int i;

    commit_says = EIO;
    line_up(store, 20);
    finish(20);
    ck_assert_int_eq(commits, 1);
    for (i = 0; i < 20; i++) {
        ck_assert_int_eq(workers[i].rv, PAY_STORE_EUNKNOWN);
        ck_assert_int_eq(workers[i].runs, 1);
    }
    ck_assert_int_eq(fixture_lines, 1);
    commit_says = 0;
    ck_assert_int_eq(fixture_put_meta(store, "after"), APR_SUCCESS);
}
END_TEST

/* A store without room for growing work, which is the fifth worker's. */
static pay_store_t *set_up_without_room(void)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;

    options.commit_wait = apr_time_from_sec(20);
    options.reserve_bytes = RESERVE_TOO_LARGE;
    memset(workers, 0, sizeof(workers));
    store = fixture_open_with(unit_dir(), &options);
    ck_assert_int_eq(fixture_put_meta(store, "opened"), APR_SUCCESS);
    fixture_listen();
    workers[4].grows = 1;
    return store;
}

/*
 * Work that was refused before the commit is known not to be done, whatever happens to the others.
 */
START_TEST(test_a_failed_commit_leaves_what_was_refused)
{
    pay_store_t *store = set_up_without_room();
    int i;

    commit_says = EIO;
    line_up(store, 10);
    finish(10);
    ck_assert_int_eq(commits, 1);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(workers[i].rv, i == 4 ? PAY_STORE_EFULL : PAY_STORE_EUNKNOWN);
        ck_assert_int_eq(workers[i].runs, i == 4 ? 0 : 1);
    }
    commit_says = 0;
}
END_TEST

/* A store that is almost full for one handle refuses growing work, and nothing else. */
START_TEST(test_what_is_refused_for_space_leaves_the_batch)
{
    pay_store_t *store = set_up_without_room();
    int i;

    line_up(store, 10);
    finish(10);
    ck_assert_int_eq(commits, 1);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(workers[i].rv, i == 4 ? PAY_STORE_EFULL : APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, i == 4 ? 0 : 1);
        ck_assert_int_eq(has_number(store, i), i != 4);
    }
}
END_TEST

#define UNWANTED 4 /* the number of the work that the hook refuses */

static int refuse_unwanted(int *refused, pay_rows_txn_t *txn, pay_rows_work_t run, void *baton)
{
    const worker_t *worker = baton;

    *refused = worker->number == UNWANTED;
    return *refused ? 0 : run(txn, baton);
}

static void count_committed(pay_store_t *db, apr_status_t rv)
{
    _Atomic int *count = db->hook_data;

    count[rv != APR_SUCCESS]++;
}

START_TEST(test_what_a_hook_refuses_leaves_the_batch)
{
    static const pay_lmdb_hook_t hook = {refuse_unwanted, count_committed};
    _Atomic int committed[] = {0, 0}; /* done, and not done */
    pay_store_t *store = set_up(20000);
    int i;

    store->hook = &hook;
    store->hook_data = committed;
    line_up(store, 10);
    finish(10);
    ck_assert_int_eq(commits, 1);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(workers[i].rv, i == UNWANTED ? PAY_STORE_EFULL : APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, i == UNWANTED ? 0 : 1);
        ck_assert_int_eq(has_number(store, i), i != UNWANTED);
    }
    ck_assert_int_eq(committed[0], 9);
    ck_assert_int_eq(committed[1], 1);
    store->hook = NULL;
}
END_TEST

static int spoil_and_close(pay_rows_txn_t *txn, void *baton)
{
    (void)txn;
    (void)baton;
    gate_close();
    return MDB_MAP_FULL;
}

static void *spoil(void *store)
{
    return (void *)(intptr_t)pay_rows_commit(store, pay_turn_all(), 0, spoil_and_close, NULL);
}

/*
 * Work that runs alone waits for the lock like all other work: newcomers are refused, and so are
 * waiters.
 */
START_TEST(test_a_stall_while_running_alone)
{
    pay_store_t *store = set_up(SHORT_WAIT_MS);
    apr_int64_t started;
    pthread_t spoiler;
    void *result;
    int i;

    line_up(store, 5);
    ck_assert_int_eq(pthread_create(&spoiler, NULL, spoil, store), 0);
    while (queued(store) + returned < 5) {
        usleep(1000);
    }
    gate_open();
    wait_at_gate(); /* the leader again, for the first that runs alone */
    while (pay_store_probe(store) != PAY_STORE_EBUSY) {
        usleep(1000);
    }
    started = pay_clock_ms();
    ck_assert_int_eq(fixture_put_meta(store, "late"), PAY_STORE_EBUSY);
    ck_assert_int_lt(pay_clock_ms() - started, SHORT_WAIT_MS);
    finish(5);
    ck_assert_int_eq(pthread_join(spoiler, &result), 0);
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(workers[i].rv, PAY_STORE_EBUSY);
        ck_assert(!has_number(store, i));
    }
    ck_assert_int_eq(fixture_put_meta(store, "after"), APR_SUCCESS);
}
END_TEST

/* More than one transaction takes: the oldest remaining one leads the next one. */
START_TEST(test_the_lead_is_handed_over)
{
    pay_store_t *store = set_up(30000);
    int i;

    line_up(store, WORKERS_MAX);
    finish(WORKERS_MAX);
    for (i = 0; i < WORKERS_MAX; i++) {
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, 1);
    }
    ck_assert_int_ge(commits,
                     (WORKERS_MAX + PAY_STORE_COMMIT_BATCH_MAX - 1) / PAY_STORE_COMMIT_BATCH_MAX);
    ck_assert_int_lt(commits, WORKERS_MAX / 20);
    ck_assert_int_eq(queued(store), 0);
}
END_TEST

/* Withdrawn under the queue's lock: nothing of it is ever done. */
START_TEST(test_who_waited_too_long_is_withdrawn)
{
    pay_store_t *store = set_up(SHORT_WAIT_MS);
    int i;

    line_up(store, 10);
    for (i = 1; i < 10; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_int_eq(workers[i].rv, PAY_STORE_EBUSY);
    }
    gate_open();
    ck_assert_int_eq(pthread_join(workers[0].thread, NULL), 0);
    ck_assert_int_eq(workers[0].rv, PAY_STORE_EBUSY);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(workers[i].runs, 0);
        ck_assert(!has_number(store, i));
    }
    ck_assert_int_eq(fixture_put_meta(store, "after"), APR_SUCCESS);
}
END_TEST

/* Once taken it will be done: it must not be reported as not done. */
START_TEST(test_who_was_taken_waits_for_the_end)
{
    pay_store_t *store = set_up(SHORT_WAIT_MS);
    int i;

    workers[0].slow_ms = 1;
    workers[1].slow_ms = 2 * SHORT_WAIT_MS;
    line_up(store, 10);
    finish(10);
    for (i = 0; i < 10; i++) {
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
        ck_assert(has_number(store, i));
    }
    ck_assert_int_eq(commits, 1);
}
END_TEST

/* The handle is closed while many are queued: their work is done first. */
START_TEST(test_closing_lets_the_line_finish)
{
    pay_store_options_t options = fixture_options();
    const char *dir = unit_dir();
    apr_pool_t *pool;
    pay_store_t *store;
    int i;

    options.commit_wait = apr_time_from_sec(30);
    memset(workers, 0, sizeof(workers));
    ck_assert_int_eq(apr_pool_create(&pool, NULL), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_open(&store, apr_pstrcat(unit_pool, "lmdb:", dir, NULL), &options, pool),
        APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(store, "opened"), APR_SUCCESS);
    line_up(store, WORKERS_MAX);
    gate_open();
    while (returned < CLOSES_AFTER) {
        usleep(100);
    }
    apr_pool_destroy(pool);
    for (i = 0; i < WORKERS_MAX; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
    }
}
END_TEST

/* Work that is refused and logged while the handle is closed finds everything that it needs. */
START_TEST(test_closing_while_the_quota_is_reached)
{
    pay_store_options_t options = fixture_options();
    const char *dir = unit_dir();
    apr_pool_t *pool;
    pay_store_t *store;
    int i;

    options.commit_wait = apr_time_from_sec(30);
    options.account_rows_max = QUOTA;
    memset(workers, 0, sizeof(workers));
    ck_assert_int_eq(apr_pool_create(&pool, NULL), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_open(&store, apr_pstrcat(unit_pool, "lmdb:", dir, NULL), &options, pool),
        APR_SUCCESS);
    ck_assert_int_eq(fixture_put_meta(store, "opened"), APR_SUCCESS);
    fixture_listen();
    workers[0].slow_ms = workers[1].slow_ms = CLOSING_MS;
    workers[1].asks_quota = 1;
    line_up(store, 2);
    gate_open();
    apr_pool_destroy(pool); /* takes the environment from the handle, then waits for the two */
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_int_eq(workers[i].rv, APR_SUCCESS);
        ck_assert_int_eq(workers[i].runs, 1);
    }
    ck_assert_int_eq(fixture_lines, 1);
}
END_TEST

static const struct {
    const char *name;
    int batch_count;
    apr_int64_t commit_us;
    int want_us;
} pauses[] = {
    {"nothing is known yet", 0, 0, 0}, {"a fast disk", 64, 150, 0},
    {"just not slow", 64, 1200, 0},    {"slow", 64, 1300, 65},
    {"slow, but alone", 1, 5000, 0},   {"two", 2, 5000, 250},
    {"the longest", 64, 10000, 500},   {"beyond the longest", 64, 1000000, 500},
};

START_TEST(test_pause)
{
    ck_assert_msg(pay_lmdb_batch_pause_us(pauses[_i].batch_count, pauses[_i].commit_us)
                      == pauses[_i].want_us,
                  "%s", pauses[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_pause, 0, UNIT_ROWS(pauses));
    tcase_add_test(tcase, test_one_commit_for_all_that_wait);
    tcase_add_loop_test(tcase, test_no_more_in_a_commit_than_asked_for, 0, UNIT_ROWS(batch_rows));
    tcase_add_loop_test(tcase, test_only_the_one_at_fault_fails, 0, UNIT_ROWS(spoilers));
    tcase_add_test(tcase, test_a_failed_commit_is_unknown_to_all);
    tcase_add_test(tcase, test_a_failed_commit_leaves_what_was_refused);
    tcase_add_test(tcase, test_what_is_refused_for_space_leaves_the_batch);
    tcase_add_test(tcase, test_what_a_hook_refuses_leaves_the_batch);
    tcase_add_test(tcase, test_a_stall_while_running_alone);
    tcase_add_test(tcase, test_the_lead_is_handed_over);
    tcase_add_test(tcase, test_closing_lets_the_line_finish);
    tcase_add_test(tcase, test_closing_while_the_quota_is_reached);
    tcase_add_test(tcase, test_who_waited_too_long_is_withdrawn);
    tcase_add_test(tcase, test_who_was_taken_waits_for_the_end);
}

static void prepare(void)
{
    between.txn_begin = gated_begin;
    between.txn_commit = said_commit;
}

UNIT_PROGRAM_PREPARED(add, prepare)
