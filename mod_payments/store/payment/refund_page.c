/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/refund.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

#define ROWS_HINT 64

typedef struct page_t {
    pay_rows_txn_t *txn;
    const pay_scope_t *scope;
    const pay_time_range_t *range;
    pay_page_cursor_t *at;
    apr_uint32_t import_done; /* refunds up to it are visible */
    apr_array_header_t *rows;
} page_t;

static int is_of_scope(const page_t *page, const MDB_val *key)
{
    pay_store_key_t prefix;

    pay_store_key_of_scope(&prefix, page->scope);
    return key->mv_size >= prefix.len && !memcmp(key->mv_data, prefix.bytes, prefix.len);
}

/* MDB_NOTFOUND: neither this one nor any before it. */
static int look(page_t *page, const MDB_val *key, const MDB_val *val)
{
    pay_store_refund_head_t head;
    pay_store_refund_t *row;
    int rc;

    if (!is_of_scope(page, key)) {
        return MDB_NOTFOUND;
    }
    rc = pay_store_refund_head(&head, key, val); /* which judges the key's length too */
    if (rc) {
        return rc;
    }
    page->at->created_at = pay_store_read_time((const char *)key->mv_data + PAY_STORE_SCOPE_LEN);
    page->at->seq = pay_store_read_u64((const char *)key->mv_data + PAY_STORE_SCOPE_LEN + 8);
    page->at->started = 1;
    if (page->at->created_at < page->range->from) {
        return MDB_NOTFOUND;
    }
    if (head.import_number > page->import_done) {
        return MDB_SUCCESS;
    }
    rc = pay_store_refund_decode(&row, key, val, page->rows->pool);
    if (!rc) {
        APR_ARRAY_PUSH(page->rows, const pay_refund_t *) = &row->refund;
    }
    return rc;
}

/* MDB_NOTFOUND: there are no more. */
static int walk(page_t *page, int limit)
{
    const pay_page_cursor_t *at = page->at;
    pay_store_scope_t last;
    pay_store_key_t bound;
    pay_rows_scan_t scan =
        pay_rows_scan(page->txn, PAY_TABLE_REFUND, NULL, &bound, PAY_ROWS_BEFORE);
    MDB_val key, val;
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
    rc = walk(&page, limit);
    pay_rows_end(&txn);
    cursor->done = rc == MDB_NOTFOUND;
    return pay_rows_status(cursor->done ? MDB_SUCCESS : rc);
}
