/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_CHECK_CHECK_H
#define PAY_STORE_CHECK_CHECK_H

/*
 * Checks the store row by row. Tables are walked in batches, each in one read transaction:
 * everything a row is compared with is read in the same transaction, so that a store in use shows
 * no false faults.
 */

#include "store/keys.h"
#include "store/record/scope.h"
#include "store/rows.h"

#define PAY_STORE_CHECK_ROWS_MAX 256 /* rows of one batch */

typedef struct pay_store_check_t {
    pay_store_t *store;
    pay_rows_txn_t *txn;
    apr_pool_t *ptemp; /* of this batch */
    apr_array_header_t
        *lines; /* of const char *: its faults, reported after the transaction ended */
    apr_array_header_t *keys; /* of pay_bytes_t: its keys, if something is checked after it */
} pay_store_check_t;

struct pay_store_record_t;

/*
 * Returns a code of the seam if the store cannot be read any further; faults are reported through
 * pay_store_check_fault.
 */
typedef int (*pay_store_check_row_t)(pay_store_check_t *check, const pay_bytes_t *key,
                                     const pay_bytes_t *row);

/*
 * A batch of a check that reads several tables at once, in check->txn: from `from` on (initially
 * empty); sets *done to 1 at the end, else `from` to where to continue.
 */
typedef int (*pay_store_check_part_t)(int *done, pay_store_key_t *from, pay_store_check_t *check);

/* Like pay_store_check_row_t, after the batch's transaction has ended: for rows that only their
 * own file decodes. */
typedef apr_status_t (*pay_store_check_after_t)(pay_store_check_t *check, const pay_bytes_t *key);

/* Reports a fault of the row at `key` (NULL: of the whole table). */
void pay_store_check_fault(pay_store_check_t *check, pay_table_t table, const pay_bytes_t *key,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Sets *found to 1 if the table contains the key; *val, if `val` is not NULL, is then its value. */
int pay_store_check_has(int *found, pay_bytes_t *val, const pay_store_check_t *check,
                        pay_table_t table, const pay_bytes_t *key);

/* store/check/check.c: the declarations of records. Each entry that the row at `key` should have
 * exists and leads to it; an entry of an index table leads to a row with that entry. */
int pay_store_check_entries(pay_store_check_t *check, const struct pay_store_record_t *record,
                            const pay_bytes_t *key, const void *row);

/* store/check/accounts.c: accounts, keys, tokens, encryption keys. Tokens are never reported. */
int pay_store_check_account(pay_store_check_t *check, const pay_bytes_t *key,
                            const pay_bytes_t *row);
int pay_store_check_api_key(pay_store_check_t *check, const pay_bytes_t *key,
                            const pay_bytes_t *row);
int pay_store_check_token(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);
apr_status_t pay_store_check_token_after(pay_store_check_t *check, const pay_bytes_t *key);
int pay_store_check_encryption_key(pay_store_check_t *check, const pay_bytes_t *key,
                                   const pay_bytes_t *row);
/* Sets *found to 1 if there is an account with the big-endian number at `number`. */
int pay_store_check_account_known(int *found, const pay_store_check_t *check, const void *number);

/* store/record/epoch.c */
int pay_store_check_meta(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);

/* store/check/payments.c */
int pay_store_check_charge(pay_store_check_t *check, const pay_bytes_t *key,
                           const pay_bytes_t *row);

/* store/check/payments.c */
int pay_store_check_checkout(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_bytes_t *row);
/* store/check/totals.c */
/* The rows that the scope's row counts exist, in this transaction. */
int pay_store_check_rows(pay_store_check_t *check, const pay_bytes_t *key, const pay_scope_t *scope,
                         const pay_store_scope_t *last);

/* store/check/payments.c */
int pay_store_check_link(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);

/* store/check/payments.c */
int pay_store_check_refund(pay_store_check_t *check, const pay_bytes_t *key,
                           const pay_bytes_t *row);

/* store/check/totals.c */
int pay_store_check_total(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);
/* Compares charges and refunds step by step with the stored totals; a pay_store_check_part_t. */
int pay_store_check_total_part(int *done, pay_store_key_t *from, pay_store_check_t *check);

/* store/check/payments.c */
int pay_store_check_idempotency(pay_store_check_t *check, const pay_bytes_t *key,
                                const pay_bytes_t *row);

/* store/check/events.c */
int pay_store_check_endpoint(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_bytes_t *row);
int pay_store_check_event(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);

/* store/check/accounts.c */
int pay_store_check_grant(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);

/* store/check/accounts.c */
int pay_store_check_audit(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row);

#endif
