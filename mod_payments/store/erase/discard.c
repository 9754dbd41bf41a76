/* SPDX-License-Identifier: Apache-2.0 */
#include "store/erase/discard.h"

#include "store/payment/charge.h"
#include "store/payment/charge_record.h"
#include "store/payment/checkout.h"
#include "store/payment/kept.h"
#include "store/payment/link.h"
#include "store/payment/refund_record.h"
#include "store/payment/total.h"
#include "store/record/scope.h"

int pay_store_discard_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    int rc = MDB_SUCCESS;

    if (refund->charge_seq != 0 && refund->state != PAY_REFUND_FAILED) {
        rc = pay_store_charge_move_refund(NULL, txn, refund, PAY_REFUND_FAILED, p);
    }
    if (!rc && refund->state == PAY_REFUND_PROCESSED) {
        rc = pay_store_total_refund(txn, refund, -1, p);
    }
    if (!rc) {
        rc = pay_store_refund_remove(txn, refund);
    }
    return rc ? rc : pay_store_scope_take_back(txn, &refund->scope, 1, p);
}

int pay_store_discard_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    rc = pay_store_total_charge(txn, charge, -1, p);
    if (!rc) {
        rc = pay_store_kept_remove_charge(txn, charge);
    }
    if (!rc) {
        rc = pay_store_link_removed(txn, charge, p);
    }
    if (!rc) {
        rc = pay_store_checkout_del(txn, charge);
    }
    if (!rc) {
        rc = pay_store_charge_remove(txn, charge);
    }
    return rc ? rc : pay_store_scope_take_back(txn, &charge->scope, 1, p);
}
