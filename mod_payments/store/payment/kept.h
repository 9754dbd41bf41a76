/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_KEPT_H
#define PAY_STORE_PAYMENT_KEPT_H

/*
 * What Idempotency-Keys stand for, inside a transaction that the caller holds (docs/store.md, rule
 * 12). Functions return LMDB's codes or PAY_ROWS_BAD (already logged). An operation looks with
 * pay_store_kept_get, and adds after its last check: nothing that is kept is ever written over.
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

/* scope, key kind (1), operation (1), SHA-256 of the key */
#define PAY_STORE_KEPT_KEY_LEN (PAY_STORE_SCOPE_LEN + 2 + PAY_SHA256_LEN)
/* end of its time (8), key of kept */
#define PAY_STORE_KEPT_DUE_KEY_LEN (8 + PAY_STORE_KEPT_KEY_LEN)

#define PAY_STORE_KEPT_NO_KIND 255 /* and no operation: of PAY_KEPT_REPEAT */

/* What a row stands for; the numbers are stored. */
typedef enum pay_store_kept_what_t {
    PAY_KEPT_CHARGE = 1,
    PAY_KEPT_REFUND = 2,
    PAY_KEPT_REFUSAL = 3,
    PAY_KEPT_TEXT = 4,
    /* No key's: the end of what an erased refund's request is known by (pay_refund_t.asked_digest).
     * Its key has PAY_STORE_KEPT_NO_KIND, and the refund's number at the digest's end. */
    PAY_KEPT_REPEAT = 5
} pay_store_kept_what_t;

/* A row of table kept: these fields, and the answer's text behind them. */
typedef struct pay_store_kept_t {
    unsigned char digest[PAY_SHA256_LEN]; /* of the request */
    pay_store_kept_what_t what;
    apr_uint64_t seq;             /* of the charge or refund */
    apr_time_t refund_created_at; /* of the refund: part of its key */
    pay_refund_verdict_t refusal;
    apr_time_t created_at;
    apr_time_t due_at; /* the end of its time; 0: none */
    MDB_val text;      /* inside the row when it was read */
} pay_store_kept_t;

/* Its key in table kept. A code of ours or LMDB's, or an APR status, which pay_rows_status hands on
 * as it is. */
int pay_store_kept_key(pay_store_key_t *key, const pay_scope_t *scope,
                       const pay_idempotency_t *use);

/* What the key is known for, charge or refund loaded; MDB_NOTFOUND: nothing. */
int pay_store_kept_get(pay_kept_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                       const pay_idempotency_t *use, apr_pool_t *p);

/* 1 in *known when something is kept under the key, whatever it is. */
int pay_store_kept_known(int *known, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         const pay_idempotency_t *use);

/*
 * Keeps the key for the charge, from its createdAt on for PAY_IDEMPOTENCY_KEEP, and sets its
 * kept_as: the caller writes the charge's row after this.
 */
int pay_store_kept_add_charge(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                              pay_charge_t *charge, apr_pool_t *p);
/* Takes out what add_charge kept for the charge, if that is still there. */
int pay_store_kept_remove_charge(pay_rows_txn_t *txn, const pay_charge_t *charge);
/* Keeps the key for the refund as long as the refund lives. */
int pay_store_kept_add_refund(pay_rows_txn_t *txn, const pay_idempotency_t *use,
                              const pay_refund_t *refund, apr_pool_t *p);
/* Keeps one of the refusals R1 to R3 from `now` on for PAY_IDEMPOTENCY_KEEP. */
int pay_store_kept_add_refusal(pay_rows_txn_t *txn, const pay_scope_t *scope,
                               const pay_idempotency_t *use, pay_refund_verdict_t refusal,
                               apr_time_t now, apr_pool_t *p);
/* Keeps a whole answer likewise. ENAMETOOLONG above PAY_STORE_KEPT_TEXT_MAX bytes. */
int pay_store_kept_add_text(pay_rows_txn_t *txn, const pay_scope_t *scope,
                            const pay_idempotency_t *use, const char *text, apr_time_t now,
                            apr_pool_t *p);

/* Ends at `due_at` what a repetition of the refund's request is known by. */
int pay_store_kept_add_repeat(pay_rows_txn_t *txn, const pay_refund_t *refund, apr_time_t due_at,
                              apr_pool_t *p);

/* --- rows, for kept_expire and check --- */
/* The row at `key`, whose length is checked too. */
int pay_store_kept_decode(pay_store_kept_t *out, const MDB_val *key, const MDB_val *row);
extern const pay_store_record_t pay_store_kept_record;
/* Writes the row. `before` is what is stored there; NULL: nothing is, else MDB_KEYEXIST. */
int pay_store_kept_write(pay_rows_txn_t *txn, const MDB_val *key, const pay_store_kept_t *before,
                         const pay_store_kept_t *kept, apr_pool_t *p);
/* Takes out a row that was read. `key` may lie in the store: it is copied first. */
int pay_store_kept_take_out(pay_rows_txn_t *txn, const MDB_val *key, const pay_store_kept_t *kept);
void pay_store_kept_due_key(pay_store_key_t *out, apr_time_t due_at, const MDB_val *kept_key);
/* The key of the refund that the row at `key` stands for. */
void pay_store_kept_refund_key(pay_store_key_t *out, const MDB_val *key,
                               const pay_store_kept_t *kept);
/* 1 when the charge says that it is the one kept at `key`. */
int pay_store_kept_is_of_charge(const pay_charge_t *charge, const MDB_val *key);

#endif
