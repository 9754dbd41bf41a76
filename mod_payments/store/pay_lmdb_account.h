/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_ACCOUNT_H
#define PAY_LMDB_ACCOUNT_H

/* Rows of accounts, for the files of other nouns that belong to one. */

#include "store/pay_rows.h"
#include "store/pay_lmdb_index.h"

/* MDB_NOTFOUND when there is none. Copied into `p`. */
int pay_lmdb_account_by_number(pay_account_t **out, pay_rows_txn_t *txn, apr_uint32_t number,
                               apr_pool_t *p);
int pay_lmdb_account_by_name(pay_account_t **out, pay_rows_txn_t *txn, const char *name,
                             apr_pool_t *p);

extern const pay_lmdb_record_t pay_lmdb_account_record;

#endif
