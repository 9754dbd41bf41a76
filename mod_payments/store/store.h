/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_STORE_H
#define PAY_STORE_STORE_H

/*
 * The store: typed units of work, each atomic and durable when it returns APR_SUCCESS. Opened by
 * URL ("lmdb:/path"). Any thread of the process that opened a handle may use it. Returned rows are
 * copied into the given pool. All functions can return the statuses below; APR_NOTFOUND stands for
 * absence. No function waits for the network.
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
/* Nothing was done: the store has another schema version; paymentsctl store upgrade. */
#define PAY_STORE_ESCHEMA (APR_OS_START_USERERR + 2)
/* Nothing was done: map, disk or reserve is exhausted. */
#define PAY_STORE_EFULL (APR_OS_START_USERERR + 3)
/* Nothing was done: the writer lock was not obtained within the commit wait. */
#define PAY_STORE_EBUSY (APR_OS_START_USERERR + 4)
/* The commit failed: it may or may not have been done. Read the store again before any other
 * action. */
#define PAY_STORE_EUNKNOWN (APR_OS_START_USERERR + 5)
/* A stored row does not decode: affects this operation only. */
#define PAY_STORE_ECORRUPT (APR_OS_START_USERERR + 6)
#define PAY_STORE_ELAST PAY_STORE_ECORRUPT

/* Returns a sentence for people on any status of this header; NULL for other statuses. */
const char *pay_store_status_text(apr_status_t status);

#define PAY_STORE_ROWS_MAX 1000          /* rows of one list or batch call */
#define PAY_STORE_LOOKS_MAX 10000        /* rows that one call of a search examines */
#define PAY_STORE_CHUNK_SIZE (64 * 1024) /* bytes of one chunk of a refund list */
#define PAY_STORE_COMMIT_BATCH_MAX 256
#define PAY_STORE_IDEMPOTENCY_TEXT_MAX                                                             \
    (64 * 1024) /* bytes of an answer in an idempotency record                                     \
                 */

/*
 * State that the processes sharing a store keep beside it: which one has the writer lock, and
 * whether that process is stopped. Optional: without it LMDB's own lock is used, which has no time
 * limit. Made once, before forking, in memory that all of them share.
 */
typedef struct pay_store_shared_t pay_store_shared_t;

/* Returns the bytes for so many processes. */
apr_size_t pay_store_shared_size(int processes);
/* `memory` has that many bytes, aligned as malloc's. */
pay_store_shared_t *pay_store_shared_init(void *memory, int processes);

/*
 * The mark of a store in which a process died: of a page that cannot be read (SIGBUS), of a pointer
 * from a damaged page (SIGSEGV), of an assertion about it (SIGABRT). It is in memory that all
 * processes share, zeroed at first, and outlives the process that set it. While it is set, all
 * operations of handles that have it return PAY_STORE_EDOWN, touch nothing of the store, and close
 * everything that they have open of it.
 */
typedef struct pay_store_mark_t pay_store_mark_t;

#define PAY_STORE_MARK_LAYOUT 1 /* incremented when it changes: two builds may share a mark */

apr_size_t pay_store_mark_size(void);
/* `memory` has pay_store_mark_size() bytes, aligned as malloc's; its content is kept. */
pay_store_mark_t *pay_store_mark_at(void *memory);
/* Returns 0 if `mark` is NULL. */
int pay_store_mark_is_set(const pay_store_mark_t *mark);
/*
 * Logs that the store `url` is damaged: once each time that the mark was set. Does nothing for
 * NULL.
 */
void pay_store_mark_log(pay_store_mark_t *mark, const char *url);
/* Returns how many ms to wait before the first check after it was set: 1 s, doubling if a check
 * passed not long ago. */
apr_int64_t pay_store_mark_pause(pay_store_mark_t *mark);
void pay_store_mark_clear(pay_store_mark_t *mark);

/*
 * From now on until `p` is destroyed this process sets the mark of the store in which a thread
 * dies, and dies as it would have without; or, with last words, writes them to standard error and
 * exits with `code`. Called once in a process, after everything else that handles these signals.
 */
void pay_store_deaths_watch(const char *last_words, int code, apr_pool_t *p);

#define PAY_STORE_CHECKOUT_KEEP apr_time_from_sec(30 * 24 * 60 * 60)

typedef struct pay_store_options_t {
    apr_int64_t map_bytes;           /* size of the map: the largest size of the store */
    apr_int64_t reserve_bytes;       /* below it opens are refused, resolves go on */
    apr_interval_time_t commit_wait; /* longest wait for the writer lock */
    int commit_batch;                /* pieces of work that one commit makes durable, at most */
    int account_rows_max;            /* rows of a scope (docs/store.md); 0: no limit */
    apr_interval_time_t
        checkout_keep;          /* of unpaid checkouts of visitors, after their end; 0: for ever */
    unsigned int readers_max;   /* the first opener fixes it */
    pay_store_shared_t *shared; /* NULL: none */
    pay_store_mark_t *mark;     /* NULL: none */
    int create;                 /* make directory, environment and tables if missing */
    int limits_of_store;        /* size and reserve of the server that prepared it, if any */
    int read_only;              /* never writes (store check, lists by other users) */
} pay_store_options_t;

/* 64 GiB, 256 MiB, 2 s, PAY_STORE_COMMIT_BATCH_MAX, no quota, PAY_STORE_CHECKOUT_KEEP, 1024
 * readers, nothing shared, neither create nor read-only. */
extern const pay_store_options_t pay_store_options_default;

/* Returns NULL if `url` has the form of a store URL, else a sentence that says what is wrong.
 * Touches nothing. */
const char *pay_store_url_fault(const char *url);

/* Returns the absolute paths of a store's files on disk, of const char *: its directory, then the
 * files in it. Touches nothing; empty for a malformed URL. */
apr_array_header_t *pay_store_paths(const char *url, apr_pool_t *p);

/*
 * Returns the handle for `url` in this process; handles that name one directory share one
 * environment. Called after fork. A store that cannot be opened now has a handle too: its
 * operations return PAY_STORE_EDOWN or ESCHEMA, log what to do, and try again with back-off. Closed
 * with `p`. APR_EINVAL: the URL is malformed.
 */
apr_status_t pay_store_open(pay_store_t **out, const char *url, const pay_store_options_t *options,
                            apr_pool_t *p);

/*
 * Opens the environment now: returns APR_SUCCESS, or the failure, with a sentence in *reason (NULL
 * allowed).
 */
apr_status_t pay_store_ready(const char **reason, pay_store_t *store, apr_pool_t *p);

/*
 * Makes a handle on the same store, for one thread and for one change by a person: the first change
 * through it appends the entry to the audit, in the same transaction, so that there is never one
 * without the other. Reads, refusals and changes that were so already leave no entry; further
 * changes through it are part of the first. The entry's account, subject and detail may still be
 * set, and the store itself fills in values that it knows better (the id of a new key). `entry` and
 * its texts live as long as the handle, which lives as long as `p` and `store`.
 */
apr_status_t pay_store_audited(pay_store_t **out, pay_store_t *store, const pay_audit_t *entry,
                               apr_pool_t *p);

/*
 * Whether the store can be used now: reads it briefly, at the path and of the schema version that
 * belong to this program, and checks that nothing waits for its writer lock for longer than the
 * commit wait. A store that is down is tried again no sooner than by any other call.
 */
apr_status_t pay_store_probe(pay_store_t *store);

/*
 * Root's work at the server's start before it gives up its rights; does nothing for other users.
 * Makes a missing directory, and gives one of root's own to `uid` and `gid` with the store in it,
 * if only root can change the path to it. Leaves directories of other users alone. *reason is a
 * sentence for the log.
 */
apr_status_t pay_store_hand_over(const char **reason, const char *url, apr_uid_t uid, apr_gid_t gid,
                                 apr_pool_t *p);

/*
 * Then, as the user that the server runs as: makes missing directory, files and tables, and closes
 * them. *reason is a sentence for the log.
 */
apr_status_t pay_store_prepare(const char **reason, const char *url,
                               const pay_store_options_t *options, apr_pool_t *p);

/*
 * Whether the store can be used again after a process died in it: opens it for reading, whatever
 * its mark says, reads every page and checks every row. Call it in a process of its own, because it
 * may die of it, and with a time limit, because a damaged table may have no end. *reason is a
 * sentence.
 */
apr_status_t pay_store_verify(const char **reason, const char *url,
                              const pay_store_options_t *options, apr_pool_t *p);

/* Migrates an older schema in place, after a backup beside it; *text says what was, or would be,
 * done. */
apr_status_t pay_store_upgrade(const char **text, const char *url,
                               const pay_store_options_t *options, int dry_run, apr_pool_t *p);

/* --- housekeeping --- */
apr_status_t pay_store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p);
/* Counts faults: rows that do not decode, and indexes and sums of refunds that disagree. */
apr_status_t pay_store_check(apr_size_t *faults, pay_store_t *store, pay_store_fault_t report,
                             void *baton, apr_pool_t *p);
/* Makes a compact copy in the new directory `path` (mode 0700), marked as a copy: opened for
 * writing, it begins a new epoch. */
apr_status_t pay_store_backup(pay_store_t *store, const char *path, apr_pool_t *p);
/* Frees the slots of dead readers; reopens a store that is down if its back-off is over. */
apr_status_t pay_store_housekeep(pay_store_t *store, apr_pool_t *p);

/* --- after a copy is restored (model/epoch.h) --- */
apr_status_t pay_store_epoch_find(pay_epoch_t *out, pay_store_t *store);
/* Sets *wanted to 1 if the refunds of the account's Live Mode must be fetched from its acquirer
 * before the hold ends: it is in Live Mode, or has charges there. Sets *synced to 1 if they were
 * fetched since the epoch began, and *from to the latest time from which they must be fetched, 0 if
 * it is not known. */
apr_status_t pay_store_epoch_synced(int *wanted, int *synced, apr_time_t *from, pay_store_t *store,
                                    const pay_account_t *account, apr_pool_t *p);
/*
 * Ends the hold. *was_held 0: there was no hold. Unless `allow_unsynced`, sets *unsynced to the
 * first account that must be synced and is not, and does nothing if there is one.
 */
apr_status_t pay_store_epoch_confirm(int *was_held, const pay_account_t **unsynced,
                                     pay_store_t *store, int allow_unsynced, apr_pool_t *p);

#endif
