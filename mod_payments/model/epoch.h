/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_EPOCH_H
#define PAY_MODEL_EPOCH_H

/*
 * A store that is put back from a copy begins a new epoch: what happened after the copy was made is
 * not in it, and what it does next may have been done before (docs/operations.md, "Restoring a
 * backup").
 */

#include "base/shared/moment.h"

#include <apr_time.h>

/* A copy put back may lack a refund that a shop asks for again so long after it was confirmed:
 * until then all that it asks for is refused, and it goes on asking. */
#define PAY_EPOCH_REPEAT_WINDOW apr_time_from_sec(24 * 3600)

typedef struct pay_epoch_t {
    apr_uint32_t number;     /* 0: the store was never put back; each epoch has a higher one */
    apr_time_t copied_at;    /* of the backup; 0: not known, as of a copy made by other means */
    apr_time_t began_at;     /* 0 with number 0 */
    int held;                /* 1: live refunds and events wait for a person to confirm it */
    apr_time_t confirmed_at; /* 0: it was not */

    /* Which file holds the rows: that of another file is a copy. */
    apr_uint64_t inode;
    apr_int64_t born_us; /* when the file was made, microseconds; 0: its file system does not say */
    int is_backup;       /* 1: made by store backup, and not written to since */

    pay_moment_t began;     /* began_at by the boot clock */
    pay_moment_t confirmed; /* confirmed_at by it; none of an epoch that an earlier version ended */

    apr_time_t copied_after; /* where copied_at is not known: when the newest charge in it was made,
                              * not behind began_at; 0: there is none */
} pay_epoch_t;

/*
 * From when refunds may be missing: when the copy was made, or something that is in it; 0: nothing
 * is known. `fetched_until`: how far refunds were fetched into it. Times behind the epoch's own
 * begin are those of a clock that was ahead.
 */
static inline apr_time_t pay_epoch_copied_at(const pay_epoch_t *epoch, apr_time_t fetched_until)
{
    if (epoch->copied_at > 0 && epoch->copied_at <= epoch->began_at) {
        return epoch->copied_at;
    }
    return fetched_until > 0 && fetched_until <= epoch->began_at ? fetched_until
                                                                 : epoch->copied_after;
}

/* 1: its hold ended within PAY_EPOCH_REPEAT_WINDOW, or where that is not known it was put back
 * within it, however the clock was set since; where the boot clock cannot tell, the wall clock
 * does. */
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
