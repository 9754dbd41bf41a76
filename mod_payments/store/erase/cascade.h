/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASE_CASCADE_H
#define PAY_STORE_ERASE_CASCADE_H

/*
 * Purges one record as if it had never existed, inside a write transaction: its row, the entries
 * that lead to it, and its contribution to totals, amounts and the scope. Its events are not
 * included, and a refund's idempotency record must be removed before. Functions return the seam's
 * codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/payment/refund.h"
#include "store/rows.h"

/* Also restores the charge's amounts. */
int pay_store_purge_refund(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p);
/* Only for a charge without refunds. */
int pay_store_purge_charge(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);

/*
 * A cascade over charges of a scope, each with everything that belongs to it: its undelivered
 * events first, then its refunds, then its own row. A write transaction visits at most
 * PAY_STORE_CASCADE_ROWS_MAX rows, and the next one continues where it ended, even in the middle of
 * a charge.
 */

#define PAY_STORE_CASCADE_ROWS_MAX 1000   /* rows of one write transaction */
#define PAY_STORE_CASCADE_CHARGES_MAX 100 /* of one cascade */

typedef struct pay_store_cascade_t pay_store_cascade_t;

/* The functions applied to each row. `leave` 1: the rest of the charge is left unchanged. */
typedef struct pay_store_visitor_t {
    int (*begin)(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                 pay_charge_t *charge); /* called again in each transaction */
    int (*event)(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_event_t *event);
    int (*refund)(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                  pay_store_refund_t *row);
    int (*charge)(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge);
} pay_store_visitor_t;

typedef struct pay_store_cascade_place_t {
    int charge;            /* index in `charges` */
    int part;              /* of that charge */
    pay_store_key_t after; /* within the part; empty: its start */
} pay_store_cascade_place_t;

struct pay_store_cascade_t {
    const pay_store_visitor_t *visitor;
    const pay_scope_t *scope;
    const apr_array_header_t *charges; /* of apr_uint64_t: their seqs */
    const void *baton;
    apr_pool_t *p; /* of this cascade */
    /* Counted by the visitor in one transaction, starting at zero. */
    apr_uint64_t charges_done, refunds_done, events_done, left;
    /* Private. */
    pay_store_cascade_place_t at, next;
    int visits;
};

/*
 * Visits all of cascade->charges. `counted` is called after each commit, with the counts of that
 * transaction.
 */
apr_status_t pay_store_cascade(pay_store_cascade_t *cascade, pay_store_t *db,
                               void (*counted)(const pay_store_cascade_t *cascade, void *sums),
                               void *sums);

/*
 * Sets *has to 1 if the charge has undelivered events or receipts: a visitor's `charge` checks it,
 * because some may have been added since another transaction visited them.
 */
int pay_store_cascade_has_event(int *has, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                int receipts_only, apr_pool_t *p);

#endif
