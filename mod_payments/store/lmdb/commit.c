/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/queue.h"

#include "base/log.h"
#include "base/shared/clock.h"
#include "base/shared/meter.h"
#include "store/lmdb/open.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define SMOOTHING 8    /* weight of a new commit in the smoothed time */
#define SYNC_US_MIN 50 /* a faster commit wrote nothing and does not measure the disk */

/*
 * Group commit: the leading thread begins the transaction. Only then, because it may have waited
 * there for other processes, it takes the commit queue, runs the works in it and commits once for
 * all.
 */
typedef struct batch_t {
    pay_lmdb_env_t *env;
    MDB_txn *txn;
    pay_lmdb_waiter_t *waiter[PAY_STORE_COMMIT_BATCH_MAX]; /* the first is the leader's own */
    int count, count_max;
    int applied; /* those before it were run or refused */
    int used;    /* 0: the use of `env` is lost, and with it the right to touch env->mdb */
} batch_t;

static void begin_mark(pay_lmdb_env_t *env, apr_int64_t since_ms)
{
    pthread_mutex_lock(&env->mutex);
    env->begin_since_ms = since_ms;
    pthread_mutex_unlock(&env->mutex);
}

static void log_busy(pay_lmdb_env_t *env, const pay_store_t *db)
{
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_BUSY)) {
        pay_log(PAY_LOG_ERR, PAY_STORE_EBUSY,
                PAYLOGNO(00109) "store %s: the writer lock was not free within PaymentsCommitWait "
                                "(%d ms). Another process that has the store open is stopped or "
                                "very busy, or the disk is slow",
                db->path, (int)apr_time_as_msec(db->options.commit_wait));
    }
}

/*
 * Begins a write transaction; waits for other processes without a limit, because LMDB's lock has no
 * time limit. Sets *used to 0 if the use of `env` is lost.
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

/* Logs the code that the work ended with, unless it only means that the work was refused. */
static void log_failure(pay_lmdb_env_t *env, int rc)
{
    if (rc == MDB_MAP_FULL || rc == ENOSPC || rc == EDQUOT) {
        pay_lmdb_space_log_full(env, rc);
        return;
    }
    if (pay_rows_status(rc) == PAY_STORE_EDOWN && pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_FAULT)) {
        pay_log(
            PAY_LOG_ERR, rc > 0 ? rc : APR_SUCCESS,
            PAYLOGNO(00111) "store %s: a write failed before its commit and changed nothing: %s",
            env->path, mdb_strerror(rc));
    }
}

/* Checks made in every transaction before any work runs in it. */
static apr_status_t transaction_check(pay_lmdb_env_t *env, MDB_txn *txn)
{
    return pay_lmdb_env_in_place(env) ? pay_lmdb_schema_check(env, txn) : PAY_STORE_EDOWN;
}

/*
 * Runs the work through its handle's hook, if there is one; PAY_ROWS_SILENT becomes 0. Sets
 * *refused to 1 if the hook refused it.
 */
static int run(int *refused, const pay_lmdb_waiter_t *waiter, MDB_txn *txn)
{
    const pay_lmdb_hook_t *hook = waiter->db->hook;
    pay_rows_txn_t own = {txn, waiter->db, waiter->turn};
    int rc;

    *refused = 0;
    rc = hook ? hook->run(refused, &own, waiter->work, waiter->baton)
              : waiter->work(&own, waiter->baton);
    return rc == PAY_ROWS_SILENT ? MDB_SUCCESS : rc;
}

/* Runs one work; a code other than 0 means that the transaction must not be committed. */
static int apply_one(pay_lmdb_waiter_t *waiter, pay_lmdb_env_t *env, MDB_txn *txn)
{
    int rc, refused;

    waiter->ran = 0;
    if (waiter->grows) {
        rc = pay_lmdb_space_check(env, waiter->db->options.reserve_bytes,
                                  waiter->grows == PAY_ROWS_GROWS_MUCH);
        if (rc) {
            waiter->rv = pay_rows_status(rc);
            return 0; /* it is refused, the others continue */
        }
    }
    rc = run(&refused, waiter, txn);
    if (!rc && refused) {
        waiter->rv = PAY_STORE_EFULL;
        return 0;
    }
    waiter->ran = !rc;
    waiter->rv = pay_rows_status(rc);
    return rc;
}

static void log_commit(pay_lmdb_env_t *env, int rc)
{
    if (rc == MDB_MAP_FULL || rc == ENOSPC || rc == EDQUOT) {
        pay_lmdb_space_log_full(env, rc);
    }
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_COMMIT)) {
        pay_log(PAY_LOG_CRIT, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00112) "store %s: a commit failed and its outcome is unknown: %s. Check "
                                "disk space and the system log",
                env->path, mdb_strerror(rc));
    }
}

static apr_status_t commit(pay_lmdb_env_t *env, MDB_txn *txn)
{
    const apr_int64_t began_us = pay_clock_us();
    apr_int64_t took_us;
    int rc;

    rc = mdb_txn_commit(txn);
    took_us = pay_clock_us() - began_us;
    pay_meter_observe(PAY_METER_COMMIT, took_us);
    if (took_us >= SYNC_US_MIN) {
        env->commit_us += (took_us - env->commit_us) / SMOOTHING;
    }
    if (rc) {
        /* Pages or the header may have reached the disk, nobody knows: it never runs again. */
        log_commit(env, rc);
        /*
         * A failed header spoils the environment open here, which LMDB reports when the next
         * transaction begins. Begin one now: the next may come hours later and would be refused for
         * nothing.
         */
        rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn);
        if (!rc) {
            mdb_txn_abort(txn);
        } else if (rc == MDB_PANIC) {
            pay_lmdb_env_fault(env, rc);
        }
        return PAY_STORE_EUNKNOWN;
    }
    return APR_SUCCESS;
}

/* Runs the works that have not been applied; a code other than 0 spoils the batch. */
static int batch_apply(batch_t *batch)
{
    int rc = 0;

    while (!rc && batch->applied < batch->count) {
        rc = apply_one(batch->waiter[batch->applied], batch->env, batch->txn);
        if (rc && batch->count == 1) {
            log_failure(batch->env, rc);
        }
        batch->applied++;
    }
    return rc;
}

/* More works may arrive: the slower the disk, the longer it pays to wait. */
static void batch_pause(const pay_lmdb_env_t *env)
{
    int pause_us = pay_lmdb_batch_pause_us(env->batch_count, env->commit_us);

    if (pause_us > 0) {
        (void)usleep((useconds_t)pause_us);
    }
}

/* The result of the commit is the result of all works that ran in it. */
static void batch_commit(batch_t *batch)
{
    apr_status_t rv;
    int i;

    rv = commit(batch->env, batch->txn);
    for (i = 0; i < batch->count && rv != APR_SUCCESS; i++) {
        if (batch->waiter[i]->ran) {
            batch->waiter[i]->rv = rv;
        }
    }
}

/*
 * Runs a work in a transaction of its own after its batch was aborted: nothing of it was done, so
 * it may still time out.
 */
static void run_alone(pay_lmdb_waiter_t *waiter, batch_t *batch)
{
    pay_lmdb_env_t *env = batch->env;
    int rc;

    waiter->ran = 0;
    waiter->rv = PAY_STORE_EDOWN;
    if (!batch->used) {
        return;
    }
    rc = write_begin(&batch->txn, &batch->used, env, pay_clock_ms());
    if (rc) {
        waiter->rv = pay_rows_status(rc);
        if (batch->used) {
            pay_lmdb_env_fault(env, rc);
        }
        return;
    }
    waiter->rv = transaction_check(env, batch->txn);
    if (waiter->rv == APR_SUCCESS && pay_clock_ms() >= waiter->until_ms) {
        waiter->rv = PAY_STORE_EBUSY;
    }
    if (waiter->rv == APR_SUCCESS) {
        rc = apply_one(waiter, env, batch->txn);
        if (rc) {
            log_failure(env, rc);
        }
    }
    if (!waiter->ran) {
        mdb_txn_abort(batch->txn);
        return;
    }
    waiter->rv = commit(env, batch->txn);
}

/*
 * Runs all works in the commit queue, and those that join it meanwhile, and commits. Anything that
 * fails before the commit was not done: then each work runs by itself, so that only the faulty one
 * fails.
 */
static void batch_run(batch_t *batch)
{
    int drains, i, rc;

    rc = batch_apply(batch);
    for (drains = 0; !rc && drains < PAY_LMDB_DRAINS_MAX; drains++) {
        pay_lmdb_queue_take(batch->env, batch->waiter, &batch->count, batch->count_max);
        if (batch->applied == batch->count) {
            break;
        }
        rc = batch_apply(batch);
    }
    if (!rc) {
        batch_commit(batch);
        return;
    }
    mdb_txn_abort(batch->txn);
    for (i = 0; i < batch->count && batch->count > 1; i++) {
        run_alone(batch->waiter[i], batch);
    }
}

/* The leader's part, while its process has the writer lock. */
static void batch_lead(batch_t *batch, pay_lmdb_waiter_t *own)
{
    pay_lmdb_env_t *env = batch->env;
    int rc;

    rc = write_begin(&batch->txn, &batch->used, env, pay_clock_ms());
    if (rc) {
        own->rv = pay_rows_status(rc);
        if (batch->used) {
            pay_lmdb_env_fault(env, rc);
        }
        return;
    }
    own->rv = transaction_check(env, batch->txn);
    if (own->rv == APR_SUCCESS && pay_clock_ms() >= own->until_ms) {
        own->rv = PAY_STORE_EBUSY; /* too late: the requester was refused or has given up */
    }
    if (own->rv != APR_SUCCESS) {
        mdb_txn_abort(batch->txn);
        return;
    }
    pay_lmdb_ahead(env, own->db->options.reserve_bytes);
    batch_pause(env);
    batch->waiter[batch->count++] = own;
    batch_run(batch);
    env->batch_count = batch->count;
}

static void lead(pay_lmdb_env_t *env, pay_lmdb_waiter_t *own)
{
    const pay_store_options_t *options = &own->db->options;
    batch_t batch = {.env = env, .used = 1, .count_max = options->commit_batch};
    int has_lock;

    begin_mark(env, pay_clock_ms());
    has_lock = pay_lmdb_writer_lock_take(options->shared, own->until_ms,
                                         apr_time_as_msec(options->commit_wait));
    if (has_lock) {
        batch_lead(&batch, own);
        pay_lmdb_writer_lock_give(options->shared);
    } else {
        begin_mark(env, 0);
        own->rv = PAY_STORE_EBUSY;
    }
    pay_lmdb_lead_give(env, own, batch.waiter, batch.count);
    if (batch.used) {
        pay_lmdb_leave(env);
    }
}

apr_status_t pay_rows_commit(pay_store_t *db, pay_turn_t turn, int grows, pay_rows_work_t work,
                             void *baton)
{
    const apr_int64_t now_ms = pay_clock_ms();
    pay_lmdb_waiter_t waiter = {.db = db,
                                .turn = turn,
                                .grows = grows,
                                .work = work,
                                .baton = baton,
                                .rv = PAY_STORE_EUNKNOWN,
                                .until_ms = now_ms + apr_time_as_msec(db->options.commit_wait)};
    pay_lmdb_env_t *env;
    apr_status_t rv;

    if (db->options.read_only) {
        return PAY_STORE_EDOWN;
    }
    rv = pay_lmdb_enter(&env, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (pay_lmdb_lead_take(env, &waiter, now_ms)) {
        lead(env, &waiter);
    }
    if (db->hook) {
        db->hook->committed(db, waiter.rv);
    }
    if (waiter.rv == PAY_STORE_EBUSY) {
        log_busy(env, db);
    }
    return waiter.rv;
}

void pay_rows_hint(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key)
{
    (void)txn, (void)table, (void)key;
}

/* Returns 1 if a writer of this process has waited for the writer lock for the commit wait, or if
 * another process has held it for that long. */
static int is_stalled(pay_lmdb_env_t *env, const pay_store_t *db)
{
    const apr_int64_t wait_ms = apr_time_as_msec(db->options.commit_wait);
    int stalled;

    pthread_mutex_lock(&env->mutex);
    stalled = env->begin_since_ms && pay_clock_ms() - env->begin_since_ms >= wait_ms;
    pthread_mutex_unlock(&env->mutex);
    return stalled || pay_lmdb_writer_lock_is_stalled(db->options.shared, wait_ms);
}

apr_status_t pay_store_probe(pay_store_t *store)
{
    pay_lmdb_env_t *env;
    apr_status_t rv;
    pay_rows_txn_t txn;

    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    env = mdb_env_get_userctx(mdb_txn_env(txn.native));
    rv = transaction_check(env, txn.native);
    if (rv == APR_SUCCESS && is_stalled(env, store)) {
        rv = PAY_STORE_EBUSY;
    }
    pay_rows_end(&txn);
    return rv;
}
