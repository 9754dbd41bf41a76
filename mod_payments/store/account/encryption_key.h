/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_ENCRYPTION_KEY_H
#define PAY_STORE_ACCOUNT_ENCRYPTION_KEY_H

/*
 * Rows of encryption keys inside a transaction that the caller holds. Functions return the seam's
 * codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/rows.h"

int pay_store_encryption_key_decode(pay_encryption_key_t **out, const pay_bytes_t *key,
                                    const pay_bytes_t *row, apr_pool_t *p);
int pay_store_encryption_key_store(pay_rows_txn_t *txn, const pay_encryption_key_t *record,
                                   apr_pool_t *p);

#endif
