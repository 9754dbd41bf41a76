/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_ENV_H
#define PAY_STORE_LMDB_ENV_H

/*
 * The internals of the LMDB store's core: environments and handles. For store/record/audit.c, _env,
 * _handle, _use, _reader, _commit, _space, _table, _opener, _epoch, _restore, _stat, _prepare,
 * _verify, _rows, _checkout_sweep and _upgrade only.
 *
 * An environment stands for one directory (device, inode) and lives until the process ends; it may
 * be opened and closed many times. A handle names a path and finds its environment at its first
 * use.
 */

#include "base/shared/clock.h"
#include "store/lmdb/files.h"
#include "store/lmdb/mark.h"
#include "store/rows.h"

#define PAY_LMDB_DBI_FIRST 2         /* LMDB uses 0 and 1; then the tables by their enum */
#define PAY_LMDB_READERS_FREE_MAX 64 /* read transactions kept for the next use */
#define PAY_LMDB_CLAIM_MS 100 /* interval for taking a possibly lost lock again, while in use */
#define PAY_LMDB_DRAIN_WAIT_MS 2000    /* longest wait for transactions to end */
#define PAY_LMDB_SPACE_AGE_MAX_MS 1000 /* how long a measure of free space is trusted */
#define PAY_LMDB_LOG_PAUSE_MS 10000    /* between two log lines of one cause */

typedef enum pay_lmdb_state_t {
    PAY_LMDB_CLOSED,
    PAY_LMDB_OPENING,
    PAY_LMDB_OPEN,
    PAY_LMDB_RESIZING, /* waiting for transactions to end, to map the file again */
    PAY_LMDB_DOWN      /* must not be used again; closed when its last use ends */
} pay_lmdb_state_t;

/* Causes whose log lines are rate-limited. */
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

    pthread_mutex_t mutex;  /* for all members below */
    pthread_cond_t changed; /* signals changes of `state` or `uses` */
    pay_lmdb_state_t state;
    unsigned int uses;    /* transactions begun or about to begin */
    unsigned int handles; /* 0: closed */
    char *path;           /* of the handle that opened it */
    MDB_env *mdb;
    /* pay_worker_forks plus one; 0: closed. LMDB forbids its use in processes forked from there. */
    _Atomic unsigned int opened_by;
    ino_t data_ino;
    pay_lmdb_file_id_t file;        /* distinguishes data.mdb from its copies */
    int lock_fd;                    /* closed after `mdb` */
    apr_int64_t claimed_ms;         /* when the lock of its readers was last taken again */
    pay_store_mark_t *_Atomic mark; /* of the handle that last opened it */
    _Atomic unsigned int mark_word; /* its value at that time */
    int read_only;
    apr_int64_t reopen_at_ms, reopen_delay_ms; /* the back-off after a fault */

    MDB_txn *readers[PAY_LMDB_READERS_FREE_MAX]; /* reset, ready for renewal */
    unsigned int readers_free;
    unsigned int readers_free_max;

    int is_led;                 /* a thread leads: it writes, or waits for LMDB's lock */
    apr_int64_t begin_since_ms; /* start of the wait for the lock; 0: it does not wait */
    pay_lmdb_waiter_t *first, *last;
    unsigned int queued;   /* length of the queue */
    int batch_count;       /* works of the last transaction; owned by the leader */
    apr_int64_t commit_us; /* smoothed duration of commits; owned by the leader */

    apr_int64_t space_at_ms, map_free, disk_free; /* when they were measured; 0: not yet */
    apr_int64_t log_next_ms[PAY_LMDB_CAUSE_COUNT];
} pay_lmdb_env_t;

/*
 * A layer between a handle and its commits: the audit, whose entry belongs in the transaction of a
 * change. Both functions find their state in hook_data.
 */
typedef struct pay_lmdb_hook_t {
    /*
     * Runs `work` under the contract of pay_rows_work_t, writes its additions and returns the code
     * of both. If there is no room for the change (PAY_STORE_EFULL), sets *refused to 1, runs and
     * writes nothing and returns 0.
     */
    int (*run)(int *refused, pay_rows_txn_t *txn, pay_rows_work_t work, void *baton);
    /* Records that the commit of the last run ended with `rv`; called on the waiter's thread. */
    void (*committed)(pay_store_t *db, apr_status_t rv);
} pay_lmdb_hook_t;

struct pay_store_t {
    struct pay_store_t *next; /* list of all handles ever made */
    char *path;
    pay_store_options_t options;
    pthread_mutex_t mutex; /* held while opening; for the members below */
    pay_lmdb_env_t *_Atomic env;
    _Atomic int closed;
    apr_status_t down_status;
    apr_int64_t next_try_ms, delay_ms;
    struct pay_store_t *base;    /* for a handle with a hook: the handle that was opened */
    const pay_lmdb_hook_t *hook; /* NULL: the commit runs the work itself */
    void *hook_data;             /* for the code that set the hook */
};

/*
 * Callbacks from the engine into the layer above, once for each environment that it opens, before
 * anything else is done with it. Both return 0, or a code, and then it is closed again.
 *
 * store/record/rows.c: sets size and reserve of `options`, a pay_store_options_t, to those of the
 * server that prepared the store, if there was one.
 */
int pay_lmdb_env_limits(pay_rows_txn_t *txn, void *options);
/* store/life/restore.c: begins a new epoch if the store was restored, unless it is open for
 * reading only. A full store continues without it: pay_store_epoch_get detects it anyway. */
int pay_lmdb_env_opened(MDB_env *mdb, const pay_lmdb_file_id_t *file, const char *path,
                        int read_only);

/* --- store/lmdb/handle.c --- */
/*
 * Begins a use of the open environment, which is opened first if necessary. After APR_SUCCESS the
 * caller must call pay_lmdb_leave.
 */
apr_status_t pay_lmdb_enter(pay_lmdb_env_t **env, pay_store_t *db);
/* The same. Sets *reader to a read transaction to be renewed, or leaves it unchanged if none is
 * free. */
apr_status_t pay_lmdb_enter_reader(pay_lmdb_env_t **env, MDB_txn **reader, pay_store_t *db);
void pay_lmdb_leave(pay_lmdb_env_t *env);
/* Initializes a handle in the caller's memory, as is `path`, whose trailing slashes are removed. */
void pay_lmdb_handle_init(pay_store_t *db, char *path, const pay_store_options_t *options);
apr_status_t pay_lmdb_handle_close(void *db);

/* The environment of a transaction. The transaction's store may be closed already while work that
 * was begun through it is still running. NULL if LMDB knows the transaction but this code does
 * not. */
static inline pay_lmdb_env_t *pay_lmdb_env_of(const pay_rows_txn_t *txn)
{
    return mdb_env_get_userctx(mdb_txn_env(txn->native));
}

/* --- store/lmdb/env.c --- */
/* The environment of db->path, open; the caller holds db->mutex. */
apr_status_t pay_lmdb_env_attach(pay_lmdb_env_t **out, pay_store_t *db, pay_lmdb_reason_t *reason);
/* Drops one handle; the last one closes the environment if its uses end in time. */
void pay_lmdb_env_detach(pay_lmdb_env_t *env);
/* The caller holds env->mutex and no use is left. */
void pay_lmdb_env_close(pay_lmdb_env_t *env);

/* --- store/lmdb/use.c --- */
/* Counts a use: returns 0 if the environment is not open or is stale. The caller holds env->mutex,
 * which is released while it is resized. */
int pay_lmdb_env_use(pay_lmdb_env_t *env);
/* The caller holds env->mutex. */
void pay_lmdb_env_release(pay_lmdb_env_t *env);
/* Maps the file again after MDB_MAP_RESIZED. The caller's use is lost if it fails. */
int pay_lmdb_env_resize(pay_lmdb_env_t *env);
/*
 * Ends all use: closed after the last use, opened again after the back-off. Returns 0 if it was
 * down before.
 */
int pay_lmdb_env_down(pay_lmdb_env_t *env);
/* Returns 1 if its mark was set since it was opened: a process died in the store. */
int pay_lmdb_env_is_stale(const pay_lmdb_env_t *env);
/* Ends all use because of the mark: closed now, or with the last use; opened again without
 * back-off. */
void pay_lmdb_env_drop(pay_lmdb_env_t *env);
/*
 * Returns 1 while the path leads to the open files, else takes the environment down. Called before
 * each write.
 */
int pay_lmdb_env_in_place(pay_lmdb_env_t *env);
/* Logs a code returned by the begin of a transaction; MDB_PANIC takes the environment down. */
void pay_lmdb_env_fault(pay_lmdb_env_t *env, int rc);
/* Returns 1 if a line with that cause may be logged now. */
int pay_lmdb_env_log_due(pay_lmdb_env_t *env, pay_lmdb_cause_t cause);

/* --- store/lmdb/use.c --- */
void pay_lmdb_readers_close(pay_lmdb_env_t *env);

/* --- store/lmdb/table.c --- */
int pay_lmdb_schema_get(apr_uint32_t *version, MDB_txn *txn);
/* Returns APR_SUCCESS if the store has this program's schema version, PAY_STORE_ESCHEMA if it has
 * another one, which is logged now and then, or no version, and else the status of the failure. */
apr_status_t pay_lmdb_schema_check(pay_lmdb_env_t *env, MDB_txn *txn);
/* Creates all tables if `create`; unless `read_only`, also those that a store of an earlier
 * version lacks. */
apr_status_t pay_lmdb_tables_open(MDB_env *mdb, const char *path, int create, int read_only,
                                  pay_lmdb_reason_t *reason);

/* --- store/lmdb/opener.c: one PID namespace at a time --- */
apr_status_t pay_lmdb_opener_check(MDB_env *mdb, int lock_fd, const char *path, int read_only,
                                   pay_lmdb_reason_t *reason);

/* --- store/lmdb/space.c --- */
/*
 * Returns and logs MDB_MAP_FULL or ENOSPC below the reserve. With the last argument 0 the previous
 * measure may be used.
 */
int pay_lmdb_space_check(pay_lmdb_env_t *env, apr_int64_t reserve, int anew);
/* Logs that a write failed for lack of space. */
void pay_lmdb_space_log_full(pay_lmdb_env_t *env, int rc);
apr_int64_t pay_lmdb_space_disk_free(const char *path); /* -1: unknown */
/*
 * Sets the members of `out` for map, pages and readers, in a read transaction. Returns LMDB's
 * codes.
 */
int pay_lmdb_space_stat(pay_store_stat_t *out, const pay_rows_txn_t *txn);

/* --- store/lmdb/space.c --- */
/*
 * Writes zeros after the last page of data.mdb, 1 MiB at a time, before they are needed: a commit
 * that makes the file longer must also wait for the file system's journal. Only under LMDB's writer
 * lock, because that part of the file is assumed to be free. Leaves the disk's `reserve`, in bytes,
 * alone. A full disk is not an error: LMDB itself reports it when it needs the space.
 */
void pay_lmdb_ahead(const pay_lmdb_env_t *env, apr_int64_t reserve);

/* --- store/lmdb/copy.c --- */
/* Reads a byte of every used page: a page that cannot be read ends the process. */
apr_status_t pay_lmdb_pages_touch(pay_store_t *store);
/* Sets *agree to 0 if LMDB's lock file belongs to another data.mdb than the one in place. */
apr_status_t pay_lmdb_pages_agree(int *agree, pay_store_t *store);

#endif
