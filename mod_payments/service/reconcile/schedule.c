/* SPDX-License-Identifier: Apache-2.0 */

/* When an acquirer is queried again (docs/live-mode.md). */

#include "service/reconcile/reconcile.h"

#define FIRST_WAIT apr_time_from_sec(1)
#define LONGEST_FIRST_WAIT apr_time_from_sec(60)
#define DOUBLINGS_MAX 6 /* 1 s doubled six times is above the longest first wait */
#define HOUR apr_time_from_sec(3600)
#define DAY (24 * HOUR)
#define DAILY_AFTER (90 * DAY)

apr_time_t pay_reconcile_next(apr_time_t now, apr_time_t created_at, apr_uint32_t attempts)
{
    apr_interval_time_t age = now - created_at;
    apr_interval_time_t wait;

    if (age >= DAILY_AFTER) {
        return now + DAY;
    }
    if (age >= HOUR) {
        return now + HOUR;
    }
    if (attempts > DOUBLINGS_MAX) {
        return now + LONGEST_FIRST_WAIT;
    }
    wait = FIRST_WAIT << (attempts ? attempts - 1 : 0);
    return now + (wait < LONGEST_FIRST_WAIT ? wait : LONGEST_FIRST_WAIT);
}

apr_time_t pay_reconcile_next_late(apr_time_t now, apr_time_t decided_at)
{
    static const apr_interval_time_t after[] = {6 * HOUR, DAY, 3 * DAY, 7 * DAY};
    apr_size_t i;

    if (decided_at > now) { /* by a clock that was ahead */
        decided_at = now;
    }
    for (i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        if (decided_at + after[i] > now) {
            return decided_at + after[i];
        }
    }
    return 0;
}
