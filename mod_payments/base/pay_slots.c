/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_slots.h"

#include "base/pay_worker.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
#define PID_MASK ((APR_UINT64_C(1) << PID_BITS) - 1)
#define TRIES_MAX 64
#define KNOWN_MAX 16
#define WAITING (APR_UINT64_C(1) << 40) /* of a slot's account: its work waits for an outsider */

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "slots are shared by processes: atomics without locks");

/*
 * `owner` is start time and pid of the process in one word, so that one compare-and-set claims a
 * slot or takes it over; 0: free. `account` is the account's number plus 1, with WAITING or
 * without, and 0 whenever the slot changes hands.
 */
typedef struct slot_t {
    _Atomic apr_uint64_t owner;
    _Atomic apr_uint64_t account;
} slot_t;

struct pay_slots_t {
    int count;
    int process_max;
    int account_max;
    slot_t slot[];
};

static apr_uint64_t owner_of(const pay_worker_t *worker)
{
    return (apr_uint64_t)worker->start_ticks << PID_BITS | ((apr_uint64_t)worker->pid & PID_MASK);
}

static int is_owner_dead(apr_uint64_t owner)
{
    pay_worker_t worker = pay_worker_self(); /* the memory does not outlive the boot */

    worker.pid = (apr_int64_t)(owner & PID_MASK);
    worker.start_ticks = (apr_int64_t)(owner >> PID_BITS);
    return !pay_worker_alive(&worker);
}

apr_size_t pay_slots_size(int count)
{
    return sizeof(pay_slots_t) + (apr_size_t)count * sizeof(slot_t);
}

pay_slots_t *pay_slots_init(void *memory, int count, int process_max, int account_max)
{
    pay_slots_t *slots = memory;
    int i;

    assert(count >= 0);
    assert((uintptr_t)memory % _Alignof(pay_slots_t) == 0);
    slots->count = count;
    slots->process_max = process_max;
    slots->account_max = account_max;
    for (i = 0; i < count; i++) {
        atomic_init(&slots->slot[i].owner, 0);
        atomic_init(&slots->slot[i].account, 0);
    }
    return slots;
}

/* A free slot, now `owner`'s and `account`'s; -1 when there is none. */
static int claim(pay_slots_t *slots, apr_uint64_t owner, apr_uint64_t account)
{
    int i;

    for (i = 0; i < slots->count; i++) {
        apr_uint64_t expected = 0;

        if (!atomic_load(&slots->slot[i].owner)
            && atomic_compare_exchange_strong(&slots->slot[i].owner, &expected, owner)) {
            atomic_store(&slots->slot[i].account, account);
            return i;
        }
    }
    return -1;
}

static void release(slot_t *slot)
{
    atomic_store(&slot->account, 0);
    atomic_store(&slot->owner, 0);
}

/* A limit's part for work that waits: a quarter, and one at least, is left to other work. */
static int part(int limit)
{
    if (limit <= 1) {
        return limit;
    }
    return limit - (limit < 4 ? 1 : limit / 4);
}

/* 1 when no more than the limits less `spare` are held by this process and account. */
static int is_within(const pay_slots_t *slots, apr_uint64_t owner, apr_uint64_t account, int spare)
{
    int of_process = 0, of_account = 0;
    int waiting = 0, waiting_of_process = 0;
    int i;

    for (i = 0; i < slots->count; i++) {
        const int is_mine = atomic_load(&slots->slot[i].owner) == owner;
        const apr_uint64_t other = atomic_load(&slots->slot[i].account);

        of_process += is_mine;
        of_account += other == account;
        waiting += (other & WAITING) != 0;
        waiting_of_process += is_mine && other & WAITING;
    }
    if (of_process > slots->process_max - spare || of_account > slots->account_max - spare) {
        return 0;
    }
    return !(account & WAITING)
           || (waiting <= part(slots->count) - spare
               && waiting_of_process <= part(slots->process_max) - spare);
}

/* 1 when `owner` is one of the `known` ones, kept in a ring, or lives and is noted there. */
static int is_living(apr_uint64_t known[KNOWN_MAX], int *next, apr_uint64_t owner)
{
    int i;

    for (i = 0; i < KNOWN_MAX; i++) {
        if (known[i] == owner) {
            return 1;
        }
    }
    if (is_owner_dead(owner)) {
        return 0;
    }
    known[*next] = owner;
    *next = (*next + 1) % KNOWN_MAX;
    return 1;
}

/*
 * Frees the slots of dead processes. The slot is taken over first: emptied while it still shows
 * the dead one, it could be another's by then.
 */
static void reclaim(pay_slots_t *slots, apr_uint64_t self)
{
    apr_uint64_t known[KNOWN_MAX] = {0};
    int next = 0;
    int i;

    for (i = 0; i < slots->count; i++) {
        apr_uint64_t owner = atomic_load(&slots->slot[i].owner);

        if (!owner || owner == self || is_living(known, &next, owner)) {
            continue;
        }
        if (atomic_compare_exchange_strong(&slots->slot[i].owner, &owner, self)) {
            release(&slots->slot[i]);
        }
    }
}

/*
 * Claims first and counts then: of those who pass a limit together, the last to claim sees all
 * others and gives back. Two may see each other and both give back though there is room for one;
 * the later of them sees the room, and tries again.
 */
static int take(pay_slots_t *slots, apr_uint64_t owner, apr_uint64_t account)
{
    int tries;

    for (tries = 0; tries < TRIES_MAX; tries++) {
        int slot = claim(slots, owner, account);

        if (slot < 0 || is_within(slots, owner, account, 0)) {
            return slot;
        }
        release(&slots->slot[slot]);
        if (!is_within(slots, owner, account, 1)) {
            return -1;
        }
        sched_yield();
    }
    return -1;
}

static int take_or_reclaim(pay_slots_t *slots, apr_uint64_t account)
{
    pay_worker_t worker = pay_worker_self();
    apr_uint64_t owner = owner_of(&worker);
    int slot;

    slot = take(slots, owner, account);
    if (slot < 0) {
        reclaim(slots, owner);
        slot = take(slots, owner, account);
    }
    return slot;
}

int pay_slots_take(pay_slots_t *slots, apr_uint32_t account)
{
    return take_or_reclaim(slots, (apr_uint64_t)account + 1);
}

int pay_slots_take_waiting(pay_slots_t *slots, apr_uint32_t account)
{
    return take_or_reclaim(slots, ((apr_uint64_t)account + 1) | WAITING);
}

void pay_slots_give(pay_slots_t *slots, int slot)
{
    pay_worker_t worker = pay_worker_self();

    if (slot < 0) {
        return;
    }
    assert(slot < slots->count);
    if (atomic_load(&slots->slot[slot].owner) != owner_of(&worker)) {
        return; /* a forked child hands back its parent's, which is not its to give */
    }
    release(&slots->slot[slot]);
}

int pay_slots_count(const pay_slots_t *slots)
{
    int taken = 0;
    int i;

    for (i = 0; i < slots->count; i++) {
        taken += atomic_load(&slots->slot[i].owner) != 0;
    }
    return taken;
}
