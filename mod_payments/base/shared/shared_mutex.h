/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SHARED_MUTEX_H
#define PAY_BASE_SHARED_SHARED_MUTEX_H

/*
 * A mutex in memory that processes share. One that dies gives it back, so what it guards must be
 * whole, or at worst a little wrong, after each single change.
 */

#include <apr.h>
#include <pthread.h>

/* 0, or an errno: there is no such mutex here. */
int pay_shared_mutex_init(pthread_mutex_t *mutex);

/*
 * Waits until then by pay_clock_ms, and PAY_SHARED_MUTEX_STEP_MS at least. 1: it is held; 0:
 * another process keeps it, and is stopped.
 */
#define PAY_SHARED_MUTEX_STEP_MS 50
int pay_shared_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms);

#endif
