/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_kept.h"

#define KIND_OFFSET PAY_LMDB_SCOPE_LEN
#define OPERATION_OFFSET (KIND_OFFSET + 1)

static int is_key(const MDB_val *key)
{
    const unsigned char *at = key->mv_data;

    if (key->mv_size != PAY_LMDB_KEPT_KEY_LEN) {
        return 0;
    }
    if (at[KIND_OFFSET] == PAY_LMDB_KEPT_NO_KIND) {
        return at[OPERATION_OFFSET] == 0;
    }
    return (at[KIND_OFFSET] == PAY_KEY_SECRET || at[KIND_OFFSET] == PAY_KEY_PUBLIC)
           && at[OPERATION_OFFSET] >= PAY_OPERATION_CHARGE
           && at[OPERATION_OFFSET] <= PAY_OPERATION_ORDER;
}

/* The charge and its row name each other; a charge that does not decode is told with its row. */
static int check_charge(pay_lmdb_check_t *check, const MDB_val *key, const pay_lmdb_kept_t *kept)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_lmdb_read_scope(&scope, key->mv_data);
    rc = pay_lmdb_charge_get(&charge, check->txn, &scope, kept->seq, check->ptemp);
    if (rc == MDB_NOTFOUND || (!rc && !pay_lmdb_kept_is_of_charge(charge, key))) {
        pay_lmdb_check_fault(check, PAY_TABLE_KEPT, key, "leads to no charge that was opened so");
        return MDB_SUCCESS;
    }
    return rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
}

static int check_refund(pay_lmdb_check_t *check, const MDB_val *key, const pay_lmdb_kept_t *kept)
{
    pay_lmdb_key_t refund_key;
    MDB_val at;
    int rc, found;

    pay_lmdb_kept_refund_key(&refund_key, key, kept);
    at = pay_lmdb_key_val(&refund_key);
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_REFUND, &at);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_KEPT, key, "leads to no refund");
    }
    return rc;
}

int pay_lmdb_check_kept(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_lmdb_kept_t kept;
    int rc, found;

    if (!is_key(key)) {
        pay_lmdb_check_fault(check, PAY_TABLE_KEPT, key, "the key is malformed");
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_check_account_known(&found, check, key->mv_data);
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_lmdb_check_fault(check, PAY_TABLE_KEPT, key, "there is no such account");
    }
    rc = pay_lmdb_kept_decode(&kept, key, row);
    if (rc == PAY_ROWS_BAD) {
        pay_lmdb_check_fault(check, PAY_TABLE_KEPT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (rc) {
        return rc;
    }
    if (kept.what == PAY_KEPT_CHARGE) {
        rc = check_charge(check, key, &kept);
    } else if (kept.what == PAY_KEPT_REFUND || kept.what == PAY_KEPT_REPEAT) {
        rc = check_refund(check, key, &kept);
    }
    return rc ? rc : pay_lmdb_check_entries(check, &pay_lmdb_kept_record, key, &kept);
}
