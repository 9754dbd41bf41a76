/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"
#include "store/record/epoch.h"

#include <string.h>

int pay_store_check_meta(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const MDB_val epoch = pay_store_epoch_key();
    pay_epoch_t read;
    int rc;

    (void)row;
    if (key->mv_size != epoch.mv_size || memcmp(key->mv_data, epoch.mv_data, epoch.mv_size) != 0) {
        return MDB_SUCCESS;
    }
    rc = pay_store_epoch_read(&read, check->txn);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_META, key, "the row of its epoch does not decode");
        return MDB_SUCCESS;
    }
    return rc;
}
