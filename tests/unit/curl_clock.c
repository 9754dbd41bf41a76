/* SPDX-License-Identifier: Apache-2.0 */
#include "curl_clock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic apr_int64_t ahead_ms;

/* Precedes libc's function, for libcurl too. The kernel's own answer, without libc's
 * optimisation. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);

    if (rc == 0 && clock == CLOCK_MONOTONIC) {
        apr_int64_t ms = atomic_load(&ahead_ms) + now->tv_nsec / 1000000;

        now->tv_sec += (time_t)(ms / 1000);
        now->tv_nsec = (long)(ms % 1000) * 1000000 + now->tv_nsec % 1000000;
    }
    return rc;
}

void curl_clock_pass(apr_int64_t ms)
{
    atomic_fetch_add(&ahead_ms, ms);
}

void curl_clock_restore(void)
{
    atomic_store(&ahead_ms, 0);
}
