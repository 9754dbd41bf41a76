/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_ACCOUNT_H
#define PAY_STORE_ACCOUNT_ACCOUNT_H

/* Rows of accounts, for the files of other nouns that belong to an account. */

#include "store/record/index.h"
#include "store/rows.h"

/* PAY_ROWS_NOTFOUND if the account does not exist. Copied into `p`. */
int pay_store_account_by_number(pay_account_t **out, pay_rows_txn_t *txn, apr_uint32_t number,
                                apr_pool_t *p);
int pay_store_account_by_name(pay_account_t **out, pay_rows_txn_t *txn, const char *name,
                              apr_pool_t *p);

extern const pay_store_record_t pay_store_account_record;

#endif
