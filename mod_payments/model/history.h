/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_HISTORY_H
#define PAY_MODEL_HISTORY_H

/*
 * How far an acquirer's refunds have been fetched into a scope (docs/live-mode.md, "Refunds made
 * elsewhere"): by the server now and then, and over a range that paymentsctl asked for, which the
 * server works on too, because it alone holds the acquirer's key. Pure.
 */

#include "model/account.h"

#define PAY_HISTORY_ERROR_MAX 200 /* bytes of the sentence that is kept */

typedef struct pay_history_t {
    pay_scope_t scope;
    /* The server's own round. */
    apr_time_t fetched_until; /* everything created before it was fetched; 0: never */
    apr_time_t due_at;        /* of the next round */
    apr_time_t far_at;        /* of the next look further back; 0: there never was one */
    apr_time_t pending_from;  /* createdAt of the oldest one that it saw pending; 0: none */

    /* The range asked for last; asked 0: none ever was. */
    apr_uint64_t asked;    /* counts up with each request */
    apr_uint64_t answered; /* the last request that ended; equal to `asked`: none is under way */
    apr_time_t from, to;   /* both inclusive */
    apr_time_t done_until; /* where the next window begins; 0: not begun */
    apr_uint64_t seen;     /* records so far */
    apr_uint64_t added;    /* of them new here */
    apr_uint64_t changed;  /* of them known with another status */
    apr_uint64_t refused;  /* of them not kept: the server's log says why */
    const char *error;     /* why it ended, or waits; "" when all is well */

    /* Of a store that was put back (model/epoch.h): the epoch in which a range was asked for
     * that holds all that its copy may lack, 0: it does not; and the last one in which such a range
     * or such a round ended. */
    apr_uint32_t asked_epoch;
    apr_uint32_t synced_epoch;
} pay_history_t;

#endif
