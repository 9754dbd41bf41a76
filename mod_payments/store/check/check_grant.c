/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/account/grant.h"

int pay_store_check_grant(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_grant_t *grant;
    int rc, found;

    rc = pay_store_grant_decode(&grant, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_GRANT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    rc = pay_store_check_account_known(&found, check, key->mv_data);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_GRANT, key, "there is no such account");
    }
    if (rc) {
        return rc;
    }
    return pay_store_check_entries(check, &pay_store_grant_record, key, grant);
}
