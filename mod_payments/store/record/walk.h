/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_WALK_H
#define PAY_STORE_RECORD_WALK_H

/* Visits the rows of a table in key order. */

#include "store/keys.h"
#include "store/rows.h"

/* Returns 0 to go on; any other code ends the walk and is its result. */
typedef int (*pay_store_visit_t)(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                                 const pay_bytes_t *val);

/*
 * Visits all rows whose key begins with `prefix` (NULL: all rows), PAY_STORE_ROWS_MAX per read
 * transaction: rows written meanwhile may or may not be visited.
 */
apr_status_t pay_store_walk(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                            pay_store_visit_t visit, void *baton);

/*
 * Visits at most `limit` of those rows, inside the caller's transaction: the first ones, or those
 * after the key `after` if it is neither NULL nor empty. 0 also if there are fewer.
 */
int pay_store_walk_part(pay_rows_txn_t *txn, pay_table_t table, const pay_store_key_t *prefix,
                        const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                        void *baton);
/* The same in a read transaction of its own; 1 <= limit <= PAY_STORE_ROWS_MAX. */
apr_status_t pay_store_walk_page(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                                 const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                                 void *baton);
/* Counts those rows, up to `limit`, without reading them. */
int pay_store_walk_count(int *out, pay_rows_txn_t *txn, pay_table_t table,
                         const pay_store_key_t *prefix, int limit);

#endif
