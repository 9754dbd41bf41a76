/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SLOTS_H
#define PAY_BASE_SHARED_SLOTS_H

/*
 * Limits on work in flight, over all processes that share one piece of memory, and the line of
 * those that wait for a slot (docs/operations.md, "Limits"). Among accounts it is fair and not
 * fixed: an account takes a slot while a quarter of all stays free, or while it has less than an
 * equal share of them; the same holds within each process. Among its own work the oldest is first.
 * A slot names its process, so those of dead ones are taken back.
 *
 * Work of an account's visitors has half of that at most, of all slots, of a process's, of the
 * account's share and of the line: whatever they do, there is room for the account's own work.
 */

#include <apr.h>

typedef struct pay_slots_t pay_slots_t;

#define PAY_SLOTS_VISITOR (APR_UINT64_C(1) << 32) /* added to an account: of its visitors */

typedef struct pay_slots_limits_t {
    int count;       /* slots */
    int process_max; /* of them for one process */
    int line;        /* that may wait beside so many; more, while not all slots are taken */
    int reserve;     /* places of slots and line that one account leaves to others */
} pay_slots_limits_t;

/* Bytes that these slots need. */
apr_size_t pay_slots_size(const pay_slots_limits_t *limits);

/*
 * Makes slots in `memory` (zeroed or not; shared and suitably aligned; at least pay_slots_size
 * bytes) while no other process looks at it.
 */
pay_slots_t *pay_slots_init(void *memory, const pay_slots_limits_t *limits);

/*
 * Takes a slot for this process and account, of 32 bits and perhaps PAY_SLOTS_VISITOR. Returns -1
 * if no slot is free for them.
 */
int pay_slots_take(pay_slots_t *slots, apr_uint64_t account);

/*
 * The same, but waits for one until `until_ms` (of pay_clock_ms) where the line has room. `lane`
 * stands for what the work needs beside a slot, 0: nothing; see pay_slots_again.
 */
int pay_slots_take_until(pay_slots_t *slots, apr_uint64_t account, apr_uint64_t lane,
                         apr_int64_t until_ms);

/*
 * What the lane stands for cannot be had now: lets go of the slot, stands in line at the old place,
 * and comes back with a slot when somebody of the lane has given one, or to try again. -1: the time
 * is over, or the line has no room; nothing is held then.
 */
int pay_slots_again(pay_slots_t *slots, int slot, apr_int64_t until_ms);

/* Gives back what was taken; -1 is allowed and does nothing. */
void pay_slots_give(pay_slots_t *slots, int slot);

/* This process ends: nobody waits in it any more for one of these. Of one set of slots only. */
void pay_slots_close(const pay_slots_t *slots);

/* How many are taken now, how many wait for one (snapshots), and how many there are. */
int pay_slots_count(const pay_slots_t *slots);
int pay_slots_waiting(const pay_slots_t *slots);
int pay_slots_max(const pay_slots_t *slots);

#endif
