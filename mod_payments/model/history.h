/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_HISTORY_H
#define PAY_MODEL_HISTORY_H

/*
 * How far an acquirer's refunds have been fetched into a scope (docs/live-mode.md, "Refunds made
 * elsewhere"): periodically by the server, and over a range that paymentsctl requested, which the
 * server works on too, because only the server has the acquirer's key. Pure.
 */

#include "model/account.h"

#define PAY_HISTORY_ERROR_MAX 200 /* bytes of the stored sentence */

typedef struct pay_history_t {
    pay_scope_t scope;
    /* The server's own round. */
    apr_time_t fetched_until; /* everything created before it was fetched; 0: never fetched */
    apr_time_t due_at;        /* time of the next round */
    apr_time_t far_at;        /* time of the next look further back; 0: none was made yet */
    apr_time_t pending_from;  /* createdAt of the oldest pending one that it saw; 0: none */

    /* The last requested range; `asked` 0: there was no request. */
    apr_uint64_t asked;    /* incremented with each request */
    apr_uint64_t answered; /* the last request that ended; equal to `asked`: no request is under
                            * way */
    apr_time_t from, to;   /* both inclusive */
    apr_time_t done_until; /* start of the next window; 0: not begun */
    apr_uint64_t seen;     /* records so far */
    apr_uint64_t added;    /* of them new here */
    apr_uint64_t changed;  /* of them known with another status */
    apr_uint64_t refused;  /* of them not kept: the server's log says why */
    const char *error;     /* why it ended, or waits; "" if there is no error */

    /* Of a restored store (model/epoch.h): the epoch in which a range was requested that covers all
     * that its copy may lack, 0 if the range does not cover it; and the last epoch in which such a
     * range or round ended. */
    apr_uint32_t asked_epoch;
    apr_uint32_t synced_epoch;
} pay_history_t;

#endif
