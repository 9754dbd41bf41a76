/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENT_ENDPOINT_H
#define PAY_STORE_EVENT_ENDPOINT_H

/*
 * Endpoint rows inside a transaction that the caller holds; endpoint_due tells when each is looked
 * at next. Functions return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_ENDPOINT_KEY_LEN (PAY_STORE_SCOPE_LEN + 1)
#define PAY_STORE_ENDPOINT_DUE_KEY_LEN (8 + PAY_STORE_ENDPOINT_KEY_LEN)

void pay_store_endpoint_key(pay_store_key_t *key, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind);
/* 1 and scope and kind set, when the bytes are such a key. */
int pay_store_endpoint_key_read(pay_scope_t *scope, pay_endpoint_kind_t *kind, const void *bytes,
                                size_t len);

int pay_store_endpoint_decode(pay_endpoint_t **out, const MDB_val *key, const MDB_val *row,
                              apr_pool_t *p);
/* MDB_NOTFOUND when there is none. */
int pay_store_endpoint_load(pay_endpoint_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind, apr_pool_t *p);
/* Writes the row, new or not, whose due_at says when it is looked at next (0: not by itself). */
int pay_store_endpoint_store(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, apr_pool_t *p);
/* Returns 1 if the endpoint is to be looked at at `due_at` now, which the caller stores; 0 if it is
 * looked at by then anyway, or its back-off says later. */
int pay_store_endpoint_hasten(pay_endpoint_t *endpoint, apr_time_t due_at);

extern const pay_store_record_t pay_store_endpoint_record;
extern const pay_store_timed_t pay_store_endpoint_due;

#endif
