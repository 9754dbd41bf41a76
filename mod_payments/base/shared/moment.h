/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_MOMENT_H
#define PAY_BASE_SHARED_MOMENT_H

/*
 * A point in time by the boot clock, which nobody can set: how long ago it was is known as long as
 * the machine runs. After a restart, or on another machine, it is not.
 */

#include <apr_time.h>

typedef struct pay_moment_t {
    apr_int64_t boot_id; /* as in pay_worker_t; 0: there is no such moment */
    apr_int64_t ms;      /* pay_time_boot_ms */
} pay_moment_t;

/* Now. Tests may replace it (NULL restores the real one) while single-threaded. */
pay_moment_t pay_moment_now(void);
void pay_moment_set_source(pay_moment_t (*source)(void));

/* 1: *age is the time since that moment. 0: it is not known, and *age is 0. */
int pay_moment_age(apr_interval_time_t *age, const pay_moment_t *moment);

/* What the wall clock of now says of that moment; `noted`, what it said then, where the age is not
 * known. */
apr_time_t pay_moment_wall(const pay_moment_t *moment, apr_time_t noted);

#endif
