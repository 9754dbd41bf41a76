/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_TOKEN_H
#define PAY_LMDB_TOKEN_H

/* Card tokens inside a transaction that the caller holds. */

#include "store/pay_lmdb.h"

/* The token of a payer who paid on a page; one that the scope has already stays as it is. */
int pay_lmdb_token_issue(MDB_txn *txn, const pay_lmdb_t *db, const pay_token_t *token,
                         apr_pool_t *p);

#endif
