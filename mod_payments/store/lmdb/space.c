/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/lmdb/backoff.h"
#include "store/lmdb/env.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FREE_TABLE 0 /* LMDB's own list of free pages */

apr_int64_t pay_lmdb_space_disk_free(const char *path)
{
    struct statvfs disk;

    if (statvfs(path, &disk) != 0) {
        return -1;
    }
    return (apr_int64_t)disk.f_bavail * (apr_int64_t)disk.f_frsize;
}

static apr_int64_t space_free_pages(MDB_txn *txn)
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
    /* Each entry is a list of page numbers, preceded by their count. */
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
    pages = space_free_pages(txn);
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
        /* Only now is it worthwhile to walk the list and count the pages of deleted rows. */
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
    MDB_env *mdb = mdb_txn_env(txn->native);
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
    pages = (apr_int64_t)info.me_last_pgno + 1 - space_free_pages(txn->native);
    out->map_bytes = (apr_int64_t)info.me_mapsize;
    out->used_bytes = pages * (apr_int64_t)stat.ms_psize;
    out->readers = info.me_numreaders;
    out->readers_max = info.me_maxreaders;
    return 0;
}

/* ---- writing ahead */

#define STEP ((off_t)1 << 20) /* bytes written at a time */
#define BLOCK ((size_t)1 << 16)
#define LEFT_MIN (STEP / 2) /* fewer bytes left after the last used page: the next step is due */

/* The offset beyond which no file may grow: the end of the map, or of what this process may write,
 * beyond which a write would kill it (SIGXFSZ). */
static off_t end_of(const MDB_envinfo *info)
{
    off_t end = (off_t)info->me_mapsize;
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)end) {
        end = (off_t)limit.rlim_cur;
    }
    return end;
}

/* Writes one step, or as much of it as there is room for. */
static void write_zeros(int fd, off_t from, off_t to)
{
    static const char zeros[BLOCK];
    ssize_t written;

    while (from < to) {
        written = pwrite(fd, zeros, to - from < (off_t)BLOCK ? (size_t)(to - from) : BLOCK, from);
        if (written <= 0) {
            return;
        }
        from += written;
    }
}

void pay_lmdb_ahead(const pay_lmdb_env_t *env, apr_int64_t reserve)
{
    MDB_env *mdb = env->mdb;
    mdb_filehandle_t fd;
    MDB_envinfo info;
    struct stat file;
    MDB_stat stat;
    apr_int64_t disk_free;
    off_t used, end;

    if (mdb_env_info(mdb, &info) != 0 || mdb_env_stat(mdb, &stat) != 0
        || mdb_env_get_fd(mdb, &fd) != 0 || fstat(fd, &file) != 0) {
        return;
    }
    used = (off_t)(info.me_last_pgno + 1) * (off_t)stat.ms_psize;
    if (file.st_size < used || file.st_size - used >= LEFT_MIN) {
        return;
    }
    end = end_of(&info);
    disk_free = pay_lmdb_space_disk_free(env->path);
    if (file.st_size + STEP <= end && disk_free - STEP >= reserve) {
        write_zeros(fd, file.st_size, file.st_size + STEP);
    }
}

/* ---- backing off */

apr_int64_t pay_lmdb_backoff_next(apr_int64_t delay_ms)
{
    if (delay_ms < PAY_LMDB_BACKOFF_MIN_MS) {
        return PAY_LMDB_BACKOFF_MIN_MS;
    }
    return delay_ms < PAY_LMDB_BACKOFF_MAX_MS / 2 ? delay_ms * 2 : PAY_LMDB_BACKOFF_MAX_MS;
}
