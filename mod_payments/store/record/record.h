/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_RECORD_H
#define PAY_STORE_RECORD_RECORD_H

/*
 * A row together with the entries that its record declares (store/record/index.h). Functions run
 * inside the caller's transaction and return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/record/index.h"

/*
 * Writes the row of `after` at the key `at`, and moves its entries from those of `before`, which is
 * the stored row. `before` NULL: it is a new one; MDB_KEYEXIST when its key, or a unique entry, is
 * taken. Where nothing that an index looks at has changed, `before` may be `after` itself. Counts
 * the rows of tables that are counted (store/record/rows.h).
 */
int pay_store_record_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, MDB_val *row, const void *before,
                         const void *after);

/* Writes it likewise, whatever is stored there. */
int pay_store_record_store(pay_rows_txn_t *txn, const pay_store_record_t *record,
                           const pay_store_key_t *at, MDB_val *row, const void *after,
                           apr_pool_t *p);

/* Takes out the row at `at` with its entries; `stored` is the row as it was read. A
 * row that is already gone is not an error. */
int pay_store_record_del(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *stored);

#endif
