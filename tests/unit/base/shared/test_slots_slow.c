/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/slots.h"

#include "base/shared/clock.h"
#include "base/shared/shared_mutex.h"
#include "base/shared/slots_parts.h"
#include "unit.h"

#include <apr_pools.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* The queue while others change it slowly. */

#define LONG_MS 50000
#define HOG_ROUNDS 5
#define HOG_MS (PAY_SHARED_MUTEX_STEP_MS + 20)

static _Atomic int is_held;

/* Like a process that loses its processor in the middle, again and again. */
static void *hog(void *arg)
{
    pay_slots_t *slots = arg;
    int i;

    for (i = 0; i < HOG_ROUNDS; i++) {
        if (!pay_shared_mutex_lock(&slots->mutex, pay_clock_ms() + LONG_MS)) {
            return slots;
        }
        atomic_store(&is_held, 1);
        usleep(HOG_MS * 1000);
        pthread_mutex_unlock(&slots->mutex);
        usleep(100);
    }
    return NULL;
}

static void *wait_in_line(void *slots)
{
    return pay_slots_take_until(slots, 1, 0, pay_clock_ms() + LONG_MS) < 0 ? slots : NULL;
}

/* A waiter that may wait does so, however long the others take for their changes. */
START_TEST(test_slow_others)
{
    const pay_slots_limits_t limits = {1, 1, 4, 1};
    pay_slots_t *slots = pay_slots_init(apr_palloc(unit_pool, pay_slots_size(&limits)), &limits);
    int slot = pay_slots_take_until(slots, 1, 1, pay_clock_ms() + LONG_MS);
    pthread_t waiter;
    pthread_t thread;
    void *failed;
    int round;

    ck_assert_int_ge(slot, 0);
    for (round = 0; round < 2; round++) {
        atomic_store(&is_held, 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, hog, slots), 0);
        while (!atomic_load(&is_held)) {
            usleep(100);
        }
        if (round == 0) {
            slot = pay_slots_again(slots, slot, pay_clock_ms() + LONG_MS);
        } else {
            ck_assert_int_eq(pthread_create(&waiter, NULL, wait_in_line, slots), 0);
        }
        ck_assert_int_eq(pthread_join(thread, &failed), 0);
        ck_assert_ptr_null(failed);
        ck_assert_int_ge(slot, 0);
    }
    pay_slots_give(slots, slot);
    ck_assert_int_eq(pthread_join(waiter, &failed), 0);
    ck_assert_ptr_null(failed);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_slow_others);
}

UNIT_PROGRAM(add)
