/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/queue.h"

#include "base/shared/clock.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define SLOW_COMMIT_US 1200
#define PAUSE_PART 20
#define PAUSE_US_MAX 500

int pay_lmdb_batch_pause_us(int batch_count, apr_int64_t commit_us)
{
    apr_int64_t pause_us = commit_us / PAUSE_PART;

    if (batch_count <= 1 || commit_us <= SLOW_COMMIT_US) {
        return 0;
    }
    return pause_us < PAUSE_US_MAX ? (int)pause_us : PAUSE_US_MAX;
}

/* The caller holds env->mutex for all of these. */
static void queue_join(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    waiter->next = NULL;
    waiter->is_queued = 1;
    if (env->last) {
        env->last->next = waiter;
    } else {
        env->first = waiter;
    }
    env->last = waiter;
    env->queued++;
}

static void queue_leave(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    pay_lmdb_waiter_t **link = &env->first;
    pay_lmdb_waiter_t *before = NULL;

    while (*link && *link != waiter) {
        before = *link;
        link = &before->next;
    }
    if (!*link) {
        return;
    }
    *link = waiter->next;
    waiter->is_queued = 0;
    env->queued--;
    if (env->last == waiter) {
        env->last = before;
    }
}

void pay_lmdb_queue_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *taken[], int *count, int count_max)
{
    pay_lmdb_waiter_t *waiter;

    pthread_mutex_lock(&env->mutex);
    while (env->first && *count < count_max) {
        waiter = env->first;
        queue_leave(env, waiter);
        taken[(*count)++] = waiter;
    }
    pthread_mutex_unlock(&env->mutex);
}

/* The waiter's memory may be gone as soon as it is woken. */
static void tell(pay_lmdb_waiter_t *waiter, pay_lmdb_word_t word)
{
    waiter->word = word;
    sem_post(&waiter->told);
}

/* Returns the next leader, or NULL if there is no leader. The caller holds env->mutex. */
static pay_lmdb_waiter_t *lead_pass_on(pay_lmdb_env_t *env)
{
    pay_lmdb_waiter_t *waiter = env->first;

    if (!waiter) {
        env->is_led = 0;
        pthread_cond_broadcast(&env->changed);
        return NULL;
    }
    queue_leave(env, waiter); /* the lead stays taken: no other thread gets in between */
    return waiter;
}

/* Returns 1 if it was still in the queue and has left it: it timed out, and nothing was done. */
static int withdraw(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    int was_queued;

    pthread_mutex_lock(&env->mutex);
    was_queued = waiter->is_queued;
    if (was_queued) {
        queue_leave(env, waiter);
    }
    pthread_mutex_unlock(&env->mutex);
    return was_queued;
}

/*
 * Waits for the waiter's word; after its time-out it waits on only for a transaction that it is
 * part of.
 */
static pay_lmdb_word_t queue_wait(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    if (!pay_clock_sem_wait(&waiter->told, waiter->until_ms)) {
        if (withdraw(env, waiter)) {
            waiter->rv = PAY_STORE_EBUSY;
            return PAY_LMDB_DONE;
        }
        while (sem_wait(&waiter->told) != 0) {
            continue; /* interrupted by a signal */
        }
    }
    return waiter->word;
}

/* Returns 1 if it leads after all; its use of `env` is then counted again. */
static int lead_accept(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter)
{
    pay_lmdb_waiter_t *next = NULL;
    int usable;

    pthread_mutex_lock(&env->mutex);
    usable = pay_lmdb_env_use(env);
    if (!usable) {
        waiter->rv = PAY_STORE_EDOWN;
        next = lead_pass_on(env);
    }
    pthread_mutex_unlock(&env->mutex);
    if (next) {
        tell(next, PAY_LMDB_LEAD);
    }
    return usable;
}

/* Another thread leads. A thread that would join the queue in vain is refused at once: another
 * process keeps the writer lock. */
static int stands_still(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *waiter, apr_int64_t now_ms)
{
    const apr_int64_t stall_ms = apr_time_as_msec(waiter->db->options.commit_wait);

    return (env->begin_since_ms && now_ms - env->begin_since_ms >= waiter->until_ms - now_ms)
           || pay_lmdb_writer_lock_is_stalled(waiter->db->options.shared, stall_ms);
}

int pay_lmdb_lead_take(pay_lmdb_env_t *env, pay_lmdb_waiter_t *waiter, apr_int64_t now_ms)
{
    int leads;

    pthread_mutex_lock(&env->mutex);
    if (!env->is_led) {
        env->is_led = 1;
        pthread_mutex_unlock(&env->mutex);
        return 1;
    }
    if (stands_still(env, waiter, now_ms)) {
        pay_lmdb_env_release(env);
        pthread_mutex_unlock(&env->mutex);
        waiter->rv = PAY_STORE_EBUSY;
        return 0;
    }
    sem_init(&waiter->told, 0, 0);
    queue_join(env, waiter);
    pay_lmdb_env_release(
        env); /* a thread that only waits must not prevent the file from being mapped again */
    pthread_mutex_unlock(&env->mutex);
    leads = queue_wait(env, waiter) == PAY_LMDB_LEAD && lead_accept(env, waiter);
    sem_destroy(&waiter->told);
    return leads;
}

void pay_lmdb_lead_give(pay_lmdb_env_t *env, const pay_lmdb_waiter_t *own,
                        pay_lmdb_waiter_t *const taken[], int count)
{
    pay_lmdb_waiter_t *next;
    int i;

    pthread_mutex_lock(&env->mutex);
    next = lead_pass_on(env);
    pthread_mutex_unlock(&env->mutex);
    if (next) {
        tell(next, PAY_LMDB_LEAD);
    }
    for (i = 0; i < count; i++) {
        if (taken[i] != own) {
            tell(taken[i], PAY_LMDB_DONE);
        }
    }
}

/* ---- the writer lock of processes */

#define NO_ACCOUNT 0
#define NO_LANE 0
#define SPARE 16 /* processes that check for a dead holder, beside the writers */

struct pay_store_shared_t {
    _Atomic apr_int64_t since_ms; /* when the lock was taken; 0: it is free */
    _Atomic int slot;             /* the holder's slot */
};

_Static_assert(sizeof(pay_store_shared_t) <= PAY_LMDB_WRITER_LOCK_ALIGN,
               "its slots begin behind it");

/* A single slot with a queue of processes: first come, first served. */
static pay_slots_limits_t limits_of(int processes)
{
    return (pay_slots_limits_t){.count = 1, .process_max = 1, .line = 2 * processes + SPARE};
}

apr_size_t pay_store_shared_size(int processes)
{
    const pay_slots_limits_t limits = limits_of(processes);

    return PAY_LMDB_WRITER_LOCK_ALIGN + pay_slots_size(&limits);
}

pay_store_shared_t *pay_store_shared_init(void *memory, int processes)
{
    const pay_slots_limits_t limits = limits_of(processes);
    pay_store_shared_t *shared = memory;

    assert((uintptr_t)memory % _Alignof(pay_store_shared_t) == 0);
    atomic_init(&shared->since_ms, 0);
    atomic_init(&shared->slot, -1);
    (void)pay_slots_init(PAY_LMDB_WRITER_LOCK_SLOTS(shared), &limits);
    return shared;
}

static int lasts(pay_store_shared_t *shared, apr_int64_t stall_ms)
{
    const apr_int64_t since_ms = atomic_load(&shared->since_ms);

    return since_ms && pay_clock_ms() - since_ms >= stall_ms;
}

/*
 * A process that is stopped right after it took the lock, or right before it releases it, has
 * recorded nothing: a process that has waited in vain since `began_ms` records it instead.
 */
static void note_silent(pay_store_shared_t *shared, apr_int64_t began_ms)
{
    apr_int64_t nobodys = 0;

    (void)atomic_compare_exchange_strong(&shared->since_ms, &nobodys, began_ms);
}

int pay_lmdb_writer_lock_take(pay_store_shared_t *shared, apr_int64_t until_ms,
                              apr_int64_t stall_ms)
{
    const apr_int64_t began_ms = pay_clock_ms();
    int slot = -1;

    if (!shared) {
        return 1;
    }
    if (lasts(shared, stall_ms)) {
        slot = pay_slots_take(PAY_LMDB_WRITER_LOCK_SLOTS(shared),
                              NO_ACCOUNT); /* its holder may have died */
    }
    if (slot < 0 && !lasts(shared, stall_ms)) { /* or it never did, or no longer does */
        slot =
            pay_slots_take_until(PAY_LMDB_WRITER_LOCK_SLOTS(shared), NO_ACCOUNT, NO_LANE, until_ms);
        if (slot < 0 && pay_clock_ms() >= until_ms) {
            note_silent(shared, began_ms);
        }
    }
    if (slot < 0) {
        return 0;
    }
    /* Whatever else may be wrong, LMDB's own lock still excludes other writers. */
    atomic_store(&shared->slot, slot);
    atomic_store(&shared->since_ms, pay_clock_ms());
    return 1;
}

void pay_lmdb_writer_lock_give(pay_store_shared_t *shared)
{
    if (!shared) {
        return;
    }
    atomic_store(&shared->since_ms, 0);
    pay_slots_give(PAY_LMDB_WRITER_LOCK_SLOTS(shared), atomic_load(&shared->slot));
}

int pay_lmdb_writer_lock_is_stalled(pay_store_shared_t *shared, apr_int64_t stall_ms)
{
    if (!shared || !lasts(shared, stall_ms)) {
        return 0;
    }
    /* Only a process that tries to take it learns that its holder has died. */
    if (pay_lmdb_writer_lock_take(shared, 0, 0)) {
        pay_lmdb_writer_lock_give(shared);
        return 0;
    }
    return 1;
}
