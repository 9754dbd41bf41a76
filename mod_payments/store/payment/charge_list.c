/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkout.h"
#include "store/payment/charge.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

#define LIST_SIZE_HINT 64

/* The charge that an entry leads to. */
static int follow(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                  const pay_bytes_t *key, apr_time_t created_at, apr_pool_t *p)
{
    const unsigned char *seq = (const unsigned char *)key->data + PAY_STORE_SCOPE_LEN + 8;
    int rc;

    rc = pay_store_charge_get(out, txn, scope, pay_store_read_u64(seq), p);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && (*out)->created_at != created_at)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, key);
    }
    return rc;
}

/* Makes the key where the list begins, and returns the direction from it. */
static pay_rows_way_t begin_key(pay_store_key_t *key, const pay_scope_t *scope, apr_time_t from,
                                const pay_charge_t *after)
{
    if (after && after->created_at >= from) {
        pay_store_charge_time_key(key, scope, after->created_at, after->seq);
        return PAY_ROWS_AFTER;
    }
    pay_store_charge_time_key(key, scope, from, 0);
    return PAY_ROWS_FROM;
}

static int collect(apr_array_header_t *rows, pay_rows_txn_t *txn, const pay_scope_t *scope,
                   const pay_time_range_t *range, const pay_charge_t *after, int limit)
{
    pay_store_key_t prefix, from;
    pay_charge_t *charge;
    pay_rows_scan_t scan;
    apr_time_t created_at;
    pay_bytes_t key, val;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    scan = pay_rows_scan(txn, PAY_TABLE_CHARGE_BY_TIME, &prefix, &from,
                         begin_key(&from, scope, range->from, after));
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && rows->nelts < limit) {
        if (key.len != PAY_STORE_CHARGE_TIME_KEY_LEN) {
            rc = pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, &key);
            break;
        }
        created_at = pay_store_read_time((const char *)key.data + PAY_STORE_SCOPE_LEN);
        if (created_at > range->to) {
            break;
        }
        rc = follow(&charge, txn, scope, &key, created_at, rows->pool);
        if (!rc) {
            APR_ARRAY_PUSH(rows, pay_charge_t *) = charge;
            rc = pay_rows_next(&key, &val, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

apr_status_t pay_store_charge_list(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const pay_time_range_t *range,
                                   const pay_charge_t *after, int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    *out =
        apr_array_make(p, limit < LIST_SIZE_HINT ? limit : LIST_SIZE_HINT, sizeof(pay_charge_t *));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(*out, &txn, scope, range, after, limit);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* ---- search */

#define ROWS_HINT 64
#define SCRATCH_ROWS_MAX 64 /* rows decoded until their memory is reused */
#define MARKS_A_LOOK 20     /* skipping this many entries takes as long as reading one row */

typedef struct search_t {
    pay_rows_txn_t *txn;
    const pay_scope_t *scope;
    const pay_charge_filter_t *filter;
    apr_uint32_t mark; /* mark of filter->email */
    pay_charge_cursor_t *cursor;
    int limit;
    int looks, passed; /* rows read, and entries skipped, so far */
    apr_array_header_t *rows;
    apr_pool_t *scratch;
} search_t;

static int is_wanted(const pay_charge_t *charge, const pay_charge_filter_t *filter)
{
    return (!filter->words || filter->words & (1U << pay_charge_word(charge)))
           && (!filter->currency || !strcmp(charge->money.currency, filter->currency))
           && (!filter->email || !strcmp(charge->email, filter->email))
           && charge->created_at >= filter->range.from && charge->created_at <= filter->range.to;
}

/* The page is full, or this call has done enough. */
static int is_enough(const search_t *search)
{
    return search->rows->nelts >= search->limit
           || search->looks + search->passed / MARKS_A_LOOK >= PAY_STORE_LOOKS_MAX;
}

/* Reads the charge of an entry and takes it if it matches. */
static int look(search_t *search, const pay_bytes_t *key)
{
    const pay_charge_cursor_t *at = search->cursor;
    pay_charge_t *charge;
    int rc;

    if (search->looks++ % SCRATCH_ROWS_MAX == 0) {
        apr_pool_clear(search->scratch);
    }
    rc = pay_store_charge_get(&charge, search->txn, search->scope, at->seq, search->scratch);
    if (rc == PAY_ROWS_NOTFOUND || (!rc && charge->created_at != at->created_at)) {
        return pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, key);
    }
    if (rc || !is_wanted(charge, search->filter)) {
        return rc;
    }
    rc = pay_store_charge_get(&charge, search->txn, search->scope, at->seq, search->rows->pool);
    if (!rc) {
        APR_ARRAY_PUSH(search->rows, pay_charge_t *) = charge;
    }
    return rc;
}

/* PAY_ROWS_NOTFOUND: neither this one nor any after it. */
static int entry(search_t *search, const pay_bytes_t *key, const pay_bytes_t *val)
{
    const unsigned char *at = (const unsigned char *)key->data + PAY_STORE_SCOPE_LEN;
    pay_charge_cursor_t *cursor = search->cursor;

    if (key->len != PAY_STORE_CHARGE_TIME_KEY_LEN || val->len != PAY_STORE_CHARGE_MARK_LEN) {
        return pay_rows_bad(PAY_TABLE_CHARGE_BY_TIME, key);
    }
    cursor->created_at = pay_store_read_time(at);
    cursor->seq = pay_store_read_u64(at + sizeof(apr_uint64_t));
    cursor->started = 1;
    if (cursor->created_at < search->filter->range.from) {
        return PAY_ROWS_NOTFOUND;
    }
    if (search->filter->email && pay_store_read_u32(val->data) != search->mark) {
        search->passed++;
        return 0;
    }
    return look(search, key);
}

/* PAY_ROWS_NOTFOUND: there are no more. */
static int search_time(search_t *search)
{
    const pay_charge_cursor_t *at = search->cursor;
    const apr_time_t to = search->filter->range.to;
    pay_store_key_t prefix, bound;
    pay_rows_scan_t scan;
    pay_bytes_t key, val;
    int rc;

    pay_store_key_of_scope(&prefix, search->scope);
    if (at->started && at->created_at <= to) {
        pay_store_charge_time_key(&bound, search->scope, at->created_at, at->seq);
    } else {
        pay_store_charge_time_key(&bound, search->scope, to, APR_UINT64_MAX);
    }
    scan = pay_rows_scan(search->txn, PAY_TABLE_CHARGE_BY_TIME, &prefix, &bound, PAY_ROWS_BEFORE);
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc) {
        rc = entry(search, &key, &val);
        if (rc || is_enough(search)) {
            break;
        }
        rc = pay_rows_next(&key, &val, &scan);
    }
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

/* There is at most one; PAY_ROWS_NOTFOUND as above. */
static int search_reference(search_t *search)
{
    pay_charge_t *charge;
    int rc;

    if (search->cursor->started) {
        return PAY_ROWS_NOTFOUND;
    }
    rc = pay_store_charge_get_ref(&charge, search->txn, search->scope, search->filter->reference,
                                  search->rows->pool);
    if (!rc && is_wanted(charge, search->filter)) {
        APR_ARRAY_PUSH(search->rows, pay_charge_t *) = charge;
    }
    return rc ? rc : PAY_ROWS_NOTFOUND;
}

apr_status_t pay_store_charge_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                     pay_store_t *store, const pay_scope_t *scope,
                                     const pay_charge_filter_t *filter, int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    search_t search = {
        .txn = &txn, .scope = scope, .filter = filter, .cursor = cursor, .limit = limit};
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    *out = apr_array_make(p, limit < ROWS_HINT ? limit : ROWS_HINT, sizeof(pay_charge_t *));
    search.rows = *out;
    if (cursor->done) {
        return APR_SUCCESS;
    }
    rv = pay_store_charge_mark(&search.mark, filter->email ? filter->email : "");
    if (rv == APR_SUCCESS) {
        rv = apr_pool_create(&search.scratch, p);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv == APR_SUCCESS) {
        rc = filter->reference ? search_reference(&search) : search_time(&search);
        pay_rows_end(&txn);
        cursor->done = rc == PAY_ROWS_NOTFOUND;
        rv = pay_rows_status(cursor->done ? 0 : rc);
    }
    apr_pool_destroy(search.scratch);
    return rv;
}
