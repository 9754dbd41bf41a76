/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"

#include "base/text/time.h"

#include <string.h>

/* What a person does to one event. */
typedef struct hand_t {
    pay_event_t place;
    int drop;
    apr_pool_t *p;
    pay_event_t *out; /* NULL: there is none */
    apr_status_t verdict;
} hand_t;

/* It is looked at now, whatever its back-off said. */
static int wake(pay_rows_txn_t *txn, const pay_event_t *event, apr_time_t now, int forgive,
                apr_pool_t *p)
{
    pay_endpoint_t *endpoint;
    int rc, changed = 1;

    rc = pay_store_endpoint_load(&endpoint, txn, &event->scope, event->endpoint, p);
    if (rc || !endpoint->enabled) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (forgive) {
        if (pay_endpoint_is_failing(endpoint)) { /* as after a success, but on probation */
            endpoint->failures = PAY_ENDPOINT_FAILURES_MAX - 1;
        }
        endpoint->probing = 0;
        endpoint->probes = 0;
        endpoint->failing_since = 0; /* else what waits as long would be given up untried */
        endpoint->due_at = now;
    } else {
        changed = pay_store_endpoint_hasten(endpoint, now);
    }
    return changed ? pay_store_endpoint_store(txn, endpoint, p) : MDB_SUCCESS;
}

static int retry(hand_t *hand, pay_rows_txn_t *txn, apr_time_t now)
{
    pay_event_t *event = hand->out;
    int rc;

    if (!event->due_at && !event->parked_at) {
        hand->verdict = APR_EBUSY;
        return PAY_ROWS_SILENT;
    }
    event->failures = 0;
    event->first_try_at = 0;
    if (event->parked_at || event->lease_worker.pid == 0) { /* what is on its way is left alone */
        rc = pay_store_event_move(txn, event, now, hand->p);
    } else {
        rc = pay_store_event_store(txn, event, hand->p);
    }
    return rc ? rc : wake(txn, event, now, 1, hand->p);
}

static int drop(hand_t *hand, pay_rows_txn_t *txn, apr_time_t now)
{
    int rc, any = 0;

    rc = pay_store_event_remove(txn, hand->out);
    if (!rc) {
        rc = pay_store_event_promote(&any, txn, hand->out, now, hand->p);
    }
    return rc || !any ? rc : wake(txn, hand->out, now, 0, hand->p);
}

static int hand_work(pay_rows_txn_t *txn, void *baton)
{
    const apr_time_t now = pay_time_now();
    hand_t *hand = baton;
    int rc;

    hand->verdict = APR_SUCCESS;
    rc = pay_store_event_load(&hand->out, txn, &hand->place, hand->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_ROWS_SILENT : rc;
    }
    return hand->drop ? drop(hand, txn, now) : retry(hand, txn, now);
}

static apr_status_t lay_hand_on(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const pay_event_t *place, int is_drop, apr_pool_t *p)
{
    hand_t hand = {.place = *place, .drop = is_drop, .p = p};
    apr_status_t rv;

    *out = NULL;
    hand.place.scope = *scope;
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, hand_work, &hand);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!hand.out) {
        return APR_NOTFOUND;
    }
    *out = hand.out;
    return hand.verdict;
}

apr_status_t pay_store_event_retry(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                   const pay_event_t *place, apr_pool_t *p)
{
    return lay_hand_on(out, store, scope, place, 0, p);
}

apr_status_t pay_store_event_drop(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                  const pay_event_t *place, apr_pool_t *p)
{
    return lay_hand_on(out, store, scope, place, 1, p);
}
