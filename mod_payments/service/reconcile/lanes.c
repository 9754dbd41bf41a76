/* SPDX-License-Identifier: Apache-2.0 */
#include "service/reconcile/lanes.h"

#include "base/text/time.h"
#include "service/reconcile/dispatcher.h"

#include <stdatomic.h>

#define PROBE_WAIT_MS 1000 /* between two queries to an acquirer that is out of order */

typedef struct pay_reconcile_lane_t {
    const pay_acquirer_t *acquirer; /* NULL: of rows without one */
    pay_reconcile_item_t *first, **last;
    int queued, running;
    int unanswered;                /* queries in a row */
    int is_back;                   /* it is out of order, and has answered since */
    apr_int64_t rest_until_ms;     /* boot clock: while it is out of order it is not queried
                                    * before */
    apr_int64_t patience_until_ms; /* it is not queried before at all */
    struct pay_reconcile_lane_t *next;
} lane_t;

/* Rows at their acquirers, of all dispatchers of this process. */
static _Atomic int under_way;

/* However many acquirers are stuck, there is something left for the next one. */
static int may_have_more(int has, int left)
{
    return left > 0 && has < (has + left > 2 ? (has + left) / 2 : 1);
}

static int take_place(const lane_t *lane)
{
    int taken = atomic_load(&under_way);

    while (may_have_more(lane->running, PAY_RECONCILE_QUERIES_MAX - taken)) {
        if (atomic_compare_exchange_weak(&under_way, &taken, taken + 1)) {
            return 1;
        }
    }
    return 0;
}

static void done(pay_reconcile_item_t *item)
{
    pay_reconcile_batch_t *batch = item->batch;

    batch->rows--;
    if (batch->rows == 0) {
        apr_pool_destroy(batch->pool);
    }
}

static pay_reconcile_item_t *pop(pay_reconcile_lanes_t *lanes, lane_t *lane)
{
    pay_reconcile_item_t *item = lane->first;

    lane->first = item->next;
    if (!lane->first) {
        lane->last = &lane->first;
    }
    lane->queued--;
    lanes->queued--;
    return item;
}

static void drop_late(pay_reconcile_lanes_t *lanes, lane_t *lane, apr_time_t now)
{
    while (lane->first && now >= lane->first->row.begin_before) {
        done(pop(lanes, lane));
    }
}

/* It asked us to wait: in answer to a query of this process, or to a payment of any. */
static int is_patient(const lane_t *lane, apr_int64_t now_ms)
{
    return now_ms < lane->patience_until_ms
           || (lane->acquirer && lane->acquirer->breaker
               && pay_breaker_held_ms(lane->acquirer->breaker) > 0);
}

/* Only payments close a breaker: the state of queries is kept here. */
static int may_ask(lane_t *lane)
{
    const apr_int64_t now_ms = pay_time_boot_ms();

    if (is_patient(lane, now_ms)) {
        return 0;
    }
    if (pay_reconcile_in_order(lane->acquirer)) {
        lane->is_back = 0;
        if (lane->unanswered < PAY_BREAKER_FAILURES) {
            return 1;
        }
    } else if (lane->is_back) {
        return 1;
    }
    return lane->running == 0 && now_ms >= lane->rest_until_ms;
}

static void learn(lane_t *lane, const pay_reconcile_answer_t *answer)
{
    const apr_int64_t now_ms = pay_time_boot_ms();

    lane->rest_until_ms = now_ms + PROBE_WAIT_MS;
    if (answer->patience > 0) {
        lane->patience_until_ms = now_ms + apr_time_as_msec(answer->patience);
    }
    if (answer->answered > 0) {
        lane->unanswered = 0;
        lane->is_back = !pay_reconcile_in_order(lane->acquirer);
    } else if (answer->answered < 0) {
        lane->unanswered++;
        lane->is_back = 0;
    }
}

static lane_t *lane_of(pay_reconcile_lanes_t *lanes, const pay_acquirer_t *acquirer)
{
    lane_t *lane;

    for (lane = lanes->first; lane; lane = lane->next) {
        if (lane->acquirer == acquirer) {
            return lane;
        }
    }
    lane = apr_pcalloc(lanes->pool, sizeof(*lane));
    lane->acquirer = acquirer;
    lane->last = &lane->first;
    lane->next = lanes->first;
    lanes->first = lane;
    return lane;
}

void pay_reconcile_lanes_add(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item)
{
    lane_t *lane = lane_of(lanes, item->row.acquirer);

    if (!may_have_more(lane->queued, PAY_RECONCILE_QUEUE_MAX - lanes->queued)) {
        done(item);
        return;
    }
    item->lane = lane;
    item->next = NULL;
    *lane->last = item;
    lane->last = &item->next;
    lane->queued++;
    lanes->queued++;
}

pay_reconcile_item_t *pay_reconcile_lanes_next(pay_reconcile_lanes_t *lanes)
{
    lane_t *const start = lanes->turn ? lanes->turn : lanes->first;
    const apr_time_t now = pay_time_now();
    lane_t *lane = start;

    while (lane) {
        drop_late(lanes, lane, now);
        lanes->turn = lane->next ? lane->next : lanes->first;
        if (lane->first && may_ask(lane) && take_place(lane)) {
            lane->running++;
            lanes->running++;
            return pop(lanes, lane);
        }
        lane = lanes->turn == start ? NULL : lanes->turn;
    }
    return NULL;
}

void pay_reconcile_lanes_end(pay_reconcile_lanes_t *lanes, pay_reconcile_item_t *item)
{
    learn(item->lane, &item->answer);
    item->lane->running--;
    lanes->running--;
    done(item);
    atomic_fetch_sub(&under_way, 1);
}
