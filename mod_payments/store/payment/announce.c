/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/charge_record.h"
#include "store/payment/refund_record.h"

int pay_store_refund_announce(pay_rows_txn_t *txn, const pay_refund_t *refund, int turned,
                              apr_pool_t *p)
{
    pay_charge_t *charge;
    int rc, wanted;

    if (refund->charge_seq == 0 || (refund->import_number != 0 && !*refund->acquirer)) {
        return MDB_SUCCESS; /* what a file told is not news */
    }
    rc = pay_store_event_is_wanted(&wanted, txn, &refund->scope, p);
    if (rc || !wanted) {
        return rc;
    }
    rc = pay_store_charge_get(&charge, txn, &refund->scope, refund->charge_seq, p);
    if (rc) {
        return rc;
    }
    rc = pay_store_event_of_refund(txn, charge, refund, turned, p);
    return rc ? rc : pay_store_charge_put(txn, charge, p);
}
