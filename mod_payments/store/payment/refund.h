/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_REFUND_H
#define PAY_STORE_PAYMENT_REFUND_H

/*
 * Refund rows inside a transaction that the caller holds. A row is a head of fixed size that a list
 * reads without decoding anything, the fields that the JSON text does not hold (and the few that
 * are checked without parsing it), and the record's final JSON text:
 *   version (1), creation seq (8), import number (4), length of the fields (2), fields, text
 * Functions return the seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_REFUND_VERSION 1
#define PAY_STORE_REFUND_HEAD_LEN 15
#define PAY_STORE_REFUND_KEY_LEN (PAY_STORE_SCOPE_LEN + 8 + 8)

typedef struct pay_store_refund_t {
    pay_refund_t refund;
    const char *contradiction; /* a later, contradicting outcome; "" if none exists */
} pay_store_refund_t;

/* The head; points into the row. */
typedef struct pay_store_refund_head_t {
    apr_uint64_t seq;
    apr_uint32_t import_number;
    pay_bytes_t fields;
    pay_bytes_t text;
} pay_store_refund_head_t;

void pay_store_refund_key(pay_store_key_t *key, const pay_scope_t *scope, apr_time_t created_at,
                          apr_uint64_t seq);
/* Keys of refund_ref and refund_id; returns 0 if the name is too long for any key. */
int pay_store_refund_name_key(pay_store_key_t *key, const pay_scope_t *scope, const char *name);
void pay_store_refund_by_charge_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    apr_uint64_t charge_seq, apr_uint64_t seq);

/* Checks key and head of a row of table refund. */
int pay_store_refund_head(pay_store_refund_head_t *out, const pay_bytes_t *key,
                          const pay_bytes_t *row);

/*
 * The data available without parsing the text: scope, money, state and created_at of the record,
 * and everything that is not part of it; its other strings are NULL.
 */
int pay_store_refund_peek(pay_store_refund_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                          apr_pool_t *p);
/* The whole refund; fields and text that disagree are a bad row. */
int pay_store_refund_decode(pay_store_refund_t **out, const pay_bytes_t *key,
                            const pay_bytes_t *row, apr_pool_t *p);

/* By the key in an index; PAY_ROWS_NOTFOUND if it does not exist. */
int pay_store_refund_get(pay_store_refund_t **out, pay_rows_txn_t *txn,
                         const pay_bytes_t *refund_key, apr_pool_t *p);
/* By reference (PAY_TABLE_REFUND_REF) or id (PAY_TABLE_REFUND_ID), including unfinished imports. */
int pay_store_refund_get_name(pay_store_refund_t **out, pay_rows_txn_t *txn, pay_table_t table,
                              const pay_scope_t *scope, const char *name, apr_pool_t *p);

/* Sets *visible to 1 unless the refund belongs to an unfinished import. */
int pay_store_refund_visible(int *visible, pay_rows_txn_t *txn, const pay_refund_t *refund);

/* The record's JSON text, in `p`. */
const char *pay_store_refund_text(const pay_refund_t *refund, apr_pool_t *p);

/*
 * Returns 1 if `stored`, a row's text, is that of `refund`, which is `text`, or resulted from it by
 * erasing.
 */
int pay_store_refund_is_known(const pay_bytes_t *stored, const pay_refund_t *refund,
                              const char *text, apr_pool_t *p);

/* The row with this text, which is the record's. ENAMETOOLONG if text or fields are too long. */
int pay_store_refund_encode(pay_bytes_t *out, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p);

/*
 * Table refund_repeat (store/payment/refund_open.c): the refunds made here that are pending or
 * processed, by their charge and a digest of amount and notes. However many refunds a charge has,
 * one lookup shows whether one was just made (R5). Imported history has no entries.
 */
int pay_store_refund_repeat_key(pay_store_key_t *key, const pay_refund_t *refund);
/*
 * For a refund whose notes are about to be erased: sets asked_digest for as long as a repetition of
 * its request may come, and schedules its removal; the caller erases, and writes the row. After
 * that time, the entry is that of the row without notes.
 */
int pay_store_refund_repeat_erase(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p);
/* Removes that digest and writes the row. */
int pay_store_refund_repeat_forget(pay_rows_txn_t *txn, pay_store_refund_t *row, apr_pool_t *p);

/*
 * The row of a refund together with its indexes: by reference, by id, by charge, by repetition, by
 * its names at the acquirer, by due time, and among the rows that need review. Units of work change
 * the refund and write it; the entries follow. Functions run inside the caller's transaction and
 * return the seam's codes or PAY_ROWS_BAD (already logged).
 */

extern const pay_store_record_t pay_store_refund_record; /* of pay_store_refund_t */

/* Writes a new row with this text. The caller has checked that its reference and id are free. */
int pay_store_refund_insert(pay_rows_txn_t *txn, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p);
/* Writes the row again. */
int pay_store_refund_put(pay_rows_txn_t *txn, const pay_store_refund_t *row, apr_pool_t *p);
/* Deletes the row of `refund`, which is as it was read. Not an error if it does not exist. */
int pay_store_refund_remove(pay_rows_txn_t *txn, const pay_refund_t *refund);

/* Puts the entries of a stored refund, some of which may be missing. */
int pay_store_refund_reindex(pay_rows_txn_t *txn, const pay_store_refund_t *row);

/* --- store/payment/refund_resolve.c --- */
/*
 * Writes the events of a refund that was decided, or failed later, and counts them in its charge;
 * with `turned` 1, also those of the charge, which became reversed by it, or successful again.
 * Writes nothing for a refund that only a file reported. Both rows are written already.
 */
int pay_store_refund_announce(pay_rows_txn_t *txn, const pay_refund_t *refund, int turned,
                              apr_pool_t *p);

#endif
