/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/lmdb/backoff.h"
#include "store/lmdb/env.h"
#include "store/lmdb/place.h"

#include <assert.h>

int pay_lmdb_env_log_due(pay_lmdb_env_t *env, pay_lmdb_cause_t cause)
{
    apr_int64_t now = pay_clock_ms();
    int due;

    pthread_mutex_lock(&env->mutex);
    due = now >= env->log_next_ms[cause];
    if (due) {
        env->log_next_ms[cause] = now + PAY_LMDB_LOG_PAUSE_MS;
    }
    pthread_mutex_unlock(&env->mutex);
    return due;
}

/* Sets the back-off after a fault; it restarts if faults are further apart than its maximum. */
static void reopen_later(pay_lmdb_env_t *env)
{
    const apr_int64_t now = pay_clock_ms();

    if (now - env->reopen_at_ms > PAY_LMDB_BACKOFF_MAX_MS) {
        env->reopen_delay_ms = 0;
    }
    env->reopen_delay_ms = pay_lmdb_backoff_next(env->reopen_delay_ms);
    env->reopen_at_ms = now + env->reopen_delay_ms;
}

int pay_lmdb_env_is_stale(const pay_lmdb_env_t *env)
{
    return pay_lmdb_mark_word(env->mark) != env->mark_word;
}

int pay_lmdb_env_use(pay_lmdb_env_t *env)
{
    const apr_int64_t now = pay_clock_ms();

    while (env->state == PAY_LMDB_RESIZING) {
        if (!pay_clock_cond_wait(&env->changed, &env->mutex, now + PAY_LMDB_DRAIN_WAIT_MS)) {
            break;
        }
    }
    if (env->state != PAY_LMDB_OPEN || pay_lmdb_env_is_stale(env)) {
        return 0;
    }
    env->uses++;
    if (now - env->claimed_ms >= PAY_LMDB_CLAIM_MS) {
        env->claimed_ms = now;
        pay_lmdb_files_claim(env->lock_fd);
    }
    pay_lmdb_mark_enter(env->mark);
    return 1;
}

void pay_lmdb_env_release(pay_lmdb_env_t *env)
{
    assert(env->uses > 0);
    env->uses--;
    if (env->uses == 0) {
        if (env->state == PAY_LMDB_DOWN) {
            pay_lmdb_env_close(env);
        }
        pthread_cond_broadcast(&env->changed);
    }
    pay_lmdb_mark_leave();
}

int pay_lmdb_env_resize(pay_lmdb_env_t *env)
{
    const apr_int64_t until = pay_clock_ms() + PAY_LMDB_DRAIN_WAIT_MS;
    int rc = 0;

    pthread_mutex_lock(&env->mutex);
    pay_lmdb_env_release(env);
    if (env->state == PAY_LMDB_OPEN) {
        env->state = PAY_LMDB_RESIZING;
        while (env->uses > 0 && env->state == PAY_LMDB_RESIZING) {
            if (!pay_clock_cond_wait(&env->changed, &env->mutex, until)) {
                break;
            }
        }
        if (env->uses > 0) {
            rc = MDB_MAP_RESIZED;
        } else if (env->state == PAY_LMDB_RESIZING) {
            pay_lmdb_mark_enter(env->mark);
            rc = mdb_env_set_mapsize(env->mdb, 0);
            pay_lmdb_mark_leave();
        }
        if (rc && rc != MDB_MAP_RESIZED) {
            reopen_later(env);
            pay_lmdb_env_close(env); /* nothing is mapped any more */
        } else if (env->state == PAY_LMDB_RESIZING) {
            env->state = PAY_LMDB_OPEN;
        }
        pthread_cond_broadcast(&env->changed);
    }
    if (!rc && !pay_lmdb_env_use(env)) {
        rc = MDB_MAP_RESIZED;
    }
    pthread_mutex_unlock(&env->mutex);
    return rc;
}

int pay_lmdb_env_down(pay_lmdb_env_t *env)
{
    int first;

    pthread_mutex_lock(&env->mutex);
    first = env->state == PAY_LMDB_OPEN || env->state == PAY_LMDB_RESIZING;
    if (first) {
        env->state = PAY_LMDB_DOWN;
        reopen_later(env);
        pthread_cond_broadcast(&env->changed);
    }
    pthread_mutex_unlock(&env->mutex);
    return first;
}

void pay_lmdb_env_drop(pay_lmdb_env_t *env)
{
    pthread_mutex_lock(&env->mutex);
    if (env->state == PAY_LMDB_OPEN || env->state == PAY_LMDB_RESIZING) {
        env->state = PAY_LMDB_DOWN;
        if (env->uses == 0) {
            pay_lmdb_env_close(env);
        }
        pthread_cond_broadcast(&env->changed);
    }
    pthread_mutex_unlock(&env->mutex);
}

int pay_lmdb_env_in_place(pay_lmdb_env_t *env)
{
    if (pay_lmdb_place_is_same(env->path, env->dev, env->ino, env->data_ino)) {
        return 1;
    }
    if (pay_lmdb_env_down(env)) {
        pay_log(PAY_LOG_CRIT, APR_SUCCESS,
                PAYLOGNO(00114) "store %s was replaced by another directory or file while it was "
                                "open: nothing more is written to the old one. Stop the server "
                                "before you restore a backup",
                env->path);
    }
    return 0;
}

void pay_lmdb_env_fault(pay_lmdb_env_t *env, int rc)
{
    if (rc == MDB_PANIC) {
        if (pay_lmdb_env_down(env)) {
            pay_log(PAY_LOG_EMERG, APR_SUCCESS,
                    PAYLOGNO(00101) "store %s: a write to its header failed; the store is closed "
                                    "and opened again. Check the disk and the system log",
                    env->path);
        }
        return;
    }
    if (rc == MDB_READERS_FULL) {
        if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_READERS)) {
            pay_log(PAY_LOG_ERR, APR_SUCCESS,
                    PAYLOGNO(00102) "store %s: every slot of its reader table is taken; stop the "
                                    "server and all tools once, so that the table is created again "
                                    "with the configured size",
                    env->path);
        }
        return;
    }
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_FAULT)) {
        pay_log(PAY_LOG_ERR, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00103) "store %s: a transaction cannot begin: %s", env->path,
                mdb_strerror(rc));
    }
}

/* ---- readers */

/* Renews the free transaction, if there is one, or begins another. */
static int reader_start(MDB_txn **txn, MDB_txn *free, pay_lmdb_env_t *env)
{
    int rc;

    *txn = free;
    if (free) {
        rc = mdb_txn_renew(free);
        if (!rc) {
            return 0;
        }
        mdb_txn_abort(free);
    }
    rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
    if (rc) {
        *txn = NULL;
    }
    return rc;
}

apr_status_t pay_rows_begin(pay_rows_txn_t *txn, pay_store_t *store)
{
    pay_lmdb_env_t *env;
    MDB_txn *free = NULL, *native;
    apr_status_t rv;
    int dead;
    int rc;

    *txn = (pay_rows_txn_t){.store = store};
    rv = pay_lmdb_enter_reader(&env, &free, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = reader_start(&native, free, env);
    if (rc == MDB_READERS_FULL) {
        (void)mdb_reader_check(env->mdb, &dead); /* processes that died left their slots behind */
        rc = reader_start(&native, NULL, env);
    }
    if (rc == MDB_MAP_RESIZED) {
        rc = pay_lmdb_env_resize(env);
        if (rc) {
            return pay_rows_status(rc);
        }
        rc = reader_start(&native, NULL, env);
    }
    txn->native = native;
    if (rc) {
        pay_lmdb_env_fault(env, rc);
        pay_lmdb_leave(env);
    }
    return pay_rows_status(rc);
}

void pay_rows_end(pay_rows_txn_t *txn)
{
    pay_lmdb_env_t *env = pay_lmdb_env_of(txn); /* the store may have another one by now */
    int kept = 0;

    mdb_txn_reset(txn->native);
    pthread_mutex_lock(&env->mutex);
    if (env->state == PAY_LMDB_OPEN && env->readers_free < env->readers_free_max) {
        env->readers[env->readers_free] = txn->native;
        env->readers_free++;
        pay_lmdb_env_release(env);
        kept = 1;
    }
    pthread_mutex_unlock(&env->mutex);
    if (!kept) {
        mdb_txn_abort(txn->native);
        pay_lmdb_leave(env);
    }
}

void pay_lmdb_readers_close(pay_lmdb_env_t *env)
{
    while (env->readers_free > 0) {
        env->readers_free--;
        mdb_txn_abort(env->readers[env->readers_free]);
    }
}
