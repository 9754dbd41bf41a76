/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_CLOCK_H
#define PAY_BASE_SHARED_CLOCK_H

/*
 * Waits that end at a time of CLOCK_MONOTONIC, in milliseconds: a step of the wall clock makes none
 * of them longer. Where the C library has only waits by the wall clock, those are used.
 */

#include <apr.h>

#include <pthread.h>
#include <semaphore.h>

/* The same clock. */
apr_int64_t pay_clock_us(void);
apr_int64_t pay_clock_ms(void);

void pay_clock_cond_init(pthread_cond_t *cond);
/* 0 when the time is over; as pthread_cond_timedwait it may also wake for nothing. */
int pay_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, apr_int64_t until_ms);

/* 0 when the time is over. */
int pay_clock_sem_wait(sem_t *sem, apr_int64_t until_ms);

/* What pthread_mutex_lock returns, or ETIMEDOUT. */
int pay_clock_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms);

#endif
