/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#define FREE_TABLE 0 /* LMDB's own list of free pages */

apr_int64_t pay_lmdb_space_disk_free(const char *path)
{
    struct statvfs disk;

    if (statvfs(path, &disk) != 0) {
        return -1;
    }
    return (apr_int64_t)disk.f_bavail * (apr_int64_t)disk.f_frsize;
}

apr_int64_t pay_lmdb_space_free_pages(MDB_txn *txn)
{
    apr_int64_t pages = 0;
    MDB_cursor *cursor;
    MDB_val key, val;
    size_t count;
    int rc;

    rc = mdb_cursor_open(txn, FREE_TABLE, &cursor);
    if (rc) {
        return 0;
    }
    /* Each entry is a list of page numbers with their count in front. */
    while (!mdb_cursor_get(cursor, &key, &val, MDB_NEXT)) {
        if (val.mv_size >= sizeof(count)) {
            memcpy(&count, val.mv_data, sizeof(count));
            pages += (apr_int64_t)count;
        }
    }
    mdb_cursor_close(cursor);
    return pages;
}

/* LMDB shows its list of free pages to read transactions only. */
static apr_int64_t free_pages(pay_lmdb_env_t *env)
{
    apr_int64_t pages;
    MDB_txn *txn;

    if (mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn) != 0) {
        return 0;
    }
    pages = pay_lmdb_space_free_pages(txn);
    mdb_txn_abort(txn);
    return pages;
}

static void space_measure(apr_int64_t *map_free, apr_int64_t *disk_free, pay_lmdb_env_t *env,
                          apr_int64_t reserve)
{
    MDB_envinfo info;
    MDB_stat stat;

    *map_free = 0;
    *disk_free = pay_lmdb_space_disk_free(env->path);
    if (mdb_env_info(env->mdb, &info) != 0 || mdb_env_stat(env->mdb, &stat) != 0) {
        return;
    }
    *map_free = (apr_int64_t)info.me_mapsize
                - ((apr_int64_t)info.me_last_pgno + 1) * (apr_int64_t)stat.ms_psize;
    if (*map_free < reserve) {
        /* Only now is it worth the walk to count what deleted rows gave back. */
        *map_free += free_pages(env) * (apr_int64_t)stat.ms_psize;
    }
}

static void log_reserve(pay_lmdb_env_t *env, pay_lmdb_cause_t cause, apr_int64_t left,
                        apr_int64_t reserve)
{
    const long left_mib = (long)(left >> 20);
    const long reserve_mib = (long)(reserve >> 20);

    if (!pay_lmdb_env_log_due(env, cause)) {
        return;
    }
    if (cause == PAY_LMDB_CAUSE_MAP) {
        pay_log(PAY_LOG_CRIT, APR_SUCCESS,
                PAYLOGNO(00105) "store %s: %ld MiB of its size are free, less than "
                                "PaymentsStoreReserve (%ld MiB): new charges and refunds are "
                                "refused. Raise PaymentsStoreSize and reload the server",
                env->path, left_mib, reserve_mib);
        return;
    }
    pay_log(PAY_LOG_CRIT, APR_SUCCESS,
            PAYLOGNO(00106) "store %s: %ld MiB of its disk are free, less than "
                            "PaymentsStoreReserve (%ld MiB): new charges and refunds are refused. "
                            "Free disk space, or lower PaymentsStoreReserve and reload the server",
            env->path, left_mib, reserve_mib);
}

int pay_lmdb_space_check(pay_lmdb_env_t *env, apr_int64_t reserve, int anew)
{
    const apr_int64_t now = pay_clock_ms();
    apr_int64_t map_free, disk_free;
    int fresh;

    pthread_mutex_lock(&env->mutex);
    fresh = !anew && env->space_at_ms && now - env->space_at_ms < PAY_LMDB_SPACE_AGE_MAX_MS;
    map_free = env->map_free;
    disk_free = env->disk_free;
    pthread_mutex_unlock(&env->mutex);
    if (!fresh) {
        space_measure(&map_free, &disk_free, env, reserve);
        pthread_mutex_lock(&env->mutex);
        env->space_at_ms = now;
        env->map_free = map_free;
        env->disk_free = disk_free;
        pthread_mutex_unlock(&env->mutex);
    }
    if (map_free < reserve) {
        log_reserve(env, PAY_LMDB_CAUSE_MAP, map_free, reserve);
        return MDB_MAP_FULL;
    }
    if (disk_free >= 0 && disk_free < reserve) {
        log_reserve(env, PAY_LMDB_CAUSE_DISK, disk_free, reserve);
        return ENOSPC;
    }
    return 0;
}

void pay_lmdb_space_log_full(pay_lmdb_env_t *env, int rc)
{
    if (rc == MDB_MAP_FULL) {
        if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_MAP)) {
            pay_log(PAY_LOG_CRIT, APR_SUCCESS,
                    PAYLOGNO(00107) "store %s is full: raise PaymentsStoreSize and reload the "
                                    "server",
                    env->path);
        }
        return;
    }
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_DISK)) {
        pay_log(PAY_LOG_CRIT, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00108) "store %s: its disk is full; free disk space "
                                "(PaymentsStoreReserve keeps some for work in progress)",
                env->path);
    }
}

int pay_lmdb_space_stat(pay_store_stat_t *out, const pay_rows_txn_t *txn)
{
    MDB_env *mdb = mdb_txn_env(txn->mdb);
    apr_int64_t pages;
    MDB_envinfo info;
    MDB_stat stat;
    int rc;

    rc = mdb_env_info(mdb, &info);
    if (rc) {
        return rc;
    }
    rc = mdb_env_stat(mdb, &stat);
    if (rc) {
        return rc;
    }
    pages = (apr_int64_t)info.me_last_pgno + 1 - pay_lmdb_space_free_pages(txn->mdb);
    out->map_bytes = (apr_int64_t)info.me_mapsize;
    out->used_bytes = pages * (apr_int64_t)stat.ms_psize;
    out->readers = info.me_numreaders;
    out->readers_max = info.me_maxreaders;
    return 0;
}
