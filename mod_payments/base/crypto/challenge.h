/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_CHALLENGE_H
#define PAY_BASE_CRYPTO_CHALLENGE_H

/*
 * Codes that are sent to somebody to confirm one thing, and typed back once (docs/dashboard.md,
 * "Confirmed changes"). No code is kept: it is an HMAC of what it confirms and of one word in a
 * table that processes share, under a secret of the table's. Lock-free.
 *
 * The table has a fixed size, and what is confirmed chooses its place: two that fall on one have
 * codes of their own, and share time and tries.
 */

#include "base/crypto/crypto.h"

#include <apr_time.h>

#define PAY_CHALLENGE_CODE_LEN 8 /* of 32 letters and digits that look different: 40 bits */
#define PAY_CHALLENGE_TRIES_MAX 5
#define PAY_CHALLENGE_MINUTES 10
#define PAY_CHALLENGE_SECRET_LEN 32

typedef struct pay_challenge_table_t pay_challenge_table_t;

typedef enum pay_challenge_verdict_t {
    PAY_CHALLENGE_RIGHT, /* and used up: the next try of the same code is GONE */
    PAY_CHALLENGE_WRONG,
    PAY_CHALLENGE_GONE /* no challenge is open: never begun, expired, or tried too often */
} pay_challenge_verdict_t;

/* Bytes that a table of `places` needs. */
apr_size_t pay_challenge_size(apr_size_t places);

/* A table in `memory`: zeroed, aligned for any type, at least pay_challenge_size(places) bytes. */
pay_challenge_table_t *pay_challenge_init(void *memory, apr_size_t places,
                                          const unsigned char secret[PAY_CHALLENGE_SECRET_LEN]);

/*
 * The code that confirms what `digest` stands for: in the first half of a challenge's time the same
 * one, so that it can be sent again, else that of a new challenge. `now_ms` is pay_time_boot_ms()
 * here and below. An error where there are no random numbers, or libcrypto refuses.
 */
apr_status_t pay_challenge_code(char out[PAY_CHALLENGE_CODE_LEN + 1], pay_challenge_table_t *table,
                                const unsigned char digest[PAY_SHA256_LEN], apr_int64_t now_ms);

/* One try; capitals, blanks and dashes of `typed` do not count. The time taken does not depend on
 * how much of it is right. */
pay_challenge_verdict_t pay_challenge_try(pay_challenge_table_t *table,
                                          const unsigned char digest[PAY_SHA256_LEN],
                                          const char *typed, apr_int64_t now_ms);

#endif
