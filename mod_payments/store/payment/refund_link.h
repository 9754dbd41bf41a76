/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_REFUND_LINK_H
#define PAY_STORE_PAYMENT_REFUND_LINK_H

/*
 * Refunds of an acquirer's books and the charges they belong to, whichever arrives first. They are
 * matched by the acquirer's name of the charge, never by the shop's own text. Functions run inside
 * the caller's transaction.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_REFUND_LINKS_MAX 1000 /* refunds of one charge that one transaction links */

/*
 * For a refund that is about to be written, whose acquirer_charge is the acquirer's name of its
 * charge. If that charge exists here, its amounts change and the refund gets our reference of it;
 * else the refund keeps the name. *turned: the charge became reversed. ERANGE: more than any amount
 * of money can be.
 */
int pay_store_refund_link_new(int *turned, pay_rows_txn_t *txn, pay_refund_t *refund,
                              apr_pool_t *p);

/*
 * For a charge that is opened, whose row is written after this: links the refunds that wait for it.
 * A refund that shows its reference, but belongs to another charge, shows none from here on.
 */
int pay_store_refund_link_opened(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);

/* For a charge that is withdrawn before it was sent: its refunds wait again. Its row is not
 * written. EINVAL if it has more refunds than one transaction may change. */
int pay_store_refund_link_withdrawn(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);

#endif
