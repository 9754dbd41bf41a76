/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENT_ENDPOINT_H
#define PAY_STORE_EVENT_ENDPOINT_H

/*
 * Endpoint rows inside a transaction that the caller holds; endpoint_due holds the time of each
 * endpoint's next check. Functions return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_ENDPOINT_KEY_LEN (PAY_STORE_SCOPE_LEN + 1)
#define PAY_STORE_ENDPOINT_DUE_KEY_LEN (8 + PAY_STORE_ENDPOINT_KEY_LEN)

void pay_store_endpoint_key(pay_store_key_t *key, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind);
/* Returns 1 and sets scope and kind if the bytes are such a key. */
int pay_store_endpoint_key_read(pay_scope_t *scope, pay_endpoint_kind_t *kind, const void *bytes,
                                size_t len);

int pay_store_endpoint_decode(pay_endpoint_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                              apr_pool_t *p);
/* PAY_ROWS_NOTFOUND if the endpoint does not exist. */
int pay_store_endpoint_load(pay_endpoint_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind, apr_pool_t *p);
/* Writes the row, new or not; its due_at is the time of its next check (0: no check by itself). */
int pay_store_endpoint_store(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, apr_pool_t *p);
/* Returns 1 if the endpoint must be checked at `due_at`, which is now set and which the caller
 * stores; 0 if it is checked by then anyway, or its back-off ends later. */
int pay_store_endpoint_hasten(pay_endpoint_t *endpoint, apr_time_t due_at);

extern const pay_store_record_t pay_store_endpoint_record;
extern const pay_store_timed_t pay_store_endpoint_due;

#endif
