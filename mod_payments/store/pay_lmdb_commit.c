/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_env.h"

#include "base/pay_log.h"
#include "store/pay_lmdb_open.h"

#include <errno.h>
#include <stddef.h>

/*
 * One thread of the process writes at a time and has the turn; the others wait in line, each on a
 * condition of its own. Group commit fits in here: the thread whose turn it is would run what the
 * line holds in its own transaction.
 */
struct pay_lmdb_waiter_t {
    pay_lmdb_waiter_t *next;
    pthread_cond_t cond;
    int granted;
};

/* All with env->mutex held. */
static void line_join(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    waiter->next = NULL;
    if (env->last) {
        env->last->next = waiter;
    } else {
        env->first = waiter;
    }
    env->last = waiter;
}

static void line_leave(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *waiter)
{
    pay_lmdb_waiter_t **link = &env->first;
    pay_lmdb_waiter_t *before = NULL;

    while (*link && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (!*link) {
        return;
    }
    *link = waiter->next;
    if (env->last == waiter) {
        env->last = before;
    }
}

static void turn_pass_on(pay_lmdb_env_t *env)
{
    pay_lmdb_waiter_t *waiter = env->first;

    if (!waiter) {
        env->turn_taken = 0;
        return;
    }
    line_leave(env, waiter);
    waiter->granted = 1; /* the turn stays taken: nobody gets in between */
    pthread_cond_signal(&waiter->cond);
}

static apr_status_t turn_wait(pay_lmdb_env_t *env, apr_int64_t until_ms)
{
    pay_lmdb_waiter_t waiter = {.granted = 0};
    apr_status_t rv = APR_SUCCESS;

    pay_lmdb_env_cond_init(&waiter.cond);
    line_join(env, &waiter);
    pay_lmdb_env_release(env); /* who only waits must not keep the file from being mapped anew */
    while (!waiter.granted) {
        if (!pay_lmdb_env_wait(&waiter.cond, &env->mutex, until_ms)) {
            break;
        }
    }
    if (!waiter.granted) {
        line_leave(env, &waiter);
        rv = PAY_STORE_EBUSY;
    } else if (!pay_lmdb_env_use(env)) {
        turn_pass_on(env);
        rv = PAY_STORE_EDOWN;
    }
    pthread_cond_destroy(&waiter.cond);
    return rv;
}

/* On any failure the caller's use of `env` is gone. */
static apr_status_t turn_take(pay_lmdb_env_t *env, apr_int64_t now_ms, apr_int64_t wait_ms)
{
    apr_status_t rv = APR_SUCCESS;

    pthread_mutex_lock(&env->mutex);
    if (!env->turn_taken) {
        env->turn_taken = 1;
    } else if (env->begin_since_ms && now_ms - env->begin_since_ms >= wait_ms) {
        /* Another process keeps LMDB's lock: whoever joined the line now would wait in vain. */
        pay_lmdb_env_release(env);
        rv = PAY_STORE_EBUSY;
    } else {
        rv = turn_wait(env, now_ms + wait_ms);
    }
    pthread_mutex_unlock(&env->mutex);
    return rv;
}

static void turn_give(pay_lmdb_env_t *env)
{
    pthread_mutex_lock(&env->mutex);
    turn_pass_on(env);
    pthread_mutex_unlock(&env->mutex);
}

static void begin_mark(pay_lmdb_env_t *env, apr_int64_t since_ms)
{
    pthread_mutex_lock(&env->mutex);
    env->begin_since_ms = since_ms;
    pthread_mutex_unlock(&env->mutex);
}

static void log_busy(pay_lmdb_env_t *env, const pay_lmdb_t *db)
{
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_BUSY)) {
        pay_log(PAY_LOG_ERR, PAY_STORE_EBUSY,
                PAYLOGNO(00109) "store %s: no turn to write within PaymentsCommitWait (%d ms). "
                                "Another process that has the store open is stopped or very busy, "
                                "or the disk is slow",
                db->path, (int)apr_time_as_msec(db->options.commit_wait));
    }
}

/*
 * A write transaction; waits for other processes as long as it takes, for LMDB's lock knows no
 * time limit. *used 0: the use of `env` is gone.
 */
static int write_begin(MDB_txn **txn, int *used, pay_lmdb_env_t *env, apr_int64_t now_ms)
{
    int rc;

    *used = 1;
    begin_mark(env, now_ms);
    rc = mdb_txn_begin(env->mdb, NULL, 0, txn);
    if (rc == MDB_MAP_RESIZED) {
        rc = pay_lmdb_env_resize(env);
        if (rc) {
            *used = 0;
        } else {
            rc = mdb_txn_begin(env->mdb, NULL, 0, txn);
        }
    }
    begin_mark(env, 0);
    if (rc) {
        *txn = NULL;
    }
    return rc;
}

static apr_status_t schema_check(pay_lmdb_env_t *env, MDB_txn *txn)
{
    apr_uint32_t version;
    int rc;

    rc = pay_lmdb_schema_get(&version, txn);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_STORE_ESCHEMA : pay_lmdb_status(rc);
    }
    if (version == PAY_LMDB_SCHEMA_VERSION) {
        return APR_SUCCESS;
    }
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_SCHEMA)) {
        pay_log(
            PAY_LOG_ERR, PAY_STORE_ESCHEMA,
            PAYLOGNO(00110) "store %s was brought to schema version %u while this program, which "
                            "works with %u, had it open: restart with the newer one",
            env->path, version, (unsigned int)PAY_LMDB_SCHEMA_VERSION);
    }
    return PAY_STORE_ESCHEMA;
}

/* What the work ended with, when it says more than that the work was refused. */
static void log_failure(pay_lmdb_env_t *env, int rc)
{
    if (rc == MDB_MAP_FULL || rc == ENOSPC || rc == EDQUOT) {
        pay_lmdb_space_log_full(env, rc);
        return;
    }
    if (pay_lmdb_status(rc) == PAY_STORE_EDOWN && pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_FAULT)) {
        pay_log(PAY_LOG_ERR, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00111) "store %s: a write failed before its commit, nothing was done: %s",
                env->path, mdb_strerror(rc));
    }
}

/* The transaction is open and ends here, whatever comes. */
static apr_status_t run(MDB_txn *txn, pay_lmdb_env_t *env, pay_lmdb_t *db, int grows,
                        pay_lmdb_work_t work, void *baton)
{
    apr_status_t rv;
    int rc;

    rv = pay_lmdb_env_in_place(env) ? schema_check(env, txn) : PAY_STORE_EDOWN;
    if (rv == APR_SUCCESS && grows) {
        rv = pay_lmdb_status(pay_lmdb_space_check(env, db->options.reserve_bytes));
    }
    if (rv != APR_SUCCESS) {
        mdb_txn_abort(txn);
        return rv;
    }
    rc = work(txn, db, baton);
    if (rc) {
        mdb_txn_abort(txn);
        log_failure(env, rc);
        return pay_lmdb_status(rc);
    }
    rc = mdb_txn_commit(txn);
    if (rc) {
        /* Pages or the header may have reached the disk: nobody can tell, so it is never run again.
         */
        pay_log(PAY_LOG_CRIT, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00112) "store %s: a commit failed, whether it was done is unknown: %s. "
                                "Check disk space and the system's log",
                env->path, mdb_strerror(rc));
        return PAY_STORE_EUNKNOWN;
    }
    return APR_SUCCESS;
}

apr_status_t pay_lmdb_commit(pay_lmdb_t *db, int grows, pay_lmdb_work_t work, void *baton)
{
    const apr_int64_t now_ms = pay_lmdb_clock_ms();
    const apr_int64_t wait_ms = apr_time_as_msec(db->options.commit_wait);
    pay_lmdb_env_t *env;
    apr_status_t rv;
    MDB_txn *txn;
    int used;
    int rc;

    if (db->options.read_only) {
        return PAY_STORE_EDOWN;
    }
    rv = pay_lmdb_enter(&env, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = turn_take(env, now_ms, wait_ms);
    if (rv != APR_SUCCESS) {
        if (rv == PAY_STORE_EBUSY) {
            log_busy(env, db);
        }
        return rv;
    }
    rc = write_begin(&txn, &used, env, pay_lmdb_clock_ms());
    if (rc) {
        rv = pay_lmdb_status(rc);
        if (used) {
            pay_lmdb_env_fault(env, rc);
        }
    } else if (pay_lmdb_clock_ms() - now_ms > wait_ms) {
        mdb_txn_abort(txn); /* too late: who asked for it was told, or has given up */
        log_busy(env, db);
        rv = PAY_STORE_EBUSY;
    } else {
        rv = run(txn, env, db, grows, work, baton);
    }
    turn_give(env);
    if (used) {
        pay_lmdb_leave(env);
    }
    return rv;
}

/* A writer of this process has waited for LMDB's lock for longer than the commit wait. */
static int is_stalled(pay_lmdb_env_t *env, const pay_lmdb_t *db)
{
    const apr_int64_t wait_ms = apr_time_as_msec(db->options.commit_wait);
    int stalled;

    pthread_mutex_lock(&env->mutex);
    stalled = env->begin_since_ms && pay_lmdb_clock_ms() - env->begin_since_ms >= wait_ms;
    pthread_mutex_unlock(&env->mutex);
    return stalled;
}

apr_status_t pay_lmdb_probe(pay_store_t *store)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    pay_lmdb_env_t *env;
    apr_status_t rv;
    MDB_txn *txn;

    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    env = mdb_env_get_userctx(mdb_txn_env(txn));
    rv = pay_lmdb_env_in_place(env) ? schema_check(env, txn) : PAY_STORE_EDOWN;
    if (rv == APR_SUCCESS && is_stalled(env, db)) {
        rv = PAY_STORE_EBUSY;
    }
    pay_lmdb_read_end(db, txn);
    return rv;
}
