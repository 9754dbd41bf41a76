/* SPDX-License-Identifier: Apache-2.0 */
#include "store/erase/cascade.h"

#include "base/text/time.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/idempotency.h"
#include "store/payment/link.h"
#include "store/payment/refund.h"
#include "store/payment/total.h"
#include "store/record/scope.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <string.h>

int pay_store_purge_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p)
{
    int rc = 0;

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

int pay_store_purge_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p)
{
    int rc;

    rc = pay_store_total_charge(txn, charge, -1, p);
    if (!rc) {
        rc = pay_store_idempotency_remove_charge(txn, charge);
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

/* ---- a cascade over charges */

/* The tables with the events of a charge. */
static const struct {
    pay_endpoint_kind_t endpoint;
    apr_uint64_t bit;
} event_parts[] = {
    {PAY_ENDPOINT_WEBHOOK, 0},
    {PAY_ENDPOINT_RECEIPT, 0},
    {PAY_ENDPOINT_NOTICE, 0},
    {PAY_ENDPOINT_NOTICE, PAY_EVENT_PARKED_BIT},
};
#define EVENT_PARTS ((int)(sizeof(event_parts) / sizeof(event_parts[0])))
_Static_assert(PAY_ENDPOINT_KIND_LAST == PAY_ENDPOINT_NOTICE, "each kind of endpoint");

enum { PART_REFUNDS = EVENT_PARTS, PART_CHARGE };

static void go_on(pay_store_cascade_t *cascade, int part)
{
    cascade->next.part = part;
    pay_store_key_start(&cascade->next.after);
}

static void next_charge(pay_store_cascade_t *cascade)
{
    cascade->next.charge++;
    go_on(cascade, 0);
}

/*
 * The first row of `table` that begins with `prefix` and was not visited; *found is 0 if there is
 * none. Visitors delete rows, so no scan stays open.
 */
static int step(int *found, pay_bytes_t *key, pay_bytes_t *row, pay_store_cascade_t *cascade,
                pay_rows_txn_t *txn, pay_table_t table, const pay_store_key_t *prefix)
{
    int rc;

    rc = pay_rows_first(key, row, txn, table, prefix, &cascade->next.after, PAY_ROWS_AFTER);
    *found = !rc;
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    cascade->visits++;
    (void)pay_store_key_of(&cascade->next.after, key->data, key->len);
    return 0;
}

/* Visits one event of the part, or ends the part. */
static int visit_event(pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                       const pay_charge_t *charge)
{
    const int part = cascade->next.part;
    pay_store_key_t prefix;
    pay_event_t *event;
    pay_bytes_t key, row;
    int rc, found, any;

    pay_store_endpoint_key(&prefix, cascade->scope, event_parts[part].endpoint);
    pay_store_key_u64(&prefix, charge->seq | event_parts[part].bit);
    rc = step(&found, &key, &row, cascade, txn, PAY_TABLE_EVENT, &prefix);
    if (rc) {
        return rc;
    }
    if (!found) {
        go_on(cascade, part + 1);
        return 0;
    }
    rc = pay_store_event_decode(&event, &key, &row, cascade->p);
    if (!rc) {
        rc = cascade->visitor->event(cascade, txn, event);
    }
    /*
     * The first event that stays becomes due, whatever happens between this transaction and the
     * next.
     */
    return rc ? rc : pay_store_event_promote(&any, txn, event, pay_time_now(), cascade->p);
}

static int visit_refund(pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                        const pay_charge_t *charge)
{
    pay_store_refund_t *refund;
    pay_store_key_t prefix;
    pay_bytes_t key, refund_key;
    int rc, found, leave = 0;

    pay_store_charge_key(&prefix, cascade->scope, charge->seq);
    rc = step(&found, &key, &refund_key, cascade, txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix);
    if (rc) {
        return rc;
    }
    if (!found) {
        go_on(cascade, PART_CHARGE);
        return 0;
    }
    rc = pay_store_refund_get(&refund, txn, &refund_key, cascade->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_BY_CHARGE, &key) : rc;
    }
    rc = cascade->visitor->refund(&leave, cascade, txn, refund);
    if (!rc && leave) {
        next_charge(cascade);
    }
    return rc;
}

int pay_store_cascade_has_event(int *has, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                int receipts_only, apr_pool_t *p)
{
    pay_event_t place, *event;
    int i, rc = PAY_ROWS_NOTFOUND;

    memset(&place, 0, sizeof(place));
    place.scope = charge->scope;
    for (i = 0; rc == PAY_ROWS_NOTFOUND && i < EVENT_PARTS; i++) {
        if (!receipts_only || event_parts[i].endpoint == PAY_ENDPOINT_RECEIPT) {
            place.endpoint = event_parts[i].endpoint;
            place.charge_seq = charge->seq | event_parts[i].bit;
            rc = pay_store_event_first(&event, txn, &place, p);
        }
    }
    *has = rc == 0;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

static int visit_charge(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    int rc;

    cascade->visits++;
    rc = cascade->visitor->charge(cascade, txn, charge);
    next_charge(cascade);
    return rc;
}

/* Visits all rows of one charge, or as many as this transaction has room for. */
static int visit(pay_store_cascade_t *cascade, pay_rows_txn_t *txn)
{
    const apr_uint64_t seq = APR_ARRAY_IDX(cascade->charges, cascade->next.charge, apr_uint64_t);
    const int at = cascade->next.charge;
    pay_charge_t *charge;
    int rc, leave = 0;

    cascade->visits++;
    rc = pay_store_charge_get(&charge, txn, cascade->scope, seq, cascade->p);
    if (!rc) {
        rc = cascade->visitor->begin(&leave, cascade, txn, charge);
    }
    if (rc == PAY_ROWS_NOTFOUND
        || (!rc && leave)) { /* it no longer exists, or must be left alone */
        next_charge(cascade);
        return 0;
    }
    if (!rc && charge->events == 0 && cascade->next.part < EVENT_PARTS) {
        go_on(cascade, PART_REFUNDS); /* it never had any */
    }
    while (!rc && cascade->next.charge == at && cascade->visits < PAY_STORE_CASCADE_ROWS_MAX) {
        if (cascade->next.part < EVENT_PARTS) {
            rc = visit_event(cascade, txn, charge);
        } else if (cascade->next.part == PART_REFUNDS) {
            rc = visit_refund(cascade, txn, charge);
        } else {
            /* Its refunds may have changed it. */
            rc = pay_store_charge_get(&charge, txn, cascade->scope, seq, cascade->p);
            rc = rc ? rc : visit_charge(cascade, txn, charge);
        }
    }
    return rc;
}

static int cascade_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_cascade_t *cascade = baton;
    int rc = 0;

    cascade->next = cascade->at;
    cascade->visits = 0;
    cascade->charges_done = cascade->refunds_done = cascade->events_done = cascade->left = 0;
    while (!rc && cascade->next.charge < cascade->charges->nelts
           && cascade->visits < PAY_STORE_CASCADE_ROWS_MAX) {
        rc = visit(cascade, txn);
    }
    if (!rc && !cascade->charges_done && !cascade->refunds_done && !cascade->events_done) {
        rc = PAY_ROWS_SILENT;
    }
    return rc;
}

apr_status_t pay_store_cascade(pay_store_cascade_t *cascade, pay_store_t *db,
                               void (*counted)(const pay_store_cascade_t *cascade, void *sums),
                               void *sums)
{
    apr_status_t rv = APR_SUCCESS;

    assert(cascade->charges->nelts <= PAY_STORE_CASCADE_CHARGES_MAX);
    memset(&cascade->at, 0, sizeof(cascade->at));
    while (rv == APR_SUCCESS && cascade->at.charge < cascade->charges->nelts) {
        rv = pay_rows_commit(db, pay_turn_scope(cascade->scope), 0, cascade_work, cascade);
        if (rv == APR_SUCCESS) {
            cascade->at = cascade->next;
            counted(cascade, sums);
        }
    }
    return rv;
}
