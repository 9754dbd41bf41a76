/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/record.h"

#include "store/record/rows.h"

int pay_store_record_put(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, MDB_val *row, const void *before,
                         const void *after)
{
    MDB_val key = pay_store_key_val(at);
    int rc;

    rc = before ? pay_rows_put(txn, record->table, &key, row, 0)
                : pay_store_rows_put(txn, record->table, &key, row, MDB_NOOVERWRITE);
    return rc ? rc : pay_store_index_move(txn, record, at, before, after);
}

int pay_store_record_store(pay_rows_txn_t *txn, const pay_store_record_t *record,
                           const pay_store_key_t *at, MDB_val *row, const void *after,
                           apr_pool_t *p)
{
    const MDB_val key = pay_store_key_val(at);
    void *before;
    int rc;

    rc = record->load(&before, txn, &key, p);
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    return pay_store_record_put(txn, record, at, row, rc ? NULL : before, after);
}

int pay_store_record_del(pay_rows_txn_t *txn, const pay_store_record_t *record,
                         const pay_store_key_t *at, const void *stored)
{
    MDB_val key = pay_store_key_val(at);
    int rc;

    rc = pay_store_index_move(txn, record, at, stored, NULL);
    if (!rc) {
        rc = pay_store_rows_del(txn, record->table, &key);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}
