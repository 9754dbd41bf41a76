/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SLOTS_H
#define PAY_BASE_SHARED_SLOTS_H

/*
 * Limits on work in flight, over all processes that share one piece of memory, and the queue for a
 * slot (docs/operations.md, "Limits"). Sharing among accounts is fair and not fixed: an account
 * takes a slot while a quarter of all stays free, or while it has less than an equal share of them;
 * the same holds within each process. The work of one account is served oldest first. A slot names
 * its process, so that slots of dead processes are reclaimed.
 *
 * Work of an account's visitors gets at most half: of all slots, of a process's, of the account's
 * share and of the queue. Whatever visitors do, there is room for the account's own work.
 */

#include <apr.h>

typedef struct pay_slots_t pay_slots_t;

#define PAY_SLOTS_VISITOR (APR_UINT64_C(1) << 32) /* added to an account: work of its visitors */

typedef struct pay_slots_limits_t {
    int count;       /* slots */
    int process_max; /* of them for one process */
    int line;        /* length of the queue; longer while not all slots are taken */
    int reserve;     /* places of slots and queue that one account leaves to others */
} pay_slots_limits_t;

/* Returns the bytes that these slots need. */
apr_size_t pay_slots_size(const pay_slots_limits_t *limits);

/*
 * Makes slots in `memory` (zeroed or not; shared and suitably aligned; at least pay_slots_size
 * bytes) while no other process uses it.
 */
pay_slots_t *pay_slots_init(void *memory, const pay_slots_limits_t *limits);

/*
 * Takes a slot for this process and account (32 bits, perhaps with PAY_SLOTS_VISITOR). Returns -1
 * if no slot is free for them.
 */
int pay_slots_take(pay_slots_t *slots, apr_uint64_t account);

/*
 * Does the same, but waits for a slot until `until_ms` (of pay_clock_ms) if the queue has room.
 * `lane` identifies another resource that the work needs besides a slot, 0 for none; see
 * pay_slots_again.
 */
int pay_slots_take_until(pay_slots_t *slots, apr_uint64_t account, apr_uint64_t lane,
                         apr_int64_t until_ms);

/*
 * The resource of the lane is not available now: releases the slot, waits at the old place in the
 * queue, and returns with a slot when work of the same lane has released one, or to try again.
 * Returns -1 if the time is over or the queue has no room; the caller then holds nothing.
 */
int pay_slots_again(pay_slots_t *slots, int slot, apr_int64_t until_ms);

/* Releases a slot; does nothing for -1. */
void pay_slots_give(pay_slots_t *slots, int slot);

/*
 * This process ends: nothing in it waits for one of these slots any more. For one set of slots
 * only.
 */
void pay_slots_close(const pay_slots_t *slots);

/* Return how many are taken now, how many wait for one (snapshots), and how many there are. */
int pay_slots_count(const pay_slots_t *slots);
int pay_slots_waiting(const pay_slots_t *slots);
int pay_slots_max(const pay_slots_t *slots);

#endif
