/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ROWS_SCAN_H
#define PAY_STORE_ROWS_SCAN_H

/*
 * Rows of a table in the order of their keys, inside a transaction; a part of the seam
 * (store/rows.h). Rows may be written while a scan is open, except those that it has yet to reach.
 */

#include "store/keys.h"
#include "store/rows.h"

#include <apr_strings.h>
#include <string.h>

typedef enum pay_rows_way_t {
    PAY_ROWS_FROM,  /* upward, from that key on */
    PAY_ROWS_AFTER, /* upward, after that key; after an empty key: from the first one on */
    PAY_ROWS_BEFORE /* downward, below that key */
} pay_rows_way_t;

/* Made by pay_rows_scan; must be ended by pay_rows_scan_end. */
typedef struct pay_rows_scan_t {
    const pay_rows_txn_t *txn;
    pay_table_t table;
    pay_rows_way_t way;
    const pay_store_key_t *prefix, *from;
    void *cursor; /* the engine's own; NULL: nothing has been read yet */
    int started;
} pay_rows_scan_t;

/*
 * A scan of the rows whose keys begin with `prefix` (NULL: of all rows), from the key `from` on in
 * the direction of `way`. `from` NULL: all of them, which a downward scan allows without a prefix
 * only. Both keys live as long as the scan, and are made before its first row is read.
 */
static inline pay_rows_scan_t pay_rows_scan(const pay_rows_txn_t *txn, pay_table_t table,
                                            const pay_store_key_t *prefix,
                                            const pay_store_key_t *from, pay_rows_way_t way)
{
    return (pay_rows_scan_t){
        .txn = txn, .table = table, .way = way, .prefix = prefix, .from = from};
}

/* Continues from another key, in the same direction. */
static inline void pay_rows_scan_move(pay_rows_scan_t *scan, const pay_store_key_t *from)
{
    scan->from = from;
    scan->started = 0;
}

/* Reads the first row; for pay_rows_next. */
int pay_rows_scan_start(pay_bytes_t *key, pay_bytes_t *row, pay_rows_scan_t *scan);
/* Ends the scan. Returns its last code `rc`, or 0 if that is PAY_ROWS_NOTFOUND. */
int pay_rows_scan_end(pay_rows_scan_t *scan, int rc);

/* Reads the next row; PAY_ROWS_NOTFOUND: there are no more. */
static inline int pay_rows_next(pay_bytes_t *key, pay_bytes_t *row, pay_rows_scan_t *scan)
{
    const pay_store_key_t *prefix = scan->prefix;
    int rc;

    rc = scan->started ? pay_lmdb_scan_next(key, row, scan->cursor, scan->way == PAY_ROWS_BEFORE)
                       : pay_rows_scan_start(key, row, scan);
    if (!rc && prefix
        && (key->len < prefix->len || memcmp(key->data, prefix->bytes, prefix->len) != 0)) {
        return PAY_ROWS_NOTFOUND;
    }
    return rc;
}

/* Reads the first row of such a scan, without a scan; PAY_ROWS_NOTFOUND. */
int pay_rows_first(pay_bytes_t *key, pay_bytes_t *row, const pay_rows_txn_t *txn, pay_table_t table,
                   const pay_store_key_t *prefix, const pay_store_key_t *from, pay_rows_way_t way);

/* Returns a copy of a key or of a row in `p`. */
pay_bytes_t pay_rows_dup(const pay_bytes_t *val, apr_pool_t *p);

#endif
