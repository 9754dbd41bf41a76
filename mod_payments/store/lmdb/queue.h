/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_QUEUE_H
#define PAY_STORE_LMDB_QUEUE_H

/*
 * The commit queue, in which the threads of a process wait with their works (docs/store.md, "Group
 * commit"). One of them leads; it runs the works that it takes from the queue for the other
 * threads, which wait until they are done. For store/lmdb/commit.c only.
 */

#include "base/shared/slots.h"
#include "store/lmdb/env.h"
#include "store/store.h"

#include <semaphore.h>

#define PAY_LMDB_DRAINS_MAX 4 /* how often a leader takes the queue */

/* The word that wakes a waiter. */
typedef enum pay_lmdb_word_t { PAY_LMDB_LEAD, PAY_LMDB_DONE } pay_lmdb_word_t;

/*
 * One work; it lives on its thread's stack until it is done. Each waiter has a semaphore of its
 * own: a hundred threads that wake at once would otherwise queue for one lock.
 */
struct pay_lmdb_waiter_t {
    pay_lmdb_waiter_t *next; /* in the queue */
    int is_queued;           /* env->mutex */
    sem_t told;              /* posted once, after `word` was set */
    pay_lmdb_word_t word;
    pay_store_t *db;
    pay_turn_t turn;
    int grows;
    pay_rows_work_t work;
    void *baton;
    apr_int64_t until_ms; /* if not taken by then: withdrawn, PAY_STORE_EBUSY */
    int ran;              /* in the transaction being committed */
    apr_status_t rv;
};

/*
 * How long a leader waits for more works before it takes the queue, in microseconds: a twentieth of
 * the time of a commit, at most 500, and only if commits are slow and the last one had more than
 * one work. On a fast disk waiting costs more than it saves.
 */
int pay_lmdb_batch_pause_us(int batch_count, apr_int64_t commit_us);

/*
 * Returns 1 if the caller leads from now on, and must call pay_lmdb_lead_give. Returns 0 if
 * waiter->rv is its result, and its use of `env` has ended.
 */
int pay_lmdb_lead_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter, apr_int64_t now_ms);

/* Moves works from the queue, oldest first, after the *count that are in `taken`, up to
 * `count_max`. */
void pay_lmdb_queue_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *taken[], int *count,
                         int count_max);

/* The oldest waiter in the queue leads from now on; all taken waiters except `own` are woken as
 * done. */
void pay_lmdb_lead_give(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *own,
                        pay_lmdb_waiter_t *const taken[], int count);

/*
 * The writer lock of a store, among processes that share memory. LMDB's own lock between processes
 * has no time limit; this one does, and is held around it, so that nobody waits for a process that
 * was stopped in the middle of a transaction (docs/store.md, rule 8). First come, first served, so
 * that none of many processes waits for ever. A process that dies releases the lock. For
 * store/lmdb/commit.c and store/lmdb/queue.c only.
 */

/* The holder of the lock and the processes that wait for it: a single slot. */
#define PAY_LMDB_WRITER_LOCK_ALIGN 64
#define PAY_LMDB_WRITER_LOCK_SLOTS(shared)                                                         \
    ((pay_slots_t *)(void *)((char *)(shared) + PAY_LMDB_WRITER_LOCK_ALIGN))

/*
 * Returns 1 if the caller has the lock; the same thread must call pay_lmdb_writer_lock_give.
 * Returns 0 if it was not released until `until_ms` (of pay_clock_ms), or is stalled. `shared`
 * NULL: always 1.
 */
int pay_lmdb_writer_lock_take(pay_store_shared_t *shared, apr_int64_t until_ms,
                              apr_int64_t stall_ms);
void pay_lmdb_writer_lock_give(pay_store_shared_t *shared);

/*
 * Returns 1 while the lock has been held for `stall_ms` or longer: in all processes, those that
 * want it are refused at once until it is released. `shared` NULL: 0.
 */
int pay_lmdb_writer_lock_is_stalled(pay_store_shared_t *shared, apr_int64_t stall_ms);

#endif
