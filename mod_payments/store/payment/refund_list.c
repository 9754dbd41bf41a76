/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

/*
 * Rows read in one call, returned or not: rows outside the view could otherwise hold a read
 * transaction open for long. A call that ends there may return an empty chunk without being done.
 */
#define LIST_VISITS_MAX 4096

#define CACHE_LINE 64
#define PREFETCH_LINES 20 /* two rows and more */

/* Flags of pay_refund_cursor_t.started. */
#define LIST_STARTED 1 /* the view is fixed, key is where to continue */
#define LIST_GIVEN 2   /* a record was written: a comma precedes the next */

typedef struct scan_t {
    pay_refund_cursor_t *at;
    apr_time_t to;
    char *buffer;
    apr_size_t size;
    apr_size_t len;
    apr_size_t count;
} scan_t;

/* Fixes the view: the rows created and imports finished up to now. */
static int start(pay_refund_cursor_t *at, pay_rows_txn_t *txn, const pay_scope_t *scope,
                 apr_time_t from)
{
    pay_store_scope_t last;
    pay_store_key_t key;
    int rc;

    rc = pay_store_scope_get(&last, txn, scope);
    if (rc) {
        return rc;
    }
    pay_store_refund_key(&key, scope, from, 0);
    memcpy(at->key, key.bytes, key.len);
    at->key_len = key.len;
    at->view_seq = last.refund_seq;
    at->view_import = last.import_done;
    at->started = LIST_STARTED;
    return 0;
}

/* Copies one record; returns 0 if it must wait for the next chunk. */
static int give(scan_t *scan, const pay_bytes_t *text)
{
    apr_size_t comma = (scan->at->started & LIST_GIVEN) != 0;

    if (text->len + comma > scan->size - scan->len) {
        return 0;
    }
    if (comma) {
        scan->buffer[scan->len++] = ',';
    }
    memcpy(scan->buffer + scan->len, text->data, text->len);
    scan->len += text->len;
    scan->count++;
    scan->at->started |= LIST_GIVEN;
    return 1;
}

/*
 * Rows that were written one after the other are next to each other in their page, in descending
 * order. Prefetched while this one is copied, the next row is in the cache when it is read:
 * otherwise long lists wait for memory at every row (docs/performance.md). Only a hint, whatever is
 * stored there.
 */
static void prefetch_next(const pay_bytes_t *row)
{
    const char *at = row->data;
    int i;

    for (i = 1; i <= PREFETCH_LINES; i++) {
        __builtin_prefetch(at - CACHE_LINE * i);
    }
}

/*
 * Continues from the cursor's key. Sets *done to 1 at the end of the range; 0: the key is where to
 * continue.
 */
static int walk(scan_t *scan, int *done, const pay_rows_txn_t *txn)
{
    pay_store_key_t prefix, from;
    pay_rows_scan_t rows = pay_rows_scan(txn, PAY_TABLE_REFUND, &prefix, &from, PAY_ROWS_FROM);
    pay_store_refund_head_t head;
    pay_bytes_t key, row;
    int rc, visits = 0;

    *done = 0;
    (void)pay_store_key_of(&prefix, scan->at->key, PAY_STORE_SCOPE_LEN);
    (void)pay_store_key_of(&from, scan->at->key, scan->at->key_len);
    rc = pay_rows_next(&key, &row, &rows);
    while (!rc) {
        prefetch_next(&row);
        rc = pay_store_refund_head(&head, &key, &row);
        if (rc) {
            break;
        }
        if (pay_store_read_time((const char *)key.data + PAY_STORE_SCOPE_LEN) > scan->to) {
            rc = PAY_ROWS_NOTFOUND;
            break;
        }
        if (visits++ == LIST_VISITS_MAX
            || (head.seq <= scan->at->view_seq && head.import_number <= scan->at->view_import
                && !give(scan, &head.text))) {
            memcpy(scan->at->key, key.data, key.len);
            scan->at->key_len = key.len;
            break;
        }
        rc = pay_rows_next(&key, &row, &rows);
    }
    *done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_scan_end(&rows, rc);
}

apr_status_t pay_store_refund_scan(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const pay_time_range_t *range, char *buffer, apr_size_t size)
{
    scan_t scan = {.at = cursor, .to = range->to, .buffer = buffer, .size = size};
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc = 0;

    *len = 0;
    *count = 0;
    assert(size >= PAY_STORE_CHUNK_SIZE);
    if (cursor->done) {
        return APR_SUCCESS;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!cursor->started) {
        rc = start(cursor, &txn, scope, range->from);
    }
    if (!rc) {
        rc = walk(&scan, &cursor->done, &txn);
    }
    if (!rc) {
        *len = scan.len;
        *count = scan.count;
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* ---- a page of the list */

#define ROWS_HINT 64

typedef struct page_t {
    pay_rows_txn_t *txn;
    const pay_scope_t *scope;
    const pay_time_range_t *range;
    pay_page_cursor_t *at;
    apr_uint32_t import_done; /* refunds up to it are visible */
    apr_array_header_t *rows;
} page_t;

static int is_of_scope(const page_t *page, const pay_bytes_t *key)
{
    pay_store_key_t prefix;

    pay_store_key_of_scope(&prefix, page->scope);
    return key->len >= prefix.len && !memcmp(key->data, prefix.bytes, prefix.len);
}

/* PAY_ROWS_NOTFOUND: neither this one nor any before it. */
static int look(page_t *page, const pay_bytes_t *key, const pay_bytes_t *val)
{
    pay_store_refund_head_t head;
    pay_store_refund_t *row;
    int rc;

    if (!is_of_scope(page, key)) {
        return PAY_ROWS_NOTFOUND;
    }
    rc = pay_store_refund_head(&head, key, val); /* also checks the key's length */
    if (rc) {
        return rc;
    }
    page->at->created_at = pay_store_read_time((const char *)key->data + PAY_STORE_SCOPE_LEN);
    page->at->seq = pay_store_read_u64((const char *)key->data + PAY_STORE_SCOPE_LEN + 8);
    page->at->started = 1;
    if (page->at->created_at < page->range->from) {
        return PAY_ROWS_NOTFOUND;
    }
    if (head.import_number > page->import_done) {
        return 0;
    }
    rc = pay_store_refund_decode(&row, key, val, page->rows->pool);
    if (!rc) {
        APR_ARRAY_PUSH(page->rows, const pay_refund_t *) = &row->refund;
    }
    return rc;
}

/* PAY_ROWS_NOTFOUND: there are no more. */
static int page_walk(page_t *page, int limit)
{
    const pay_page_cursor_t *at = page->at;
    pay_store_scope_t last;
    pay_store_key_t bound;
    pay_rows_scan_t scan =
        pay_rows_scan(page->txn, PAY_TABLE_REFUND, NULL, &bound, PAY_ROWS_BEFORE);
    pay_bytes_t key, val;
    int rc, looks;

    rc = pay_store_scope_get(&last, page->txn, page->scope);
    if (rc) {
        return rc;
    }
    page->import_done = last.import_done;
    if (at->started && at->created_at <= page->range->to) {
        pay_store_refund_key(&bound, page->scope, at->created_at, at->seq);
    } else {
        pay_store_refund_key(&bound, page->scope, page->range->to, APR_UINT64_MAX);
    }
    rc = pay_rows_next(&key, &val, &scan);
    for (looks = 1; !rc; looks++) {
        rc = look(page, &key, &val);
        if (rc || page->rows->nelts >= limit || looks == PAY_STORE_LOOKS_MAX) {
            break;
        }
        rc = pay_rows_next(&key, &val, &scan);
    }
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

apr_status_t pay_store_refund_page(apr_array_header_t **out, pay_page_cursor_t *cursor,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const pay_time_range_t *range, int limit, apr_pool_t *p)
{
    pay_rows_txn_t txn;
    page_t page = {.txn = &txn, .scope = scope, .range = range, .at = cursor};
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    *out = apr_array_make(p, limit < ROWS_HINT ? limit : ROWS_HINT, sizeof(pay_refund_t *));
    page.rows = *out;
    if (cursor->done) {
        return APR_SUCCESS;
    }
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = page_walk(&page, limit);
    pay_rows_end(&txn);
    cursor->done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_status(cursor->done ? 0 : rc);
}
