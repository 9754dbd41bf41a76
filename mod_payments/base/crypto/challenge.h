/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_CHALLENGE_H
#define PAY_BASE_CRYPTO_CHALLENGE_H

/*
 * Confirmation codes that are sent to a person and typed back once (docs/dashboard.md, "Confirmed
 * changes"). No code is stored: a code is an HMAC, under the table's secret, of the thing that it
 * confirms and one word in a table that processes share. Lock-free.
 *
 * The table has a fixed size, and the digest chooses the place: two digests that share a place have
 * different codes, but share time and tries.
 */

#include "base/crypto/crypto.h"

#include <apr_time.h>

#define PAY_CHALLENGE_CODE_LEN 8 /* of 32 letters and digits that look different: 40 bits */
#define PAY_CHALLENGE_TRIES_MAX 5
#define PAY_CHALLENGE_MINUTES 10
#define PAY_CHALLENGE_SECRET_LEN 32

typedef struct pay_challenge_table_t pay_challenge_table_t;

typedef enum pay_challenge_verdict_t {
    PAY_CHALLENGE_RIGHT, /* and used up: another try of the same code returns GONE */
    PAY_CHALLENGE_WRONG,
    PAY_CHALLENGE_GONE /* no challenge is open: never begun, expired, or too many tries */
} pay_challenge_verdict_t;

/* Returns the bytes that a table of `places` needs. */
apr_size_t pay_challenge_size(apr_size_t places);

/*
 * Makes a table in `memory`: zeroed, aligned for any type, at least pay_challenge_size(places)
 * bytes.
 */
pay_challenge_table_t *pay_challenge_init(void *memory, apr_size_t places,
                                          const unsigned char secret[PAY_CHALLENGE_SECRET_LEN]);

/*
 * Writes the code that confirms `digest`. In the first half of a challenge's time it is the same
 * code, so that it can be sent again; later it is the code of a new challenge. `now_ms` is
 * pay_time_boot_ms(), here and below. Fails if there are no random numbers or if libcrypto refuses.
 */
apr_status_t pay_challenge_code(char out[PAY_CHALLENGE_CODE_LEN + 1], pay_challenge_table_t *table,
                                const unsigned char digest[PAY_SHA256_LEN], apr_int64_t now_ms);

/* Counts one try; ignores case, blanks and dashes of `typed`. The time taken does not depend on how
 * much of it is right. */
pay_challenge_verdict_t pay_challenge_try(pay_challenge_table_t *table,
                                          const unsigned char digest[PAY_SHA256_LEN],
                                          const char *typed, apr_int64_t now_ms);

#endif
