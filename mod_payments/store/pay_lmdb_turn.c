/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_turn.h"

#include "base/pay_clock.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#define LOOK_AGAIN_MS 50

struct pay_store_shared_t {
    pthread_mutex_t mutex;        /* whose turn it is */
    _Atomic apr_int64_t since_ms; /* since when it lasts; 0: it is nobody's */
};

apr_size_t pay_store_shared_size(void)
{
    return sizeof(pay_store_shared_t);
}

apr_status_t pay_store_shared_init(pay_store_shared_t **out, void *memory)
{
    pay_store_shared_t *shared = memory;
    pthread_mutexattr_t attr;
    int rc;

    *out = NULL;
    assert((uintptr_t)memory % _Alignof(pay_store_shared_t) == 0);
    rc = pthread_mutexattr_init(&attr);
    if (rc) {
        return rc;
    }
    rc = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (!rc) {
        rc = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    }
    if (!rc) {
        rc = pthread_mutex_init(&shared->mutex, &attr);
    }
    pthread_mutexattr_destroy(&attr);
    if (rc) {
        return rc;
    }
    atomic_init(&shared->since_ms, 0);
    *out = shared;
    return APR_SUCCESS;
}

static int lasts(pay_store_shared_t *shared, apr_int64_t stall_ms)
{
    const apr_int64_t since_ms = atomic_load(&shared->since_ms);

    return since_ms && pay_clock_ms() - since_ms >= stall_ms;
}

/*
 * In short steps: the wake-up that a process owes the next one is lost when it is killed at that
 * moment, and nobody but who looks again would ever learn that the mutex is free.
 */
static int lock_until(pthread_mutex_t *mutex, apr_int64_t until_ms)
{
    apr_int64_t step_ms;
    int rc;

    do {
        step_ms = pay_clock_ms() + LOOK_AGAIN_MS;
        rc = pay_clock_mutex_lock(mutex, step_ms < until_ms ? step_ms : until_ms);
    } while (rc == ETIMEDOUT && step_ms < until_ms);
    return rc;
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
    int rc = EBUSY;

    if (!shared) {
        return 1;
    }
    if (lasts(shared, stall_ms)) {
        rc = pthread_mutex_trylock(&shared->mutex); /* its holder may have died */
    }
    if (rc == EBUSY && !lasts(shared, stall_ms)) { /* or never did, or no longer does */
        rc = lock_until(&shared->mutex, until_ms);
    }
    if (rc == ETIMEDOUT) {
        note_silent(shared, began_ms);
    }
    if (rc == ETIMEDOUT || rc == EBUSY) {
        return 0;
    }
    if (rc == EOWNERDEAD) {
        /* It guards nothing but the turn itself; LMDB takes back the dead one's transaction. */
        (void)pthread_mutex_consistent(&shared->mutex);
    }
    /* Whatever else may be wrong with it, LMDB's own lock still keeps writers apart. */
    atomic_store(&shared->since_ms, pay_clock_ms());
    return 1;
}

void pay_lmdb_turn_give(pay_store_shared_t *shared)
{
    if (!shared) {
        return;
    }
    atomic_store(&shared->since_ms, 0);
    pthread_mutex_unlock(&shared->mutex);
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
