/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_TOKEN_H
#define PAY_STORE_ACCOUNT_TOKEN_H

/* Card tokens inside a transaction that the caller holds. */

#include "store/rows.h"

/* 0, or PAY_ROWS_BAD (already logged). */
int pay_store_token_decode(pay_token_t **out, const MDB_val *key, const MDB_val *row,
                           apr_pool_t *p);
/* The token; one that was erased is revoked, and there is no more to it. MDB_NOTFOUND,
 * PAY_ROWS_BAD.
 */
int pay_store_token_load(pay_token_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const char *text, apr_pool_t *p);
/* The token of a payer who paid on a page; one that the scope has already stays as it is. */
int pay_store_token_issue(pay_rows_txn_t *txn, const pay_token_t *token, apr_pool_t *p);

/*
 * Takes out what a token's row tells of its payer. In Test Mode that is the row; in Live Mode the
 * token stays known by its digest as one that was revoked, for what is not known here is the
 * acquirer's to judge, and would be charged. `key` and `row` may be gone after it.
 */
int pay_store_token_erase(pay_rows_txn_t *txn, const MDB_val *key, const MDB_val *row,
                          apr_pool_t *p);

#endif
