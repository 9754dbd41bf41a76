/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_ROWS_H
#define PAY_STORE_RECORD_ROWS_H

/*
 * How many rows each scope has beside its charges and refunds: kept answers, events, tokens,
 * payment links and checkouts. The scope's row counts them, in the transactions that add or remove
 * them (docs/store.md). Functions return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/record/scope.h"
#include "store/rows.h"

/* As mdb_put and mdb_del of a row whose key begins with its scope; counts it if it is of one of
 * those tables, and was not there before. */
int pay_store_rows_put(pay_rows_txn_t *txn, pay_table_t table, MDB_val *key, MDB_val *row,
                       unsigned int flags);
int pay_store_rows_del(pay_rows_txn_t *txn, pay_table_t table, MDB_val *key);

/* Adds `by` to the unpaid checkouts of strangers. */
int pay_store_rows_strangers(pay_rows_txn_t *txn, const pay_scope_t *scope, int by);

/* 1 in *reached when the scope has as many rows as account_rows_max allows, which is logged now and
 * then: nothing new is opened for it. */
int pay_store_rows_quota(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope);
int pay_store_rows_has_quota(const pay_store_t *db);
/* The same of what strangers may have: unpaid checkouts, two rows each, in an eighth of it. */
int pay_store_rows_quota_strangers(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope);

/* Counts the scopes that an earlier version wrote, each in a transaction of its own. */
apr_status_t pay_store_rows_prepare(pay_store_t *db, apr_pool_t *p);

/* Which tables a scope's count of rows is about (store/record/rows.h), and what they hold. */

/* Counts the rows that the scope has in those tables, one by one. Returns LMDB's code. */
int pay_store_rows_count(apr_uint64_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope);

/* The limits of the server that prepared the store, kept in it so that paymentsctl has the same. */

typedef struct pay_store_limits_t {
    apr_int64_t map_bytes; /* 0: no server has prepared the store */
    apr_int64_t reserve_bytes;
    int account_rows_max; /* 0: any number */
} pay_store_limits_t;

/* Writes those of `options` unless they stand there; a full store is left as it is. */
apr_status_t pay_store_limits_put(pay_store_t *db, const pay_store_options_t *options,
                                  apr_pool_t *p);

#endif
