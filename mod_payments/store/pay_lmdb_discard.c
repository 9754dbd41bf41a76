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

int pay_lmdb_discard_refund(MDB_txn *txn, const pay_store_t *db, pay_refund_t *refund,
                            apr_pool_t *p)
{
    int rc = MDB_SUCCESS;

    if (refund->charge_seq != 0 && refund->state != PAY_REFUND_FAILED) {
        rc = pay_lmdb_charge_move_refund(NULL, txn, db, refund, PAY_REFUND_FAILED, p);
    }
    if (!rc && refund->state == PAY_REFUND_PROCESSED) {
        rc = pay_lmdb_total_refund(txn, db, refund, -1, p);
    }
    if (!rc) {
        rc = pay_lmdb_refund_remove(txn, db, refund);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, db, &refund->scope, 1, p);
}

int pay_lmdb_discard_charge(MDB_txn *txn, const pay_store_t *db, pay_charge_t *charge,
                            apr_pool_t *p)
{
    int rc;

    rc = pay_lmdb_total_charge(txn, db, charge, -1, p);
    if (!rc) {
        rc = pay_lmdb_kept_remove_charge(txn, db, charge);
    }
    if (!rc) {
        rc = pay_lmdb_link_removed(txn, db, charge, p);
    }
    if (!rc) {
        rc = pay_lmdb_checkout_del(txn, db, charge);
    }
    if (!rc) {
        rc = pay_lmdb_charge_remove(txn, db, charge);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, db, &charge->scope, 1, p);
}
