/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/raw.h"

int pay_lmdb_raw_read(MDB_env *mdb, pay_rows_work_t work, void *baton)
{
    pay_rows_txn_t txn = {.store = NULL};
    int rc;

    rc = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn.mdb);
    if (rc) {
        return rc;
    }
    rc = work(&txn, baton);
    mdb_txn_abort(txn.mdb);
    return rc;
}

int pay_lmdb_raw_write(MDB_env *mdb, pay_rows_work_t work, void *baton)
{
    pay_rows_txn_t txn = {.turn = pay_turn_store()};
    int rc;

    rc = mdb_txn_begin(mdb, NULL, 0, &txn.mdb);
    if (rc) {
        return rc;
    }
    rc = work(&txn, baton);
    if (rc) {
        mdb_txn_abort(txn.mdb);
        return rc;
    }
    return mdb_txn_commit(txn.mdb);
}
