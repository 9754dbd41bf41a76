/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_discard.h"

#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_charge_record.h"
#include "store/pay_lmdb_checkout.h"
#include "store/pay_lmdb_kept.h"
#include "store/pay_lmdb_link.h"
#include "store/pay_lmdb_refund_record.h"
#include "store/pay_lmdb_scope.h"
#include "store/pay_lmdb_total.h"

int pay_lmdb_discard_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    int rc = MDB_SUCCESS;

    if (refund->charge_seq != 0 && refund->state != PAY_REFUND_FAILED) {
        rc = pay_lmdb_charge_move_refund(NULL, txn, refund, PAY_REFUND_FAILED, p);
    }
    if (!rc && refund->state == PAY_REFUND_PROCESSED) {
        rc = pay_lmdb_total_refund(txn, refund, -1, p);
    }
    if (!rc) {
        rc = pay_lmdb_refund_remove(txn, refund);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, &refund->scope, 1, p);
}

int pay_lmdb_discard_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    rc = pay_lmdb_total_charge(txn, charge, -1, p);
    if (!rc) {
        rc = pay_lmdb_kept_remove_charge(txn, charge);
    }
    if (!rc) {
        rc = pay_lmdb_link_removed(txn, charge, p);
    }
    if (!rc) {
        rc = pay_lmdb_checkout_del(txn, charge);
    }
    if (!rc) {
        rc = pay_lmdb_charge_remove(txn, charge);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, &charge->scope, 1, p);
}
