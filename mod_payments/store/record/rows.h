/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_ROWS_H
#define PAY_STORE_RECORD_ROWS_H

/*
 * How many rows each scope has beside its charges and refunds: idempotency records, events, tokens,
 * payment links and checkouts. The scope's row counts them, in the transactions that add or remove
 * them (docs/store.md). Functions return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/record/scope.h"
#include "store/rows.h"

/* Like pay_rows_put and pay_rows_del for a row whose key begins with its scope; counts the row if
 * its table is counted and the key is new. */
int pay_store_rows_put(pay_rows_txn_t *txn, pay_table_t table, pay_bytes_t *key, pay_bytes_t *row,
                       unsigned int flags);
int pay_store_rows_del(pay_rows_txn_t *txn, pay_table_t table, pay_bytes_t *key);

/* Adds `by` to the unpaid checkouts of anonymous clients. */
int pay_store_rows_anonymous(pay_rows_txn_t *txn, const pay_scope_t *scope, int by);

/* Sets *reached to 1 if the scope has as many rows as account_rows_max allows, which is logged now
 * and then: nothing new is opened for it. */
int pay_store_rows_quota(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope);
int pay_store_rows_has_quota(const pay_store_t *db);
/*
 * The same for anonymous clients: their unpaid checkouts, two rows each, may fill an eighth of the
 * quota.
 */
int pay_store_rows_quota_anonymous(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope);

/* Counts the scopes that an earlier version wrote, each in a transaction of its own. */
apr_status_t pay_store_rows_prepare(pay_store_t *db, apr_pool_t *p);

/*
 * The tables that count towards a scope's rows (store/record/rows.h), and how many rows they hold.
 */

/* Counts the rows that the scope has in those tables, one by one. Returns the seam's code. */
int pay_store_rows_count(apr_uint64_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope);

/*
 * The limits of the server that prepared the store, stored in it so that paymentsctl has the same.
 */

typedef struct pay_store_limits_t {
    apr_int64_t map_bytes; /* 0: no server has prepared the store */
    apr_int64_t reserve_bytes;
    int account_rows_max; /* 0: no limit */
} pay_store_limits_t;

/* Writes those of `options` unless they are stored already; a full store is left unchanged. */
apr_status_t pay_store_limits_put(pay_store_t *db, const pay_store_options_t *options,
                                  apr_pool_t *p);

#endif
