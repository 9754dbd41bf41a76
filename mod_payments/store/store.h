/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_STORE_H
#define PAY_STORE_STORE_H

/*
 * The store: typed units of work, each atomic and durable when it returns APR_SUCCESS. Opened by
 * URL ("lmdb:/path"). A handle may be used by any thread of the process that opened it. Rows that
 * come back are copied into the pool given. All functions can return the statuses below;
 * APR_NOTFOUND stands for absence. No function waits for the network.
 */

#include "store/accounts.h"
#include "store/charges.h"
#include "store/checkouts.h"
#include "store/due.h"
#include "store/erasure.h"
#include "store/events.h"
#include "store/refunds.h"

#include <apr_user.h>

/* Nothing was done: out of service, retry later. The cause is in the log. */
#define PAY_STORE_EDOWN (APR_OS_START_USERERR + 1)
/* Nothing was done: the store is of another schema version; paymentsctl store upgrade. */
#define PAY_STORE_ESCHEMA (APR_OS_START_USERERR + 2)
/* Nothing was done: map, disk or reserve is used up. */
#define PAY_STORE_EFULL (APR_OS_START_USERERR + 3)
/* Nothing was done: no turn to write within the commit wait. */
#define PAY_STORE_EBUSY (APR_OS_START_USERERR + 4)
/* The commit failed: it may or may not have been done. Ask the store again before doing anything.
 */
#define PAY_STORE_EUNKNOWN (APR_OS_START_USERERR + 5)
/* A stored row does not decode: an error of this operation only. */
#define PAY_STORE_ECORRUPT (APR_OS_START_USERERR + 6)
#define PAY_STORE_ELAST PAY_STORE_ECORRUPT

/* A sentence for people on any status of this header, or NULL for other statuses. */
const char *pay_store_status_text(apr_status_t status);

#define PAY_STORE_ROWS_MAX 1000          /* rows of one list or batch call */
#define PAY_STORE_LOOKS_MAX 10000        /* rows that one call of a search looks at */
#define PAY_STORE_CHUNK_SIZE (64 * 1024) /* bytes of one chunk of a refund list */
#define PAY_STORE_COMMIT_BATCH_MAX 256
#define PAY_STORE_KEPT_TEXT_MAX (64 * 1024) /* bytes of an answer kept under an Idempotency-Key */

/*
 * What the processes that share a store tell each other beside it: whose turn it is to write, and
 * whether that process stands still. Optional: without it LMDB's own lock serves, which knows no
 * time limit. Made once, before forking, in memory that all of them share.
 */
typedef struct pay_store_shared_t pay_store_shared_t;

/* Bytes for so many processes. */
apr_size_t pay_store_shared_size(int processes);
/* `memory` has as many, aligned as malloc's. */
pay_store_shared_t *pay_store_shared_init(void *memory, int processes);

/*
 * The mark of a store in which a process died: of a page that cannot be read (SIGBUS), of a pointer
 * that a damaged page made (SIGSEGV), of an assertion about it (SIGABRT). It lies in memory that
 * all processes share, zeroed at first, and outlives the one that set it. As long as it is set, all
 * operations of handles that have it are PAY_STORE_EDOWN, touch nothing of the store, and close
 * what they have open of it.
 */
typedef struct pay_store_mark_t pay_store_mark_t;

#define PAY_STORE_MARK_LAYOUT 1 /* raised when it changes: two builds may share a mark */

apr_size_t pay_store_mark_size(void);
/* `memory` has pay_store_mark_size() bytes, aligned as malloc's; what stands there is kept. */
pay_store_mark_t *pay_store_mark_at(void *memory);
/* `mark` NULL: 0. */
int pay_store_mark_is_set(const pay_store_mark_t *mark);
/* Logs that the store `url` is damaged: once each time that the mark was set. NULL: nothing. */
void pay_store_mark_log(pay_store_mark_t *mark, const char *url);
/* How many ms to wait before the first check, once it was set: 1 s, doubling where a check passed
 * not long ago. */
apr_int64_t pay_store_mark_pause(pay_store_mark_t *mark);
void pay_store_mark_clear(pay_store_mark_t *mark);

/*
 * From now on until `p` ends this process sets the mark of the store that a thread dies in, and
 * dies as it would have without; or, with last words, writes them to standard error and exits with
 * `code`. Once a process, after all others that handle these signals.
 */
void pay_store_deaths_watch(const char *last_words, int code, apr_pool_t *p);

#define PAY_STORE_CHECKOUT_KEEP apr_time_from_sec(30 * 24 * 60 * 60)

typedef struct pay_store_options_t {
    apr_int64_t map_bytes;           /* size of the map: the largest the store can grow */
    apr_int64_t reserve_bytes;       /* below it opens are refused, resolves go on */
    apr_interval_time_t commit_wait; /* longest wait for a turn to write */
    int commit_batch;                /* pieces of work that one commit makes durable, at most */
    int account_rows_max;            /* rows of a scope (docs/store.md); 0: any number */
    apr_interval_time_t
        checkout_keep;          /* of unpaid checkouts of strangers, once ended; 0: for ever */
    unsigned int readers_max;   /* the first opener fixes it */
    pay_store_shared_t *shared; /* NULL: none */
    pay_store_mark_t *mark;     /* NULL: none */
    int create;                 /* make directory, environment and tables when missing */
    int limits_of_store;        /* size and reserve of the server that prepared it, if any */
    int read_only;              /* never writes (store check, lists by other users) */
} pay_store_options_t;

/* 64 GiB, 256 MiB, 2 s, PAY_STORE_COMMIT_BATCH_MAX, no quota, PAY_STORE_CHECKOUT_KEEP, 1024
 * readers, nothing shared, neither create nor read-only. */
extern const pay_store_options_t pay_store_options_default;

/* NULL when `url` has the form of a store URL, else a sentence on what is wrong. Touches nothing.
 */
const char *pay_store_url_fault(const char *url);

/* The absolute paths of what a store has on disk, of const char *: its directory, then the files in
 * it. Touches nothing; empty for a malformed URL. */
apr_array_header_t *pay_store_paths(const char *url, apr_pool_t *p);

/*
 * The handle for `url` in this process; handles that name one directory share one environment.
 * Call after fork. A store that cannot be opened now gives a handle too: its operations answer
 * PAY_STORE_EDOWN or ESCHEMA, log what to do, and try again with back-off. Closed with `p`.
 * APR_EINVAL: the URL is malformed.
 */
apr_status_t pay_store_open(pay_store_t **out, const char *url, const pay_store_options_t *options,
                            apr_pool_t *p);

/* Opens the environment now: APR_SUCCESS, or why not, with a sentence in *reason (NULL allowed). */
apr_status_t pay_store_ready(const char **reason, pay_store_t *store, apr_pool_t *p);

/*
 * A handle on the same store, for one thread and for one change that a person makes: the first
 * change through it appends the entry to the audit, in the same transaction, so that there is never
 * one without the other. What is read, refused or was so already leaves no entry; further changes
 * through it are part of the first. The entry's account, subject and detail may still be set, and
 * the store itself fills in what it knows better (the id of a new key). `entry` and its texts live
 * as long as the handle, which lives as long as `p` and `store`.
 */
apr_status_t pay_store_audited(pay_store_t **out, pay_store_t *store, const pay_audit_t *entry,
                               apr_pool_t *p);

/*
 * Whether the store can be used now: a short read of it, at the path and of the schema version that
 * belong to this program, with nobody waiting for its write lock for longer than the commit wait.
 * A store that is down is tried again no sooner than any other call would.
 */
apr_status_t pay_store_probe(pay_store_t *store);

/*
 * What root does at the server's start before it gives up its rights; others do nothing here. A
 * directory that is missing is made, and one of root's own is given to `uid` and `gid` with the
 * store in it, where nobody but root can change the path to it. What another user owns is left
 * alone. *reason is a sentence for the log.
 */
apr_status_t pay_store_hand_over(const char **reason, const char *url, apr_uid_t uid, apr_gid_t gid,
                                 apr_pool_t *p);

/*
 * Then, as the user that the server runs as: makes what is missing of directory, files and tables,
 * and closes them. *reason is a sentence for the log.
 */
apr_status_t pay_store_prepare(const char **reason, const char *url,
                               const pay_store_options_t *options, apr_pool_t *p);

/*
 * Whether the store can be used again after a process died in it: opens it for reading, whatever
 * its mark says, reads every page and checks every row. For a process of its own, for this one may
 * die of it, and with a limit of its time, for a damaged table may have no end. *reason is a
 * sentence.
 */
apr_status_t pay_store_verify(const char **reason, const char *url,
                              const pay_store_options_t *options, apr_pool_t *p);

/* Migrates an older schema in place, after a backup beside it; *text tells what was, or would be,
 * done. */
apr_status_t pay_store_upgrade(const char **text, const char *url,
                               const pay_store_options_t *options, int dry_run, apr_pool_t *p);

/* --- housekeeping --- */
apr_status_t pay_store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p);
/* Counts faults: rows that do not decode, indexes that disagree, sums of refunds that do. */
apr_status_t pay_store_check(apr_size_t *faults, pay_store_t *store, pay_store_fault_t report,
                             void *baton, apr_pool_t *p);
/* A compact copy into the new directory `path` (mode 0700), which says that it is one: opened for
 * writing, it begins a new epoch. */
apr_status_t pay_store_backup(pay_store_t *store, const char *path, apr_pool_t *p);
/* Frees the slots of dead readers; reopens a store that is down when its back-off is over. */
apr_status_t pay_store_housekeep(pay_store_t *store, apr_pool_t *p);

/* --- what follows when a copy is put back (model/epoch.h) --- */
apr_status_t pay_store_epoch_find(pay_epoch_t *out, pay_store_t *store);
/* 1 in *wanted if the refunds of the account's Live Mode must be fetched from its acquirer before
 * the hold ends: it is in Live Mode, or has charges there; 1 in *synced if they were since the
 * epoch began; *from: when they must be fetched from at the latest, 0: not known. */
apr_status_t pay_store_epoch_synced(int *wanted, int *synced, apr_time_t *from, pay_store_t *store,
                                    const pay_account_t *account, apr_pool_t *p);
/*
 * Ends the hold. *was_held 0: nothing was held. Unless `allow_unsynced`, *unsynced is set, and
 * nothing is done, while there is an account that must be synced and is not: the first one.
 */
apr_status_t pay_store_epoch_confirm(int *was_held, const pay_account_t **unsynced,
                                     pay_store_t *store, int allow_unsynced, apr_pool_t *p);

#endif
