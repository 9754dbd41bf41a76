/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SLOTS_H
#define PAY_SLOTS_H

/*
 * Limits on work in flight, over all processes that share one piece of memory (docs/operations.md,
 * "Limits"). A slot names its process, so those of dead ones are taken back. Lock-free.
 */

#include <apr.h>

typedef struct pay_slots_t pay_slots_t;

/* Bytes that `count` slots need. */
apr_size_t pay_slots_size(int count);

/*
 * Makes slots in `memory` (zeroed or not; shared and suitably aligned; at least
 * pay_slots_size(count) bytes). At most `process_max` of them for one process and `account_max` for
 * one account at a time.
 */
pay_slots_t *pay_slots_init(void *memory, int count, int process_max, int account_max);

/* A slot for this process and account, or -1 when a limit is reached: nothing was taken. */
int pay_slots_take(pay_slots_t *slots, apr_uint32_t account);

/*
 * The same for work that waits for somebody outside of this server, who may never answer: it gets
 * at most three quarters of all slots and of a process's, so that there is room for other work, and
 * counts for another account than the other work of the same account.
 */
int pay_slots_take_waiting(pay_slots_t *slots, apr_uint32_t account);

/* Gives back what pay_slots_take returned; -1 is allowed and does nothing. */
void pay_slots_give(pay_slots_t *slots, int slot);

/* How many are taken now (a snapshot). */
int pay_slots_count(const pay_slots_t *slots);

#endif
