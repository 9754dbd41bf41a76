/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/payment/charge.h"
#include "store/payment/refund_record.h"
#include "store/record/scope.h"

#include <string.h>

static int check_charge(pay_store_check_t *check, const MDB_val *key, const pay_refund_t *refund)
{
    pay_charge_t *charge;
    int rc;

    if (refund->charge_seq == 0) {
        if (refund->import_number == 0) {
            pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: of no charge",
                                  refund->refund_reference);
        }
        return MDB_SUCCESS;
    }
    rc =
        pay_store_charge_get(&charge, check->txn, &refund->scope, refund->charge_seq, check->ptemp);
    if (rc == PAY_ROWS_BAD) { /* told with the charge */
        return MDB_SUCCESS;
    }
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    if (rc == MDB_NOTFOUND || !refund->transaction_reference
        || strcmp(refund->transaction_reference, charge->reference) != 0) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: its charge is not there",
                              refund->refund_reference);
    } else if (strcmp(refund->money.currency, charge->money.currency) != 0) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key,
                              "refund %s: in another currency than its charge",
                              refund->refund_reference);
    }
    return MDB_SUCCESS;
}

/* Its scope gave its numbers, and its key id is known. */
static int check_ties(pay_store_check_t *check, const MDB_val *key, const pay_refund_t *refund)
{
    pay_store_scope_t last;
    MDB_val at;
    int rc, found;

    if (refund->key_id[0] != '\0') {
        at.mv_data = (void *)refund->key_id; /* only read */
        at.mv_size = strlen(refund->key_id);
        rc = pay_store_check_has(&found, NULL, check, PAY_TABLE_API_KEY_ID, &at);
        if (rc) {
            return rc;
        }
        if (!found) {
            pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: no key has the id %s",
                                  refund->refund_reference, refund->key_id);
        }
    }
    rc = pay_store_scope_get(&last, check->txn, &refund->scope);
    if (rc) {
        return rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc; /* told with the scope */
    }
    if (refund->seq > last.refund_seq) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key,
                              "refund %s: its scope never gave this number",
                              refund->refund_reference);
    }
    if (refund->import_number > last.import_done && refund->import_number != last.import_open
        && refund->import_number != last.import_left) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "refund %s: of an unknown import",
                              refund->refund_reference);
    }
    return MDB_SUCCESS;
}

int pay_store_check_refund(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_store_refund_t *record;
    pay_refund_t *refund;
    int rc;

    rc = pay_store_refund_decode(&record, key, row, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_REFUND, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    if (rc) {
        return rc;
    }
    refund = &record->refund;
    rc = pay_store_check_entries(check, &pay_store_refund_record, key, record);
    if (!rc) {
        rc = check_charge(check, key, refund);
    }
    return rc ? rc : check_ties(check, key, refund);
}
