/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_IDEMPOTENCY_H
#define PAY_STORE_PAYMENT_IDEMPOTENCY_H

/*
 * Idempotency records, inside a transaction that the caller holds (docs/store.md, rule 12).
 * Functions return the seam's codes or PAY_ROWS_BAD (already logged). An operation looks up the key
 * with pay_store_idempotency_get, and adds a record after its last check: records are never
 * overwritten.
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

/* scope, key kind (1), operation (1), SHA-256 of the key */
#define PAY_STORE_IDEMPOTENCY_KEY_LEN (PAY_STORE_SCOPE_LEN + 2 + PAY_SHA256_LEN)
/* time it expires (8), key of the record */
#define PAY_STORE_IDEMPOTENCY_DUE_KEY_LEN (8 + PAY_STORE_IDEMPOTENCY_KEY_LEN)

#define PAY_STORE_IDEMPOTENCY_NO_KIND 255 /* and no operation: for PAY_IDEMPOTENCY_REPEAT */

/* The kind of a record; the numbers are stored. */
typedef enum pay_store_idempotency_what_t {
    PAY_IDEMPOTENCY_CHARGE = 1,
    PAY_IDEMPOTENCY_REFUND = 2,
    PAY_IDEMPOTENCY_REFUSAL = 3,
    PAY_IDEMPOTENCY_TEXT = 4,
    /*
     * Has no Idempotency-Key: ends the digest that identifies the request of an erased refund
     * (pay_refund_t.asked_digest). Its key has PAY_STORE_IDEMPOTENCY_NO_KIND, and the refund's
     * number at the digest's end.
     */
    PAY_IDEMPOTENCY_REPEAT = 5
} pay_store_idempotency_what_t;

/* A row of the table (on disk its name is kept): these fields, followed by the answer's text. */
typedef struct pay_store_idempotency_t {
    unsigned char digest[PAY_SHA256_LEN]; /* of the request */
    pay_store_idempotency_what_t what;
    apr_uint64_t seq;             /* of the charge or refund */
    apr_time_t refund_created_at; /* of the refund: part of its key */
    pay_refund_verdict_t refusal;
    apr_time_t created_at;
    apr_time_t due_at; /* when it expires; 0: never */
    pay_bytes_t text;  /* inside the row that was read */
} pay_store_idempotency_t;

/* Its key in the table. Returns a code of the seam, or an APR status, which pay_rows_status
 * passes through. */
int pay_store_idempotency_key(pay_store_key_t *key, const pay_scope_t *scope,
                              const pay_idempotency_t *use);

/* The record of the key, with charge or refund loaded; PAY_ROWS_NOTFOUND if there is no record. */
int pay_store_idempotency_get(pay_idempotency_record_t **out, pay_rows_txn_t *txn,
                              const pay_scope_t *scope, const pay_idempotency_t *use,
                              apr_pool_t *p);

/* Sets *known to 1 if there is a record under the key, of any kind. */
int pay_store_idempotency_known(int *known, pay_rows_txn_t *txn, const pay_scope_t *scope,
                                const pay_idempotency_t *use);

/*
 * Stores a record for the charge, from its createdAt on for PAY_IDEMPOTENCY_KEEP, and sets its
 * idempotency_key: the caller writes the charge's row after this.
 */
int pay_store_idempotency_add_charge(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                                     pay_charge_t *charge, apr_pool_t *p);
/* Deletes the charge's record of add_charge, if it still exists. */
int pay_store_idempotency_remove_charge(pay_rows_txn_t *txn, const pay_charge_t *charge);
/* Stores a record for the refund, as long as the refund exists. */
int pay_store_idempotency_add_refund(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                                     const pay_refund_t *refund, apr_pool_t *p);
/* Stores one of the refusals R1 to R3 from `now` on for PAY_IDEMPOTENCY_KEEP. */
int pay_store_idempotency_add_refusal(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                      const pay_idempotency_t *use, pay_refund_verdict_t refusal,
                                      apr_time_t now, apr_pool_t *p);
/* Stores a complete answer for the same time. ENAMETOOLONG above PAY_STORE_IDEMPOTENCY_TEXT_MAX
 * bytes. */
int pay_store_idempotency_add_text(pay_rows_txn_t *txn, const pay_scope_t *scope,
                                   const pay_idempotency_t *use, const char *text, apr_time_t now,
                                   apr_pool_t *p);

/* At `due_at`, ends the digest that identifies a repetition of the refund's request. */
int pay_store_idempotency_add_repeat(pay_rows_txn_t *txn, const pay_refund_t *refund,
                                     apr_time_t due_at, apr_pool_t *p);

/* --- rows, for idempotency_expire and check --- */
/* The row at `key`, whose length is checked too. */
int pay_store_idempotency_decode(pay_store_idempotency_t *out, const pay_bytes_t *key,
                                 const pay_bytes_t *row);
extern const pay_store_record_t pay_store_idempotency_record;
/* Writes the row. `before` is the stored row; NULL: PAY_ROWS_EXISTS if there is one. */
int pay_store_idempotency_write(pay_rows_txn_t *txn, const pay_bytes_t *key,
                                const pay_store_idempotency_t *before,
                                const pay_store_idempotency_t *record, apr_pool_t *p);
/* Deletes a row that was read. `key` may point into the store: it is copied first. */
int pay_store_idempotency_take_out(pay_rows_txn_t *txn, const pay_bytes_t *key,
                                   const pay_store_idempotency_t *record);
void pay_store_idempotency_due_key(pay_store_key_t *out, apr_time_t due_at,
                                   const pay_bytes_t *record_key);
/* The key of the refund that the row at `key` refers to. */
void pay_store_idempotency_refund_key(pay_store_key_t *out, const pay_bytes_t *key,
                                      const pay_store_idempotency_t *record);
/* Returns 1 if the charge names `key` as its record. */
int pay_store_idempotency_is_of_charge(const pay_charge_t *charge, const pay_bytes_t *key);

#endif
