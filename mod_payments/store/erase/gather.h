/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASE_GATHER_H
#define PAY_STORE_ERASE_GATHER_H

/*
 * Taking out, part by part, what a scope has in one table: a read transaction looks for rows, a
 * write transaction takes out those that are still what was looked for.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_GATHER_VISITS_MAX 4096 /* rows that one read transaction looks at */
#define PAY_STORE_GATHER_ROWS_MAX 500    /* rows that one write transaction takes out */

typedef struct pay_store_gather_t pay_store_gather_t;

/* 1 in *wanted for a row to take out; `p` is of this part. A row that does not decode is an error.
 */
typedef int (*pay_store_want_t)(int *wanted, const pay_store_gather_t *gather, const MDB_val *key,
                                const MDB_val *row, apr_pool_t *p);
/* Takes the row out, with all that leads to it. */
typedef int (*pay_store_take_out_t)(pay_store_gather_t *gather, pay_rows_txn_t *txn,
                                    const MDB_val *key, const MDB_val *row, apr_pool_t *p);

/* Such: of a table to whose rows nothing leads, and of table kept. */
int pay_store_gather_take_kept(pay_store_gather_t *gather, pay_rows_txn_t *txn, const MDB_val *key,
                               const MDB_val *row, apr_pool_t *p);

struct pay_store_gather_t {
    const pay_scope_t *scope;
    pay_table_t table;
    pay_store_want_t want;
    pay_store_take_out_t take_out;
    const void *baton;
    /* What came of it. */
    apr_uint64_t taken;
    int done; /* 1: there is no more */
    /* Its own. */
    pay_store_key_t from;     /* where this part begins, and then the next one */
    apr_array_header_t *keys; /* of MDB_val */
    apr_pool_t *ptemp;
};

/* One part: from where `place` stands (key_len 0: the scope's begin), which is moved on. */
apr_status_t pay_store_gather(pay_store_gather_t *gather, pay_store_place_t *place, pay_store_t *db,
                              apr_pool_t *ptemp);

#endif
