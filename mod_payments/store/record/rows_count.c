/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/rows_count.h"

#include "store/keys.h"
#include "store/rows_scan.h"

#include <string.h>

static const pay_table_t counted[] = {PAY_TABLE_KEPT, PAY_TABLE_EVENT, PAY_TABLE_TOKEN,
                                      PAY_TABLE_LINK, PAY_TABLE_CHECKOUT};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

int pay_store_rows_is_counted(pay_table_t table)
{
    size_t i;

    for (i = 0; i < COUNTED; i++) {
        if (counted[i] == table) {
            return 1;
        }
    }
    return 0;
}

static int count_table(apr_uint64_t *out, pay_rows_txn_t *txn, pay_table_t table,
                       const pay_store_key_t *prefix)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, table, prefix, NULL, PAY_ROWS_FROM);
    MDB_val key, row;
    int rc;

    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        (*out)++;
        rc = pay_rows_next(&key, &row, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

int pay_store_rows_count(apr_uint64_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    pay_store_key_t prefix;
    int rc = MDB_SUCCESS;
    size_t i;

    *out = 0;
    pay_store_key_of_scope(&prefix, scope);
    for (i = 0; !rc && i < COUNTED; i++) {
        rc = count_table(out, txn, counted[i], &prefix);
    }
    return rc;
}
