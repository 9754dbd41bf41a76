/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_REFUND_H
#define PAY_STORE_PAYMENT_REFUND_H

/*
 * Refund rows inside a transaction that the caller holds. A row is a head of fixed size that a list
 * reads without decoding anything, the fields that the JSON text does not hold (and the few that
 * are judged without parsing it), and the record's final JSON text:
 *   version (1), creation seq (8), import number (4), length of the fields (2), fields, text
 * Functions return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_REFUND_VERSION 1
#define PAY_STORE_REFUND_HEAD_LEN 15
#define PAY_STORE_REFUND_KEY_LEN (PAY_STORE_SCOPE_LEN + 8 + 8)

typedef struct pay_store_refund_t {
    pay_refund_t refund;
    const char *contradiction; /* an outcome that came later and said otherwise; "" when none */
} pay_store_refund_t;

/* The head, pointing into the row. */
typedef struct pay_store_refund_head_t {
    apr_uint64_t seq;
    apr_uint32_t import_number;
    MDB_val fields;
    MDB_val text;
} pay_store_refund_head_t;

void pay_store_refund_key(pay_store_key_t *key, const pay_scope_t *scope, apr_time_t created_at,
                          apr_uint64_t seq);
/* Keys of refund_ref and refund_id; 0 when the name is too long for any key. */
int pay_store_refund_name_key(pay_store_key_t *key, const pay_scope_t *scope, const char *name);
void pay_store_refund_by_charge_key(pay_store_key_t *key, const pay_scope_t *scope,
                                    apr_uint64_t charge_seq, apr_uint64_t seq);

/* Checks key and head of a row of table refund. */
int pay_store_refund_head(pay_store_refund_head_t *out, const MDB_val *key, const MDB_val *row);

/*
 * What is known without parsing the text: of the record scope, money, state and created_at, and all
 * that is not part of it; its other strings are NULL.
 */
int pay_store_refund_peek(pay_store_refund_t **out, const MDB_val *key, const MDB_val *row,
                          apr_pool_t *p);
/* The whole refund; fields and text that disagree are a bad row. */
int pay_store_refund_decode(pay_store_refund_t **out, const MDB_val *key, const MDB_val *row,
                            apr_pool_t *p);

/* By the key in an index; MDB_NOTFOUND when there is none. */
int pay_store_refund_get(pay_store_refund_t **out, pay_rows_txn_t *txn, const MDB_val *refund_key,
                         apr_pool_t *p);
/* By reference (PAY_TABLE_REFUND_REF) or id (PAY_TABLE_REFUND_ID), imports not finished too. */
int pay_store_refund_get_name(pay_store_refund_t **out, pay_rows_txn_t *txn, pay_table_t table,
                              const pay_scope_t *scope, const char *name, apr_pool_t *p);

/* 1 in *visible unless the refund belongs to an import that is not finished. */
int pay_store_refund_visible(int *visible, pay_rows_txn_t *txn, const pay_refund_t *refund);

/* The record's JSON text, in `p`. */
const char *pay_store_refund_text(const pay_refund_t *refund, apr_pool_t *p);

/* 1 when `stored`, a row's text, is that of `refund`, which is `text`, or became it by erasing. */
int pay_store_refund_is_known(const MDB_val *stored, const pay_refund_t *refund, const char *text,
                              apr_pool_t *p);

/* The row with this text, which is the record's. ENAMETOOLONG: text or fields are too long. */
int pay_store_refund_encode(MDB_val *out, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p);

/*
 * Table refund_repeat (store/payment/refund_open.c): the refunds made here that are pending or
 * processed, by their charge and a digest of amount and notes. However many refunds a charge has,
 * whether one was just made (R5) takes one look. History that was imported has no entries.
 */
int pay_store_refund_repeat_key(pay_store_key_t *key, const pay_refund_t *refund);
/*
 * For one whose notes are about to be erased: sets asked_digest as long as a repetition of its
 * request may come, and sees to it that it goes; the caller erases, and writes the row. Where that
 * is over, the entry is the row's without notes.
 */
int pay_store_refund_repeat_erase(pay_rows_txn_t *txn, pay_refund_t *refund, apr_pool_t *p);
/* The end of that: the row is written. */
int pay_store_refund_repeat_forget(pay_rows_txn_t *txn, pay_store_refund_t *row, apr_pool_t *p);

/*
 * The row of a refund together with its indexes: by reference, by id, by charge, by what would
 * repeat it, by its names at the acquirer, by when it is due, and among what waits for a person.
 * Units of work change the refund and write it; the entries follow. Functions run inside the
 * caller's transaction and return LMDB's codes or PAY_ROWS_BAD (already logged).
 */

extern const pay_store_record_t pay_store_refund_record; /* of pay_store_refund_t */

/* Writes a new row with this text. Its reference and id are known to be free. */
int pay_store_refund_insert(pay_rows_txn_t *txn, const pay_store_refund_t *row, const char *text,
                            apr_pool_t *p);
/* Writes the row again. */
int pay_store_refund_put(pay_rows_txn_t *txn, const pay_store_refund_t *row, apr_pool_t *p);
/* Takes out the row of `refund`, which is as it was read. One that is not there is no error. */
int pay_store_refund_remove(pay_rows_txn_t *txn, const pay_refund_t *refund);

/* Puts the entries of a refund that is stored, for one that may lack some. */
int pay_store_refund_reindex(pay_rows_txn_t *txn, const pay_store_refund_t *row);

/* --- store/payment/refund_resolve.c --- */
/*
 * Writes the events of a refund that was decided, or failed later, and counts them in its charge;
 * with `turned` 1, also those of the charge, which became reversed by that, or successful again.
 * Nothing is written for a refund that only a file reported. Both rows are written already.
 */
int pay_store_refund_announce(pay_rows_txn_t *txn, const pay_refund_t *refund, int turned,
                              apr_pool_t *p);

#endif
