/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_API_KEY_H
#define PAY_STORE_ACCOUNT_API_KEY_H

/* Rows of API keys, for the files that read their table. */

#include "store/record/index.h"
#include "store/rows.h"

/* Including its account. */
int pay_store_api_key_of_row(pay_api_key_t **out, pay_rows_txn_t *txn, const pay_bytes_t *at,
                             const pay_bytes_t *row, apr_pool_t *p);
/*
 * Sets *out to 1 if the key `id` is a public one; to 0 also if it does not exist or cannot be read.
 */
int pay_store_api_key_is_public(int *out, pay_rows_txn_t *txn, const char *id, apr_pool_t *p);

extern const pay_store_record_t pay_store_api_key_record;

#endif
