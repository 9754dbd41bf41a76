/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_discard.h"

#include "store/pay_lmdb_acquirer.h"
#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_charge_list.h"
#include "store/pay_lmdb_checkout.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_held.h"
#include "store/pay_lmdb_kept.h"
#include "store/pay_lmdb_link.h"
#include "store/pay_lmdb_refund.h"
#include "store/pay_lmdb_scope.h"
#include "store/pay_lmdb_total.h"

int pay_lmdb_discard_refund(MDB_txn *txn, const pay_lmdb_t *db, pay_refund_t *refund, apr_pool_t *p)
{
    int rc = MDB_SUCCESS;

    if (refund->charge_seq != 0 && refund->state != PAY_REFUND_FAILED) {
        rc = pay_lmdb_charge_move_refund(NULL, txn, db, refund, PAY_REFUND_FAILED, p);
    }
    if (!rc && (refund->state == PAY_REFUND_PENDING || refund->due_at != 0)) {
        rc = pay_lmdb_due_del_refund(txn, db, refund);
    }
    if (!rc) {
        rc = pay_lmdb_held_refund(txn, db, refund, PAY_NOT_HELD);
    }
    if (!rc && refund->state != PAY_REFUND_FAILED) {
        rc = pay_lmdb_refund_repeat_del(txn, db, refund);
    }
    if (!rc) {
        rc = pay_lmdb_acquirer_del_refund(txn, db, refund);
    }
    if (!rc && refund->state == PAY_REFUND_PROCESSED) {
        rc = pay_lmdb_total_refund(txn, db, refund, -1, p);
    }
    if (!rc) {
        rc = pay_lmdb_refund_remove(txn, db, refund);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, db, &refund->scope, 1, p);
}

static int delete_key(MDB_txn *txn, const pay_lmdb_t *db, pay_lmdb_table_t table,
                      const pay_lmdb_key_t *key)
{
    MDB_val at = pay_lmdb_key_val(key);
    int rc;

    rc = mdb_del(txn, pay_lmdb_dbi(db, table), &at, NULL);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_lmdb_discard_charge(MDB_txn *txn, const pay_lmdb_t *db, pay_charge_t *charge, apr_pool_t *p)
{
    pay_lmdb_key_t key;
    int rc;

    rc = pay_lmdb_total_charge(txn, db, charge, -1, p);
    if (!rc && (charge->state == PAY_CHARGE_PENDING || charge->due_at != 0)) {
        rc = pay_lmdb_due_del_charge(txn, db, charge);
    }
    if (!rc) {
        rc = pay_lmdb_held_charge(txn, db, charge, PAY_NOT_HELD);
    }
    if (!rc) {
        rc = pay_lmdb_acquirer_del_charge(txn, db, charge);
    }
    if (!rc) {
        rc = pay_lmdb_kept_remove_charge(txn, db, charge);
    }
    if (!rc) {
        rc = pay_lmdb_link_removed(txn, db, charge, p);
    }
    if (!rc) {
        rc = pay_lmdb_checkout_del(txn, db, charge);
    }
    if (!rc && pay_lmdb_charge_ref_key(&key, &charge->scope, charge->reference)) {
        rc = delete_key(txn, db, PAY_TABLE_CHARGE_REF, &key);
    }
    if (!rc) {
        pay_lmdb_charge_time_key(&key, &charge->scope, charge->created_at, charge->seq);
        rc = delete_key(txn, db, PAY_TABLE_CHARGE_BY_TIME, &key);
    }
    if (!rc) {
        pay_lmdb_charge_key(&key, &charge->scope, charge->seq);
        rc = delete_key(txn, db, PAY_TABLE_CHARGE, &key);
    }
    return rc ? rc : pay_lmdb_scope_take_back(txn, db, &charge->scope, 1, p);
}
