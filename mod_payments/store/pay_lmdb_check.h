/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_CHECK_H
#define PAY_LMDB_CHECK_H

/*
 * Checking the store row by row. Tables are walked in parts, each in one read transaction: what a
 * row is held against is read in the row's own, so that a store in use shows no false faults.
 */

#include "store/pay_rows.h"
#include "store/pay_lmdb_keys.h"
#include "store/pay_lmdb_scope.h"

#define PAY_LMDB_CHECK_ROWS_MAX 256 /* rows of one part */

typedef struct pay_lmdb_check_t {
    pay_store_t *store;
    pay_rows_txn_t *txn;
    apr_pool_t *ptemp;         /* of this part */
    apr_array_header_t *lines; /* of const char *: its faults, told once the transaction ended */
    apr_array_header_t *keys;  /* of MDB_val: its keys, where something is checked after it */
} pay_lmdb_check_t;

struct pay_lmdb_record_t;

/* LMDB's code when the store cannot be read on; faults are told through pay_lmdb_check_fault. */
typedef int (*pay_lmdb_check_row_t)(pay_lmdb_check_t *check, const MDB_val *key,
                                    const MDB_val *row);

/*
 * A part of a check that looks at several tables at once, in check->txn: from `from` on (empty at
 * first); *done 1 at the end, else `from` is where to go on.
 */
typedef int (*pay_lmdb_check_part_t)(int *done, pay_lmdb_key_t *from, pay_lmdb_check_t *check);

/* As pay_lmdb_check_row_t, once the part's transaction has ended: for rows that only their own file
 * decodes. */
typedef apr_status_t (*pay_lmdb_check_after_t)(pay_lmdb_check_t *check, const MDB_val *key);

/* One fault of the row at `key` (NULL: of the whole table). */
void pay_lmdb_check_fault(pay_lmdb_check_t *check, pay_table_t table, const MDB_val *key,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* 1 in *found when the table has the key; *val, if not NULL, is then its value. */
int pay_lmdb_check_has(int *found, MDB_val *val, const pay_lmdb_check_t *check, pay_table_t table,
                       const MDB_val *key);

/* pay_lmdb_check_index.c: what records declare. Each entry that the row at `key` should have is
 * there, and leads to it; an entry of an index table leads to a row that has it. */
int pay_lmdb_check_entries(pay_lmdb_check_t *check, const struct pay_lmdb_record_t *record,
                           const MDB_val *key, const void *row);
int pay_lmdb_check_index(pay_lmdb_check_t *check, pay_table_t table, const MDB_val *key,
                         const MDB_val *value);

/* pay_lmdb_check_account.c: accounts, keys, tokens, encryption keys. Tokens are never told. */
int pay_lmdb_check_account(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
int pay_lmdb_check_api_key(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
int pay_lmdb_check_token(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
apr_status_t pay_lmdb_check_token_after(pay_lmdb_check_t *check, const MDB_val *key);
int pay_lmdb_check_encryption_key(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
/* 1 in *found when there is an account of the big-endian number at `number`. */
int pay_lmdb_check_account_known(int *found, const pay_lmdb_check_t *check, const void *number);

/* pay_lmdb_epoch.c */
int pay_lmdb_check_meta(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_charge.c */
int pay_lmdb_check_charge(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_checkout.c */
int pay_lmdb_check_checkout(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
/* pay_lmdb_check_rows.c */
/* What the scope's row counts is there, in this transaction. */
int pay_lmdb_check_rows(pay_lmdb_check_t *check, const MDB_val *key, const pay_scope_t *scope,
                        const pay_lmdb_scope_t *last);

/* pay_lmdb_check_link.c */
int pay_lmdb_check_link(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
/* The link that a checkout was made from knows of it. */
int pay_lmdb_check_checkout_link(pay_lmdb_check_t *check, const MDB_val *key,
                                 const pay_checkout_t *checkout, const pay_charge_t *charge);

/* A checkout has its row beside the charge's (pay_lmdb_check_checkout.c). */
int pay_lmdb_check_charge_checkout(pay_lmdb_check_t *check, const MDB_val *key,
                                   const pay_charge_t *charge);

/* pay_lmdb_check_refund.c */
int pay_lmdb_check_refund(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_total.c */
int pay_lmdb_check_total(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
/* Counts charges and refunds step by step against the kept totals; a pay_lmdb_check_part_t. */
int pay_lmdb_check_total_part(int *done, pay_lmdb_key_t *from, pay_lmdb_check_t *check);

/* pay_lmdb_check_kept.c */
int pay_lmdb_check_kept(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_event.c */
int pay_lmdb_check_endpoint(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);
int pay_lmdb_check_event(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_grant.c */
int pay_lmdb_check_grant(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

/* pay_lmdb_check_audit.c */
int pay_lmdb_check_audit(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row);

#endif
