/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_TOTAL_H
#define PAY_STORE_PAYMENT_TOTAL_H

/*
 * Stored totals inside the write transaction that changes them. Functions return the seam's codes
 * or, except for those that count, PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/rows.h"

/* scope, step, currency, import number (0: not imported) */
#define PAY_STORE_TOTAL_KEY_LEN (PAY_STORE_SCOPE_LEN + 8 + PAY_CURRENCY_LEN + 4)

typedef struct pay_store_total_t {
    pay_scope_t scope;
    apr_uint32_t import_number;
    pay_total_t total;
} pay_store_total_t;

/* A row of table total. A row that counts nothing is never stored: it is a bad one. */
int pay_store_total_decode(pay_store_total_t *out, const pay_bytes_t *key, const pay_bytes_t *row);

void pay_store_total_key(pay_store_key_t *key, const pay_store_total_t *row);

/*
 * The contribution of one charge under its createdAt: as successful (or reversed) or failed;
 * `total` counts nothing for other states.
 */
void pay_store_total_of_charge(pay_store_total_t *out, const pay_charge_t *charge);

/*
 * The contribution of one processed refund under its createdAt and import number; its state is not
 * checked. A refund without a currency counts nothing.
 */
void pay_store_total_of_refund(pay_store_total_t *out, const pay_refund_t *refund);

/*
 * Both functions below: a row of table total that is damaged, by itself or because it is smaller
 * than what is subtracted, is logged and left unchanged, and they succeed (docs/store.md, rule 13):
 * the caller's decision about money never waits for statistics. They return the seam's codes only.
 */

/*
 * A charge was decided: `count` is 1, or -1 to take it back. Counts by the charge's createdAt as
 * successful (or reversed) or failed; other states count nothing.
 */
int pay_store_total_charge(pay_rows_txn_t *txn, const pay_charge_t *charge, int count,
                           apr_pool_t *p);

/*
 * A refund of ours or of history became processed (`count` 1) or ceased to be (-1); counted by its
 * createdAt and under its import number. A refund without a currency counts nothing.
 */
int pay_store_total_refund(pay_rows_txn_t *txn, const pay_refund_t *refund, int count,
                           apr_pool_t *p);

#endif
