/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_WORKER_H
#define PAY_WORKER_H

/*
 * Who works on a row, and until when: a process that can be told from a later one with the same
 * pid. Only on the boot that it names does a process count as dead because it is gone; one of
 * another boot may run on another machine, where nobody here can look.
 */

#include <apr_time.h>

typedef struct pay_worker_t {
    apr_int64_t pid;         /* 0: nobody */
    apr_int64_t start_ticks; /* start time, field 22 of proc(5)'s stat */
    apr_int64_t boot_id;     /* 63 bits of /proc/sys/kernel/random/boot_id */
} pay_worker_t;

/* This process. Read anew after each fork, else cached. Thread-safe. */
pay_worker_t pay_worker_self(void);

/* A number that a forked process has another one of than its parent had when it forked: it tells
 * them apart without a system call. Thread-safe. */
unsigned int pay_worker_forks(void);

/* 1 when that very process still lives on this boot of this machine (seen from our PID namespace).
 * 0 says that it is dead only if it is of this boot: ask pay_worker_left. */
int pay_worker_alive(const pay_worker_t *worker);

/* No process gives itself longer for a piece of work. */
#define PAY_WORKER_TERM_MAX apr_time_from_sec(120)
/* For so long after its deadline one of another boot may still be at it: what is under way when the
 * deadline comes is not over yet, and the deadline is told by two clocks. */
#define PAY_WORKER_GRACE apr_time_from_sec(30)

/*
 * The deadline `until_ms` (boot clock) of this process as others are to know it: by the clock of
 * the store, which shows `now`. Never 0; at most PAY_WORKER_TERM_MAX ahead.
 */
apr_time_t pay_worker_until(apr_int64_t until_ms, apr_time_t now);

/*
 * How long the worker may still be at its work; 0: it is not, or there is none. One of this boot is
 * until it ends, or `until_ms` by the boot clock. One of another boot is until PAY_WORKER_GRACE
 * after `until_at`, both by the store's clock, which shows `now`. An `until_at` further ahead than
 * PAY_WORKER_TERM_MAX was noted while that clock was ahead, and is over. `until_at` 0 is of a row
 * of an earlier version, when a store was one machine's: then another boot is one that has ended.
 */
apr_interval_time_t pay_worker_left(const pay_worker_t *worker, apr_int64_t until_ms,
                                    apr_time_t until_at, apr_time_t now);

/* The PID namespace of this process (inode of /proc/self/ns/pid), 0 when unknown. */
apr_int64_t pay_worker_namespace(void);

#endif
