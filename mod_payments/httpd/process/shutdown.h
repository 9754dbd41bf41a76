/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_SHUTDOWN_H
#define PAY_HTTPD_PROCESS_SHUTDOWN_H

/*
 * The shutdown of a child process, which by itself does not wait for the thread of a watchdog. All
 * work under way then shares one short time, counted from the first call of pay_shutdown_time or
 * pay_shutdown_wait: the parent sends a second signal, with a warning, after three seconds.
 */

#include <apr_time.h>
#include <stdatomic.h>

#define PAY_SHUTDOWN_DRAIN_MS 2000 /* for calls under way to end, */
#define PAY_SHUTDOWN_MS 2500       /* and for their results to be stored */

/* Returns 1 if the MPM is ending this process. */
int pay_shutdown_has_begun(void);

/* Returns the rest of the first `ms` of the shutdown; 0: they are over. */
apr_interval_time_t pay_shutdown_time(apr_int64_t ms);

/*
 * Waits until both are 0 (`owed` NULL: the first), or until PAY_SHUTDOWN_MS are over. Uses nothing
 * else of the process: a signal handler may be the caller.
 */
void pay_shutdown_wait(const atomic_int *busy, const atomic_int *owed);

#endif
