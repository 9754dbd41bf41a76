/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAIL_H
#define FAIL_H

/*
 * Which calls fail: memory of the file that PAYMENTS_FAIL names, shared by the test and all
 * processes.
 */

#include <stdatomic.h>

#define FAIL_SHORT                                                                                 \
    (-1) /* in place of an errno: half of it is written, as on a disk that fills up */

typedef struct fail_t {
    /* Set by the test: 0, an errno, or for `data` FAIL_SHORT. */
    atomic_int data;    /* writes of pages */
    atomic_int sync;    /* syncs of what was written */
    atomic_int header;  /* writes of the header through O_DSYNC: they are executed, and then fail */
    atomic_int restore; /* LMDB's own attempt to restore the old header after that */
    /* Counts how often each failed. */
    atomic_int failed[4];
} fail_t;

#endif
