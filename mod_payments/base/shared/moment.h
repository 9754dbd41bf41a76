/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_MOMENT_H
#define PAY_BASE_SHARED_MOMENT_H

/*
 * A point in time by the boot clock, which nobody can set: its age is known as long as the machine
 * runs. After a restart, or on another machine, it is unknown.
 */

#include <apr_time.h>

typedef struct pay_moment_t {
    apr_int64_t boot_id; /* as in pay_worker_t; 0: no moment */
    apr_int64_t ms;      /* pay_time_boot_ms */
} pay_moment_t;

/* Now. Tests may replace it (NULL restores the real one) while single-threaded. */
pay_moment_t pay_moment_now(void);
void pay_moment_set_source(pay_moment_t (*source)(void));

/*
 * Returns 1 and sets *age to the time since that moment. Returns 0 if it is unknown; *age is then
 * 0.
 */
int pay_moment_age(apr_interval_time_t *age, const pay_moment_t *moment);

/* Returns the time of that moment by the present wall clock, or `noted`, the wall clock's time at
 * that moment, if its age is unknown. */
apr_time_t pay_moment_wall(const pay_moment_t *moment, apr_time_t noted);

#endif
