/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_LIMITS_H
#define PAY_STORE_RECORD_LIMITS_H

/* The limits of the server that prepared the store, kept in it so that paymentsctl has the same. */

#include "store/rows.h"

typedef struct pay_store_limits_t {
    apr_int64_t map_bytes; /* 0: no server has prepared the store */
    apr_int64_t reserve_bytes;
    int account_rows_max; /* 0: any number */
} pay_store_limits_t;

/* All zero without a row. PAY_ROWS_BAD (already logged). */
int pay_store_limits_get(pay_store_limits_t *out, pay_rows_txn_t *txn);

/* Writes those of `options` unless they stand there; a full store is left as it is. */
apr_status_t pay_store_limits_put(pay_store_t *db, const pay_store_options_t *options,
                                  apr_pool_t *p);

#endif
