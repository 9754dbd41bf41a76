/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASE_GATHER_H
#define PAY_STORE_ERASE_GATHER_H

/*
 * Deletes rows of a scope in one table, batch by batch: a read transaction looks for rows, and a
 * write transaction deletes those that still match.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_GATHER_VISITS_MAX 4096 /* rows that one read transaction examines */
#define PAY_STORE_GATHER_ROWS_MAX 500    /* rows that one write transaction deletes */

typedef struct pay_store_gather_t pay_store_gather_t;

/* Sets *wanted to 1 for a row to be deleted; `p` is the pool of this batch. A row that does not
 * decode is an error. */
typedef int (*pay_store_want_t)(int *wanted, const pay_store_gather_t *gather,
                                const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p);
/* Deletes the row and all entries that lead to it. */
typedef int (*pay_store_take_out_t)(pay_store_gather_t *gather, pay_rows_txn_t *txn,
                                    const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p);

/* Functions of this type: for a table without indexes, and for idempotency records. */
int pay_store_gather_take_idempotency(pay_store_gather_t *gather, pay_rows_txn_t *txn,
                                      const pay_bytes_t *key, const pay_bytes_t *row,
                                      apr_pool_t *p);

struct pay_store_gather_t {
    const pay_scope_t *scope;
    pay_table_t table;
    pay_store_want_t want;
    pay_store_take_out_t take_out;
    const void *baton;
    /* The result. */
    apr_uint64_t taken;
    int done; /* 1: there are no more */
    /* Private. */
    pay_store_key_t from;     /* where this batch begins, and then the next one */
    apr_array_header_t *keys; /* of pay_bytes_t */
    apr_pool_t *ptemp;
};

/* One batch: from the position `place` (key_len 0: the scope's start), which is advanced. */
apr_status_t pay_store_gather(pay_store_gather_t *gather, pay_store_place_t *place, pay_store_t *db,
                              apr_pool_t *ptemp);

#endif
