/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_CHARGE_H
#define PAY_STORE_PAYMENT_CHARGE_H

/*
 * Charge rows inside a transaction that the caller holds. Functions return the seam's codes or
 * PAY_ROWS_BAD (already logged).
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_CHARGE_KEY_LEN (PAY_STORE_SCOPE_LEN + 8)

/*
 * LMDB uses whole overflow pages for a value once node header (8), key and value exceed 2,038 bytes
 * (pages of 4 KiB).
 */
#define PAY_STORE_CHARGE_ROW_MAX (2038 - 8 - PAY_STORE_CHARGE_KEY_LEN)

/* Bytes of the strings of a charge that no other header limits. */
#define PAY_STORE_NAME_MAX 64           /* acquirer, key id, request ip */
#define PAY_STORE_CARD_TEXT_MAX 32      /* each of issuer, country, type */
#define PAY_STORE_CONTRADICTION_MAX 120 /* the text of a contradicting outcome */

void pay_store_charge_key(pay_store_key_t *key, const pay_scope_t *scope, apr_uint64_t seq);
/* Returns 0 if the reference is too long for any key. */
int pay_store_charge_ref_key(pay_store_key_t *key, const pay_scope_t *scope, const char *reference);

/*
 * The charge of a row of table charge; the caller has checked that `key` is
 * PAY_STORE_CHARGE_KEY_LEN long.
 */
int pay_store_charge_decode(pay_charge_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                            apr_pool_t *p);
/* How many bytes the row of a new charge may still grow by, whatever the decision. */
apr_size_t pay_store_charge_growth_max(const pay_charge_t *charge);
int pay_store_charge_encode(pay_bytes_t *out, const pay_charge_t *charge, apr_pool_t *p);

/* PAY_ROWS_NOTFOUND if the charge does not exist. */
int pay_store_charge_get(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         apr_uint64_t seq, apr_pool_t *p);
int pay_store_charge_get_ref(pay_charge_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                             const char *reference, apr_pool_t *p);

/* The only function that changes a charge's state: returns 0 and changes nothing if the table of
 * states does not allow it. */
int pay_store_charge_become(pay_charge_t *charge, pay_charge_state_t to);

/*
 * Stores the acquirer's decision on an undecided charge: its state, and the answer that is returned
 * from now on. Returns 0 and changes nothing if the table of states does not allow it.
 */
int pay_store_charge_decide(pay_charge_t *charge, const pay_outcome_t *outcome, apr_pool_t *p);

/*
 * Sets the fee of a charge that was just decided by its account's rules: 0 if it was not approved.
 * If the account cannot be read, which has been logged, the fee is 0: the decision about money does
 * not wait for it.
 */
void pay_store_charge_fee(pay_charge_t *charge, pay_rows_txn_t *txn, apr_pool_t *p);

/*
 * Decides the charge and writes everything that follows: row, indexes, event, total, the token of a
 * checkout. Sets *changed to 0 and writes nothing if its state does not allow it.
 */
int pay_store_charge_settle(int *changed, pay_rows_txn_t *txn, pay_charge_t *charge,
                            const pay_outcome_t *outcome, apr_pool_t *p);

/* Records that no worker is processing it any more. */
void pay_store_charge_clear_worker(pay_charge_t *charge);

/*
 * A refund of the charge changed its state: updates the amounts, and the state between successful
 * and reversed. PAY_REFUND_FAILED counts nothing, so it also stands for a refund that does not
 * exist (yet, or any more). ERANGE, and nothing is changed, if an amount would leave its range or
 * the state change is not allowed.
 */
int pay_store_charge_refund_moved(pay_charge_t *charge, pay_refund_state_t from,
                                  pay_refund_state_t to, apr_int64_t amount_minor);

/*
 * Sets the state to successful or reversed according to the processed refunds; other states stay.
 */
void pay_store_charge_follow_refunds(pay_charge_t *charge);

/*
 * Does the above for the charge that a refund (charge_seq not 0) names, in the table; the caller
 * writes the refund itself, which is no longer at the acquirer once it is decided. A charge that
 * does not exist, or whose amounts do not include the refund, is a bad row. Sets *turned (may be
 * NULL) to 1 if the charge's state changed.
 */
int pay_store_charge_move_refund(int *turned, pay_rows_txn_t *txn, const pay_refund_t *refund,
                                 pay_refund_state_t to, apr_pool_t *p);

/* The text stored for a contradicting outcome: "declined 05: message", cut. */
const char *pay_store_contradiction(const pay_outcome_t *outcome, apr_pool_t *p);

/*
 * The row of a charge together with its indexes: by reference, by time, by its name at the
 * acquirer, by due time, and among the rows that need review. Units of work change the charge and
 * write it; the entries follow. Functions run inside the caller's transaction and return the seam's
 * codes or PAY_ROWS_BAD (already logged).
 */

extern const pay_store_record_t pay_store_charge_record;

/* Writes a new row; PAY_ROWS_EXISTS if its number, its reference or its name at the acquirer is
 * taken. ENAMETOOLONG above PAY_STORE_CHARGE_ROW_MAX. */
int pay_store_charge_insert(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

/* Writes the row again; its payment link counts the change. ENAMETOOLONG as above. */
int pay_store_charge_put(pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p);

/* Deletes the row of `charge`, which is as it was read. Not an error if it does not exist. */
int pay_store_charge_remove(pay_rows_txn_t *txn, const pay_charge_t *charge);

/* Puts the entries of a stored charge, some of which may be missing. */
int pay_store_charge_reindex(pay_rows_txn_t *txn, const pay_charge_t *charge);

/*
 * The index of charges by time (store/payment/charge.c).
 *
 * An entry holds a mark of the charge's e-mail: four bytes of its SHA-256. A search for an e-mail
 * reads the marks, and only the charges whose mark matches; an index by digests would cost each new
 * charge an extra page, while this entry's page is written anyway.
 */

#define PAY_STORE_CHARGE_TIME_KEY_LEN (PAY_STORE_SCOPE_LEN + 8 + 8) /* scope, createdAt, seq */
#define PAY_STORE_CHARGE_MARK_LEN 4

/* 0 for "", which is not an e-mail. Fails with pay_sha256's status. */
apr_status_t pay_store_charge_mark(apr_uint32_t *out, const char *email);

void pay_store_charge_time_key(pay_store_key_t *key, const pay_scope_t *scope,
                               apr_time_t created_at, apr_uint64_t seq);

#endif
