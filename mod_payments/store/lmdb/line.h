/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_LINE_H
#define PAY_STORE_LMDB_LINE_H

/*
 * The line in which the threads of a process stand with their work (docs/store.md, "Group commit").
 * One of them leads; what it takes out of the line it runs for the others, who wait until it is
 * done. For store/lmdb/commit.c only.
 */

#include "store/lmdb/env.h"

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

#endif
