/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_EPOCH_H
#define PAY_STORE_RECORD_EPOCH_H

/*
 * The row "epoch" of the table meta (model/epoch.h), inside a transaction that the caller holds.
 * Functions return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "model/epoch.h"
#include "store/lmdb/files.h"
#include "store/rows.h"

/* The key of the row. */
pay_bytes_t pay_store_epoch_key(void);
/* Reads the row as stored; PAY_ROWS_NOTFOUND if the store has no such row. A bad row is not logged.
 */
int pay_store_epoch_read(pay_epoch_t *out, pay_rows_txn_t *txn);

/* All zero for a store without the row, which an earlier version wrote. */
int pay_store_epoch_load(pay_epoch_t *out, pay_rows_txn_t *txn);
int pay_store_epoch_store(pay_rows_txn_t *txn, const pay_epoch_t *epoch);

/* Also sets `held` if the row belongs to another file: a full store could not begin its epoch. */
int pay_store_epoch_get(pay_epoch_t *out, pay_rows_txn_t *txn);
/* Sets *held to 1 while nothing of Live Mode is sent that could have been sent before. */
int pay_store_epoch_held(int *held, pay_rows_txn_t *txn);

/* The sequence of the next event of a transaction whose last one is `last`: above all that the
 * store assigned before it was copied, and that another history may have assigned since. */
int pay_store_epoch_sequence(apr_uint32_t *out, pay_rows_txn_t *txn, apr_uint32_t last);

/* Returns 1 if the epoch belongs to this file, as far as its file system distinguishes files. */
int pay_store_epoch_is_of_file(const pay_epoch_t *epoch, const pay_lmdb_file_id_t *file);

/* --- store/payment/history.c --- */
/* Sets *synced to 1 if the refunds of the scope were fetched since the epoch began; *from to the
 * time from which they must be fetched, 0 if unknown. */
int pay_store_history_synced(int *synced, apr_time_t *from, pay_rows_txn_t *txn,
                             const pay_scope_t *scope, const pay_epoch_t *epoch, apr_pool_t *p);

/* --- store/life/restore.c --- */
/* A unit of work: marks the store, a copy, as one made at `when`, an apr_time_t. */
int pay_store_restore_mark(pay_rows_txn_t *txn, void *when);

#endif
