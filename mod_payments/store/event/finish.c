/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/crypto.h"
#include "base/text/time.h"
#include "model/text.h"
#include "store/event/event.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define TOUCHED_MAX (2 * PAY_STORE_LEASES_MAX)
#define JITTER_PARTS 10 /* waits are lengthened by at most a tenth */

/* An endpoint of this batch, written once at its end. */
typedef struct touched_t {
    pay_endpoint_t *endpoint; /* NULL: it no longer exists */
    pay_scope_t scope;
    pay_endpoint_kind_t kind;
    apr_time_t look_at; /* 0: nothing new to check */
    int failed;         /* a result of this batch is a failure */
} touched_t;

typedef struct finish_t {
    apr_array_header_t *results;
    const unsigned char *jitter; /* one byte per result */
    apr_pool_t *p;
    apr_time_t now;
    apr_array_header_t *touched;
} finish_t;

static int touch(touched_t **out, finish_t *finish, pay_rows_txn_t *txn, const pay_event_t *event)
{
    touched_t fresh = {.scope = event->scope, .kind = event->endpoint};
    touched_t *known;
    int i, rc;

    for (i = 0; i < finish->touched->nelts; i++) {
        known = &APR_ARRAY_IDX(finish->touched, i, touched_t);
        if (known->kind == event->endpoint && known->scope.account == event->scope.account
            && known->scope.mode == event->scope.mode) {
            *out = known;
            return 0;
        }
    }
    rc = pay_store_endpoint_load(&fresh.endpoint, txn, &event->scope, event->endpoint, finish->p);
    if (rc && rc != PAY_ROWS_NOTFOUND && rc != PAY_ROWS_BAD) {
        return rc;
    }
    APR_ARRAY_PUSH(finish->touched, touched_t) = fresh;
    *out = &APR_ARRAY_IDX(finish->touched, finish->touched->nelts - 1, touched_t);
    return 0;
}

static void look(touched_t *touched, apr_time_t at)
{
    if (!touched->look_at || at < touched->look_at) {
        touched->look_at = at;
    }
}

static apr_interval_time_t lengthen(apr_interval_time_t wait, unsigned char jitter)
{
    return wait + wait / JITTER_PARTS * jitter / 255;
}

/* The endpoint answers: earlier failures are over. */
static void recover(touched_t *touched)
{
    if (touched->endpoint) {
        touched->endpoint->failures = 0;
        touched->endpoint->probes = 0;
        touched->endpoint->probing = 0;
        touched->endpoint->failing_since = 0;
        touched->failed = 0;
    }
}

static int deliver(finish_t *finish, pay_rows_txn_t *txn, touched_t *touched,
                   const pay_event_t *event)
{
    int rc, any;

    recover(touched);
    rc = pay_store_event_remove(txn, event);
    if (!rc) {
        rc = pay_store_event_promote(&any, txn, event, finish->now, finish->p);
    }
    look(touched, finish->now);
    return rc;
}

static int park(finish_t *finish, pay_rows_txn_t *txn, touched_t *touched, pay_event_t *event,
                pay_event_result_t *result)
{
    pay_event_t to_merchant = *event;
    touched_t *notice;
    int rc;

    result->parked = 1;
    rc = pay_store_event_park(txn, event, finish->now, finish->p);
    if (!rc) {
        to_merchant.endpoint = PAY_ENDPOINT_NOTICE;
        rc = touch(&notice, finish, txn, &to_merchant);
    }
    if (!rc && touched->endpoint && notice->endpoint) {
        rc = pay_store_event_of_parked(txn, event, touched->endpoint, notice->endpoint, finish->now,
                                       finish->p);
    }
    look(touched, finish->now);
    return rc;
}

static void note_failure(finish_t *finish, touched_t *touched)
{
    pay_endpoint_t *endpoint = touched->endpoint;

    touched->failed = 1;
    if (!endpoint) {
        return;
    }
    if (endpoint->failing_since > finish->now) { /* noted while the clock was ahead */
        endpoint->failing_since = finish->now;
    }
    if (pay_endpoint_is_failing(endpoint)) {
        endpoint->probes += endpoint->probing ? 1 : 0; /* those sent before it failed count once */
        endpoint->probing = 0;
        return;
    }
    endpoint->failures++;
    if (pay_endpoint_is_failing(endpoint) && !endpoint->failing_since) {
        endpoint->failing_since = finish->now;
    }
}

/* A time in the future was noted while the clock was ahead: tries would go on for that long. */
static void note_first_try(const finish_t *finish, pay_event_t *event)
{
    if (!event->first_try_at || event->first_try_at > finish->now) {
        event->first_try_at = finish->now;
    }
}

static int fail(finish_t *finish, pay_rows_txn_t *txn, touched_t *touched, pay_event_t *event,
                pay_event_result_t *result, unsigned char jitter)
{
    apr_time_t last;
    int rc;

    event->failures++;
    note_first_try(finish, event);
    last = event->first_try_at + PAY_EVENT_TRY_FOR;
    if (event->kind == PAY_EVENT_TEST) { /* the person who sent the test waits for the result */
        return park(finish, txn, touched, event, result);
    }
    note_failure(finish, touched);
    if (finish->now >= last) {
        return park(finish, txn, touched, event, result);
    }
    result->due_at = finish->now + lengthen(pay_event_wait(event->failures), jitter);
    result->due_at = result->due_at > last ? last : result->due_at;
    rc = pay_store_event_move(txn, event, result->due_at, finish->p);
    look(touched, result->due_at);
    return rc;
}

/* The receiver's answer, as valid UTF-8 text. */
static void note_answer(finish_t *finish, pay_event_t *event, touched_t *touched,
                        const pay_event_result_t *result)
{
    event->answered_at = finish->now;
    event->status = result->status;
    event->error = pay_text_printable(result->error, PAY_ENDPOINT_ERROR_MAX, finish->p);
    event->answer = pay_text_printable(result->answer, PAY_EVENT_ANSWER_MAX, finish->p);
    if (touched->endpoint) {
        touched->endpoint->answered_at = finish->now;
        touched->endpoint->status = result->status;
        touched->endpoint->error = event->error;
    }
}

static int finish_one(finish_t *finish, pay_rows_txn_t *txn, pay_event_result_t *result,
                      unsigned char jitter)
{
    pay_event_t *event;
    touched_t *touched;
    int rc;

    result->stored = 0;
    result->parked = 0;
    result->due_at = 0;
    rc = pay_store_event_load(&event, txn, result->event, finish->p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        return 0;
    }
    if (rc || event->leases != result->event->leases || !event->due_at
        || event->created_at != result->event->created_at
        || event->lease_worker.pid == 0) { /* leased by another by now, or reported already */
        return rc;
    }
    rc = touch(&touched, finish, txn, event);
    if (rc) {
        return rc;
    }
    result->stored = 1;
    memset(&event->lease_worker, 0, sizeof(event->lease_worker));
    event->lease_until_ms = 0;
    event->lease_until_at = 0;
    if (result->end == PAY_EVENT_RELEASED) {
        look(touched, finish->now);
        return pay_store_event_move(txn, event, finish->now, finish->p);
    }
    if (result->end == PAY_EVENT_WITHHELD) { /* it says nothing about the endpoint */
        event->error = result->error;
        if (touched->endpoint) {
            touched->endpoint->probing = 0;
        }
        return park(finish, txn, touched, event, result);
    }
    note_answer(finish, event, touched, result);
    if (result->end == PAY_EVENT_DELIVERED) {
        return deliver(finish, txn, touched, event);
    }
    if (result->end == PAY_EVENT_REFUSED) {
        recover(touched); /* affects this event only: the relay itself answers */
        event->failures++;
        note_first_try(finish, event);
        return park(finish, txn, touched, event, result);
    }
    return fail(finish, txn, touched, event, result, jitter);
}

/* A failing endpoint is left alone for its back-off, any other is checked when something is due. */
static int settle(finish_t *finish, pay_rows_txn_t *txn, touched_t *touched, unsigned char jitter)
{
    pay_endpoint_t *endpoint = touched->endpoint;

    if (!endpoint) {
        return 0;
    }
    if (endpoint->enabled && pay_endpoint_is_failing(endpoint) && touched->failed) {
        endpoint->due_at = finish->now + lengthen(pay_endpoint_wait(endpoint->probes), jitter);
    } else if (endpoint->enabled && touched->look_at
               && (!endpoint->due_at || touched->look_at < endpoint->due_at)) {
        endpoint->due_at = touched->look_at;
    }
    return pay_store_endpoint_store(txn, endpoint, finish->p);
}

static int finish_work(pay_rows_txn_t *txn, void *baton)
{
    finish_t *finish = baton;
    int i, rc = 0;

    /* Never grows: results hold pointers into it while the merchant's endpoint is added. */
    finish->touched = apr_array_make(finish->p, TOUCHED_MAX, sizeof(touched_t));
    for (i = 0; !rc && i < finish->results->nelts; i++) {
        rc = finish_one(finish, txn, &APR_ARRAY_IDX(finish->results, i, pay_event_result_t),
                        finish->jitter[i]);
    }
    for (i = 0; !rc && i < finish->touched->nelts; i++) {
        rc = settle(finish, txn, &APR_ARRAY_IDX(finish->touched, i, touched_t),
                    finish->jitter[i % PAY_STORE_LEASES_MAX]);
    }
    return rc;
}

apr_status_t pay_store_event_finish(pay_store_t *store, apr_array_header_t *results, apr_pool_t *p)
{
    unsigned char jitter[PAY_STORE_LEASES_MAX];
    finish_t finish = {.results = results, .jitter = jitter, .p = p};
    apr_status_t rv;

    assert(results->nelts >= 1);
    assert(results->nelts <= PAY_STORE_LEASES_MAX);
    rv = pay_random_bytes(jitter, sizeof(jitter));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    finish.now = pay_time_now();
    return pay_rows_commit(store, pay_turn_all(), 0, finish_work, &finish);
}

/* ---- retry and drop */

/* An operation of a person on one event. */
typedef struct hand_t {
    pay_event_t place;
    int drop;
    apr_pool_t *p;
    pay_event_t *out; /* NULL if it does not exist */
    apr_status_t verdict;
} hand_t;

/* The endpoint is checked now, whatever its back-off. */
static int wake(pay_rows_txn_t *txn, const pay_event_t *event, apr_time_t now, int forgive,
                apr_pool_t *p)
{
    pay_endpoint_t *endpoint;
    int rc, changed = 1;

    rc = pay_store_endpoint_load(&endpoint, txn, &event->scope, event->endpoint, p);
    if (rc || !endpoint->enabled) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (forgive) {
        if (pay_endpoint_is_failing(endpoint)) { /* as after a success, but on probation */
            endpoint->failures = PAY_ENDPOINT_FAILURES_MAX - 1;
        }
        endpoint->probing = 0;
        endpoint->probes = 0;
        endpoint->failing_since =
            0; /* else events that have waited as long would be parked untried */
        endpoint->due_at = now;
    } else {
        changed = pay_store_endpoint_hasten(endpoint, now);
    }
    return changed ? pay_store_endpoint_store(txn, endpoint, p) : 0;
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
    if (event->parked_at || event->lease_worker.pid == 0) { /* an event in delivery is left alone */
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
        return rc == PAY_ROWS_NOTFOUND ? PAY_ROWS_SILENT : rc;
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
