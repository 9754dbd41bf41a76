/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_ENV_H
#define PAY_STORE_LMDB_ENV_H

/*
 * The insides of the LMDB store's core: environments and handles. For store/record/audit.c, _env,
 * _handle, _use, _reader, _commit, _space, _table, _opener, _epoch, _restore, _stat,
 * _prepare, _verify, _rows, _checkout_sweep and _upgrade only.
 *
 * An environment stands for one directory (device, inode) and lives until the process ends; what it
 * has open comes and goes. A handle names a path and finds its environment when it is first used.
 */

#include "base/shared/clock.h"
#include "store/lmdb/files.h"
#include "store/lmdb/mark.h"
#include "store/rows.h"

#define PAY_LMDB_DBI_FIRST 2           /* LMDB keeps 0 and 1; then the tables by their enum */
#define PAY_LMDB_READERS_FREE_MAX 64   /* read transactions kept for the next use */
#define PAY_LMDB_CLAIM_MS 100          /* a lock that was lost is taken again so soon, if used */
#define PAY_LMDB_DRAIN_WAIT_MS 2000    /* longest wait for transactions to end */
#define PAY_LMDB_SPACE_AGE_MAX_MS 1000 /* how long a measure of free space is believed */
#define PAY_LMDB_LOG_PAUSE_MS 10000    /* between two log lines of one cause */

typedef enum pay_lmdb_state_t {
    PAY_LMDB_CLOSED,
    PAY_LMDB_OPENING,
    PAY_LMDB_OPEN,
    PAY_LMDB_RESIZING, /* waiting for transactions to end, to map the file anew */
    PAY_LMDB_DOWN      /* not to be used again; closed when its last use ends */
} pay_lmdb_state_t;

/* Causes whose log lines are limited. */
typedef enum pay_lmdb_cause_t {
    PAY_LMDB_CAUSE_MAP,
    PAY_LMDB_CAUSE_DISK,
    PAY_LMDB_CAUSE_QUOTA,
    PAY_LMDB_CAUSE_READERS,
    PAY_LMDB_CAUSE_BUSY,
    PAY_LMDB_CAUSE_SCHEMA,
    PAY_LMDB_CAUSE_FAULT,
    PAY_LMDB_CAUSE_COMMIT,
    PAY_LMDB_CAUSE_COUNT
} pay_lmdb_cause_t;

typedef struct pay_lmdb_waiter_t pay_lmdb_waiter_t;

typedef struct pay_lmdb_env_t {
    struct pay_lmdb_env_t *next; /* in the registry */
    dev_t dev;
    ino_t ino;

    pthread_mutex_t mutex;  /* of all members below */
    pthread_cond_t changed; /* `state` or `uses` did */
    pay_lmdb_state_t state;
    unsigned int uses;    /* transactions begun or about to */
    unsigned int handles; /* 0: closed */
    char *path;           /* of the handle that opened it */
    MDB_env *mdb;
    _Atomic unsigned int opened_by; /* of pay_worker_forks, one more; 0: it is closed. LMDB forbids
                                    it to processes forked from there */
    ino_t data_ino;
    pay_lmdb_file_id_t file;        /* identifies data.mdb among its copies */
    int lock_fd;                    /* closed after `mdb` */
    apr_int64_t claimed_ms;         /* when the lock of its readers was last taken again */
    pay_store_mark_t *_Atomic mark; /* of the handle that opened it last */
    _Atomic unsigned int mark_word; /* as it was then */
    int read_only;
    apr_int64_t reopen_at_ms, reopen_delay_ms; /* the back-off after a fault */

    MDB_txn *readers[PAY_LMDB_READERS_FREE_MAX]; /* reset, ready to be renewed */
    unsigned int readers_free;
    unsigned int readers_free_max;

    int turn_taken;             /* a thread writes, or waits for LMDB's lock */
    apr_int64_t begin_since_ms; /* since when it waits for the lock; 0: it does not */
    pay_lmdb_waiter_t *first, *last;
    unsigned int in_line;  /* how many */
    int batch_count;       /* what the last transaction did; of who leads */
    apr_int64_t commit_us; /* how long commits take, smoothed; of who leads */

    apr_int64_t space_at_ms, map_free, disk_free; /* when they were measured; 0: not yet */
    apr_int64_t log_next_ms[PAY_LMDB_CAUSE_COUNT];
} pay_lmdb_env_t;

/*
 * What stands between a handle and its commits: the audit, whose entry belongs into the transaction
 * of a change. Both functions find what they need in hook_data.
 */
typedef struct pay_lmdb_hook_t {
    /*
     * Runs `work` under the contract of pay_rows_work_t, writes what belongs to it and returns the
     * code of the whole. Sets *refused to 1, runs and writes nothing and returns 0 if there is no
     * room for the change: PAY_STORE_EFULL.
     */
    int (*run)(int *refused, pay_rows_txn_t *txn, pay_rows_work_t work, void *baton);
    /* Takes note that the commit of what was run last ended with `rv`, on the waiter's thread. */
    void (*committed)(pay_store_t *db, apr_status_t rv);
} pay_lmdb_hook_t;

struct pay_store_t {
    struct pay_store_t *next; /* of all handles ever made */
    char *path;
    pay_store_options_t options;
    pthread_mutex_t mutex; /* held while opening; of the members below */
    pay_lmdb_env_t *_Atomic env;
    _Atomic int closed;
    apr_status_t down_status;
    apr_int64_t next_try_ms, delay_ms;
    struct pay_store_t *base;    /* of a handle with a hook: the one that was opened */
    const pay_lmdb_hook_t *hook; /* NULL: the commit runs the work itself */
    void *hook_data;             /* for whoever set the hook */
};

/*
 * What the engine calls above it, once for each environment that it opens, before anything else is
 * done with it. Both return 0, or a code, and then it is closed again.
 *
 * store/record/rows.c: sets size and reserve of `options`, a pay_store_options_t, to those of the
 * server that prepared the store, if one did.
 */
int pay_lmdb_env_limits(pay_rows_txn_t *txn, void *options);
/* store/life/restore.c: begins a new epoch where the store was put back, unless it is open for
 * reading only. A full store goes on without: pay_store_epoch_get knows it all the same. */
int pay_lmdb_env_opened(MDB_env *mdb, const pay_lmdb_file_id_t *file, const char *path,
                        int read_only);

/* --- store/lmdb/handle.c --- */
/* A use of the open environment, opened first if need be. On APR_SUCCESS leave is owed. */
apr_status_t pay_lmdb_enter(pay_lmdb_env_t **env, pay_store_t *db);
/* The same. Sets *reader to a read transaction to be renewed, or leaves it as it is if none is
 * free. */
apr_status_t pay_lmdb_enter_reader(pay_lmdb_env_t **env, MDB_txn **reader, pay_store_t *db);
void pay_lmdb_leave(pay_lmdb_env_t *env);
/* A handle in memory of the caller's, as `path` is, whose trailing slashes are cut off. */
void pay_lmdb_handle_init(pay_store_t *db, char *path, const pay_store_options_t *options);
apr_status_t pay_lmdb_handle_close(void *db);

/* The environment of a transaction. The store of the transaction may be closed already, while work
 * that was begun through it is still being done. NULL for one that LMDB knows and this does not. */
static inline pay_lmdb_env_t *pay_lmdb_env_of(const pay_rows_txn_t *txn)
{
    return mdb_env_get_userctx(mdb_txn_env(txn->mdb));
}

/* --- store/lmdb/env.c --- */
/* The environment of db->path, open; db->mutex is held. */
apr_status_t pay_lmdb_env_attach(pay_lmdb_env_t **out, pay_store_t *db, pay_lmdb_reason_t *reason);
/* One handle less; the last one closes it, when its uses end in time. */
void pay_lmdb_env_detach(pay_lmdb_env_t *env);
/* env->mutex is held and no use is left. */
void pay_lmdb_env_close(pay_lmdb_env_t *env);

/* --- store/lmdb/use.c --- */
/* Counts a use: 0 when it is not open, or is stale. env->mutex is held, and let go while it is
 * resized. */
int pay_lmdb_env_use(pay_lmdb_env_t *env);
/* env->mutex is held. */
void pay_lmdb_env_release(pay_lmdb_env_t *env);
/* Maps the file anew after MDB_MAP_RESIZED. The caller's use is gone when it fails. */
int pay_lmdb_env_resize(pay_lmdb_env_t *env);
/* Ends all use: closed after the last one, opened again after the back-off. 0: it was so before. */
int pay_lmdb_env_down(pay_lmdb_env_t *env);
/* 1 if its mark was set since it was opened: a process died in the store. */
int pay_lmdb_env_is_stale(const pay_lmdb_env_t *env);
/* Ends all use for the mark's sake: closed now, or with the last use; opened again without
 * back-off.
 */
void pay_lmdb_env_drop(pay_lmdb_env_t *env);
/* 1 while the path leads to the files that are open, else it goes down. Asked before each write. */
int pay_lmdb_env_in_place(pay_lmdb_env_t *env);
/* Logs a code that beginning a transaction ended with; MDB_PANIC takes the environment down. */
void pay_lmdb_env_fault(pay_lmdb_env_t *env, int rc);
/* 1 when a line of that cause may be logged now. */
int pay_lmdb_env_log_due(pay_lmdb_env_t *env, pay_lmdb_cause_t cause);

/* --- store/lmdb/use.c --- */
void pay_lmdb_readers_close(pay_lmdb_env_t *env);

/* --- store/lmdb/table.c --- */
int pay_lmdb_schema_get(apr_uint32_t *version, MDB_txn *txn);
/* Returns APR_SUCCESS if the store has this program's schema version, PAY_STORE_ESCHEMA if it has
 * another, which is logged now and then, or none, and else the status of what failed. */
apr_status_t pay_lmdb_schema_check(pay_lmdb_env_t *env, MDB_txn *txn);
/* Makes all tables if `create`; unless `read_only`, those that a store of an earlier version lacks.
 */
apr_status_t pay_lmdb_tables_open(MDB_env *mdb, const char *path, int create, int read_only,
                                  pay_lmdb_reason_t *reason);

/* --- store/lmdb/opener.c: one PID namespace at a time --- */
apr_status_t pay_lmdb_opener_check(MDB_env *mdb, int lock_fd, const char *path, int read_only,
                                   pay_lmdb_reason_t *reason);

/* --- store/lmdb/space.c --- */
/* MDB_MAP_FULL or ENOSPC below the reserve, and logs it. `anew` 0: the last measure may count. */
int pay_lmdb_space_check(pay_lmdb_env_t *env, apr_int64_t reserve, int anew);
/* Logs that a write failed for want of space. */
void pay_lmdb_space_log_full(pay_lmdb_env_t *env, int rc);
apr_int64_t pay_lmdb_space_disk_free(const char *path); /* -1: unknown */
/* Sets what `out` says of map, pages and readers; a read transaction. LMDB's codes. */
int pay_lmdb_space_stat(pay_store_stat_t *out, const pay_rows_txn_t *txn);

/* --- store/lmdb/space.c --- */
/*
 * Writes zeros behind the last page of data.mdb, 1 MiB at a time and before they are needed: a
 * commit that makes the file longer has the file system's journal to wait for as well. Under LMDB's
 * lock of the writer alone, for what lies there is taken for free. Leaves the disk's `reserve`,
 * in bytes, alone. A full disk is no error: LMDB itself reports it when it needs the room.
 */
void pay_lmdb_ahead(const pay_lmdb_env_t *env, apr_int64_t reserve);

/* --- store/lmdb/copy.c --- */
/* Reads a byte of every page that is in use: a page that cannot be read ends the process. */
apr_status_t pay_lmdb_pages_touch(pay_store_t *store);
/* Sets *agree to 0 if LMDB's lock file is of another data.mdb than the one in place. */
apr_status_t pay_lmdb_pages_agree(int *agree, pay_store_t *store);

#endif
