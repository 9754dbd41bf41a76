/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_HINT_H
#define PAY_STORE_PAYMENT_HINT_H

/*
 * The rows that units of work on the payment path will read, by nouns: parts of their
 * pay_rows_hints_t. A name that is too long for a key gives no hint, because nothing can be read by
 * it.
 */

#include "store/rows.h"

/* The charge under a reference, or its absence. */
void pay_store_hint_reference(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference);
/* A charge, and the additional rows of a checkout. */
void pay_store_hint_charge(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t seq);
/* The idempotency record of a key; `use` is NULL if no key was given. */
void pay_store_hint_idempotency(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                const pay_idempotency_t *use);
/* A refund by its name in `table`: refund_ref or refund_id. */
void pay_store_hint_refund(pay_rows_txn_t *txn, pay_table_t table, const pay_scope_t *scope,
                           const char *name);
/* The endpoints that receive the decisions of the scope. */
void pay_store_hint_events(pay_rows_txn_t *txn, const pay_scope_t *scope);
/* The rows from which the fee of an approved charge is computed. */
void pay_store_hint_fee(pay_rows_txn_t *txn, const pay_scope_t *scope);
/* The total that counts a decision now, if the charge was made in this quarter of an hour. */
void pay_store_hint_total(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *currency);
/* The payment link that a checkout is made from. */
void pay_store_hint_link(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference);

#endif
