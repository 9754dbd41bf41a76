/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

/* Renews the transaction, if one was free, or begins another. */
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
    MDB_txn *free = NULL;
    apr_status_t rv;
    int dead;
    int rc;

    *txn = (pay_rows_txn_t){.store = store};
    rv = pay_lmdb_enter_reader(&env, &free, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = reader_start(&txn->mdb, free, env);
    if (rc == MDB_READERS_FULL) {
        (void)mdb_reader_check(env->mdb, &dead); /* processes that died left theirs behind */
        rc = reader_start(&txn->mdb, NULL, env);
    }
    if (rc == MDB_MAP_RESIZED) {
        rc = pay_lmdb_env_resize(env);
        if (rc) {
            return pay_rows_status(rc);
        }
        rc = reader_start(&txn->mdb, NULL, env);
    }
    if (rc) {
        pay_lmdb_env_fault(env, rc);
        pay_lmdb_leave(env);
    }
    return pay_rows_status(rc);
}

void pay_rows_end(pay_rows_txn_t *txn)
{
    pay_lmdb_env_t *env = pay_lmdb_env_of(txn); /* the store may have another by now */
    int kept = 0;

    mdb_txn_reset(txn->mdb);
    pthread_mutex_lock(&env->mutex);
    if (env->state == PAY_LMDB_OPEN && env->readers_free < env->readers_free_max) {
        env->readers[env->readers_free] = txn->mdb;
        env->readers_free++;
        pay_lmdb_env_release(env);
        kept = 1;
    }
    pthread_mutex_unlock(&env->mutex);
    if (!kept) {
        mdb_txn_abort(txn->mdb);
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
