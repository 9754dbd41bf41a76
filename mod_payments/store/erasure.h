/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASURE_H
#define PAY_STORE_ERASURE_H

/*
 * Units of work of the store that take things out (docs/operations.md, "Personal data"). Each call
 * is a step of a few bounded transactions, between which the store is whole: called again until it
 * says done, it goes on; begun anew, after a kill too, it does what is left. Include
 * store/store.h instead.
 */

#include "store/types.h"

#define PAY_STORE_PLACE_MAX 512 /* bytes of any key */

/* Where such work stands. Zero it before the first call. */
typedef struct pay_store_place_t {
    int phase;
    pay_charge_cursor_t cursor;
    unsigned char key[PAY_STORE_PLACE_MAX];
    apr_size_t key_len;
} pay_store_place_t;

typedef struct pay_erasure_t {
    pay_store_place_t place;
    int done;
    apr_uint64_t tokens;  /* taken out */
    apr_uint64_t charges; /* blanked */
    apr_uint64_t refunds; /* whose notes were blanked */
    apr_uint64_t events;  /* receipts that were dropped, receivers' answers that were blanked */
    apr_uint64_t answers; /* kept answers that were taken out */
    apr_uint64_t left;    /* charges that are pending: as they were */
} pay_erasure_t;

/*
 * Blanks name, e-mail and address of the payer `email` (as pay_email_normalize gives it) in
 * charges, and the notes of their refunds; takes out the payer's tokens, receipts to that address
 * that wait, and kept answers that hold it. Amounts stay, and so does the digest of the request:
 * the reference is never charged again. Pending charges are left. What is made after the first call
 * may be left too.
 */
apr_status_t pay_store_payer_erase(pay_erasure_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   const char *email, apr_pool_t *p);

typedef struct pay_reset_t {
    pay_store_place_t place;
    int done;
    apr_time_t started_at; /* set by the first call, as the next two */
    apr_uint64_t charge_seq, refund_seq;
    apr_uint64_t charges, refunds, events, tokens, answers; /* taken out */
    apr_uint64_t left; /* charges that somebody is at work on: as they were, but for events */
} pay_reset_t;

/*
 * Empties a scope: charges, refunds, events, tokens, what is kept of requests, with their totals
 * and indexes, as far as they were there at the first call. Sequences go on; settings and endpoints
 * stay. Never of Live Mode: APR_EINVAL.
 */
apr_status_t pay_store_scope_reset(pay_reset_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   apr_pool_t *p);

#endif
