/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/charge.h"
#include "store/payment/checkout.h"

#include <string.h>

int pay_store_check_checkout(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    MDB_val val;
    int rc, found;

    if (key->mv_size != PAY_STORE_CHARGE_KEY_LEN) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = pay_store_checkout_decode(&checkout, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (!rc) {
        rc = pay_store_check_has(&found, &val, check, PAY_TABLE_CHARGE, key);
    }
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "there is no such charge");
    } else if (pay_store_charge_decode(&charge, key, &val, check->ptemp) == MDB_SUCCESS) {
        if (charge->kind != PAY_CHARGE_CHECKOUT) {
            pay_store_check_fault(check, PAY_TABLE_CHECKOUT, key, "charge %s is not a checkout",
                                  charge->reference);
        }
        rc = pay_store_check_checkout_link(check, key, checkout, charge);
    }
    return rc ? rc : pay_store_check_entries(check, &pay_store_checkout_record, key, checkout);
}

int pay_store_check_charge_checkout(pay_store_check_t *check, const MDB_val *key,
                                    const pay_charge_t *charge)
{
    int rc, found;

    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return MDB_SUCCESS;
    }
    rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_CHECKOUT, key);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_CHARGE, key, "charge %s: its checkout is lost",
                              charge->reference);
    }
    return rc;
}
