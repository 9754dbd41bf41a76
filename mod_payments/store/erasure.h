/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ERASURE_H
#define PAY_STORE_ERASURE_H

/*
 * Units of work of the store that erase (docs/operations.md, "Personal data"). Each call is a step
 * of a few bounded transactions, between which the store is consistent: called again until it sets
 * `done`, it goes on; started again, after a kill too, it does the rest. Include store/store.h
 * instead.
 */

#include "store/types.h"

#define PAY_STORE_PLACE_MAX 512 /* maximum length of a key in bytes */

/* The position of such work. Zero it before the first call. */
typedef struct pay_store_place_t {
    int phase;
    pay_charge_cursor_t cursor;
    unsigned char key[PAY_STORE_PLACE_MAX];
    apr_size_t key_len;
} pay_store_place_t;

typedef struct pay_erasure_t {
    pay_store_place_t place;
    int done;
    apr_uint64_t tokens;  /* deleted */
    apr_uint64_t charges; /* erased */
    apr_uint64_t refunds; /* whose notes were erased */
    apr_uint64_t events;  /* receipts that were dropped, receivers' answers that were erased */
    apr_uint64_t answers; /* stored answers that were deleted */
    apr_uint64_t left;    /* pending charges: unchanged */
} pay_erasure_t;

/*
 * Erases name, e-mail and address of the payer `email` (as pay_email_normalize makes it) in
 * charges, and the notes of their refunds; deletes the payer's tokens, waiting receipts to that
 * address, and stored answers that contain it. Amounts stay, and so does the digest of the request:
 * the reference is never charged again. Pending charges are left. Rows made after the first call
 * may be left too.
 */
apr_status_t pay_store_payer_erase(pay_erasure_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   const char *email, apr_pool_t *p);

typedef struct pay_reset_t {
    pay_store_place_t place;
    int done;
    apr_time_t started_at; /* set by the first call, like the next two */
    apr_uint64_t charge_seq, refund_seq;
    apr_uint64_t charges, refunds, events, tokens, answers; /* deleted */
    apr_uint64_t left; /* charges with work in flight: unchanged, except for events */
} pay_reset_t;

/*
 * Empties a scope: charges, refunds, events, tokens, idempotency records, with their totals and
 * indexes, as far as they existed at the first call. Sequences go on; settings and endpoints stay.
 * Never of Live Mode: APR_EINVAL.
 */
apr_status_t pay_store_scope_reset(pay_reset_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   apr_pool_t *p);

#endif
