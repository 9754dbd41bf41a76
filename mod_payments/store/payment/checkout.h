/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_CHECKOUT_H
#define PAY_STORE_PAYMENT_CHECKOUT_H

/*
 * What a charge that is paid on a page has beside its row: the row in table checkout, under the
 * charge's own key, and the page's id, which leads to it. Functions run inside the caller's
 * transaction and return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "model/link.h"
#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

/* What a page's id leads to. */
typedef enum pay_store_page_kind_t { PAY_PAGE_CHECKOUT = 1, PAY_PAGE_LINK } pay_store_page_kind_t;
#define PAY_STORE_PAGE_LEN (1 + PAY_STORE_SCOPE_LEN + 8) /* of a checkout: kind, scope, seq */

/* 0 when no page can have that id. */
int pay_store_page_key(pay_store_key_t *key, const char *page_id);

/* Fills in charge->checkout of a checkout; NULL when its row is lost. */
int pay_store_checkout_load(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p);

int pay_store_checkout_decode(pay_checkout_t **out, const MDB_val *key, const MDB_val *row,
                              apr_pool_t *p);

int pay_store_checkout_encode(MDB_val *out, const pay_checkout_t *checkout, apr_pool_t *p);

/* The row and the page of a charge that is opened. EINVAL: the page's id is none, or is taken. */
int pay_store_checkout_add(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);
/* --- store/payment/checkout.c --- */
extern const pay_store_record_t pay_store_checkout_record;
/* Writes the row; MDB_KEYEXIST: the page's id is taken. */
int pay_store_checkout_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);
/* Takes out row and page, if there are any. */
int pay_store_checkout_del(pay_rows_txn_t *txn, const pay_charge_t *charge);

/* --- store/payment/checkout.c: what public keys and visitors of links made, and nobody paid
 * ---
 */
#define PAY_STORE_CHECKOUT_SWEEP_KEY_LEN (8 + PAY_STORE_SCOPE_LEN + 8) /* ended_at, scope, seq */

/* 1 in *out for a charge that a public key or the visitor of a link's page made. */
int pay_store_checkout_of_stranger(int *out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                                   apr_pool_t *p);
/* After the charge's state moved: one that ended unpaid is listed for its removal, one that was
 * paid is no stranger's any more. Nothing for other charges. */
int pay_store_checkout_ended(pay_rows_txn_t *txn, pay_charge_t *charge, apr_pool_t *p);
/* Lists it under another time; 0: takes it off the list. */
int pay_store_checkout_list_at(pay_rows_txn_t *txn, pay_charge_t *charge, apr_time_t ended_at,
                               apr_pool_t *p);

/* 1 while an acquirer may still say that a checkout was paid: it is asked, closed or not. */
int pay_store_checkout_is_asked(const pay_charge_t *charge);

#endif
