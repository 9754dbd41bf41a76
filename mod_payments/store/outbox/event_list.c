/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"
#include "store/outbox/event_records.h"

#include "base/text/time.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

#define LOOKS_MAX 1024 /* endpoints looked at for how long the first has been due */

/* Where to go on; the first key behind it. */
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
    (void)pay_store_key_bytes(key, &last, 1); /* one byte longer: just behind it */
}

/* The event that a key of either table stands for. */
static int list_one(pay_event_t **out, pay_rows_txn_t *txn, int parked, const MDB_val *key,
                    const MDB_val *row, apr_pool_t *p)
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
    MDB_val key, row;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    list_from(&from, scope, parked, after);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && out->nelts < limit) {
        rc = list_one(&event, txn, parked, &key, &row, p);
        if (!rc) {
            APR_ARRAY_PUSH(out, pay_event_t *) = event;
        }
        if (!rc || rc == MDB_NOTFOUND) { /* an entry that leads nowhere hides none behind it */
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
 * The earliest due time of the endpoint at `due`, an entry of endpoint_due; else *first stays. What
 * was put off while the clock was ahead has been due for nobody knows how long: for the longest
 * wait.
 */
static int first_due(apr_time_t *first, pay_rows_txn_t *txn, const MDB_val *due, apr_time_t now,
                     apr_pool_t *p)
{
    pay_endpoint_kind_t kind;
    pay_store_timed_t timed;
    pay_scope_t scope;
    apr_time_t at;
    int rc;

    if (!pay_store_endpoint_key_read(&scope, &kind, (const char *)due->mv_data + 8,
                                     due->mv_size - 8)) {
        return MDB_SUCCESS;
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
    apr_array_header_t *endpoints = apr_array_make(p, 16, sizeof(MDB_val));
    const apr_time_t now = pay_time_now();
    apr_time_t first = now;
    int i, rc;

    rc = pay_store_entries_between(endpoints, txn, &pay_store_endpoint_due, APR_INT64_MIN,
                                   APR_INT64_MAX, LOOKS_MAX);
    for (i = 0; !rc && i < endpoints->nelts; i++) {
        rc = first_due(&first, txn, &APR_ARRAY_IDX(endpoints, i, MDB_val), now, p);
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
