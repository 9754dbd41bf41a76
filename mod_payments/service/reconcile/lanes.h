/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_LANES_H
#define PAY_SERVICE_RECONCILE_LANES_H

/*
 * Rows that wait for a thread, a lane for each acquirer (service/reconcile/desk.h; nobody else
 * includes it). Whoever calls holds the lock of the lanes.
 */

#include "service/reconcile/parts.h"

struct pay_reconcile_lane_t;

/* Rows of one take, in a pool that goes with the last of them. */
typedef struct pay_reconcile_batch_t {
    apr_pool_t *pool;
    int rows;
} pay_reconcile_batch_t;

typedef struct pay_reconcile_item_t {
    pay_reconcile_row_t row;
    pay_reconcile_answer_t answer;
    pay_reconcile_batch_t *batch;
    struct pay_reconcile_lane_t *lane;
    struct pay_reconcile_item_t *next;
} pay_reconcile_item_t;

/* Zeroed but for the pool, in which the lanes live. */
typedef struct pay_reconcile_lanes_t {
    apr_pool_t *pool;
    struct pay_reconcile_lane_t *first, *turn;
    int queued, running;
} pay_reconcile_lanes_t;

/*
 * The item waits, or is done with when there is no room: a lane may have half of the room that is
 * left to it, and so has the next one.
 */
void pay_reconcile_lanes_add(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item);

/*
 * The next one that may begin, from the lanes in turn, with a place among those that all desks of
 * the process have; NULL: none now. Those whose lease ends too soon are done with. A lane may have
 * half of the places that are left to it; one whose acquirer is out of order one, and that now and
 * then, until it answers; one that asks for patience none.
 */
pay_reconcile_item_t *pay_reconcile_lanes_next(pay_reconcile_lanes_t *lanes);

/* It has ended: its place is free, and it is done with. */
void pay_reconcile_lanes_end(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item);

#endif
