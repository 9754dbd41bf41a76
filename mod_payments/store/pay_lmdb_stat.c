/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_env.h"

#include "base/pay_log.h"
#include "base/pay_time.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_epoch.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define BACKUP_DIRECTORY_MODE 0700
#define BACKUP_FILE_MODE 0600

static const struct {
    pay_table_t table;
    size_t offset; /* of the count in pay_store_stat_t */
} counted[] = {
    {PAY_TABLE_ACCOUNT, offsetof(pay_store_stat_t, accounts)},
    {PAY_TABLE_API_KEY, offsetof(pay_store_stat_t, api_keys)},
    {PAY_TABLE_TOKEN, offsetof(pay_store_stat_t, tokens)},
    {PAY_TABLE_CHARGE, offsetof(pay_store_stat_t, charges)},
    {PAY_TABLE_REFUND, offsetof(pay_store_stat_t, refunds)},
    {PAY_TABLE_HELD, offsetof(pay_store_stat_t, held)},
    {PAY_TABLE_KEPT, offsetof(pay_store_stat_t, kept)},
    {PAY_TABLE_EVENT, offsetof(pay_store_stat_t, events)},
    {PAY_TABLE_EVENT_PARKED, offsetof(pay_store_stat_t, parked)},
};

static int stat_tables(pay_store_stat_t *out, pay_rows_txn_t *txn)
{
    apr_uint64_t count;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        rc = pay_rows_count(&count, txn, counted[i].table);
        if (rc) {
            return rc;
        }
        memcpy((char *)out + counted[i].offset, &count, sizeof(count));
    }
    return pay_lmdb_due_count(&out->pending, &out->checkouts_open, txn);
}

static int stat_space(pay_store_stat_t *out, MDB_txn *txn)
{
    MDB_env *mdb = mdb_txn_env(txn);
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
    pages = (apr_int64_t)info.me_last_pgno + 1 - pay_lmdb_space_free_pages(txn);
    out->map_bytes = (apr_int64_t)info.me_mapsize;
    out->used_bytes = pages * (apr_int64_t)stat.ms_psize;
    out->readers = info.me_numreaders;
    out->readers_max = info.me_maxreaders;
    return 0;
}

apr_status_t pay_store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    apr_uint32_t version;
    struct stat file;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_lmdb_schema_get(&version, txn.mdb);
    if (!rc) {
        out->schema_version = version;
        rc = stat_tables(out, &txn);
    }
    if (!rc) {
        rc = stat_space(out, txn.mdb);
    }
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (stat(apr_pstrcat(p, store->path, "/" PAY_LMDB_DATA_FILE, NULL), &file) == 0) {
        out->file_bytes = (apr_int64_t)file.st_size;
    }
    out->disk_free_bytes = pay_lmdb_space_disk_free(store->path);
    return APR_SUCCESS;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int rc = 0;

    if (fd < 0) {
        return errno;
    }
    if (!(flags & O_DIRECTORY) && fchmod(fd, BACKUP_FILE_MODE) != 0) {
        rc = errno;
    }
    if (!rc && fsync(fd) != 0) {
        rc = errno;
    }
    close(fd);
    return rc;
}

apr_status_t pay_store_backup(pay_store_t *store, const char *path, apr_pool_t *p)
{
    const char *file = apr_pstrcat(p, path, "/" PAY_LMDB_DATA_FILE, NULL);
    const apr_time_t began = pay_time_now();
    pay_lmdb_env_t *env;
    apr_status_t rv;
    int rc;

    rv = pay_lmdb_enter(&env, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (mkdir(path, BACKUP_DIRECTORY_MODE) != 0) {
        rv = errno; /* also EEXIST: nothing is ever written over */
        pay_lmdb_leave(env);
        return rv;
    }
    rc = mdb_env_copy2(env->mdb, path, MDB_CP_COMPACT);
    pay_lmdb_leave(env);
    if (!rc) {
        rc = pay_lmdb_restore_mark(path, began, p);
    }
    if (!rc) {
        rc = sync_path(file, 0);
    }
    if (!rc) {
        rc = sync_path(path, O_DIRECTORY);
    }
    if (rc) {
        pay_log(PAY_LOG_ERR, rc > 0 ? rc : APR_SUCCESS,
                PAYLOGNO(00115) "backup of store %s to %s failed: %s", store->path, path,
                mdb_strerror(rc));
        (void)unlink(file);
        (void)rmdir(path);
    }
    return pay_rows_status(rc);
}
