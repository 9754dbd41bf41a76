/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_WORKER_H
#define PAY_BASE_SHARED_WORKER_H

/*
 * Which process works on a row, and until when, in a form that distinguishes it from a later
 * process with the same pid. A process counts as dead because it is gone only on the boot that it
 * names; one of another boot may run on another machine, where we cannot look.
 */

#include <apr_time.h>

typedef struct pay_worker_t {
    apr_int64_t pid;         /* 0: nobody */
    apr_int64_t start_ticks; /* start time, field 22 of proc(5)'s stat */
    apr_int64_t boot_id;     /* 63 bits of /proc/sys/kernel/random/boot_id */
} pay_worker_t;

/* Returns this process. Read again after each fork, else cached. Thread-safe. */
pay_worker_t pay_worker_self(void);

/* Returns a number that differs between a process and its parent. Makes no system call.
 * Thread-safe. */
unsigned int pay_worker_forks(void);

/* Returns 1 if that very process still lives on this boot of this machine (seen from our PID
 * namespace). 0 means that it is dead only if it is of this boot: see pay_worker_left. */
int pay_worker_alive(const pay_worker_t *worker);

/* No process takes longer than this for a piece of work. */
#define PAY_WORKER_TERM_MAX apr_time_from_sec(120)
/* How long a worker of another boot may go on after its deadline: work under way at that time may
 * still finish, and the clocks of two machines differ. */
#define PAY_WORKER_GRACE apr_time_from_sec(30)

/*
 * Converts the deadline `until_ms` (boot clock) of this process to the store's clock, which shows
 * `now`. Never 0; at most PAY_WORKER_TERM_MAX ahead.
 */
apr_time_t pay_worker_until(apr_int64_t until_ms, apr_time_t now);

/*
 * Returns how long the worker may still be at work, or 0 if it is not, or if there is no worker. A
 * worker of this boot is at work until its process ends or the boot clock reaches `until_ms`; one
 * of another boot, until PAY_WORKER_GRACE after `until_at`. `until_at` and `now` are by the store's
 * clock. An `until_at` more than PAY_WORKER_TERM_MAX ahead was written while that clock was ahead,
 * and counts as over. `until_at` is 0 in rows of earlier versions, whose stores belonged to one
 * machine: a worker of another boot has ended.
 */
apr_interval_time_t pay_worker_left(const pay_worker_t *worker, apr_int64_t until_ms,
                                    apr_time_t until_at, apr_time_t now);

/* Returns the PID namespace of this process (inode of /proc/self/ns/pid), 0 if unknown. */
apr_int64_t pay_worker_namespace(void);

#endif
