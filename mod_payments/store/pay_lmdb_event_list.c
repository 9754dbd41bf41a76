/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_event.h"

#include "base/pay_time.h"

#include <assert.h>
#include <string.h>

#define LOOKS_MAX 1024 /* endpoints looked at for how long the first has been due */

/* Where to go on; the first key behind it. */
static void list_from(pay_lmdb_key_t *key, const pay_scope_t *scope, int parked,
                      const pay_event_t *after)
{
    static const unsigned char last = 0;
    pay_event_t place;

    if (!after) {
        pay_lmdb_key_of_scope(key, scope);
        return;
    }
    place = *after;
    place.scope = *scope;
    if (parked) {
        pay_lmdb_event_parked_key(key, &place);
    } else {
        pay_lmdb_event_key(key, &place);
    }
    (void)pay_lmdb_key_bytes(key, &last, 1); /* one byte longer: just behind it */
}

/* The event that a key of either table stands for. */
static int list_one(pay_event_t **out, pay_rows_txn_t *txn, int parked, const MDB_val *key,
                    const MDB_val *row, apr_pool_t *p)
{
    pay_event_t place;

    if (!parked) {
        return pay_lmdb_event_decode(out, key, row, p);
    }
    memset(&place, 0, sizeof(place));
    if (key->mv_size != PAY_LMDB_EVENT_PARKED_KEY_LEN
        || !pay_lmdb_endpoint_key_read(&place.scope, &place.endpoint, key->mv_data,
                                       PAY_LMDB_ENDPOINT_KEY_LEN)) {
        return pay_lmdb_bad_row(PAY_TABLE_EVENT_PARKED, key);
    }
    place.charge_seq =
        pay_lmdb_read_u64((const unsigned char *)key->mv_data + PAY_LMDB_ENDPOINT_KEY_LEN);
    return pay_lmdb_event_first(out, txn, &place, p);
}

static int list(apr_array_header_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope, int parked,
                const pay_event_t *after, int limit, apr_pool_t *p)
{
    const pay_lmdb_table_t table = parked ? PAY_TABLE_EVENT_PARKED : PAY_TABLE_EVENT;
    pay_lmdb_key_t from, prefix;
    pay_event_t *event;
    MDB_cursor *cursor;
    MDB_val key, row;
    int rc;

    pay_lmdb_key_of_scope(&prefix, scope);
    list_from(&from, scope, parked, after);
    key = pay_lmdb_key_val(&from);
    rc = mdb_cursor_open(txn->mdb, pay_lmdb_dbi(table), &cursor);
    if (rc) {
        return rc;
    }
    rc = mdb_cursor_get(cursor, &key, &row, MDB_SET_RANGE);
    while (!rc && out->nelts < limit && key.mv_size >= prefix.len
           && memcmp(key.mv_data, prefix.bytes, prefix.len) == 0) {
        rc = list_one(&event, txn, parked, &key, &row, p);
        if (!rc) {
            APR_ARRAY_PUSH(out, pay_event_t *) = event;
        }
        if (!rc || rc == MDB_NOTFOUND) { /* an entry that leads nowhere hides none behind it */
            rc = mdb_cursor_get(cursor, &key, &row, MDB_NEXT);
        }
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
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
    return pay_lmdb_status(rc);
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
    rc = pay_lmdb_event_load(out, &txn, &at, p);
    if (!rc) {
        rc = pay_lmdb_event_records(*out, &txn, p);
    }
    pay_rows_end(&txn);
    if (rc) {
        *out = NULL;
    }
    return pay_lmdb_status(rc);
}

/*
 * The earliest due time of the endpoint at `due`, an entry of endpoint_due; else *first stays. What
 * was put off while the clock was ahead has been due for nobody knows how long: for the longest
 * wait.
 */
static int first_due(apr_time_t *first, MDB_cursor *events, const MDB_val *due, apr_time_t now)
{
    const unsigned char *bytes = due->mv_data;
    pay_endpoint_kind_t kind;
    pay_lmdb_key_t prefix, beyond;
    pay_scope_t scope;
    apr_time_t at;
    MDB_val key, val;
    int rc;

    if (due->mv_size != PAY_LMDB_ENDPOINT_DUE_KEY_LEN
        || !pay_lmdb_endpoint_key_read(&scope, &kind, bytes + 8, PAY_LMDB_ENDPOINT_KEY_LEN)) {
        return MDB_SUCCESS;
    }
    pay_lmdb_endpoint_key(&prefix, &scope, kind);
    key = pay_lmdb_key_val(&prefix);
    rc = mdb_cursor_get(events, &key, &val, MDB_SET_RANGE);
    if (rc || key.mv_size != PAY_LMDB_EVENT_DUE_KEY_LEN
        || memcmp(key.mv_data, prefix.bytes, prefix.len) != 0) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    at = pay_lmdb_read_time((const unsigned char *)key.mv_data + PAY_LMDB_ENDPOINT_KEY_LEN);
    if (at >= *first) {
        pay_lmdb_event_due_from(&beyond, &scope, kind, now + PAY_LMDB_EVENT_LONGEST + 1);
        key = pay_lmdb_key_val(&beyond);
        rc = mdb_cursor_get(events, &key, &val, MDB_SET_RANGE);
        if (rc || key.mv_size != PAY_LMDB_EVENT_DUE_KEY_LEN
            || memcmp(key.mv_data, prefix.bytes, prefix.len) != 0) {
            return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
        }
        at = now - PAY_LMDB_EVENT_LONGEST;
    }
    *first = at < *first ? at : *first;
    return MDB_SUCCESS;
}

static int overdue(apr_interval_time_t *out, pay_rows_txn_t *txn)
{
    const apr_time_t now = pay_time_now();
    MDB_cursor *endpoints, *events;
    apr_time_t first = now;
    MDB_val key, val;
    int rc, looks = 0;

    rc = mdb_cursor_open(txn->mdb, pay_lmdb_dbi(PAY_TABLE_ENDPOINT_DUE), &endpoints);
    if (rc) {
        return rc;
    }
    rc = mdb_cursor_open(txn->mdb, pay_lmdb_dbi(PAY_TABLE_EVENT_DUE), &events);
    if (!rc) {
        rc = mdb_cursor_get(endpoints, &key, &val, MDB_FIRST);
        while (!rc && looks++ < LOOKS_MAX) {
            rc = first_due(&first, events, &key, now);
            if (!rc) {
                rc = mdb_cursor_get(endpoints, &key, &val, MDB_NEXT);
            }
        }
        mdb_cursor_close(events);
    }
    mdb_cursor_close(endpoints);
    *out = now - (first < 0 ? 0 : first);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

apr_status_t pay_store_event_stat(pay_event_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    (void)p;
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
        rc = overdue(&out->overdue, &txn);
    }
    pay_rows_end(&txn);
    return pay_lmdb_status(rc);
}
