/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_event.h"

#include "base/pay_time.h"
#include "model/pay_recipients.h"
#include "store/pay_lmdb_mailed.h"
#include "store/pay_lmdb_epoch.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define ENDPOINTS_MAX 64 /* looked at in one transaction */
#define LOOKS_MAX 32     /* transactions of one take that find nothing to send */
#define PARK_OLD_MAX 256 /* events given up with their endpoint in one transaction */
#define PUT_OFF_MAX 64   /* receipts that wait for room are passed by in one transaction */
#define BUSY_WAIT apr_time_from_msec(100) /* of an endpoint that has all it may have */
#define HELD_WAIT apr_time_from_sec(5)    /* of an endpoint of Live Mode in a store put back */
#define IDLE_WAIT(kind) apr_time_from_sec((kind) == PAY_ENDPOINT_WEBHOOK ? 5 : 60)
#define LEASE apr_time_from_msec(PAY_STORE_LEASE_MS)

_Static_assert(LEASE <= PAY_WORKER_TERM_MAX, "else it would count as over");

typedef struct take_t {
    int limit;
    pay_event_budget_t *budget;
    void *baton;
    apr_pool_t *p;
    apr_time_t now;     /* the store's clock, in the transaction */
    apr_int64_t now_ms; /* boot clock, before its turn to write was waited for */
    pay_worker_t self;
    int held;                /* 1: those of Live Mode wait for a person */
    apr_array_header_t *out; /* of pay_taken_t */
    int more;                /* 1: more endpoints may be due than one transaction looks at */
} take_t;

/* An entry of event_due, copied: the index changes as it is worked on. */
typedef struct entry_t {
    apr_time_t due_at;
    apr_uint64_t charge_seq;
} entry_t;

/* The endpoints that are due in that time, until `out` has `limit` of them. */
static int endpoints_from(apr_array_header_t *out, MDB_cursor *cursor, apr_time_t from,
                          apr_time_t until, int limit, apr_pool_t *p)
{
    pay_lmdb_key_t first;
    MDB_val key, val;
    int rc;

    pay_lmdb_key_start(&first);
    pay_lmdb_key_time(&first, from);
    key = pay_lmdb_key_val(&first);
    rc = mdb_cursor_get(cursor, &key, &val, MDB_SET_RANGE);
    while (!rc && out->nelts < limit) {
        if (key.mv_size == PAY_LMDB_ENDPOINT_DUE_KEY_LEN) { /* others hold up nobody */
            if (pay_lmdb_read_time(key.mv_data) > until) {
                break;
            }
            val.mv_size = key.mv_size;
            val.mv_data = apr_pmemdup(p, key.mv_data, key.mv_size);
            APR_ARRAY_PUSH(out, MDB_val) = val;
        }
        rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/* The first endpoints that are due, as keys of table endpoint; then those that are due too far
 * ahead. */
static int endpoints_due(apr_array_header_t **out, pay_rows_txn_t *txn, apr_time_t now, int limit,
                         apr_pool_t *p)
{
    MDB_cursor *cursor;
    int rc;

    *out = apr_array_make(p, 4, sizeof(MDB_val));
    rc = mdb_cursor_open(txn->mdb, pay_lmdb_dbi(PAY_TABLE_ENDPOINT_DUE), &cursor);
    if (rc) {
        return rc;
    }
    rc = endpoints_from(*out, cursor, APR_INT64_MIN, now, limit, p);
    if (!rc && (*out)->nelts < limit) {
        rc =
            endpoints_from(*out, cursor, now + PAY_LMDB_EVENT_LONGEST + 1, APR_INT64_MAX, limit, p);
    }
    mdb_cursor_close(cursor);
    return rc;
}

/* The endpoint's first `limit` entries from the time `from` on, due or not, by time. */
static int entries(apr_array_header_t **out, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                   apr_time_t from, int limit, apr_pool_t *p)
{
    pay_lmdb_key_t prefix, first;
    MDB_cursor *cursor;
    MDB_val key, val;
    const unsigned char *at;
    entry_t entry;
    int rc;

    *out = apr_array_make(p, 16, sizeof(entry_t));
    pay_lmdb_endpoint_key(&prefix, &endpoint->scope, endpoint->kind);
    pay_lmdb_event_due_from(&first, &endpoint->scope, endpoint->kind, from);
    key = pay_lmdb_key_val(&first);
    rc = mdb_cursor_open(txn->mdb, pay_lmdb_dbi(PAY_TABLE_EVENT_DUE), &cursor);
    if (rc) {
        return rc;
    }
    rc = mdb_cursor_get(cursor, &key, &val, MDB_SET_RANGE);
    while (!rc && (*out)->nelts < limit && key.mv_size >= prefix.len
           && memcmp(key.mv_data, prefix.bytes, prefix.len) == 0) {
        if (key.mv_size == PAY_LMDB_EVENT_DUE_KEY_LEN) { /* others hold up nobody */
            at = (const unsigned char *)key.mv_data + PAY_LMDB_ENDPOINT_KEY_LEN;
            entry.due_at = pay_lmdb_read_time(at);
            entry.charge_seq = pay_lmdb_read_u64(at + 8);
            APR_ARRAY_PUSH(*out, entry_t) = entry;
        }
        rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int entry_remove(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, const entry_t *entry)
{
    pay_event_t place;
    pay_lmdb_key_t key;
    MDB_val at;
    int rc;

    memset(&place, 0, sizeof(place));
    place.scope = endpoint->scope;
    place.endpoint = endpoint->kind;
    place.due_at = entry->due_at;
    place.charge_seq = entry->charge_seq;
    pay_lmdb_event_due_key(&key, &place);
    at = pay_lmdb_key_val(&key);
    rc = pay_rows_del(txn, PAY_TABLE_EVENT_DUE, &at);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/* The event behind an entry; *out NULL: the entry was a leftover, and is gone now. */
static int event_of(pay_event_t **out, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                    const entry_t *entry, apr_pool_t *p)
{
    pay_event_t place;
    int rc;

    memset(&place, 0, sizeof(place));
    place.scope = endpoint->scope;
    place.endpoint = endpoint->kind;
    place.charge_seq = entry->charge_seq;
    rc = pay_lmdb_event_first(out, txn, &place, p);
    if (rc == MDB_SUCCESS && (*out)->due_at == entry->due_at) {
        return MDB_SUCCESS;
    }
    *out = NULL;
    if (rc && rc != MDB_NOTFOUND && rc != PAY_LMDB_BAD_ROW) {
        return rc;
    }
    return entry_remove(txn, endpoint, entry); /* a row that does not decode waits for repair */
}

/* When it is to be looked at again, because another process may still be sending it; 0: it is not.
 */
static apr_time_t leased_until(const take_t *take, const pay_event_t *event)
{
    const apr_interval_time_t left = pay_worker_left(&event->lease_worker, event->lease_until_ms,
                                                     event->lease_until_at, take->now);

    if (left == 0) {
        return 0;
    }
    return take->now + (left < LEASE ? left : LEASE);
}

/* 1 in *listed when Test Mode may write to the address: the merchant's own, or one that was listed.
 */
static int is_listed(int *listed, take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                     const char *address)
{
    pay_endpoint_t *notice;
    int rc;

    *listed = endpoint->scope.mode != PAY_TEST || pay_recipients_has(endpoint->recipients, address);
    if (*listed) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_endpoint_load(&notice, txn, &endpoint->scope, PAY_ENDPOINT_NOTICE, take->p);
    if (!rc) {
        *listed = notice->enabled && strcasecmp(notice->address, address) == 0;
    }
    return rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW ? MDB_SUCCESS : rc;
}

/*
 * Whether a receipt may go now: *until is when there is room for it, 0 now; *withheld 1: it may
 * never. It counts before its first try, and not again for a later one.
 */
static int judge_receipt(apr_time_t *until, int *withheld, take_t *take, pay_rows_txn_t *txn,
                         const pay_endpoint_t *endpoint, const pay_event_t *event)
{
    const char *address = event->charge ? event->charge->email : "";
    int rc, listed;

    *until = 0;
    *withheld = 0;
    if (endpoint->kind != PAY_ENDPOINT_RECEIPT || !*address) {
        return MDB_SUCCESS;
    }
    rc = is_listed(&listed, take, txn, endpoint, address);
    *withheld = !rc && !listed;
    if (rc || *withheld || event->first_try_at) {
        return rc;
    }
    return pay_lmdb_mailed_count(until, txn, &endpoint->scope, address, take->now, take->p);
}

static int take_event(take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint,
                      pay_event_t *event)
{
    pay_taken_t taken = {event, endpoint, 0};
    apr_time_t until = leased_until(take, event);
    int rc;

    if (until) {
        return pay_lmdb_event_move(txn, event, until, take->p);
    }
    rc = pay_lmdb_event_records(event, txn, take->p);
    if (rc == PAY_LMDB_BAD_ROW) { /* told in the log; a person can mend or drop it */
        event->error = "a record that it tells of cannot be read";
        return pay_lmdb_event_park(txn, event, take->now, take->p);
    }
    if (!rc) {
        rc = judge_receipt(&until, &taken.withheld, take, txn, endpoint, event);
    }
    if (rc) {
        return rc;
    }
    if (until) {
        event->error = PAY_EVENT_NO_ROOM;
        return pay_lmdb_event_move(txn, event, until, take->p);
    }
    event->leases++;
    event->lease_worker = take->self;
    event->lease_until_ms = take->now_ms + PAY_STORE_LEASE_MS;
    event->lease_until_at = take->now + LEASE;
    rc = pay_lmdb_event_move(txn, event, take->now + LEASE, take->p);
    if (!rc) {
        APR_ARRAY_PUSH(take->out, pay_taken_t) = taken;
    }
    return rc;
}

/*
 * An endpoint that has been failing for as long as an event is tried: what is as old, or was first
 * tried as long ago, is given up, all but the first, which probes it. *more 1: there may be others.
 */
static int park_old(int *more, take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint)
{
    const apr_time_t before = take->now - PAY_EVENT_TRY_FOR;
    apr_array_header_t *list;
    pay_endpoint_t *notice;
    pay_event_t *event;
    int i, rc;

    *more = 0;
    if (!endpoint->failing_since || endpoint->failing_since > before) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_endpoint_load(&notice, txn, &endpoint->scope, PAY_ENDPOINT_NOTICE, take->p);
    if (!rc || rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW) {
        rc = entries(&list, txn, endpoint, APR_INT64_MIN, PARK_OLD_MAX, take->p);
    }
    for (i = 0; !rc && i < list->nelts; i++) {
        rc = event_of(&event, txn, endpoint, &APR_ARRAY_IDX(list, i, entry_t), take->p);
        if (rc || !event || leased_until(take, event) /* its result is yet to come */
            || (event->first_try_at ? i == 0 || event->first_try_at > before
                                    : event->created_at > before)) {
            continue;
        }
        *more = 1;
        event->error = "its endpoint was failing all the time";
        rc = pay_lmdb_event_park(txn, event, take->now, take->p);
        if (!rc && notice) {
            rc = pay_lmdb_event_of_parked(txn, event, endpoint, notice, take->now, take->p);
        }
    }
    return rc;
}

/* What is due from there on was put off while the clock was ahead. */
static apr_time_t beyond(const take_t *take)
{
    return take->now + PAY_LMDB_EVENT_LONGEST + 1;
}

/* When the endpoint is to be looked at again: its first entry's time; 0: nothing waits. */
static int next_look(apr_time_t *next, take_t *take, pay_rows_txn_t *txn,
                     const pay_endpoint_t *endpoint)
{
    apr_array_header_t *list;
    int rc;

    *next = 0;
    rc = entries(&list, txn, endpoint, APR_INT64_MIN, 1, take->p);
    if (rc || list->nelts == 0) {
        return rc;
    }
    *next = APR_ARRAY_IDX(list, 0, entry_t).due_at;
    rc = entries(&list, txn, endpoint, beyond(take), 1, take->p);
    if (!rc && (*next < take->now || list->nelts > 0)) {
        *next = take->now;
    }
    return rc;
}

/* Somebody waits for the answer to a test: it goes before what has waited longer. */
static int take_test(take_t *take, pay_rows_txn_t *txn, const pay_endpoint_t *endpoint)
{
    pay_event_t place, *test;
    int rc;

    memset(&place, 0, sizeof(place));
    place.scope = endpoint->scope;
    place.endpoint = endpoint->kind;
    rc = pay_lmdb_event_first(&test, txn, &place, take->p);
    if (rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW) {
        return MDB_SUCCESS;
    }
    if (rc || !test->due_at || !pay_time_is_over(test->due_at, take->now, PAY_LMDB_EVENT_LONGEST)) {
        return rc;
    }
    return take_event(take, txn, endpoint, test);
}

/* Those from the time `from` on that are due, until `out` has `full` events. */
static int take_from(take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint, apr_time_t from,
                     int full)
{
    apr_array_header_t *list;
    const entry_t *entry;
    pay_event_t *event;
    int i, rc;

    if (take->out->nelts >= full) {
        return MDB_SUCCESS;
    }
    rc = entries(&list, txn, endpoint, from, full - take->out->nelts + PUT_OFF_MAX, take->p);
    for (i = 0; !rc && i < list->nelts; i++) {
        entry = &APR_ARRAY_IDX(list, i, entry_t);
        if (take->out->nelts == full
            || !pay_time_is_over(entry->due_at, take->now, PAY_LMDB_EVENT_LONGEST)) {
            break;
        }
        rc = event_of(&event, txn, endpoint, entry, take->p);
        if (!rc && event) {
            rc = take_event(take, txn, endpoint, event);
        }
    }
    return rc;
}

static int take_some(take_t *take, pay_rows_txn_t *txn, pay_endpoint_t *endpoint, int budget)
{
    const int full = take->out->nelts + budget;
    int rc;

    rc = take_test(take, txn, endpoint);
    if (!rc) {
        rc = take_from(take, txn, endpoint, APR_INT64_MIN, full);
    }
    return rc ? rc : take_from(take, txn, endpoint, beyond(take), full);
}

/* Of an endpoint with something due: takes what it may, and tells when to look again. */
static int take_what_may(apr_time_t *next, take_t *take, pay_rows_txn_t *txn,
                         pay_endpoint_t *endpoint)
{
    const int before = take->out->nelts, left = take->limit - before;
    int budget = take->budget(take->baton, endpoint, PAY_EVENT_BUDGET_ASK);
    int rc = MDB_SUCCESS, more = 0;

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
        *next = take->now + LEASE; /* the probe's result says when, at the latest its lease */
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
    if (!rc) {
        rc = pay_lmdb_endpoint_move(txn, endpoint, next);
    }
    return rc ? rc : pay_lmdb_endpoint_store(txn, endpoint, take->p);
}

/* `due` is an entry of endpoint_due. */
static int take_due(take_t *take, pay_rows_txn_t *txn, const MDB_val *due)
{
    const unsigned char *bytes = due->mv_data;
    pay_endpoint_t *endpoint = NULL;
    pay_endpoint_kind_t kind;
    pay_scope_t scope;
    MDB_val at = *due;
    int rc = MDB_NOTFOUND;

    if (pay_lmdb_endpoint_key_read(&scope, &kind, bytes + 8, PAY_LMDB_ENDPOINT_KEY_LEN)) {
        rc = pay_lmdb_endpoint_load(&endpoint, txn, &scope, kind, take->p);
    }
    if (rc && rc != MDB_NOTFOUND && rc != PAY_LMDB_BAD_ROW) {
        return rc;
    }
    if (!endpoint || endpoint->due_at != pay_lmdb_read_time(bytes)) { /* leads nowhere */
        rc = pay_rows_del(txn, PAY_TABLE_ENDPOINT_DUE, &at);
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (!endpoint->enabled) {
        rc = pay_lmdb_endpoint_move(txn, endpoint, 0);
        return rc ? rc : pay_lmdb_endpoint_store(txn, endpoint, take->p);
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
    rc = pay_lmdb_epoch_held(&take->held, txn);
    if (rc && rc != PAY_LMDB_BAD_ROW) { /* what is held then was logged */
        return rc;
    }
    rc = endpoints_due(&due, txn, take->now, ENDPOINTS_MAX, take->p);
    take->more = due->nelts == ENDPOINTS_MAX;
    for (i = 0; !rc && i < due->nelts && take->out->nelts < take->limit; i++) {
        rc = take_due(take, txn, &APR_ARRAY_IDX(due, i, MDB_val));
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
    /* Most looks find nothing: those take no turn to write. */
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = endpoints_due(&due, &txn, pay_time_now(), 1, p);
    pay_rows_end(&txn);
    if (rc || due->nelts == 0) {
        return pay_lmdb_status(rc);
    }
    /* Those that are put off, however many, do not hide what can be sent behind them. */
    do {
        take.now_ms = pay_time_boot_ms();
        rv = pay_lmdb_commit(store, 0, take_work, &take);
    } while (rv == APR_SUCCESS && take.out->nelts == 0 && take.more && ++looks < LOOKS_MAX);
    if (rv == APR_SUCCESS) {
        *out = take.out;
    }
    return rv;
}
