/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/turn.h"

#include "base/shared/clock.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define NO_ACCOUNT 0
#define NO_LANE 0
#define SPARE 16 /* who looks after a dead one beside those who write */

struct pay_store_shared_t {
    _Atomic apr_int64_t since_ms; /* since when the turn lasts; 0: it is nobody's */
    _Atomic int slot;             /* its holder's */
};

_Static_assert(sizeof(pay_store_shared_t) <= PAY_LMDB_TURN_ALIGN, "its line begins behind it");

/* A single slot, for which processes stand in line: the first to come is the first to write. */
static pay_slots_limits_t limits_of(int processes)
{
    return (pay_slots_limits_t){.count = 1, .process_max = 1, .line = 2 * processes + SPARE};
}

apr_size_t pay_store_shared_size(int processes)
{
    const pay_slots_limits_t limits = limits_of(processes);

    return PAY_LMDB_TURN_ALIGN + pay_slots_size(&limits);
}

pay_store_shared_t *pay_store_shared_init(void *memory, int processes)
{
    const pay_slots_limits_t limits = limits_of(processes);
    pay_store_shared_t *shared = memory;

    assert((uintptr_t)memory % _Alignof(pay_store_shared_t) == 0);
    atomic_init(&shared->since_ms, 0);
    atomic_init(&shared->slot, -1);
    (void)pay_slots_init(PAY_LMDB_TURN_LINE(shared), &limits);
    return shared;
}

static int lasts(pay_store_shared_t *shared, apr_int64_t stall_ms)
{
    const apr_int64_t since_ms = atomic_load(&shared->since_ms);

    return since_ms && pay_clock_ms() - since_ms >= stall_ms;
}

/*
 * A process that is stopped right after it got the turn, or right before it gives it back, has
 * written nothing down: who has waited since `began_ms` in vain does it in its place.
 */
static void note_silent(pay_store_shared_t *shared, apr_int64_t began_ms)
{
    apr_int64_t nobodys = 0;

    (void)atomic_compare_exchange_strong(&shared->since_ms, &nobodys, began_ms);
}

int pay_lmdb_turn_take(pay_store_shared_t *shared, apr_int64_t until_ms, apr_int64_t stall_ms)
{
    const apr_int64_t began_ms = pay_clock_ms();
    int slot = -1;

    if (!shared) {
        return 1;
    }
    if (lasts(shared, stall_ms)) {
        slot =
            pay_slots_take(PAY_LMDB_TURN_LINE(shared), NO_ACCOUNT); /* its holder may have died */
    }
    if (slot < 0 && !lasts(shared, stall_ms)) { /* or never did, or no longer does */
        slot = pay_slots_take_until(PAY_LMDB_TURN_LINE(shared), NO_ACCOUNT, NO_LANE, until_ms);
        if (slot < 0 && pay_clock_ms() >= until_ms) {
            note_silent(shared, began_ms);
        }
    }
    if (slot < 0) {
        return 0;
    }
    /* Whatever else may be wrong with it, LMDB's own lock still keeps writers apart. */
    atomic_store(&shared->slot, slot);
    atomic_store(&shared->since_ms, pay_clock_ms());
    return 1;
}

void pay_lmdb_turn_give(pay_store_shared_t *shared)
{
    if (!shared) {
        return;
    }
    atomic_store(&shared->since_ms, 0);
    pay_slots_give(PAY_LMDB_TURN_LINE(shared), atomic_load(&shared->slot));
}

int pay_lmdb_turn_is_stalled(pay_store_shared_t *shared, apr_int64_t stall_ms)
{
    if (!shared || !lasts(shared, stall_ms)) {
        return 0;
    }
    /* Nobody but who tries would ever learn that its holder has died. */
    if (pay_lmdb_turn_take(shared, 0, 0)) {
        pay_lmdb_turn_give(shared);
        return 0;
    }
    return 1;
}
