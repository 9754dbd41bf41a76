/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_CHECKOUT_H
#define PAY_STORE_PAYMENT_CHECKOUT_H

/*
 * The additional rows of a charge that is paid on a page: the row in table checkout, under the
 * charge's own key, and the page's id, which leads to it. Functions run inside the caller's
 * transaction and return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "model/link.h"
#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

/* The target of a page's id. */
typedef enum pay_store_page_kind_t { PAY_PAGE_CHECKOUT = 1, PAY_PAGE_LINK } pay_store_page_kind_t;
#define PAY_STORE_PAGE_LEN (1 + PAY_STORE_SCOPE_LEN + 8) /* for a checkout: kind, scope, seq */

/* Returns 0 if no page can have that id. */
int pay_store_page_key(pay_store_key_t *key, const char *page_id);

/* Fills in charge->checkout of a checkout; NULL if its row is lost. */
int pay_store_checkout_load(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p);

int pay_store_checkout_decode(pay_checkout_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                              apr_pool_t *p);

int pay_store_checkout_encode(pay_bytes_t *out, const pay_checkout_t *checkout, apr_pool_t *p);

/*
 * Writes the row and the page of a charge that is opened. EINVAL if the page's id is not valid or
 * is taken.
 */
int pay_store_checkout_add(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);
/* --- store/payment/checkout.c --- */
extern const pay_store_record_t pay_store_checkout_record;
/* Writes the row; PAY_ROWS_EXISTS if the page's id is taken. */
int pay_store_checkout_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);
/* Deletes row and page, if they exist. */
int pay_store_checkout_del(pay_rows_txn_t *txn, const pay_charge_t *charge);

/* --- store/payment/checkout.c: unpaid checkouts of public keys and link visitors --- */
#define PAY_STORE_CHECKOUT_SWEEP_KEY_LEN (8 + PAY_STORE_SCOPE_LEN + 8) /* ended_at, scope, seq */

/* Sets *out to 1 for a charge made by a public key or by a visitor of a link's page. */
int pay_store_checkout_is_anonymous(int *out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                    apr_pool_t *p);
/* Called after the charge's state changed: one that ended unpaid is listed for removal, one that
 * was paid no longer counts as an anonymous client's. Does nothing for other charges. */
int pay_store_checkout_ended(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);
/* Lists it under another time; 0: removes it from the list. */
int pay_store_checkout_list_at(pay_rows_txn_t *txn, pay_charge_t *charge, apr_time_t ended_at,
                               apr_pool_t *p);

/*
 * Returns 1 while an acquirer may still report that a checkout was paid: it is queried, closed or
 * not.
 */
int pay_store_checkout_is_asked(const pay_charge_t *charge);

#endif
