/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_TOKEN_H
#define PAY_STORE_ACCOUNT_TOKEN_H

/* Card tokens inside a transaction that the caller holds. */

#include "store/rows.h"

/* 0, or PAY_ROWS_BAD (already logged). */
int pay_store_token_decode(pay_token_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p);
/* Loads the token; an erased one is revoked and has no other data. PAY_ROWS_NOTFOUND, PAY_ROWS_BAD.
 */
int pay_store_token_load(pay_token_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const char *text, apr_pool_t *p);
/*
 * Stores the token of a payer who paid on a page; one that the scope has already stays unchanged.
 */
int pay_store_token_issue(pay_rows_txn_t *txn, const pay_token_t *token, apr_pool_t *p);

/*
 * Erases the payer's data in a token's row. In Test Mode the row is deleted; in Live Mode the token
 * stays known by its digest as a revoked one, because an unknown token is left to the acquirer to
 * judge, and would be charged. `key` and `row` may be invalid afterwards.
 */
int pay_store_token_erase(pay_rows_txn_t *txn, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p);

#endif
