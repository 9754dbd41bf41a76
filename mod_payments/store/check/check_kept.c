/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/charge.h"
#include "store/payment/kept.h"

#define KIND_OFFSET PAY_STORE_SCOPE_LEN
#define OPERATION_OFFSET (KIND_OFFSET + 1)

static int is_key(const MDB_val *key)
{
    const unsigned char *at = key->mv_data;

    if (key->mv_size != PAY_STORE_KEPT_KEY_LEN) {
        return 0;
    }
    if (at[KIND_OFFSET] == PAY_STORE_KEPT_NO_KIND) {
        return at[OPERATION_OFFSET] == 0;
    }
    return (at[KIND_OFFSET] == PAY_KEY_SECRET || at[KIND_OFFSET] == PAY_KEY_PUBLIC)
           && at[OPERATION_OFFSET] >= PAY_OPERATION_CHARGE
           && at[OPERATION_OFFSET] <= PAY_OPERATION_ORDER;
}

/* The charge and its row name each other; a charge that does not decode is told with its row. */
static int check_charge(pay_store_check_t *check, const MDB_val *key, const pay_store_kept_t *kept)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    pay_store_read_scope(&scope, key->mv_data);
    rc = pay_store_charge_get(&charge, check->txn, &scope, kept->seq, check->ptemp);
    if (rc == MDB_NOTFOUND || (!rc && !pay_store_kept_is_of_charge(charge, key))) {
        pay_store_check_fault(check, PAY_TABLE_KEPT, key, "leads to no charge that was opened so");
        return MDB_SUCCESS;
    }
    return rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
}

static int check_refund(pay_store_check_t *check, const MDB_val *key, const pay_store_kept_t *kept)
{
    pay_store_key_t refund_key;
    MDB_val at;
    int rc, found;

    pay_store_kept_refund_key(&refund_key, key, kept);
    at = pay_store_key_val(&refund_key);
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_REFUND, &at);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_KEPT, key, "leads to no refund");
    }
    return rc;
}

int pay_store_check_kept(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_store_kept_t kept;
    int rc, found;

    if (!is_key(key)) {
        pay_store_check_fault(check, PAY_TABLE_KEPT, key, "the key is malformed");
        return MDB_SUCCESS;
    }
    rc = pay_store_check_account_known(&found, check, key->mv_data);
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_KEPT, key, "there is no such account");
    }
    rc = pay_store_kept_decode(&kept, key, row);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_KEPT, key, "the row does not decode");
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
    return rc ? rc : pay_store_check_entries(check, &pay_store_kept_record, key, &kept);
}
