/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_FAILURE_TABLE_H
#define PAY_BASE_SHARED_FAILURE_TABLE_H

/*
 * Failed payments, counted by card, link, address and account, in memory that processes share
 * (docs/operations.md, "Limits"). A key that fails as often as its limit allows is blocked for the
 * limit's time. The memory holds digests of keys under a secret of its own, and a hint that names
 * nobody.
 *
 * Each kind has a table of its own, so that a flood of addresses cannot displace an account. A key
 * that finds its set full takes over the place that ends first; places of blocked keys are the last
 * to go.
 */

#include <apr_errno.h>
#include <apr_tables.h>
#include <apr_time.h>

#define PAY_FAILURE_KEY_LEN 16
#define PAY_FAILURE_SECRET_LEN 32
#define PAY_FAILURE_HINT_MAX 47    /* bytes */
#define PAY_FAILURE_LIST_MAX 200   /* blocks in one list */
#define PAY_FAILURE_TABLE_LAYOUT 1 /* incremented when the meaning of the memory changes */

typedef struct pay_failure_table_t pay_failure_table_t;

typedef enum pay_failure_kind_t {
    PAY_FAILURE_CARD, /* tokens, cards and e-mail addresses: what one payer pays with */
    PAY_FAILURE_LINK,
    PAY_FAILURE_ADDRESS,
    PAY_FAILURE_ACCOUNT,
    PAY_FAILURE_KINDS,
    PAY_FAILURE_NOTICES = PAY_FAILURE_KINDS, /* entries of the audit; they block nobody */
    PAY_FAILURE_TABLES
} pay_failure_kind_t;

/* This many failures within `window`; count 0: no limit. */
typedef struct pay_failure_limit_t {
    int count;
    apr_interval_time_t window;
} pay_failure_limit_t;

/* The account whose payments are counted. */
typedef struct pay_failure_owner_t {
    apr_uint64_t store; /* identifies the store; the same in all processes */
    apr_uint32_t account;
    apr_uint32_t mode;
} pay_failure_owner_t;

typedef struct pay_failure_block_t {
    pay_failure_kind_t kind;
    unsigned char key[PAY_FAILURE_KEY_LEN];
    char hint[PAY_FAILURE_HINT_MAX + 1];
    apr_interval_time_t left; /* until it ends; above 0 */
} pay_failure_block_t;

apr_size_t pay_failure_table_size(void);

/*
 * Makes tables in `memory`: zeroed, shared, aligned as malloc's. Touches only the head, so that
 * unused pages cost nothing. Called once, while no other process uses the memory.
 */
apr_status_t pay_failure_table_init(pay_failure_table_t **out, void *memory,
                                    const unsigned char secret[PAY_FAILURE_SECRET_LEN]);
/* Returns the tables that an earlier call made there. */
pay_failure_table_t *pay_failure_table_at(void *memory);

/* The clock of the tables: monotonic, the same in all processes. */
apr_time_t pay_failure_now(void);

/*
 * Makes the key of one value; `label` distinguishes values of the same kind. APR_EGENERAL:
 * libcrypto refuses.
 */
apr_status_t pay_failure_key(unsigned char out[PAY_FAILURE_KEY_LEN],
                             const pay_failure_table_t *table, const pay_failure_owner_t *owner,
                             pay_failure_kind_t kind, char label, const char *value);

/* Counts a failure. Returns 1 if this begins a block. Failures of a blocked key are not counted. */
int pay_failure_add(pay_failure_table_t *table, const pay_failure_owner_t *owner,
                    pay_failure_kind_t kind, const unsigned char key[PAY_FAILURE_KEY_LEN],
                    const char *hint, const pay_failure_limit_t *limit, apr_time_t now);

/* Returns how long the key stays blocked, 0 if it is not blocked. */
apr_interval_time_t pay_failure_left(pay_failure_table_t *table, pay_failure_kind_t kind,
                                     const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now);

/* Returns 1 if a failure of the key is on record. */
int pay_failure_is_known(pay_failure_table_t *table, pay_failure_kind_t kind,
                         const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now);

/* Finds the owner's block of that key. APR_NOTFOUND if none exists. */
apr_status_t pay_failure_find(pay_failure_block_t *out, pay_failure_table_t *table,
                              const pay_failure_owner_t *owner, pay_failure_kind_t kind,
                              const unsigned char key[PAY_FAILURE_KEY_LEN], apr_time_t now);

/* Ends the owner's block of that key and forgets its failures. APR_NOTFOUND if none exists. */
apr_status_t pay_failure_lift(pay_failure_table_t *table, const pay_failure_owner_t *owner,
                              pay_failure_kind_t kind, const unsigned char key[PAY_FAILURE_KEY_LEN],
                              apr_time_t now);

/*
 * Lists the owner's blocks, accounts first, then those that last longest: an array of
 * pay_failure_block_t with at most PAY_FAILURE_LIST_MAX elements. Returns the number of all blocks.
 */
int pay_failure_list(apr_array_header_t *out, pay_failure_table_t *table,
                     const pay_failure_owner_t *owner, apr_time_t now);

#endif
