/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_WORKER_H
#define PAY_WORKER_H

/* Who works on a row: a process that can be told from a later one with the same pid. */

#include <apr.h>

typedef struct pay_worker_t {
    apr_int64_t pid;         /* 0: nobody */
    apr_int64_t start_ticks; /* start time, field 22 of proc(5)'s stat */
    apr_int64_t boot_id;     /* 63 bits of /proc/sys/kernel/random/boot_id */
} pay_worker_t;

/* This process. Read anew after each fork, else cached. Thread-safe. */
pay_worker_t pay_worker_self(void);

/* 1 when that very process still lives on this boot of this machine (seen from our PID namespace).
 */
int pay_worker_alive(const pay_worker_t *worker);

/* The PID namespace of this process (inode of /proc/self/ns/pid), 0 when unknown. */
apr_int64_t pay_worker_namespace(void);

#endif
