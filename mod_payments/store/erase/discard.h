/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASE_DISCARD_H
#define PAY_STORE_ERASE_DISCARD_H

/*
 * Taking out one record as if it had never been, inside a write transaction: its row, what leads to
 * it, and what it counts in totals, amounts and the scope. Events are not its own, and what an
 * Idempotency-Key keeps of a refund has gone before. Functions return LMDB's codes or
 * PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/payment/refund.h"
#include "store/rows.h"

/* Its amounts are given back to the charge. */
int pay_store_discard_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p);
/* One without refunds. */
int pay_store_discard_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);

/*
 * Charges of a scope, each with all that hangs on it: its undelivered events first, then its
 * refunds, then its own row. A write transaction visits at most PAY_STORE_TOUR_ROWS_MAX rows, and
 * the next one goes on where it ended, be it in the middle of a charge.
 */

#define PAY_STORE_TOUR_ROWS_MAX 1000   /* rows of one write transaction */
#define PAY_STORE_TOUR_CHARGES_MAX 100 /* of one tour */

typedef struct pay_store_tour_t pay_store_tour_t;

/* What is done to each. `leave` 1: the rest of the charge is left as it is. */
typedef struct pay_store_visitor_t {
    int (*begin)(int *leave, pay_store_tour_t *tour, pay_rows_txn_t *txn,
                 pay_charge_t *charge); /* called anew in each transaction */
    int (*event)(pay_store_tour_t *tour, pay_rows_txn_t *txn, pay_event_t *event);
    int (*refund)(int *leave, pay_store_tour_t *tour, pay_rows_txn_t *txn, pay_store_refund_t *row);
    int (*charge)(pay_store_tour_t *tour, pay_rows_txn_t *txn, pay_charge_t *charge);
} pay_store_visitor_t;

typedef struct pay_store_tour_place_t {
    int charge;            /* index in `charges` */
    int part;              /* of that charge */
    pay_store_key_t after; /* within the part; empty: its begin */
} pay_store_tour_place_t;

struct pay_store_tour_t {
    const pay_store_visitor_t *visitor;
    const pay_scope_t *scope;
    const apr_array_header_t *charges; /* of apr_uint64_t: their seqs */
    const void *baton;
    apr_pool_t *p; /* of this tour */
    /* Counted by the visitor in one transaction, begun at zero. */
    apr_uint64_t charges_done, refunds_done, events_done, left;
    /* Its own. */
    pay_store_tour_place_t at, next;
    int visits;
};

/* All of tour->charges. `counted` is called after each commit, with what was counted in it. */
apr_status_t pay_store_tour(pay_store_tour_t *tour, pay_store_t *db,
                            void (*counted)(const pay_store_tour_t *tour, void *sums), void *sums);

/*
 * 1 in *has when the charge has undelivered events, or receipts: a visitor's `charge` asks, for
 * some may have come since another transaction visited them.
 */
int pay_store_tour_has_event(int *has, pay_rows_txn_t *txn, const pay_charge_t *charge,
                             int receipts_only, apr_pool_t *p);

#endif
