/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BREAKER_FIXTURE_H
#define BREAKER_FIXTURE_H

/* A breaker in memory that processes share, and a boot clock that its tests set. */

#include "base/shared/breaker.h"
#include "base/text/time.h"

#include "unit.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define TICKETS_MAX 2048
#define START_MS 5000

/* Shared by processes: the clock, the breaker and their counters. */
typedef struct shared_t {
    _Atomic apr_int64_t now_ms;
    _Atomic int granted;
    _Atomic int ready;
    _Atomic int round;
    _Atomic int bad;
    _Alignas(16) char memory[64];
} shared_t;

static shared_t *shared;

static apr_int64_t shared_now_ms(void)
{
    return atomic_load(&shared->now_ms);
}

static inline pay_breaker_t *make_breaker(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    ck_assert_uint_le(pay_breaker_size(), sizeof(shared->memory));
    memset(shared->memory, 0xa5, sizeof(shared->memory));
    atomic_store(&shared->now_ms, START_MS);
    pay_time_set_boot_source(shared_now_ms);
    return pay_breaker_init(shared->memory);
}

static inline void pass_ms(apr_int64_t ms)
{
    atomic_fetch_add(&shared->now_ms, ms);
}

/* Returns the ticket, or less than 0: minus the milliseconds to wait. */
static inline int enter(pay_breaker_t *breaker)
{
    apr_int64_t retry_after_ms = -1;
    int ticket = pay_breaker_enter(breaker, &retry_after_ms);

    if (ticket) {
        ck_assert_int_gt(ticket, 0);
        ck_assert_int_le(ticket, TICKETS_MAX);
        ck_assert_int_eq(retry_after_ms, 0);
        return ticket;
    }
    ck_assert_int_ge(retry_after_ms, 1);
    return -(int)retry_after_ms;
}

static inline void fail_times(pay_breaker_t *breaker, int times)
{
    int i;

    for (i = 0; i < times; i++) {
        int ticket = enter(breaker);

        ck_assert_int_gt(ticket, 0);
        pay_breaker_failure(breaker, ticket);
    }
}

#endif
