/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_SCOPE_H
#define PAY_STORE_RECORD_SCOPE_H

/*
 * The one row that each scope has: what was given last, and how its imports stand. Read and written
 * inside the write transaction that gives something, so that commit order is the order of
 * sequences. Functions return LMDB's codes or PAY_ROWS_BAD.
 */

#include "base/shared/worker.h"
#include "store/keys.h"
#include "store/rows.h"

/* An import holds its scope for so long from each of its transactions on, seen from another boot.
 */
#define PAY_STORE_IMPORT_LEASE apr_time_from_sec(60)

/* How far the clock may have gone back before it is believed again (docs/store.md, rule 4). */
#define PAY_STORE_RAISE_MAX apr_time_from_sec(2)

typedef struct pay_store_scope_t {
    apr_uint64_t charge_seq;    /* the last one given */
    apr_uint64_t refund_seq;    /* the last one given; imported refunds take one too */
    apr_time_t created_at;      /* the last one given; imports never move it */
    apr_uint32_t import_given;  /* the last import number given */
    apr_uint32_t import_open;   /* the one that is being written, or was left so; 0: none */
    apr_uint32_t import_left;   /* the one left unfinished that is being removed; 0: none */
    apr_uint32_t import_done;   /* the last one finished: refunds up to it are visible */
    pay_worker_t import_worker; /* who writes import_open or removes import_left */
    apr_uint64_t taken_back;    /* sequences without a row: charges withdrawn, imports removed */
    /* store/record/rows.c's; scope_put leaves what is stored. */
    apr_uint64_t rows_told; /* one more than the rows beside charges and refunds; 0: not counted */
    apr_uint64_t strangers; /* unpaid checkouts that public keys and visitors made */
    /* Until when import_worker holds the scope, by the store's clock; 0: of an earlier version. */
    apr_time_t import_until_at;
} pay_store_scope_t;

/* A scope without a row yet reads as all zero. */
int pay_store_scope_get(pay_store_scope_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope);
/* Writes all but what store/record/rows.c counts, which may have moved since `row` was read. */
int pay_store_scope_put(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_store_scope_t *row,
                        apr_pool_t *p);

/* As scope_get; *found 0: there is no row yet. */
int pay_store_scope_find(int *found, pay_store_scope_t *out, pay_rows_txn_t *txn,
                         const pay_scope_t *scope);
/* Writes the whole row. */
int pay_store_scope_write(pay_rows_txn_t *txn, const pay_scope_t *scope,
                          const pay_store_scope_t *row, apr_pool_t *p);

/* How many charges and refunds there are, those of unfinished imports included. */
apr_uint64_t pay_store_scope_count(const pay_store_scope_t *row);
/* `count` of them were removed. */
int pay_store_scope_take_back(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t count,
                              apr_pool_t *p);

/* 1 when this process is the one that runs import `number`. */
int pay_store_scope_runs_import(const pay_store_scope_t *row, apr_uint32_t number);
/* 1 when this process is the one that writes or removes an import. */
int pay_store_scope_is_worker(const pay_store_scope_t *row);
/* 1 while another process writes or removes one, or may do so on another machine. */
int pay_store_scope_is_held(const pay_store_scope_t *row);
/* This process writes or removes one, and holds the scope for PAY_STORE_IMPORT_LEASE from now on.
 */
void pay_store_scope_hold(pay_store_scope_t *row);
/* Nobody does any more. */
void pay_store_scope_let_go(pay_store_scope_t *row);

/*
 * A createdAt: the clock in whole milliseconds, not before the last one unless the clock went back
 * by more than PAY_STORE_RAISE_MAX. *stepped_back gets that larger step, else 0: the caller hands
 * it to pay_store_scope_log_step after its commit.
 */
apr_time_t pay_store_scope_stamp(apr_interval_time_t *stepped_back, pay_store_scope_t *row);
void pay_store_scope_log_step(const pay_scope_t *scope, apr_interval_time_t stepped_back);

#endif
