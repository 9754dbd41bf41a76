/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_LMDB_TURN_H
#define PAY_STORE_LMDB_TURN_H

/*
 * The turn to write to a store, of processes that share a piece of memory. LMDB's own lock between
 * processes knows no time limit; this one does, and is held around it, so that nobody waits for a
 * process that was stopped in the middle of a transaction (docs/store.md, rule 8). The first to
 * come is the first to write, so that of many processes none waits for ever. A process that dies
 * gives its turn back. For store/lmdb/commit.c and store/lmdb/line.c only.
 */

#include "base/shared/slots.h"
#include "store/store.h"

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
