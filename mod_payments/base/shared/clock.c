/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/clock.h"

#include <errno.h>
#include <time.h>

#ifdef __GLIBC__ /* in a line of its own: elsewhere the next one is not even C */
#if __GLIBC_PREREQ(2, 30)
#define HAS_CLOCK_WAITS 1
#endif
#endif

apr_int64_t pay_clock_us(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (apr_int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

apr_int64_t pay_clock_ms(void)
{
    return pay_clock_us() / 1000;
}

static struct timespec spec_of(apr_int64_t ms)
{
    const struct timespec spec = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    return spec;
}

#ifndef HAS_CLOCK_WAITS
static struct timespec wall_spec_of(apr_int64_t until_ms)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return spec_of((apr_int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + until_ms
                   - pay_clock_ms());
}
#endif

void pay_clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* APR's conditions wait by the wall clock */
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

int pay_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, apr_int64_t until_ms)
{
    const struct timespec until = spec_of(until_ms);

    return pthread_cond_timedwait(cond, mutex, &until) != ETIMEDOUT;
}

int pay_clock_sem_wait(sem_t *sem, apr_int64_t until_ms)
{
    int rc;

    do {
#ifdef HAS_CLOCK_WAITS
        const struct timespec until = spec_of(until_ms);

        rc = sem_clockwait(sem, CLOCK_MONOTONIC, &until);
#else
        const struct timespec until = wall_spec_of(until_ms);

        rc = sem_timedwait(sem, &until);
#endif
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

int pay_clock_mutex_lock(pthread_mutex_t *mutex, apr_int64_t until_ms)
{
#ifdef HAS_CLOCK_WAITS
    const struct timespec until = spec_of(until_ms);

    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
#else
    const struct timespec until = wall_spec_of(until_ms);

    return pthread_mutex_timedlock(mutex, &until);
#endif
}
