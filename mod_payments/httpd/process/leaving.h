/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_LEAVING_H
#define PAY_HTTPD_PROCESS_LEAVING_H

/*
 * The end of a child process, which waits for no watchdog's thread by itself. All that is at work
 * then shares one short time, counted from the first call of pay_leaving_time or pay_leaving_wait:
 * the parent sends a second signal, with a warning, after three seconds.
 */

#include <apr_time.h>
#include <stdatomic.h>

#define PAY_LEAVING_DRAIN_MS 2000 /* for calls that are under way to end, */
#define PAY_LEAVING_MS 2500       /* and for what they brought to be stored */

/* 1: the MPM ends this process. */
int pay_leaving(void);

/* What is left of the first `ms` of the end; 0: they are over. */
apr_interval_time_t pay_leaving_time(apr_int64_t ms);

/*
 * Waits until both are 0 (`owed` NULL: the one), or PAY_LEAVING_MS are over. It works by itself: a
 * signal handler may have brought us here.
 */
void pay_leaving_wait(const atomic_int *busy, const atomic_int *owed);

#endif
