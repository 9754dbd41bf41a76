/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_SCOPE_H
#define PAY_STORE_RECORD_SCOPE_H

/*
 * The single row of each scope: the last assigned values and the state of its imports. Read and
 * written inside the write transaction that assigns a value, so that commit order is the order of
 * sequences. Functions return the seam's codes or PAY_ROWS_BAD.
 */

#include "base/shared/worker.h"
#include "store/keys.h"
#include "store/rows.h"

/* How long an import holds its scope after each of its transactions, seen from another boot. */
#define PAY_STORE_IMPORT_LEASE apr_time_from_sec(60)

/* How far the clock may have gone back before it is trusted again (docs/store.md, rule 4). */
#define PAY_STORE_RAISE_MAX apr_time_from_sec(2)

typedef struct pay_store_scope_t {
    apr_uint64_t charge_seq;    /* the last one assigned */
    apr_uint64_t refund_seq;    /* the last one assigned; imported refunds use one too */
    apr_time_t created_at;      /* the last one assigned; imports never change it */
    apr_uint32_t import_given;  /* the last import number assigned */
    apr_uint32_t import_open;   /* being written, or left unfinished; 0: no import */
    apr_uint32_t import_left;   /* unfinished, being removed; 0: no import */
    apr_uint32_t import_done;   /* the last finished one: refunds up to it are visible */
    pay_worker_t import_worker; /* the worker that writes import_open or removes import_left */
    apr_uint64_t taken_back;    /* sequences without a row: withdrawn charges, removed imports */
    /* Owned by store/record/rows.c; scope_put leaves the stored values. */
    apr_uint64_t rows_told; /* one more than the rows beside charges and refunds; 0: not counted */
    apr_uint64_t anonymous; /* unpaid checkouts that public keys and visitors created */
    /*
     * Until when import_worker holds the scope, by the store's clock; 0 in rows of earlier
     * versions.
     */
    apr_time_t import_until_at;
} pay_store_scope_t;

/* A scope without a row reads as all zero. */
int pay_store_scope_get(pay_store_scope_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope);
/*
 * Writes everything except what store/record/rows.c counts, which may have changed since `row` was
 * read.
 */
int pay_store_scope_put(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_store_scope_t *row,
                        apr_pool_t *p);

/* Like scope_get; sets *found to 0 if there is no row yet. */
int pay_store_scope_find(int *found, pay_store_scope_t *out, pay_rows_txn_t *txn,
                         const pay_scope_t *scope);
/* Writes the whole row. */
int pay_store_scope_write(pay_rows_txn_t *txn, const pay_scope_t *scope,
                          const pay_store_scope_t *row, apr_pool_t *p);

/* The number of charges and refunds, including those of unfinished imports. */
apr_uint64_t pay_store_scope_count(const pay_store_scope_t *row);
/* Records that `count` of them were removed. */
int pay_store_scope_take_back(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t count,
                              apr_pool_t *p);

/* Returns 1 if this process runs import `number`. */
int pay_store_scope_runs_import(const pay_store_scope_t *row, apr_uint32_t number);
/* Returns 1 if this process writes or removes an import. */
int pay_store_scope_is_worker(const pay_store_scope_t *row);
/* Returns 1 while another process writes or removes one, or may do so on another machine. */
int pay_store_scope_is_held(const pay_store_scope_t *row);
/* Records that this process writes or removes one: it holds the scope for PAY_STORE_IMPORT_LEASE
 * from now on. */
void pay_store_scope_hold(pay_store_scope_t *row);
/* Releases the scope. */
void pay_store_scope_let_go(pay_store_scope_t *row);

/*
 * A createdAt: the clock in whole milliseconds, not before the last one unless the clock went back
 * by more than PAY_STORE_RAISE_MAX. Sets *stepped_back to that larger step, else to 0: the caller
 * passes it to pay_store_scope_log_step after its commit.
 */
apr_time_t pay_store_scope_stamp(apr_interval_time_t *stepped_back, pay_store_scope_t *row);
void pay_store_scope_log_step(const pay_scope_t *scope, apr_interval_time_t stepped_back);

#endif
