/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "base/shared/worker.h"
#include "store/lmdb/raw.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENV_OPEN_WAIT_MS 10000 /* for another thread that opens or closes it */
#define READERS_SHARE 4        /* one process keeps at most a quarter of the reader table */

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static pay_lmdb_env_t *registry;

static pay_lmdb_env_t *env_make(dev_t dev, ino_t ino)
{
    pay_lmdb_env_t *env = calloc(1, sizeof(*env));

    if (!env) {
        return NULL;
    }
    env->dev = dev;
    env->ino = ino;
    env->lock_fd = -1;
    pthread_mutex_init(&env->mutex, NULL);
    pay_clock_cond_init(&env->changed);
    return env;
}

/* The environment of that directory in this process; it is never freed. */
static pay_lmdb_env_t *env_find(dev_t dev, ino_t ino)
{
    pay_lmdb_env_t *env;

    pthread_mutex_lock(&registry_mutex);
    for (env = registry; env; env = env->next) {
        if (env->dev == dev && env->ino == ino) {
            break;
        }
    }
    if (!env) {
        env = env_make(dev, ino);
        if (env) {
            env->next = registry;
            registry = env;
        }
    }
    pthread_mutex_unlock(&registry_mutex);
    return env;
}

static void env_release_files(pay_lmdb_env_t *env)
{
    pay_lmdb_readers_close(env);
    if (env->mdb) {
        mdb_env_close(env->mdb);
        env->mdb = NULL;
    }
    if (env->lock_fd >= 0) {
        close(env->lock_fd); /* after LMDB's own: any close drops the locks of the process */
        env->lock_fd = -1;
    }
    free(env->path);
    env->path = NULL;
    env->opened_by = 0;
    env->space_at_ms = 0;
    env->claimed_ms = 0;
}

void pay_lmdb_env_close(pay_lmdb_env_t *env)
{
    assert(env->uses == 0);
    pay_lmdb_mark_enter(env->mark);
    env_release_files(env);
    pay_lmdb_mark_leave();
    env->state = PAY_LMDB_CLOSED;
    pthread_cond_broadcast(&env->changed);
}

/* Returns 1 if the process may not map that much, whatever mmap(2) reports. */
static int is_above_limit(apr_int64_t map_bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
           && (rlim_t)map_bytes > limit.rlim_cur;
}

/* Explains ENOMEM of mmap(2): a limit below the map, or too close to it for the other mappings. */
static void map_explain(pay_lmdb_reason_t *reason, const char *path, apr_int64_t map_bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        pay_lmdb_reason_set(reason,
                            "store %s: PaymentsStoreSize is %" APR_INT64_T_FMT
                            " MiB, which the system does not let this process map: lower it",
                            path, map_bytes >> 20);
        return;
    }
    pay_lmdb_reason_set(reason,
                        "store %s: PaymentsStoreSize is %" APR_INT64_T_FMT
                        " MiB, but the process may map %" APR_INT64_T_FMT
                        " MiB in all: lower it, or raise the limit (ulimit -v, LimitAS)",
                        path, map_bytes >> 20, (apr_int64_t)limit.rlim_cur >> 20);
}

/* mdb_env_open with our settings. */
static int env_open_mdb(MDB_env **mdb, pay_lmdb_env_t *env, const pay_store_t *db)
{
    const apr_int64_t page = sysconf(_SC_PAGESIZE);
    unsigned int flags = MDB_NOTLS | (db->options.read_only ? MDB_RDONLY : 0);
    int dead;
    int rc;

    rc = mdb_env_create(mdb);
    if (rc) {
        *mdb = NULL;
        return rc;
    }
    rc = mdb_env_set_mapsize(*mdb, (size_t)(db->options.map_bytes / page * page));
    if (rc)
        goto leave;
    rc = mdb_env_set_maxreaders(*mdb, db->options.readers_max);
    if (rc)
        goto leave;
    rc = mdb_env_set_maxdbs(*mdb, PAY_TABLE_COUNT);
    if (rc)
        goto leave;
    rc = pay_lmdb_files_map(*mdb, db->path, flags);
    if (rc)
        goto leave;
    rc = mdb_env_set_userctx(*mdb, env);
    if (rc)
        goto leave;
    rc = mdb_reader_check(*mdb, &dead);
leave:
    if (rc) {
        mdb_env_close(*mdb);
        *mdb = NULL;
    }
    return rc;
}

static int file_look(pay_lmdb_file_id_t *out, MDB_env *mdb)
{
    mdb_filehandle_t fd;
    struct statx more;
    struct stat info;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = mdb_env_get_fd(mdb, &fd);
    if (rc) {
        return rc;
    }
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    out->inode = (apr_uint64_t)info.st_ino;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME)) {
        out->born_us =
            (apr_int64_t)more.stx_btime.tv_sec * APR_USEC_PER_SEC + more.stx_btime.tv_nsec / 1000;
    }
    return 0;
}

/* Maps as much as the server that prepared the store. */
static int limits_take(MDB_env *mdb, pay_store_options_t *options)
{
    const apr_int64_t page = sysconf(_SC_PAGESIZE), before = options->map_bytes;
    int rc;

    if (!options->limits_of_store) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_raw_read(mdb, pay_lmdb_env_limits, options);
    if (rc || options->map_bytes == before) {
        return rc;
    }
    return mdb_env_set_mapsize(mdb, (size_t)(options->map_bytes / page * page));
}

static apr_status_t env_open_files(pay_lmdb_env_t *env, pay_store_t *db, int dir_fd,
                                   pay_lmdb_reason_t *reason)
{
    const int create = db->options.create && !db->options.read_only;
    apr_status_t rv;
    int rc;

    rv = pay_lmdb_files_open(&env->lock_fd, &env->data_ino, dir_fd, db->path, create, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = env_open_mdb(&env->mdb, env, db);
    if (rc == ENOMEM || (rc && is_above_limit(db->options.map_bytes))) {
        map_explain(reason, db->path, db->options.map_bytes);
        return APR_ENOMEM;
    }
    if (rc == EACCES || rc == EPERM) {
        pay_lmdb_place_explain(reason, db->path, EACCES);
        return rc;
    }
    if (rc) {
        pay_lmdb_reason_set(reason, "store %s cannot be opened: %s", db->path, mdb_strerror(rc));
        return pay_rows_status(rc);
    }
    rv = pay_lmdb_tables_open(env->mdb, db->path, create, db->options.read_only, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = limits_take(env->mdb, &db->options);
    if (rc) {
        pay_lmdb_reason_set(reason, "store %s: its limits cannot be taken: %s", db->path,
                            mdb_strerror(rc));
        return pay_rows_status(rc);
    }
    rv = pay_lmdb_opener_check(env->mdb, env->lock_fd, db->path, db->options.read_only, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = file_look(&env->file, env->mdb);
    if (!rc) {
        rc = pay_lmdb_env_opened(env->mdb, &env->file, db->path, db->options.read_only);
    }
    if (rc) {
        pay_lmdb_reason_set(reason, "store %s: the row of its epoch: %s", db->path,
                            mdb_strerror(rc));
    }
    return pay_rows_status(rc);
}

/* The state is OPENING: no other thread touches what it has open. */
static apr_status_t env_open(pay_lmdb_env_t *env, pay_store_t *db, int dir_fd,
                             pay_lmdb_reason_t *reason)
{
    unsigned int readers_max = 0;
    apr_status_t rv;

    rv = env_open_files(env, db, dir_fd, reason);
    if (rv == APR_SUCCESS) {
        rv = pay_lmdb_files_hold(env->lock_fd);
    }
    if (rv == APR_SUCCESS) {
        env->path = strdup(db->path);
        rv = env->path ? APR_SUCCESS : APR_ENOMEM;
    }
    if (rv != APR_SUCCESS) {
        env_release_files(env);
        return rv;
    }
    (void)mdb_env_get_maxreaders(env->mdb, &readers_max);
    env->readers_free_max = readers_max / READERS_SHARE;
    if (env->readers_free_max > PAY_LMDB_READERS_FREE_MAX) {
        env->readers_free_max = PAY_LMDB_READERS_FREE_MAX;
    }
    env->read_only = db->options.read_only;
    env->opened_by = pay_worker_forks() + 1;
    return APR_SUCCESS;
}

/* The caller holds env->mutex, which is released while the environment opens. */
static apr_status_t env_make_ready(pay_lmdb_env_t *env, pay_store_t *db, int dir_fd,
                                   pay_lmdb_reason_t *reason)
{
    const apr_int64_t until = pay_clock_ms() + ENV_OPEN_WAIT_MS;
    apr_status_t rv;

    while (env->state == PAY_LMDB_OPENING || env->state == PAY_LMDB_RESIZING) {
        if (!pay_clock_cond_wait(&env->changed, &env->mutex, until)) {
            break;
        }
    }
    if (env->state == PAY_LMDB_OPEN) {
        if (env->read_only && !db->options.read_only) {
            pay_lmdb_reason_set(reason, "store %s is open for reading only", db->path);
            return PAY_STORE_EDOWN;
        }
        return APR_SUCCESS;
    }
    if (env->state != PAY_LMDB_CLOSED || pay_clock_ms() < env->reopen_at_ms) {
        pay_lmdb_reason_set(reason, "store %s is closed after a fault; next attempt later",
                            db->path);
        return PAY_STORE_EDOWN;
    }
    env->state = PAY_LMDB_OPENING;
    env->mark = db->options.mark;
    env->mark_word = pay_lmdb_mark_word(env->mark);
    pthread_mutex_unlock(&env->mutex);
    pay_lmdb_mark_enter(env->mark);
    rv = env_open(env, db, dir_fd, reason);
    pay_lmdb_mark_leave();
    pthread_mutex_lock(&env->mutex);
    env->state = rv == APR_SUCCESS ? PAY_LMDB_OPEN : PAY_LMDB_CLOSED;
    pthread_cond_broadcast(&env->changed);
    return rv;
}

apr_status_t pay_lmdb_env_attach(pay_lmdb_env_t **out, pay_store_t *db, pay_lmdb_reason_t *reason)
{
    const int create = db->options.create && !db->options.read_only;
    pay_lmdb_env_t *env;
    struct stat info;
    apr_status_t rv;
    int dir_fd;

    *out = NULL;
    pay_lmdb_reason_set(reason, "store %s cannot be opened", db->path);
    rv = pay_lmdb_place_open(&dir_fd, &info, db->path, create, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    env = env_find(info.st_dev, info.st_ino);
    if (!env) {
        close(dir_fd);
        return APR_ENOMEM;
    }
    if (db->env && db->env != env) {
        pay_lmdb_env_detach(db->env); /* the path leads to another directory now */
        db->env = NULL;
    }
    pthread_mutex_lock(&env->mutex);
    if (!db->env) {
        env->handles++;
        db->env = env;
    }
    rv = env_make_ready(env, db, dir_fd, reason);
    pthread_mutex_unlock(&env->mutex);
    close(dir_fd);
    *out = env;
    return rv;
}

void pay_lmdb_env_detach(pay_lmdb_env_t *env)
{
    const apr_int64_t until = pay_clock_ms() + PAY_LMDB_DRAIN_WAIT_MS;

    pthread_mutex_lock(&env->mutex);
    assert(env->handles > 0);
    env->handles--;
    /* Between two leaders of the commit queue nobody uses it, but works still wait. */
    while (env->handles == 0 && (env->uses > 0 || env->is_led || env->state == PAY_LMDB_OPENING)) {
        if (!pay_clock_cond_wait(&env->changed, &env->mutex, until)) {
            break; /* the process ends while a thread is running: better left open */
        }
    }
    if (env->handles == 0 && env->uses == 0 && !env->is_led
        && (env->state == PAY_LMDB_OPEN || env->state == PAY_LMDB_DOWN)) {
        pay_lmdb_env_close(env);
    }
    pthread_mutex_unlock(&env->mutex);
}
