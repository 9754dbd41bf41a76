/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_LINE_H
#define PAY_STORE_LMDB_LINE_H

/*
 * The line in which the threads of a process stand with their work (docs/store.md, "Group commit").
 * One of them leads; what it takes out of the line it runs for the others, who wait until it is
 * done. For store/lmdb/commit.c only.
 */

#include "base/shared/slots.h"
#include "store/lmdb/env.h"
#include "store/store.h"

#include <semaphore.h>

#define PAY_LMDB_DRAINS_MAX 4 /* times that one takes what stands in line */

/* What a waiter is told. */
typedef enum pay_lmdb_word_t { PAY_LMDB_LEAD, PAY_LMDB_DONE } pay_lmdb_word_t;

/*
 * One piece of work; it lives on its thread's stack until it is done. Each is woken by a semaphore
 * of its own: a hundred that wake at once would otherwise queue for one lock.
 */
struct pay_lmdb_waiter_t {
    pay_lmdb_waiter_t *next; /* in the line */
    int in_line;             /* env->mutex */
    sem_t told;              /* posted once, after `word` was set */
    pay_lmdb_word_t word;
    pay_store_t *db;
    pay_turn_t turn;
    int grows;
    pay_rows_work_t work;
    void *baton;
    apr_int64_t until_ms; /* not taken by then: withdrawn, PAY_STORE_EBUSY */
    int ran;              /* in the transaction that is committed */
    apr_status_t rv;
};

/*
 * How long a leader waits for more work before it takes the line, in microseconds: a twentieth of
 * what a commit takes, at most 500, and only where commits are slow and there was more than one
 * piece of work in the last. On a fast disk waiting costs more than it saves.
 */
int pay_lmdb_batch_pause_us(int batch_count, apr_int64_t commit_us);

/*
 * 1: the caller leads from now on, and owes pay_lmdb_lead_give. 0: waiter->rv is its result, and
 * its use of `env` is gone.
 */
int pay_lmdb_lead_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter, apr_int64_t now_ms);

/* Moves those in line, the oldest first, behind the *count that are in `taken`, up to `count_max`.
 */
void pay_lmdb_line_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *taken[], int *count, int count_max);

/* The oldest in line leads from here on; of those that were taken, all but `own` learn that they
 * are done. */
void pay_lmdb_lead_give(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *own,
                        pay_lmdb_waiter_t *const taken[], int count);

/*
 * The turn to write to a store, of processes that share a piece of memory. LMDB's own lock between
 * processes knows no time limit; this one does, and is held around it, so that nobody waits for a
 * process that was stopped in the middle of a transaction (docs/store.md, rule 8). The first to
 * come is the first to write, so that of many processes none waits for ever. A process that dies
 * gives its turn back. For store/lmdb/commit.c and store/lmdb/line.c only.
 */

/* Who has the turn and who waits for it: a single slot. */
#define PAY_LMDB_TURN_ALIGN 64
#define PAY_LMDB_TURN_LINE(shared) ((pay_slots_t *)(void *)((char *)(shared) + PAY_LMDB_TURN_ALIGN))

/*
 * 1: the turn is the caller's, and owed to pay_lmdb_turn_give by the same thread. 0: nobody gave it
 * back until `until_ms` (of pay_clock_ms), or it is stalled. `shared` NULL: always 1.
 */
int pay_lmdb_turn_take(pay_store_shared_t *shared, apr_int64_t until_ms, apr_int64_t stall_ms);
void pay_lmdb_turn_give(pay_store_shared_t *shared);

/*
 * 1 while one turn lasts `stall_ms` or longer: whoever comes then is refused at once, in all
 * processes, until it is given back. `shared` NULL: 0.
 */
int pay_lmdb_turn_is_stalled(pay_store_shared_t *shared, apr_int64_t stall_ms);

#endif
