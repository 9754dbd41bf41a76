/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_WALK_H
#define PAY_STORE_RECORD_WALK_H

/* Visits the rows of a table in the order of their keys. */

#include "store/keys.h"
#include "store/rows.h"

/* 0 goes on; any other code ends the walk and is its result. */
typedef int (*pay_store_visit_t)(void *baton, pay_rows_txn_t *txn, const MDB_val *key,
                                 const MDB_val *val);

/*
 * All rows whose key begins with `prefix` (NULL: all rows), PAY_STORE_ROWS_MAX in one read
 * transaction and the next ones in another: rows written meanwhile may or may not be visited.
 */
apr_status_t pay_store_walk(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                            pay_store_visit_t visit, void *baton);

/*
 * Not more than `limit` of those rows, inside the caller's transaction: the first of them, or those
 * behind the key `after` where it is neither NULL nor empty. MDB_SUCCESS too when there are fewer.
 */
int pay_store_walk_part(pay_rows_txn_t *txn, pay_table_t table, const pay_store_key_t *prefix,
                        const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                        void *baton);
/* The same in a read transaction of its own; 1 <= limit <= PAY_STORE_ROWS_MAX. */
apr_status_t pay_store_walk_page(pay_store_t *db, pay_table_t table, const pay_store_key_t *prefix,
                                 const pay_store_key_t *after, int limit, pay_store_visit_t visit,
                                 void *baton);
/* How many of those rows there are, up to `limit`; nothing of them is read. */
int pay_store_walk_count(int *out, pay_rows_txn_t *txn, pay_table_t table,
                         const pay_store_key_t *prefix, int limit);

#endif
