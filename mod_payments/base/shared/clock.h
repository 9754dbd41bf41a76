/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_CLOCK_H
#define PAY_BASE_SHARED_CLOCK_H

/*
 * Waits with a deadline of CLOCK_MONOTONIC, in milliseconds: a step of the wall clock does not make
 * them longer. If the C library only has waits by the wall clock, these are used.
 */

#include <apr.h>

#include <pthread.h>
#include <semaphore.h>

/* The same clock, in two units. */
apr_int64_t pay_clock_us(void);
apr_int64_t pay_clock_ms(void);

void pay_clock_cond_init(pthread_cond_t *cond);
/* Returns 0 when the time is over; like pthread_cond_timedwait it may also wake up spuriously. */
int pay_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, apr_int64_t until_ms);

/* Returns 0 when the time is over. */
int pay_clock_sem_wait(sem_t *sem, apr_int64_t until_ms);

/* Returns the result of pthread_mutex_lock, or ETIMEDOUT. */
int pay_clock_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms);

#endif
