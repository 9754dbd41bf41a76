/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_RECORD_ROWS_COUNT_H
#define PAY_STORE_RECORD_ROWS_COUNT_H

/* Which tables a scope's count of rows is about (store/record/rows.h), and what they hold. */

#include "store/rows.h"

/* Returns 1 if rows of that table are counted. */
int pay_store_rows_is_counted(pay_table_t table);

/* Counts the rows that the scope has in those tables, one by one. Returns LMDB's code. */
int pay_store_rows_count(apr_uint64_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope);

#endif
