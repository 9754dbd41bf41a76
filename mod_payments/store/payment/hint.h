/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_HINT_H
#define PAY_STORE_PAYMENT_HINT_H

/*
 * What units of work of the payers' path will read, in the words of their nouns: parts of their
 * pay_rows_hints_t. A name that is too long for a key hints nothing, as nothing can be read of it.
 */

#include "store/rows.h"

/* The charge under a reference, or that there is none. */
void pay_store_hint_reference(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference);
/* A charge, and what a checkout has beside it. */
void pay_store_hint_charge(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t seq);
/* What an Idempotency-Key stands for; `use` NULL: none was given. */
void pay_store_hint_kept(pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const pay_idempotency_t *use);
/* A refund by its name in `table`: refund_ref or refund_id. */
void pay_store_hint_refund(pay_rows_txn_t *txn, pay_table_t table, const pay_scope_t *scope,
                           const char *name);
/* Who wants to know of what is decided in the scope. */
void pay_store_hint_events(pay_rows_txn_t *txn, const pay_scope_t *scope);
/* What the fee of an approved charge is computed by. */
void pay_store_hint_fee(pay_rows_txn_t *txn, const pay_scope_t *scope);
/* Where what is decided now is counted, if it was made in this quarter of an hour. */
void pay_store_hint_total(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *currency);
/* The payment link that a checkout is made from. */
void pay_store_hint_link(pay_rows_txn_t *txn, const pay_scope_t *scope, const char *reference);

#endif
