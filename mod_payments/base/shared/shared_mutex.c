/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/shared_mutex.h"

#include "base/shared/clock.h"

#include <errno.h>

int pay_shared_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    int rc;

    rc = pthread_mutexattr_init(&attr);
    if (rc) {
        return rc;
    }
    rc = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (!rc) {
        rc = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    }
    if (!rc) {
        rc = pthread_mutex_init(mutex, &attr);
    }
    pthread_mutexattr_destroy(&attr);
    return rc;
}

/* In short steps: a wake-up that a killed process owed is lost. */
int pay_shared_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms)
{
    int rc;

    do {
        rc = pay_clock_mutex_lock(mutex, pay_clock_ms() + PAY_SHARED_MUTEX_STEP_MS);
    } while (rc == ETIMEDOUT && pay_clock_ms() < until_ms);
    if (rc == EOWNERDEAD) {
        rc = pthread_mutex_consistent(mutex);
    }
    return rc == 0;
}
