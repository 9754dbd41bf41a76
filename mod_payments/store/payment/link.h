/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_LINK_H
#define PAY_STORE_PAYMENT_LINK_H

/*
 * Rows of payment links, and how a checkout that is made from one changes it. Functions run inside
 * the caller's transaction and return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/payment/checkout.h"
#include "store/record/index.h"
#include "store/rows.h"

/* In table page, after the kind: scope and reference. */
#define PAY_STORE_LINK_KEY_MAX (PAY_STORE_SCOPE_LEN + PAY_LINK_REFERENCE_MAX)

/* Checkouts of a scope that are read to count those of one link. */
#define PAY_STORE_LINK_LOOKS_MAX 100000

/* Returns 0 if no link can have that reference. */
int pay_store_link_key(pay_store_key_t *key, const pay_scope_t *scope, const char *reference);

/* PAY_ROWS_BAD also if the key is that of another link. */
int pay_store_link_decode(pay_link_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p);
int pay_store_link_encode(pay_bytes_t *out, const pay_link_t *link, apr_pool_t *p);

/* PAY_ROWS_NOTFOUND if the link does not exist. */
int pay_store_link_load(pay_link_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                        const char *reference, apr_pool_t *p);

/* --- store/payment/link.c --- */
/*
 * Judges a checkout that is to be opened from a link: sets *claim to PAY_CLAIM_NEW and *link to the
 * row for pay_store_link_opened; or *claim to the reason for a refusal, with *charge if the payer's
 * own checkout is still open. For a charge without a link: PAY_CLAIM_NEW and *link NULL.
 */
int pay_store_link_judge(pay_claim_t *claim, pay_link_t **link, pay_charge_t **charge,
                         pay_rows_txn_t *txn, const pay_charge_t *proposal, apr_pool_t *p);
/* The checkout was opened; `link` is NULL if it has no link. */
int pay_store_link_opened(pay_rows_txn_t *txn, pay_link_t *link, const pay_charge_t *charge,
                          apr_pool_t *p);
/* A charge was decided: a successful one counts for its link, if it has one. */
int pay_store_link_decided(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

/*
 * Returns 1 while the checkout may turn out to be paid, or while an acquirer or a person is being
 * asked about it: until then another one could be paid beside it. An expired one holds its link
 * until its row says so, because a payment that began just before may still be on its way to the
 * store. Paid checkouts have a count of their own.
 */
int pay_store_link_holds(const pay_charge_t *charge);
/* Called before the row of `charge` is written again: whether it may yet be paid counts for its
 * link. `before` is the stored row, or NULL if none is stored. */
int pay_store_link_follow(pay_rows_txn_t *txn, const pay_charge_t *before,
                          const pay_charge_t *charge, apr_pool_t *p);
/* Counts the checkouts of a link that hold it, from their rows. Sets *whole to 0 if there are too
 * many to read. */
int pay_store_link_count(apr_uint64_t *holding, int *whole, pay_rows_txn_t *txn,
                         const pay_link_t *link, apr_pool_t *p);

/* Called before a charge is deleted: it no longer counts for its link. */
int pay_store_link_removed(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

extern const pay_store_record_t pay_store_link_record;

#endif
