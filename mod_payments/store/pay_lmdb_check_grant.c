/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_grant.h"

int pay_lmdb_check_grant(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *digest = (const unsigned char *)key->mv_data + sizeof(apr_uint32_t);
    pay_lmdb_key_t entry;
    pay_grant_t *grant;
    int rc, found;
    MDB_val at;

    rc = pay_lmdb_grant_decode(&grant, key, row, check->ptemp);
    if (rc) {
        pay_lmdb_check_fault(check, PAY_TABLE_GRANT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_check_account_known(&found, check, key->mv_data);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_GRANT, key, "there is no such account");
    }
    if (rc) {
        return rc;
    }
    pay_lmdb_grant_user_key(&entry, digest, pay_lmdb_read_u32(key->mv_data));
    at = pay_lmdb_key_val(&entry);
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_GRANT_USER, &at);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_GRANT, key, "it is not found by its user");
    }
    return rc;
}

int pay_lmdb_check_grant_user(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *digest = key->mv_data;
    pay_lmdb_key_t grant;
    int rc, found = 0;
    MDB_val at;

    if (key->mv_size == PAY_LMDB_GRANT_KEY_LEN && row->mv_size == 0) {
        pay_lmdb_grant_key(&grant, pay_lmdb_read_u32(digest + PAY_SHA256_LEN), digest);
        at = pay_lmdb_key_val(&grant);
        rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_GRANT, &at);
        if (rc) {
            return rc;
        }
    }
    if (!found) {
        pay_lmdb_check_fault(check, PAY_TABLE_GRANT_USER, key, "leads to no grant");
    }
    return MDB_SUCCESS;
}
