/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_checkout.h"

#include <string.h>

/* The page's id leads back to it. */
static int check_page_of(pay_lmdb_check_t *check, const MDB_val *key,
                         const pay_checkout_t *checkout)
{
    const unsigned char *place;
    pay_lmdb_key_t page;
    MDB_val at, val;
    int rc, found;

    (void)pay_lmdb_page_key(&page, checkout->page_id); /* it decoded, so it is one */
    at = pay_lmdb_key_val(&page);
    rc = pay_lmdb_check_has(&found, &val, check, PAY_TABLE_PAGE, &at);
    if (rc) {
        return rc;
    }
    place = found ? val.mv_data : NULL;
    if (!found || val.mv_size != PAY_LMDB_PAGE_LEN || place[0] != PAY_PAGE_CHECKOUT
        || memcmp(place + 1, key->mv_data, PAY_LMDB_CHARGE_KEY_LEN) != 0) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "its page does not lead to it");
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_checkout(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    MDB_val val;
    int rc, found;

    if (key->mv_size != PAY_LMDB_CHARGE_KEY_LEN) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "the key has a wrong length");
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_checkout_decode(&checkout, key, row, check->ptemp);
    if (rc == PAY_LMDB_BAD_ROW) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (!rc) {
        rc = pay_lmdb_check_has(&found, &val, check, PAY_TABLE_CHARGE, key);
    }
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "there is no such charge");
    } else if (pay_lmdb_charge_decode(&charge, key, &val, check->ptemp) == MDB_SUCCESS) {
        if (charge->kind != PAY_CHARGE_CHECKOUT) {
            pay_lmdb_check_fault(check, PAY_TABLE_CHECKOUT, key, "charge %s is no checkout",
                                 charge->reference);
        }
        rc = pay_lmdb_check_checkout_link(check, key, checkout, charge);
    }
    if (!rc) {
        rc = pay_lmdb_check_checkout_listed(check, key, checkout);
    }
    return rc ? rc : check_page_of(check, key, checkout);
}

int pay_lmdb_check_page(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *place = row->mv_data;
    pay_checkout_t *checkout;
    MDB_val at = {PAY_LMDB_CHARGE_KEY_LEN, NULL}, val;
    int rc, found = 0;

    if (row->mv_size == PAY_LMDB_PAGE_LEN && place[0] == PAY_PAGE_CHECKOUT) {
        at.mv_data = (void *)(place + 1); /* only read */
        rc = pay_lmdb_check_has(&found, &val, check, PAY_TABLE_CHECKOUT, &at);
        if (rc) {
            return rc;
        }
    }
    if (found) {
        rc = pay_lmdb_checkout_decode(&checkout, &at, &val, check->ptemp);
        if (rc == PAY_LMDB_BAD_ROW) { /* told with the checkout */
            return MDB_SUCCESS;
        }
        if (rc) {
            return rc;
        }
        found = key->mv_size == PAY_PAGE_ID_LEN
                && memcmp(key->mv_data, checkout->page_id, PAY_PAGE_ID_LEN) == 0;
    }
    if (row->mv_size > 1 && place[0] == PAY_PAGE_LINK) {
        at.mv_data = (void *)(place + 1);
        at.mv_size = row->mv_size - 1;
        rc = pay_lmdb_check_page_link(&found, check, key, &at);
        if (rc) {
            return rc;
        }
    }
    if (!found) {
        pay_lmdb_check_fault(check, PAY_TABLE_PAGE, key,
                             "leads to no checkout or link of that page");
    }
    return MDB_SUCCESS;
}

int pay_lmdb_check_charge_checkout(pay_lmdb_check_t *check, const MDB_val *key,
                                   const pay_charge_t *charge)
{
    int rc, found;

    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_CHECKOUT, key);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_CHARGE, key, "charge %s: its checkout is lost",
                             charge->reference);
    }
    return rc;
}
