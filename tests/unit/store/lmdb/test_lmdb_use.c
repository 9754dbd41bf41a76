/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "store/lmdb/backoff.h"

#include <errno.h>

static pay_lmdb_env_t *open_env(void)
{
    pay_store_t *store = fixture_open(unit_dir());

    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    return store->env;
}

static int use(pay_lmdb_env_t *env)
{
    int used;

    pthread_mutex_lock(&env->mutex);
    used = pay_lmdb_env_use(env);
    pthread_mutex_unlock(&env->mutex);
    return used;
}

START_TEST(test_down_waits_for_the_last_use)
{
    pay_lmdb_env_t *env = open_env();

    ck_assert_int_eq(use(env), 1);
    ck_assert_int_eq(use(env), 1);
    ck_assert_int_eq(pay_lmdb_env_down(env), 1);
    ck_assert_int_eq(pay_lmdb_env_down(env), 0); /* it was so before */
    ck_assert_int_eq(use(env), 0);
    pay_lmdb_leave(env);
    ck_assert_int_eq(env->state, PAY_LMDB_DOWN);
    pay_lmdb_leave(env);
    ck_assert_int_eq(env->state, PAY_LMDB_CLOSED);
    ck_assert_int_eq(use(env), 0);
}
END_TEST

START_TEST(test_faults_in_a_row_wait_longer)
{
    pay_lmdb_env_t *env = open_env();
    apr_int64_t first;

    ck_assert_int_eq(pay_lmdb_env_down(env), 1);
    first = env->reopen_at_ms;
    ck_assert_int_eq(env->reopen_delay_ms, PAY_LMDB_BACKOFF_MIN_MS);
    ck_assert_int_gt(first, pay_clock_ms());
    env->state = PAY_LMDB_OPEN;
    ck_assert_int_eq(pay_lmdb_env_down(env), 1);
    ck_assert_int_eq(env->reopen_delay_ms, 2 * PAY_LMDB_BACKOFF_MIN_MS);
    env->state = PAY_LMDB_OPEN;
    env->reopen_at_ms = pay_clock_ms() - PAY_LMDB_BACKOFF_MAX_MS - 1; /* long ago */
    ck_assert_int_eq(pay_lmdb_env_down(env), 1);
    ck_assert_int_eq(env->reopen_delay_ms, PAY_LMDB_BACKOFF_MIN_MS);
    env->state = PAY_LMDB_OPEN; /* for the handle to close it */
}
END_TEST

static const struct {
    const char *name;
    int rc;
    int down;
    const char *word;
} fault_rows[] = {
    {"panic", MDB_PANIC, 1, "Check the disk"},
    {"readers", MDB_READERS_FULL, 0, "PAY00102: "},
    {"anything else", EIO, 0, "PAY00103: "},
};

START_TEST(test_faults_are_told_once)
{
    pay_lmdb_env_t *env = open_env();
    int i;

    ck_assert_int_eq(use(env), 1);
    fixture_listen();
    for (i = 0; i < 3; i++) {
        pay_lmdb_env_fault(env, fault_rows[_i].rc);
    }
    ck_assert_msg(fixture_lines == 1, "%s", fault_rows[_i].name);
    ck_assert_msg(fixture_logged(fault_rows[_i].word), "%s", fault_rows[_i].name);
    ck_assert_msg((env->state == PAY_LMDB_DOWN) == fault_rows[_i].down, "%s", fault_rows[_i].name);
    pay_lmdb_leave(env);
}
END_TEST

START_TEST(test_causes_are_told_apart)
{
    pay_lmdb_env_t *env = open_env();
    int cause;

    for (cause = 0; cause < PAY_LMDB_CAUSE_COUNT; cause++) {
        ck_assert_int_eq(pay_lmdb_env_log_due(env, (pay_lmdb_cause_t)cause), 1);
        ck_assert_int_eq(pay_lmdb_env_log_due(env, (pay_lmdb_cause_t)cause), 0);
        env->log_next_ms[cause] -= PAY_LMDB_LOG_PAUSE_MS;
        ck_assert_int_eq(pay_lmdb_env_log_due(env, (pay_lmdb_cause_t)cause), 1);
    }
}
END_TEST

START_TEST(test_resize_gives_the_use_back_or_keeps_it)
{
    pay_lmdb_env_t *env = open_env();

    ck_assert_int_eq(use(env), 1);
    ck_assert_int_eq(pay_lmdb_env_resize(env), 0);
    ck_assert_uint_eq(env->uses, 1);
    ck_assert_int_eq(env->state, PAY_LMDB_OPEN);
    ck_assert_int_eq(use(env), 1);
    ck_assert_int_eq(pay_lmdb_env_resize(env), MDB_MAP_RESIZED); /* the other one does not end */
    ck_assert_uint_eq(env->uses, 1);
    ck_assert_int_eq(env->state, PAY_LMDB_OPEN);
    pay_lmdb_leave(env);
}
END_TEST

/*
 * The result for a process forked from the one that opened it, at any moment, that uses its handle.
 */
static int use_forked(pay_store_t *store)
{
    pay_charge_t *charge;
    pay_scope_t scope = fixture_scopes[0];
    int faults = 0;

    faults += fixture_put_meta(store, "forked") != PAY_STORE_EDOWN;
    faults +=
        pay_store_charge_find(&charge, store, &scope, "order-1", unit_pool) != PAY_STORE_EDOWN;
    faults += pay_store_probe(store) != PAY_STORE_EDOWN;
    faults += pay_lmdb_handle_close(store) != APR_SUCCESS;
    return faults;
}

START_TEST(test_a_forked_process_leaves_it_alone)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_lmdb_env_t *env;
    pid_t pid;

    ck_assert_int_eq(fixture_put_meta(store, "before"), APR_SUCCESS);
    env = store->env;
    pthread_mutex_lock(&env->mutex); /* as a thread that no longer exists would have it */
    pid = fork();
    if (pid == 0) {
        _exit(use_forked(store));
    }
    pthread_mutex_unlock(&env->mutex);
    ck_assert_int_eq(fixture_wait(pid), 0);
    ck_assert_int_eq(fixture_put_meta(store, "after"), APR_SUCCESS);
    ck_assert(fixture_has(store, "before") && fixture_has(store, "after"));
    ck_assert(!fixture_has(store, "forked"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_a_forked_process_leaves_it_alone);
    tcase_add_test(tcase, test_down_waits_for_the_last_use);
    tcase_add_test(tcase, test_faults_in_a_row_wait_longer);
    tcase_add_loop_test(tcase, test_faults_are_told_once, 0, UNIT_ROWS(fault_rows));
    tcase_add_test(tcase, test_causes_are_told_apart);
    tcase_add_test(tcase, test_resize_gives_the_use_back_or_keeps_it);
}

UNIT_PROGRAM(add)
