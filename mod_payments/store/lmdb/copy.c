/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/lmdb/env.h"
#include "store/lmdb/raw.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_MODE 0700
#define FILE_MODE 0600
#define MARK_ROOM (1 << 20) /* bytes of map for the few pages of a mark */

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int rc = 0;

    if (fd < 0) {
        return errno;
    }
    if (!(flags & O_DIRECTORY) && fchmod(fd, FILE_MODE) != 0) {
        rc = errno;
    }
    if (!rc && fsync(fd) != 0) {
        rc = errno;
    }
    close(fd);
    return rc;
}

static int copy_open(MDB_env **mdb, const char *path, apr_off_t size)
{
    int rc;

    rc = mdb_env_create(mdb);
    if (rc) {
        *mdb = NULL;
        return rc;
    }
    rc = mdb_env_set_mapsize(*mdb, (size_t)size + MARK_ROOM);
    if (!rc) {
        rc = mdb_env_set_maxdbs(*mdb, 1);
    }
    if (!rc) {
        rc = mdb_env_open(*mdb, path, MDB_NOLOCK | MDB_NOTLS, FILE_MODE); /* creates no lock.mdb */
    }
    return rc;
}

/* The table has the same handle as in an environment with all tables. */
static int meta_open(MDB_env *mdb)
{
    MDB_txn *txn;
    MDB_dbi meta;
    int rc;

    rc = mdb_txn_begin(mdb, NULL, 0, &txn);
    if (rc) {
        return rc;
    }
    rc = mdb_dbi_open(txn, pay_rows_table_name(PAY_TABLE_META), 0, &meta);
    if (!rc && meta != pay_lmdb_dbi(PAY_TABLE_META)) {
        rc = MDB_INCOMPATIBLE;
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int copy_mark(const char *path, const char *file, pay_rows_work_t mark, void *baton)
{
    MDB_env *mdb = NULL;
    struct stat info;
    int rc;

    if (stat(file, &info) != 0) {
        return errno;
    }
    rc = copy_open(&mdb, path, info.st_size);
    if (!rc) {
        rc = meta_open(mdb);
    }
    if (!rc) {
        rc = pay_lmdb_raw_write(mdb, mark, baton);
    }
    if (mdb) {
        mdb_env_close(mdb);
    }
    return rc;
}

apr_status_t pay_lmdb_copy(pay_store_t *store, const char *path, pay_rows_work_t mark, void *baton,
                           apr_pool_t *p)
{
    const char *file = apr_pstrcat(p, path, "/" PAY_LMDB_DATA_FILE, NULL);
    pay_lmdb_env_t *env;
    apr_status_t rv;
    int rc;

    rv = pay_lmdb_enter(&env, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (mkdir(path, DIRECTORY_MODE) != 0) {
        rv = errno; /* also EEXIST: nothing is ever overwritten */
        pay_lmdb_leave(env);
        return rv;
    }
    rc = mdb_env_copy2(env->mdb, path, MDB_CP_COMPACT);
    pay_lmdb_leave(env);
    if (!rc) {
        rc = copy_mark(path, file, mark, baton);
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

/* ---- touching every page */

#define STRIDE 4096       /* no page is smaller */
#define AGREE_TRIES_MAX 5 /* another process may commit between the two reads */
#define AGREE_PAUSE apr_time_from_msec(20)

/* Reads a byte of each page that the value occupies. */
static void value_touch(const MDB_val *val)
{
    const volatile unsigned char *at = val->mv_data;
    size_t i;

    for (i = 0; i < val->mv_size; i += STRIDE) {
        (void)at[i];
    }
    if (val->mv_size > 0) {
        (void)at[val->mv_size - 1];
    }
}

/* Reads every page of a table: the rows and the branch pages. */
static int table_touch(pay_rows_txn_t *txn, MDB_dbi dbi)
{
    MDB_cursor *cursor;
    MDB_val key, val;
    int rc;

    rc = mdb_cursor_open(txn->native, dbi, &cursor);
    if (rc) {
        return rc;
    }
    rc = mdb_cursor_get(cursor, &key, &val, MDB_FIRST);
    while (!rc) {
        value_touch(&key);
        value_touch(&val);
        rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* LMDB's own two tables, free pages and names, and our tables. */
apr_status_t pay_lmdb_pages_touch(pay_store_t *store)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    MDB_dbi dbi;
    int rc = 0;

    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (dbi = 0; !rc && dbi < PAY_LMDB_DBI_FIRST + PAY_TABLE_COUNT; dbi++) {
        if (dbi < PAY_LMDB_DBI_FIRST
            || !pay_rows_table_is_missing(&txn, (pay_table_t)(dbi - PAY_LMDB_DBI_FIRST))) {
            rc = table_touch(&txn, dbi);
        }
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/*
 * LMDB takes the number of the last transaction from lock.mdb while any process has the store open.
 * If another data.mdb was put in its place meanwhile, it would use the wrong one of the two newest
 * states.
 */
apr_status_t pay_lmdb_pages_agree(int *agree, pay_store_t *store)
{
    MDB_envinfo info;
    apr_status_t rv;
    size_t number;
    pay_rows_txn_t txn;
    int tries;

    *agree = 0;
    for (tries = 0; tries < AGREE_TRIES_MAX && !*agree; tries++) {
        if (tries > 0) {
            apr_sleep(AGREE_PAUSE);
        }
        rv = pay_rows_begin(&txn, store);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        number = mdb_txn_id(txn.native);
        (void)mdb_env_info(mdb_txn_env(txn.native), &info);
        pay_rows_end(&txn);
        *agree = number == info.me_last_txnid;
    }
    return APR_SUCCESS;
}

/* ---- raw transactions */

int pay_lmdb_raw_read(pay_lmdb_raw_t *mdb, pay_rows_work_t work, void *baton)
{
    pay_rows_txn_t txn = {.store = NULL};
    MDB_txn *native;
    int rc;

    rc = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &native);
    if (rc) {
        return rc;
    }
    txn.native = native;
    rc = work(&txn, baton);
    mdb_txn_abort(native);
    return rc;
}

int pay_lmdb_raw_write(pay_lmdb_raw_t *mdb, pay_rows_work_t work, void *baton)
{
    pay_rows_txn_t txn = {.turn = pay_turn_store()};
    MDB_txn *native;
    int rc;

    rc = mdb_txn_begin(mdb, NULL, 0, &native);
    if (rc) {
        return rc;
    }
    txn.native = native;
    rc = work(&txn, baton);
    if (rc) {
        mdb_txn_abort(native);
        return rc;
    }
    return mdb_txn_commit(native);
}
