/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "base/log.h"
#include "base/shared/worker.h"
#include "store/lmdb/backoff.h"
#include "store/lmdb/open.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_LEN_MAX (PATH_MAX - 16) /* the names of the files follow */

/* Codes with a status of their own; all others of LMDB and errno mean "out of service". */
static const struct {
    int rc;
    apr_status_t status;
} statuses[] = {
    {MDB_SUCCESS, APR_SUCCESS},
    {MDB_NOTFOUND, APR_NOTFOUND},
    {MDB_KEYEXIST, APR_EEXIST},
    {MDB_BAD_VALSIZE, APR_EINVAL},
    {MDB_MAP_FULL, PAY_STORE_EFULL},
    {ENOSPC, PAY_STORE_EFULL},
    {EDQUOT, PAY_STORE_EFULL},
    {MDB_CORRUPTED, PAY_STORE_ECORRUPT},
    {MDB_PAGE_NOTFOUND, PAY_STORE_ECORRUPT},
    {PAY_ROWS_BAD, PAY_STORE_ECORRUPT},
    /* Works return these to refuse; they keep their names. */
    {EINVAL, APR_EINVAL},
    {EEXIST, APR_EEXIST},
    {EBUSY, APR_EBUSY},
    {ENAMETOOLONG, APR_ENAMETOOLONG},
    {ENOMEM, APR_ENOMEM},
};

apr_status_t pay_rows_status(int rc)
{
    size_t i;

    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].rc == rc) {
            return statuses[i].status;
        }
    }
    return rc >= APR_OS_START_ERROR ? rc : PAY_STORE_EDOWN; /* a status already */
}

const char *pay_lmdb_path_fault(const char *path)
{
    const char *at;

    if (path[0] != '/' || strspn(path, "/") == strlen(path)) {
        return "a store's URL names an absolute directory: lmdb:/var/lib/payments";
    }
    if (strlen(path) > PATH_LEN_MAX) {
        return "the path of the store is too long";
    }
    for (at = path; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f) {
            return "the path of the store contains a control character";
        }
    }
    for (at = strstr(path, "/.."); at; at = strstr(at + 1, "/..")) {
        if (at[3] == '/' || at[3] == '\0') {
            return "the path of the store contains \"..\"";
        }
    }
    return NULL;
}

void pay_lmdb_path_trim(char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') {
        path[--len] = '\0';
    }
}

/*
 * Opens the environment or returns the cause; the back-off restarts either way. The caller holds
 * db->mutex.
 */
static apr_status_t open_now(pay_lmdb_env_t **env, pay_store_t *db, pay_lmdb_reason_t *reason)
{
    apr_status_t rv;

    rv = pay_lmdb_env_attach(env, db, reason);
    if (rv == APR_SUCCESS) {
        db->delay_ms = 0;
        db->next_try_ms = 0;
        return APR_SUCCESS;
    }
    db->down_status = rv == PAY_STORE_ESCHEMA || rv == PAY_STORE_EFULL ? rv : PAY_STORE_EDOWN;
    db->delay_ms = pay_lmdb_backoff_next(db->delay_ms);
    db->next_try_ms = pay_clock_ms() + db->delay_ms;
    return db->down_status;
}

/* Sets *reader to a free read transaction, if there is one. `reader` may be NULL. */
static int use_open(pay_lmdb_env_t *env, MDB_txn **reader)
{
    int used;

    pthread_mutex_lock(&env->mutex);
    used = pay_lmdb_env_use(env);
    if (used && reader && env->readers_free > 0) {
        env->readers_free--;
        *reader = env->readers[env->readers_free];
    }
    pthread_mutex_unlock(&env->mutex);
    return used;
}

/* A forked process neither writes with its parent's environment nor waits for its parent's locks,
 * which may be held by threads that do not exist in it. */
static int is_forked(pay_lmdb_env_t *env)
{
    const unsigned int opened_by = env->opened_by;

    return opened_by && opened_by != pay_worker_forks() + 1;
}

/* Returns 1 if a process died in the store and no check has passed since; an environment opened
 * before is closed in any case. The caller holds db->mutex. */
static int is_left_alone(pay_store_t *db)
{
    pay_lmdb_env_t *env = db->env;

    if (env && pay_lmdb_env_is_stale(env) && !is_forked(env)) {
        pay_lmdb_env_drop(env);
    }
    pay_lmdb_mark_log(db->options.mark, db->path);
    return pay_store_mark_is_set(db->options.mark) || (env && pay_store_mark_is_set(env->mark));
}

/* The caller holds db->mutex; sets *reason if this call tried and failed. */
static apr_status_t enter_closed(pay_lmdb_env_t **env, pay_store_t *db, int at_once,
                                 pay_lmdb_reason_t *reason)
{
    apr_status_t rv;

    if (db->closed) {
        return PAY_STORE_EDOWN;
    }
    if (is_left_alone(db)) {
        if (at_once) {
            pay_lmdb_reason_set(reason,
                                "store %s is damaged: a process died in it, and no check has "
                                "passed since",
                                db->path);
        }
        return PAY_STORE_EDOWN;
    }
    *env = db->env;
    if (*env && use_open(*env, NULL)) {
        return APR_SUCCESS; /* another thread was faster */
    }
    if (!at_once && pay_clock_ms() < db->next_try_ms) {
        return db->down_status;
    }
    rv = open_now(env, db, reason);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return use_open(*env, NULL) ? APR_SUCCESS : PAY_STORE_EDOWN;
}

pay_store_t *pay_rows_base(pay_store_t *db)
{
    return db->base ? db->base : db;
}

apr_status_t pay_lmdb_enter(pay_lmdb_env_t **env, pay_store_t *db)
{
    return pay_lmdb_enter_reader(env, NULL, db);
}

apr_status_t pay_lmdb_enter_reader(pay_lmdb_env_t **env, MDB_txn **reader, pay_store_t *db)
{
    pay_lmdb_reason_t reason;
    apr_status_t rv;

    db = pay_rows_base(db);
    *env = db->env;
    if (*env && is_forked(*env)) {
        *env = NULL;
        return PAY_STORE_EDOWN;
    }
    if (*env && !db->closed && use_open(*env, reader)) {
        return APR_SUCCESS;
    }
    reason.text[0] = '\0';
    pthread_mutex_lock(&db->mutex);
    rv = enter_closed(env, db, 0, &reason);
    pthread_mutex_unlock(&db->mutex);
    if (rv != APR_SUCCESS) {
        *env = NULL;
        if (reason.text[0]) {
            pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00100) "%s", reason.text);
        }
    }
    return rv;
}

void pay_lmdb_leave(pay_lmdb_env_t *env)
{
    pthread_mutex_lock(&env->mutex);
    pay_lmdb_env_release(env);
    pthread_mutex_unlock(&env->mutex);
}

void pay_lmdb_handle_init(pay_store_t *db, char *path, const pay_store_options_t *options)
{
    assert(options->map_bytes > 0);
    assert(options->readers_max > 0);
    pay_lmdb_path_trim(path);
    memset(db, 0, sizeof(*db));
    db->path = path;
    db->options = *options;
    pthread_mutex_init(&db->mutex, NULL);
}

apr_status_t pay_lmdb_handle_close(void *data)
{
    pay_store_t *db = data;
    pay_lmdb_env_t *env = db->env;

    if (env && is_forked(env)) {
        return APR_SUCCESS; /* closing it here would close it under its owner */
    }
    pthread_mutex_lock(&db->mutex);
    db->closed = 1;
    env = db->env;
    db->env = NULL;
    pthread_mutex_unlock(&db->mutex);
    if (env) {
        pay_lmdb_env_detach(env);
    }
    return APR_SUCCESS;
}

/* All handles that pay_lmdb_open ever returned. */
static pthread_mutex_t handles_mutex = PTHREAD_MUTEX_INITIALIZER;
static pay_store_t *handles;

/* Returns 1 if the handle was closed and is now open again for the same path. */
static int handle_revive(pay_store_t *db, const char *path, const pay_store_options_t *options)
{
    int revived = 0;

    pthread_mutex_lock(&db->mutex);
    if (db->closed && strcmp(db->path, path) == 0) {
        db->options = *options;
        db->delay_ms = 0;
        db->next_try_ms = 0;
        db->closed = 0;
        revived = 1;
    }
    pthread_mutex_unlock(&db->mutex);
    return revived;
}

/*
 * The handle's memory is never freed, but reused for the same path: a thread that arrives late
 * while its process ends finds a closed store instead of freed memory.
 */
static pay_store_t *handle_make(const char *path, const pay_store_options_t *options, apr_pool_t *p)
{
    pay_store_t like;
    pay_store_t *db;

    pay_lmdb_handle_init(&like, apr_pstrdup(p, path), options); /* trims the path */
    pthread_mutex_lock(&handles_mutex);
    for (db = handles; db; db = db->next) {
        if (handle_revive(db, like.path, options)) {
            break;
        }
    }
    if (!db) {
        char *copy = strdup(like.path);

        db = copy ? malloc(sizeof(*db)) : NULL;
        if (db) {
            pay_lmdb_handle_init(db, copy, options);
            db->next = handles;
            handles = db;
        } else {
            free(copy);
        }
    }
    pthread_mutex_unlock(&handles_mutex);
    return db;
}

apr_status_t pay_lmdb_open(pay_store_t **out, const char *path, const pay_store_options_t *options,
                           apr_pool_t *p)
{
    pay_store_t *db;

    *out = NULL;
    if (pay_lmdb_path_fault(path)) {
        return APR_EINVAL;
    }
    db = handle_make(path, options, p);
    if (!db) {
        return APR_ENOMEM;
    }
    apr_pool_cleanup_register(p, db, pay_lmdb_handle_close, apr_pool_cleanup_null);
    *out = db;
    return APR_SUCCESS;
}

apr_status_t pay_store_ready(const char **reason, pay_store_t *store, apr_pool_t *p)
{
    pay_store_t *db = pay_rows_base(store);
    pay_lmdb_reason_t text;
    pay_lmdb_env_t *env;
    apr_status_t rv;

    text.text[0] = '\0';
    pthread_mutex_lock(&db->mutex);
    rv = enter_closed(&env, db, 1, &text);
    pthread_mutex_unlock(&db->mutex);
    if (rv == APR_SUCCESS) {
        pay_lmdb_leave(env);
    }
    if (reason) {
        *reason = rv == APR_SUCCESS ? NULL : apr_pstrdup(p, text.text);
        if (*reason && !**reason) {
            *reason = pay_store_status_text(rv);
        }
    }
    return rv;
}

apr_status_t pay_store_housekeep(pay_store_t *store, apr_pool_t *p)
{
    pay_lmdb_env_t *env;
    apr_status_t rv;
    int dead = 0;
    int rc;

    (void)p;
    rv = pay_lmdb_enter(&env, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = mdb_reader_check(env->mdb, &dead);
    if (dead > 0) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00113) "store %s: freed %d reader slots of processes that died",
                store->path, dead);
    }
    (void)pay_lmdb_env_in_place(env);
    pay_lmdb_leave(env);
    return pay_rows_status(rc);
}
