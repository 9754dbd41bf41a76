/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/slots.h"

#include "base/shared/clock.h"
#include "base/shared/shared_mutex.h"
#include "base/shared/slots_parts.h"
#include "base/shared/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
#define PID_MASK ((APR_UINT64_C(1) << PID_BITS) - 1)
#define KNOWN_MAX 16
#define FEW 4           /* slots */
#define AT_ONCE 0       /* instead of a deadline */
#define LOOK_MS 50      /* a waiter looks by itself: its waker may have died */
#define LOOK_DEAD_MS 20 /* between two searches for dead processes, by any */

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
               "slots are shared by processes: atomics without locks");

static _Atomic(const pay_slots_t *) closed; /* in this process */

static apr_uint64_t owner_of(const pay_worker_t *worker)
{
    return (apr_uint64_t)worker->start_ticks << PID_BITS | ((apr_uint64_t)worker->pid & PID_MASK);
}

static apr_uint64_t self(void)
{
    const pay_worker_t worker = pay_worker_self();

    return owner_of(&worker);
}

static int is_owner_dead(apr_uint64_t owner)
{
    pay_worker_t worker = pay_worker_self(); /* the memory does not outlive the boot */

    worker.pid = (apr_int64_t)(owner & PID_MASK);
    worker.start_ticks = (apr_int64_t)(owner >> PID_BITS);
    return !pay_worker_alive(&worker);
}

/* ---- making */

static int places_of(const pay_slots_limits_t *limits)
{
    return limits->count + limits->line;
}

apr_size_t pay_slots_size(const pay_slots_limits_t *limits)
{
    return sizeof(pay_slots_t) + (apr_size_t)places_of(limits) * sizeof(pay_slot_t)
           + pay_slots_sheet_len(places_of(limits)) * sizeof(apr_uint64_t);
}

pay_slots_t *pay_slots_init(void *memory, const pay_slots_limits_t *limits)
{
    pay_slots_t *slots = memory;
    int i;

    assert(limits->count >= 0 && limits->line >= 0);
    assert((uintptr_t)memory % _Alignof(pay_slots_t) == 0);
    slots->count = limits->count;
    slots->process_max = limits->process_max;
    slots->places = places_of(limits);
    slots->reserve = limits->reserve;
    atomic_init(&slots->end, 0);
    slots->tickets = 0;
    atomic_init(&slots->looked_ms, 0);
    for (i = 0; i < slots->places; i++) {
        slots->place[i] = (pay_slot_t){.account = 0};
        sem_init(&slots->place[i].told, 1, 0);
    }
    if (pay_shared_mutex_init(&slots->mutex)) {
        slots->count = 0; /* without it nothing can be counted: nobody gets a slot */
    }
    return slots;
}

/* ---- the mutex */

/* It guards only the order of changes, each of which is complete by itself: a search for dead
 * processes repairs what one of them left. */
static int lock(pay_slots_t *slots, apr_int64_t until_ms)
{
    return pay_shared_mutex_lock(&slots->mutex, until_ms);
}

static void unlock(pay_slots_t *slots)
{
    int end = atomic_load(&slots->end);

    while (end > 0 && !atomic_load(&slots->place[end - 1].owner)) {
        end--;
    }
    atomic_store(&slots->end, end);
    pthread_mutex_unlock(&slots->mutex);
}

/* ---- dead processes */

/*
 * Returns 1 if `owner` is one of the `known` ones, kept in a ring, or if it lives, and notes it
 * there.
 */
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

static void free_all_of(pay_slots_t *slots, apr_uint64_t owner)
{
    int i;

    if (!lock(slots, AT_ONCE)) {
        return;
    }
    for (i = 0; i < atomic_load(&slots->end); i++) {
        apr_uint64_t dead = owner;

        (void)atomic_compare_exchange_strong(&slots->place[i].owner, &dead, 0);
    }
    pay_slots_grant(slots);
    unlock(slots);
}

/* Returns 1 if it is time to look at all places again. */
static int looks_at_all(pay_slots_t *slots)
{
    const apr_int64_t now_ms = pay_clock_ms();
    apr_int64_t looked_ms = atomic_load(&slots->looked_ms);

    return (!looked_ms || now_ms - looked_ms >= LOOK_DEAD_MS)
           && atomic_compare_exchange_strong(&slots->looked_ms, &looked_ms, now_ms);
}

/* Frees the places of dead processes. Looking costs system calls: it looks at all places only now
 * and then, and at those that have a slot each time only if these are few. */
static void reclaim(pay_slots_t *slots)
{
    const apr_uint64_t own = self();
    const int all = looks_at_all(slots);
    apr_uint64_t known[KNOWN_MAX] = {0};
    int next = 0;
    int i;

    for (i = 0; i < atomic_load(&slots->end) && (all || slots->count <= FEW); i++) {
        const apr_uint64_t owner = atomic_load(&slots->place[i].owner);

        if (!owner || owner == own || !(all || pay_slot_has(&slots->place[i]))) {
            continue;
        }
        if (!is_living(known, &next, owner)) {
            free_all_of(slots, owner);
        }
    }
}

/* ---- taking and releasing */

/* Returns 1 if it was granted its slot; nobody revokes it from now on. */
static int slot_accept(pay_slot_t *one)
{
    int given = PAY_SLOT_GIVEN;

    return atomic_compare_exchange_strong(&one->state, &given, PAY_SLOT_TAKEN);
}

/* Takes a place in the queue, perhaps with a slot at once; returns -1 if there is no place. */
static int line_join(pay_slots_t *slots, apr_uint64_t account, apr_uint64_t lane,
                     apr_int64_t until_ms)
{
    int i = 0;

    if (!lock(slots, until_ms)) {
        return -1;
    }
    while (i < slots->places && atomic_load(&slots->place[i].owner)) {
        i++;
    }
    if (i == slots->places) {
        unlock(slots);
        return -1;
    }
    if (i >= atomic_load(&slots->end)) {
        atomic_store(&slots->end, i + 1);
    }
    while (sem_trywait(&slots->place[i].told) == 0) {
        continue; /* posts that the last owner of the place did not receive */
    }
    slots->place[i].account = account;
    slots->place[i].lane = lane;
    slots->place[i].ticket = slots->tickets++;
    atomic_store(&slots->place[i].state,
                 lane && pay_slots_first_aside(slots, lane, (account & PAY_SLOTS_VISITOR) != 0)
                     ? PAY_SLOT_ASIDE
                     : PAY_SLOT_IN_LINE);
    atomic_store(&slots->place[i].owner, self());
    pay_slots_grant(slots);
    if (pay_slot_has(&slots->place[i]) && !pay_slots_may_stay(slots, &slots->place[i])) {
        atomic_store(&slots->place[i].owner, 0);
        pay_slots_grant(slots);
        i = -1;
    }
    unlock(slots);
    return i;
}

/* Returns `slot` if it was granted meanwhile; else -1, and the place is free. */
static int give_up(pay_slots_t *slots, int slot)
{
    pay_slot_t *one = &slots->place[slot];
    int taken;

    if (!lock(slots, AT_ONCE)) {
        atomic_store(&one->owner, 0);
        return -1;
    }
    taken = slot_accept(one);
    if (!taken) {
        atomic_store(&one->owner, 0);
        pay_slots_grant(slots); /* others may have left room for its account */
    }
    unlock(slots);
    return taken ? slot : -1;
}

/* No wake-up for a while: the processes that owe one may be dead, or the lane's resource was
 * released by work without a slot. */
static void look(pay_slots_t *slots, pay_slot_t *one)
{
    reclaim(slots);
    if (!lock(slots, AT_ONCE)) {
        return;
    }
    if (pay_slots_first_aside(slots, one->lane, pay_slot_is_visitor(one)) == one) {
        atomic_store(&one->state, PAY_SLOT_IN_LINE);
    }
    pay_slots_grant(slots);
    unlock(slots);
}

static int may_wait(pay_slots_t *slots, int slot, apr_int64_t until_ms)
{
    int may;

    if (!lock(slots, until_ms)) {
        return 0;
    }
    may = pay_slot_has(&slots->place[slot]) || pay_slots_may_stay(slots, &slots->place[slot]);
    unlock(slots);
    return may;
}

static int line_wait(pay_slots_t *slots, int slot, apr_int64_t until_ms)
{
    pay_slot_t *one = &slots->place[slot];
    apr_int64_t now_ms = pay_clock_ms();

    if (now_ms >= until_ms || !may_wait(slots, slot, until_ms)) {
        return give_up(slots, slot);
    }
    while (!slot_accept(one)) {
        const apr_int64_t look_ms = now_ms + LOOK_MS;

        if (now_ms >= until_ms || atomic_load(&closed) == slots) {
            return give_up(slots, slot);
        }
        if (!pay_clock_sem_wait(&one->told, look_ms < until_ms ? look_ms : until_ms)) {
            look(slots, one);
        }
        now_ms = pay_clock_ms();
    }
    return slot;
}

int pay_slots_take_until(pay_slots_t *slots, apr_uint64_t account, apr_uint64_t lane,
                         apr_int64_t until_ms)
{
    int slot;

    slot = line_join(slots, account, lane, until_ms);
    if (slot >= 0 && slot_accept(&slots->place[slot])) {
        return slot;
    }
    if (slot < 0 || until_ms == AT_ONCE) {
        reclaim(slots); /* waiters do it, if no slot is released soon */
    }
    if (slot < 0) {
        slot = line_join(slots, account, lane, until_ms);
    }
    if (slot < 0) {
        return -1;
    }
    return line_wait(slots, slot, until_ms);
}

int pay_slots_take(pay_slots_t *slots, apr_uint64_t account)
{
    return pay_slots_take_until(slots, account, 0, AT_ONCE);
}

int pay_slots_again(pay_slots_t *slots, int slot, apr_int64_t until_ms)
{
    if (pay_clock_ms() >= until_ms || !lock(slots, until_ms)) {
        pay_slots_give(slots, slot);
        return -1;
    }
    atomic_store(&slots->place[slot].state, PAY_SLOT_ASIDE);
    pay_slots_grant(slots);
    unlock(slots);
    return line_wait(slots, slot, until_ms);
}

/* The lane's resource may be available again, for visitors or for others. */
static void call_back(pay_slots_t *slots, apr_uint64_t lane)
{
    pay_slot_t *next;
    int visitor;

    for (visitor = 0; lane && visitor < 2; visitor++) {
        next = pay_slots_first_aside(slots, lane, visitor);
        if (next) {
            atomic_store(&next->state, PAY_SLOT_IN_LINE);
        }
    }
}

void pay_slots_give(pay_slots_t *slots, int slot)
{
    pay_slot_t *one;

    if (slot < 0) {
        return;
    }
    assert(slot < slots->places);
    one = &slots->place[slot];
    if (atomic_load(&one->owner) != self()) {
        return; /* a forked child returns its parent's slot, which is not its own */
    }
    if (!lock(slots, AT_ONCE)) {
        atomic_store(&one->owner, 0);
        return;
    }
    atomic_store(&one->owner, 0);
    call_back(slots, one->lane);
    pay_slots_grant(slots);
    unlock(slots);
}

void pay_slots_close(const pay_slots_t *slots)
{
    atomic_store(&closed, slots);
}

/* ---- counted */

static int count(const pay_slots_t *slots, int taken)
{
    int found = 0;
    int i;

    for (i = 0; i < atomic_load(&slots->end); i++) {
        found +=
            atomic_load(&slots->place[i].owner) != 0 && pay_slot_has(&slots->place[i]) == taken;
    }
    return found;
}

int pay_slots_count(const pay_slots_t *slots)
{
    return count(slots, 1);
}

int pay_slots_waiting(const pay_slots_t *slots)
{
    return count(slots, 0);
}

int pay_slots_max(const pay_slots_t *slots)
{
    return slots->count;
}
