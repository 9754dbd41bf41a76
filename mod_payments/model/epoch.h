/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_EPOCH_H
#define PAY_MODEL_EPOCH_H

/*
 * A store that is restored from a copy begins a new epoch: it lacks everything that happened after
 * the copy was made, and its next actions may repeat earlier ones (docs/operations.md, "Restoring a
 * backup").
 */

#include "base/shared/moment.h"

#include <apr_time.h>

/* A restored copy may lack a refund that a shop requests again up to this long after it was
 * confirmed: until then all such requests are refused, and the shop keeps asking. */
#define PAY_EPOCH_REPEAT_WINDOW apr_time_from_sec(24 * 3600)

typedef struct pay_epoch_t {
    apr_uint32_t number;     /* 0: the store was never restored; each epoch has a higher number */
    apr_time_t copied_at;    /* of the backup; 0: unknown, for a copy made by other means */
    apr_time_t began_at;     /* 0 with number 0 */
    int held;                /* 1: live refunds and events wait until a person confirms the epoch */
    apr_time_t confirmed_at; /* 0: not confirmed */

    /* The file that contains the rows: rows that name another file were copied. */
    apr_uint64_t inode;
    apr_int64_t born_us; /* when the file was made, microseconds; 0: its file system does not record
                          * that */
    int is_backup;       /* 1: made by store backup, and not written to since */

    pay_moment_t began;     /* began_at by the boot clock */
    pay_moment_t confirmed; /* confirmed_at by the boot clock; zero for an epoch that an earlier
                             * version ended */

    apr_time_t copied_after; /* if copied_at is unknown: when the newest charge in it was made, at
                              * most began_at; 0: there is no charge */
} pay_epoch_t;

/*
 * Returns the time from which refunds may be missing: when the copy was made, or the time of a
 * record in it; 0 if nothing is known. `fetched_until`: how far refunds were fetched into it. Times
 * after the epoch's own beginning are those of a clock that was ahead.
 */
static inline apr_time_t pay_epoch_copied_at(const pay_epoch_t *epoch, apr_time_t fetched_until)
{
    if (epoch->copied_at > 0 && epoch->copied_at <= epoch->began_at) {
        return epoch->copied_at;
    }
    return fetched_until > 0 && fetched_until <= epoch->began_at ? fetched_until
                                                                 : epoch->copied_after;
}

/* Returns 1 if its hold ended within PAY_EPOCH_REPEAT_WINDOW, or, if that is unknown, if it was
 * restored within it, however the clock was set since; if the boot clock cannot decide, the wall
 * clock does. */
static inline int pay_epoch_is_recent(const pay_epoch_t *epoch, apr_time_t now)
{
    const int known = epoch->confirmed.boot_id != 0;
    apr_interval_time_t age;

    if (!pay_moment_age(&age, known ? &epoch->confirmed : &epoch->began)) {
        age = now - (known ? epoch->confirmed_at : epoch->began_at);
    }
    return epoch->number > 0 && age < PAY_EPOCH_REPEAT_WINDOW;
}

#endif
