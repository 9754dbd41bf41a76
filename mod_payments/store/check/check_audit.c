/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/record/audit.h"

/* Entries of an account count up from 1: one that was taken out leaves a gap. */
int pay_store_check_audit(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_store_key_t before;
    pay_audit_t *entry;
    int rc, found;
    MDB_val at;

    rc = pay_store_audit_decode(&entry, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (entry->account) {
        rc = pay_store_check_account_known(&found, check, key->mv_data);
        if (!rc && !found) {
            pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "there is no such account");
        }
    }
    if (rc || entry->seq == 1) {
        return rc;
    }
    pay_store_audit_key(&before, entry->account, entry->seq - 1);
    at = pay_store_key_val(&before);
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_AUDIT, &at);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_AUDIT, key, "the entry before it is gone");
    }
    return rc;
}
