/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_SHARED_MUTEX_H
#define PAY_BASE_SHARED_SHARED_MUTEX_H

/*
 * A mutex in memory that processes share. A process that dies releases it, so the data that it
 * guards must be consistent, or at worst slightly off, after each single change.
 */

#include <apr.h>
#include <pthread.h>

/* Returns 0, or an errno if the platform lacks such a mutex. */
int pay_shared_mutex_init(pthread_mutex_t *mutex);

/*
 * Waits until `until_ms` of pay_clock_ms, and at least PAY_SHARED_MUTEX_STEP_MS. Returns 1 if the
 * caller now holds it, 0 if another process keeps it and is stopped.
 */
#define PAY_SHARED_MUTEX_STEP_MS 50
int pay_shared_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms);

#endif
