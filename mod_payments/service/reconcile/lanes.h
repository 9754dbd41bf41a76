/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_RECONCILE_LANES_H
#define PAY_SERVICE_RECONCILE_LANES_H

/*
 * Rows that wait for a thread, one lane for each acquirer (service/reconcile/dispatcher.h; no other
 * file includes it). The caller holds the lock of the lanes.
 */

#include "service/reconcile/parts.h"

struct pay_reconcile_lane_t;

/* Rows of one take, in a pool that is freed with the last of them. */
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

/* Zeroed except for the pool, in which the lanes live. */
typedef struct pay_reconcile_lanes_t {
    apr_pool_t *pool;
    struct pay_reconcile_lane_t *first, *turn;
    int queued, running;
} pay_reconcile_lanes_t;

/*
 * Queues the item, or finishes it if there is no room: a lane may use half of the room that is left
 * to it, and so may the next one.
 */
void pay_reconcile_lanes_add(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item);

/*
 * Returns the next item that may begin, from the lanes in turn, with a place among those that all
 * dispatchers of the process share; NULL if none exists now. Items whose leases end too soon are
 * finished. A lane may have half of the places that are left to it; one whose acquirer is out of
 * order gets one, and only now and then, until it answers; one that asked us to wait gets none.
 */
pay_reconcile_item_t *pay_reconcile_lanes_next(pay_reconcile_lanes_t *lanes);

/* The item has ended: frees its place and finishes it. */
void pay_reconcile_lanes_end(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item);

#endif
