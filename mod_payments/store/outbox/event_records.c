/* SPDX-License-Identifier: Apache-2.0 */
#include "store/outbox/event_records.h"

#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"

/* The webhook's event that the merchant is told of, unless it was dropped or delivered since. */
static int load_parked(pay_event_t *event, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_event_t place = *event, *parked;
    int rc;

    place.endpoint = PAY_ENDPOINT_WEBHOOK;
    place.charge_seq = pay_event_charge_seq(event);
    rc = pay_store_event_load(&parked, txn, &place, p);
    event->parked = parked;
    return rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
}

int pay_store_event_records(pay_event_t *event, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_store_refund_t *refund = NULL;
    pay_charge_t *charge = NULL;
    pay_store_key_t key;
    MDB_val at;
    int rc = MDB_SUCCESS;

    if (event->charge_seq) {
        rc = pay_store_charge_get(&charge, txn, &event->scope, pay_event_charge_seq(event), p);
    }
    if (!rc && event->kind == PAY_EVENT_REFUND) {
        pay_store_refund_key(&key, &event->scope, event->refund_created_at, event->refund_seq);
        at = pay_store_key_val(&key);
        rc = pay_store_refund_get(&refund, txn, &at, p);
    }
    if (rc == MDB_NOTFOUND || (!rc && !charge && event->kind != PAY_EVENT_TEST)) {
        pay_store_event_key(&key, event);
        at = pay_store_key_val(&key);
        return pay_rows_bad(PAY_TABLE_EVENT, &at);
    }
    event->charge = charge;
    event->refund = refund ? &refund->refund : NULL;
    return rc || event->kind != PAY_EVENT_PARKED ? rc : load_parked(event, txn, p);
}
