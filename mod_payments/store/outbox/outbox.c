/* SPDX-License-Identifier: Apache-2.0 */
#include "store/outbox/outbox.h"

#include "base/text/time.h"
#include "model/recipients.h"
#include "store/event/event.h"
#include "store/event/mailed.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/epoch.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

/*
 * The webhook event that a notice to the merchant reports, unless it was dropped or delivered
 * since.
 */
static int load_parked(pay_event_t *event, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_event_t place = *event, *parked;
    int rc;

    place.endpoint = PAY_ENDPOINT_WEBHOOK;
    place.charge_seq = pay_event_charge_seq(event);
    rc = pay_store_event_load(&parked, txn, &place, p);
    event->parked = parked;
    return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
}

int pay_store_event_records(pay_event_t *event, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_store_refund_t *refund = NULL;
    pay_charge_t *charge = NULL;
    pay_store_key_t key;
    pay_bytes_t at;
    int rc = 0;

    if (event->charge_seq) {
        rc = pay_store_charge_get(&charge, txn, &event->scope, pay_event_charge_seq(event), p);
    }
    if (!rc && event->kind == PAY_EVENT_REFUND) {
        pay_store_refund_key(&key, &event->scope, event->refund_created_at, event->refund_seq);
        at = pay_store_key_val(&key);
        rc = pay_store_refund_get(&refund, txn, &at, p);
    }
    if (rc == PAY_ROWS_NOTFOUND || (!rc && !charge && event->kind != PAY_EVENT_TEST)) {
        pay_store_event_key(&key, event);
        at = pay_store_key_val(&key);
        return pay_rows_bad(PAY_TABLE_EVENT, &at);
    }
    event->charge = charge;
    event->refund = refund ? &refund->refund : NULL;
    return rc || event->kind != PAY_EVENT_PARKED ? rc : load_parked(event, txn, p);
}

/* ---- taking due events */

#define ENDPOINTS_MAX 64                  /* examined in one transaction */
#define LOOKS_MAX 32                      /* transactions of one take that find nothing to send */
#define PARK_OLD_MAX 256                  /* events parked with their endpoint in one transaction */
#define PUT_OFF_MAX 64                    /* receipts waiting for room that one transaction skips */
#define BUSY_WAIT apr_time_from_msec(100) /* for an endpoint that has as many as it may have */
#define HELD_WAIT apr_time_from_sec(5)    /* for a Live Mode endpoint in a restored store */
#define IDLE_WAIT(kind) apr_time_from_sec((kind) == PAY_ENDPOINT_WEBHOOK ? 5 : 60)
#define LEASE apr_time_from_msec(PAY_STORE_LEASE_MS)

_Static_assert(LEASE <= PAY_WORKER_TERM_MAX, "else it would count as over");

typedef struct take_t {
    int limit;
    pay_event_budget_t *budget;
    void *baton;
    apr_pool_t *p;
    apr_time_t now;     /* the store's clock, in the transaction */
    apr_int64_t now_ms; /* boot clock, before waiting for the writer lock */
    pay_worker_t self;
    int held;                /* 1: Live Mode events wait for a person */
    apr_array_header_t *out; /* of pay_taken_t */
    int more;                /* 1: more endpoints may be due than one transaction examines */
} take_t;

/* Entries due from that time on were postponed while the clock was ahead. */
static apr_time_t beyond(const take_t *take)
{
    return take->now + PAY_STORE_EVENT_LONGEST + 1;
}

/* The event of an entry; *out is NULL if the entry was a leftover, which is removed now. */
static int event_of(pay_event_t **out, pay_rows_txn_t *txn, const pay_bytes_t *entry, apr_pool_t *p)
{
    pay_event_t place;
    int rc = PAY_ROWS_NOTFOUND;

    *out = NULL;
    if (pay_store_event_entry_read(&place, entry)) {
        rc = pay_store_event_first(out, txn, &place, p);
    }
    if (rc == 0 && (*out)->due_at == place.due_at) {
        return 0;
    }
    *out = NULL;
    if (rc && rc != PAY_ROWS_NOTFOUND && rc != PAY_ROWS_BAD) {
        return rc;
    }
    /* A row that does not decode waits for repair. */
    return pay_store_entry_del(txn, PAY_TABLE_EVENT_DUE, entry);
}

/* When the event must be checked again, because another process may still be sending it; 0: no
 * process is. */
static apr_time_t leased_until(const take_t *take, const pay_event_t *event)
{
    const apr_interval_time_t left = pay_worker_left(&event->lease_worker, event->lease_until_ms,
                                                     event->lease_until_at, take->now);

    if (left == 0) {
        return 0;
    }
    return take->now + (left < LEASE ? left : LEASE);
}

/* Sets *listed to 1 if Test Mode may write to the address: the merchant's own, or a listed one. */
static int is_listed(int *listed, take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                     const char *address)
{
    pay_endpoint_t *notice;
    int rc;

    *listed = endpoint->scope.mode != PAY_TEST || pay_recipients_has(endpoint->recipients, address);
    if (*listed) {
        return 0;
    }
    rc = pay_store_endpoint_load(&notice, txn, &endpoint->scope, PAY_ENDPOINT_NOTICE, take->p);
    if (!rc) {
        *listed = notice->enabled && strcasecmp(notice->address, address) == 0;
    }
    return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
}

/*
 * Judges whether a receipt may be sent. Sets *until to the time when the limit has room for
 * it, or to 0 if it has room already, and *withheld to 1 if the receipt may never be sent. A
 * receipt is counted before its first attempt, not again for a later one.
 */
static int judge_receipt(apr_time_t *until, int *withheld, take_t *take, pay_rows_txn_t *txn,
                         const pay_endpoint_t *endpoint, const pay_event_t *event)
{
    const char *address = event->charge ? event->charge->email : "";
    int rc, listed;

    *until = 0;
    *withheld = 0;
    if (endpoint->kind != PAY_ENDPOINT_RECEIPT || !*address) {
        return 0;
    }
    rc = is_listed(&listed, take, txn, endpoint, address);
    *withheld = !rc && !listed;
    if (rc || *withheld || event->first_try_at) {
        return rc;
    }
    return pay_store_mailed_count(until, txn, &endpoint->scope, address, take->now, take->p);
}

static int take_event(take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                      pay_event_t *event)
{
    pay_taken_t taken = {event, endpoint, 0};
    apr_time_t until = leased_until(take, event);
    int rc;

    if (until) {
        return pay_store_event_move(txn, event, until, take->p);
    }
    rc = pay_store_event_records(event, txn, take->p);
    if (rc == PAY_ROWS_BAD) { /* logged; a person can repair or drop it */
        event->error = "a record that it reports cannot be read";
        return pay_store_event_park(txn, event, take->now, take->p);
    }
    if (!rc) {
        rc = judge_receipt(&until, &taken.withheld, take, txn, endpoint, event);
    }
    if (rc) {
        return rc;
    }
    if (until) {
        event->error = PAY_EVENT_NO_ROOM;
        return pay_store_event_move(txn, event, until, take->p);
    }
    event->leases++;
    event->lease_worker = take->self;
    event->lease_until_ms = take->now_ms + PAY_STORE_LEASE_MS;
    event->lease_until_at = take->now + LEASE;
    rc = pay_store_event_move(txn, event, take->now + LEASE, take->p);
    if (!rc) {
        APR_ARRAY_PUSH(take->out, pay_taken_t) = taken;
    }
    return rc;
}

/*
 * For an endpoint that has been failing for as long as an event is tried: events that are as old,
 * or were first tried as long ago, are parked, except for the first one, which probes it. *more is
 * 1 if there may be others.
 */
static int park_old(int *more, take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint)
{
    const apr_time_t before = take->now - PAY_EVENT_TRY_FOR;
    apr_array_header_t *list = apr_array_make(take->p, 16, sizeof(pay_bytes_t));
    pay_store_timed_t timed;
    pay_endpoint_t *notice;
    pay_event_t *event;
    int i, rc;

    *more = 0;
    if (!endpoint->failing_since || endpoint->failing_since > before) {
        return 0;
    }
    rc = pay_store_endpoint_load(&notice, txn, &endpoint->scope, PAY_ENDPOINT_NOTICE, take->p);
    if (!rc || rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        pay_store_event_timed(&timed, &endpoint->scope, endpoint->kind);
        rc = pay_store_entries_between(list, txn, &timed, APR_INT64_MIN, APR_INT64_MAX,
                                       PARK_OLD_MAX);
    }
    for (i = 0; !rc && i < list->nelts; i++) {
        rc = event_of(&event, txn, &APR_ARRAY_IDX(list, i, pay_bytes_t), take->p);
        if (rc || !event || leased_until(take, event) /* its result is yet to come */
            || (event->first_try_at ? i == 0 || event->first_try_at > before
                                    : event->created_at > before)) {
            continue;
        }
        *more = 1;
        event->error = "its endpoint was failing all the time";
        rc = pay_store_event_park(txn, event, take->now, take->p);
        if (!rc && notice) {
            rc = pay_store_event_of_parked(txn, event, endpoint, notice, take->now, take->p);
        }
    }
    return rc;
}

/* When the endpoint must be checked again: the time of its first entry; 0: nothing waits. */
static int next_look(apr_time_t *next, take_t *take, pay_rows_txn_t *txn,
                     const pay_endpoint_t *endpoint)
{
    pay_store_timed_t timed;
    apr_time_t far;
    int rc;

    pay_store_event_timed(&timed, &endpoint->scope, endpoint->kind);
    rc = pay_store_entries_next(next, txn, &timed, APR_INT64_MIN, take->p);
    if (rc || !*next) {
        return rc;
    }
    rc = pay_store_entries_next(&far, txn, &timed, beyond(take), take->p);
    if (!rc && (*next < take->now || far)) {
        *next = take->now;
    }
    return rc;
}

/*
 * A person waits for the result of a test: it takes precedence over events that have waited longer.
 */
static int take_test(take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint)
{
    pay_event_t place, *test;
    int rc;

    memset(&place, 0, sizeof(place));
    place.scope = endpoint->scope;
    place.endpoint = endpoint->kind;
    rc = pay_store_event_first(&test, txn, &place, take->p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        return 0;
    }
    if (rc || !test->due_at
        || !pay_time_is_over(test->due_at, take->now, PAY_STORE_EVENT_LONGEST)) {
        return rc;
    }
    return take_event(take, txn, endpoint, test);
}

/* Takes due events, a test first, at most `budget`. */
static int take_some(take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint, int budget)
{
    const int full = take->out->nelts + budget;
    apr_array_header_t *list;
    pay_store_timed_t timed;
    pay_event_t *event;
    int i, rc;

    rc = take_test(take, txn, endpoint);
    if (rc || take->out->nelts == full) {
        return rc;
    }
    pay_store_event_timed(&timed, &endpoint->scope, endpoint->kind);
    rc = pay_store_entries_due(&list, txn, &timed, take->now, beyond(take),
                               full - take->out->nelts + PUT_OFF_MAX, take->p);
    for (i = 0; !rc && i < list->nelts && take->out->nelts < full; i++) {
        rc = event_of(&event, txn, &APR_ARRAY_IDX(list, i, pay_bytes_t), take->p);
        if (!rc && event) {
            rc = take_event(take, txn, endpoint, event);
        }
    }
    return rc;
}

/*
 * For an endpoint with something due: takes as many as allowed, and sets the time of the next
 * check.
 */
static int take_what_may(apr_time_t *next, take_t *take, pay_rows_txn_t *txn,
                         pay_endpoint_t *endpoint)
{
    const int before = take->out->nelts, left = take->limit - before;
    int budget = take->budget(take->baton, endpoint, PAY_EVENT_BUDGET_ASK);
    int rc = 0, more = 0;

    *next = take->now + (budget < 0 ? IDLE_WAIT(endpoint->kind) : BUSY_WAIT);
    if (pay_endpoint_is_failing(endpoint)) {
        budget = budget > 1 ? 1 : budget;
        rc = park_old(&more, take, txn, endpoint);
    }
    budget = budget > left ? left : budget;
    if (more) {
        *next = take->now;
    }
    if (rc || more || budget <= 0) {
        return rc;
    }
    rc = take_some(take, txn, endpoint, budget);
    (void)take->budget(take->baton, endpoint, take->out->nelts - before);
    if (!rc && pay_endpoint_is_failing(endpoint) && take->out->nelts > before) {
        endpoint->probing = 1;
        *next = take->now + LEASE; /* the probe's result sets it, at the latest its lease */
        return rc;
    }
    return rc ? rc : next_look(next, take, txn, endpoint);
}

static int take_endpoint(take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint)
{
    apr_time_t next;
    int rc;

    rc = next_look(&next, take, txn, endpoint);
    if (!rc && next && next <= take->now && take->held && endpoint->scope.mode == PAY_LIVE) {
        next = take->now + HELD_WAIT;
    } else if (!rc && next && next <= take->now) {
        rc = take_what_may(&next, take, txn, endpoint);
    }
    endpoint->due_at = next;
    return rc ? rc : pay_store_endpoint_store(txn, endpoint, take->p);
}

/* `due` is an entry of endpoint_due. */
static int take_due(take_t *take, pay_rows_txn_t *txn, const pay_bytes_t *due)
{
    const unsigned char *bytes = due->data;
    pay_endpoint_t *endpoint = NULL;
    pay_endpoint_kind_t kind;
    pay_scope_t scope;
    int rc = PAY_ROWS_NOTFOUND;

    if (pay_store_endpoint_key_read(&scope, &kind, bytes + 8, PAY_STORE_ENDPOINT_KEY_LEN)) {
        rc = pay_store_endpoint_load(&endpoint, txn, &scope, kind, take->p);
    }
    if (rc && rc != PAY_ROWS_NOTFOUND && rc != PAY_ROWS_BAD) {
        return rc;
    }
    if (!endpoint || endpoint->due_at != pay_store_read_time(bytes)) { /* leads nowhere */
        return pay_store_entry_del(txn, PAY_TABLE_ENDPOINT_DUE, due);
    }
    if (!endpoint->enabled) {
        endpoint->due_at = 0;
        return pay_store_endpoint_store(txn, endpoint, take->p);
    }
    return take_endpoint(take, txn, endpoint);
}

static int take_work(pay_rows_txn_t *txn, void *baton)
{
    take_t *take = baton;
    apr_array_header_t *due;
    int i, rc;

    take->now = pay_time_now();
    take->out = apr_array_make(take->p, 16, sizeof(pay_taken_t));
    rc = pay_store_epoch_held(&take->held, txn);
    if (rc && rc != PAY_ROWS_BAD) { /* a damaged row was logged */
        return rc;
    }
    rc = pay_store_entries_due(&due, txn, &pay_store_endpoint_due, take->now, beyond(take),
                               ENDPOINTS_MAX, take->p);
    take->more = due->nelts == ENDPOINTS_MAX;
    for (i = 0; !rc && i < due->nelts && take->out->nelts < take->limit; i++) {
        rc = take_due(take, txn, &APR_ARRAY_IDX(due, i, pay_bytes_t));
    }
    return rc;
}

apr_status_t pay_store_event_take(apr_array_header_t **out, pay_store_t *store, int limit,
                                  pay_event_budget_t *budget, void *baton, apr_pool_t *p)
{
    take_t take = {.limit = limit, .budget = budget, .baton = baton, .p = p};
    apr_array_header_t *due;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc, looks = 0;

    *out = apr_array_make(p, 1, sizeof(pay_taken_t));
    assert(limit >= 1);
    assert(limit <= PAY_STORE_LEASES_MAX);
    take.self = pay_worker_self();
    take.now = pay_time_now();
    /* Most calls find nothing: those do not wait for the writer lock. */
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_entries_due(&due, &txn, &pay_store_endpoint_due, take.now, beyond(&take), 1, p);
    pay_rows_end(&txn);
    if (rc || due->nelts == 0) {
        return pay_rows_status(rc);
    }
    /* However many are postponed, they do not hide the ones after them that can be sent. */
    do {
        take.now_ms = pay_time_boot_ms();
        rv = pay_rows_commit(store, pay_turn_all(), 0, take_work, &take);
    } while (rv == APR_SUCCESS && take.out->nelts == 0 && take.more && ++looks < LOOKS_MAX);
    if (rv == APR_SUCCESS) {
        *out = take.out;
    }
    return rv;
}

/* ---- lists */

#define DUE_ENDPOINTS_MAX 1024 /* endpoints examined for the time the first has been due */

/* Where to continue: the first key after it. */
static void list_from(pay_store_key_t *key, const pay_scope_t *scope, int parked,
                      const pay_event_t *after)
{
    static const unsigned char last = 0;
    pay_event_t place;

    if (!after) {
        pay_store_key_of_scope(key, scope);
        return;
    }
    place = *after;
    place.scope = *scope;
    if (parked) {
        pay_store_event_parked_key(key, &place);
    } else {
        pay_store_event_key(key, &place);
    }
    (void)pay_store_key_bytes(key, &last, 1); /* one byte longer: right after it */
}

/* The event that a key of either table refers to. */
static int list_one(pay_event_t **out, pay_rows_txn_t *txn, int parked, const pay_bytes_t *key,
                    const pay_bytes_t *row, apr_pool_t *p)
{
    pay_event_t place;

    if (!parked) {
        return pay_store_event_decode(out, key, row, p);
    }
    return pay_store_event_entry_read(&place, key) ? pay_store_event_first(out, txn, &place, p)
                                                   : pay_rows_bad(PAY_TABLE_EVENT_PARKED, key);
}

static int list(apr_array_header_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope, int parked,
                const pay_event_t *after, int limit, apr_pool_t *p)
{
    pay_store_key_t from, prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, parked ? PAY_TABLE_EVENT_PARKED : PAY_TABLE_EVENT,
                                         &prefix, &from, PAY_ROWS_FROM);
    pay_event_t *event;
    pay_bytes_t key, row;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    list_from(&from, scope, parked, after);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && out->nelts < limit) {
        rc = list_one(&event, txn, parked, &key, &row, p);
        if (!rc) {
            APR_ARRAY_PUSH(out, pay_event_t *) = event;
        }
        if (!rc || rc == PAY_ROWS_NOTFOUND) { /* an entry that leads nowhere hides none after it */
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_event_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, int parked, const pay_event_t *after,
                                  int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = apr_array_make(p, 16, sizeof(pay_event_t *));
    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = list(*out, &txn, scope, parked, after, limit, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

apr_status_t pay_store_event_get(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const pay_event_t *place, apr_pool_t *p)
{
    pay_event_t at = *place;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = NULL;
    at.scope = *scope;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_event_load(out, &txn, &at, p);
    if (!rc) {
        rc = pay_store_event_records(*out, &txn, p);
    }
    pay_rows_end(&txn);
    if (rc) {
        *out = NULL;
    }
    return pay_rows_status(rc);
}

/*
 * The earliest due time of the endpoint at `due`, an entry of endpoint_due; else *first is
 * unchanged. It is unknown how long events that were postponed while the clock was ahead have been
 * due: the longest wait is assumed.
 */
static int first_due(apr_time_t *first, pay_rows_txn_t *txn, const pay_bytes_t *due, apr_time_t now,
                     apr_pool_t *p)
{
    pay_endpoint_kind_t kind;
    pay_store_timed_t timed;
    pay_scope_t scope;
    apr_time_t at;
    int rc;

    if (!pay_store_endpoint_key_read(&scope, &kind, (const char *)due->data + 8, due->len - 8)) {
        return 0;
    }
    pay_store_event_timed(&timed, &scope, kind);
    rc = pay_store_entries_next(&at, txn, &timed, APR_INT64_MIN, p);
    if (!rc && at >= *first) {
        rc = pay_store_entries_next(&at, txn, &timed, now + PAY_STORE_EVENT_LONGEST + 1, p);
        at = at ? now - PAY_STORE_EVENT_LONGEST : 0;
    }
    if (!rc && at && at < *first) {
        *first = at;
    }
    return rc;
}

static int overdue(apr_interval_time_t *out, pay_rows_txn_t *txn, apr_pool_t *p)
{
    apr_array_header_t *endpoints = apr_array_make(p, 16, sizeof(pay_bytes_t));
    const apr_time_t now = pay_time_now();
    apr_time_t first = now;
    int i, rc;

    rc = pay_store_entries_between(endpoints, txn, &pay_store_endpoint_due, APR_INT64_MIN,
                                   APR_INT64_MAX, DUE_ENDPOINTS_MAX);
    for (i = 0; !rc && i < endpoints->nelts; i++) {
        rc = first_due(&first, txn, &APR_ARRAY_IDX(endpoints, i, pay_bytes_t), now, p);
    }
    *out = now - (first < 0 ? 0 : first);
    return rc;
}

apr_status_t pay_store_event_stat(pay_event_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_rows_count(&out->events, &txn, PAY_TABLE_EVENT);
    if (!rc) {
        rc = pay_rows_count(&out->parked, &txn, PAY_TABLE_EVENT_PARKED);
    }
    if (!rc) {
        rc = overdue(&out->overdue, &txn, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}
