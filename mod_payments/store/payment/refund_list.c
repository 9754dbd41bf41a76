/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

/*
 * Rows looked at in one call, given or not: rows that are not part of the view could otherwise hold
 * a read transaction for long. A call that ends there may give an empty chunk without being done.
 */
#define LIST_VISITS_MAX 4096

#define CACHE_LINE 64
#define PREFETCH_LINES 20 /* two rows and more */

/* What pay_refund_cursor_t.started holds. */
#define LIST_STARTED 1 /* the view is fixed, key is where to go on */
#define LIST_GIVEN 2   /* a record was given: a comma comes before the next */

typedef struct scan_t {
    pay_refund_cursor_t *at;
    apr_time_t to;
    char *buffer;
    apr_size_t size;
    apr_size_t len;
    apr_size_t count;
} scan_t;

/* Fixes the view: what was given and finished up to now. */
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
    return MDB_SUCCESS;
}

/* Copies one record; 0 when it has to wait for the next chunk. */
static int give(scan_t *scan, const MDB_val *text)
{
    apr_size_t comma = (scan->at->started & LIST_GIVEN) != 0;

    if (text->mv_size + comma > scan->size - scan->len) {
        return 0;
    }
    if (comma) {
        scan->buffer[scan->len++] = ',';
    }
    memcpy(scan->buffer + scan->len, text->mv_data, text->mv_size);
    scan->len += text->mv_size;
    scan->count++;
    scan->at->started |= LIST_GIVEN;
    return 1;
}

/*
 * Rows that were written one after the other lie in their page one below the other. Asked for while
 * this one is copied, the next is in the cache when it is read: without it long lists wait for
 * memory at every row (docs/performance.md). A hint, whatever lies there.
 */
static void prefetch_next(const MDB_val *row)
{
    const char *at = row->mv_data;
    int i;

    for (i = 1; i <= PREFETCH_LINES; i++) {
        __builtin_prefetch(at - CACHE_LINE * i);
    }
}

/* From the cursor's key on. *done 1: the range is at its end; 0: the key is where to go on. */
static int walk(scan_t *scan, int *done, const pay_rows_txn_t *txn)
{
    pay_store_key_t prefix, from;
    pay_rows_scan_t rows = pay_rows_scan(txn, PAY_TABLE_REFUND, &prefix, &from, PAY_ROWS_FROM);
    pay_store_refund_head_t head;
    MDB_val key, row;
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
        if (pay_store_read_time((const char *)key.mv_data + PAY_STORE_SCOPE_LEN) > scan->to) {
            rc = MDB_NOTFOUND;
            break;
        }
        if (visits++ == LIST_VISITS_MAX
            || (head.seq <= scan->at->view_seq && head.import_number <= scan->at->view_import
                && !give(scan, &head.text))) {
            memcpy(scan->at->key, key.mv_data, key.mv_size);
            scan->at->key_len = key.mv_size;
            break;
        }
        rc = pay_rows_next(&key, &row, &rows);
    }
    *done = rc == MDB_NOTFOUND;
    return pay_rows_scan_end(&rows, rc);
}

apr_status_t pay_store_refund_scan(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                                   pay_store_t *store, const pay_scope_t *scope,
                                   const pay_time_range_t *range, char *buffer, apr_size_t size)
{
    scan_t scan = {.at = cursor, .to = range->to, .buffer = buffer, .size = size};
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc = MDB_SUCCESS;

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
