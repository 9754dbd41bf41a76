/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/rsa_padding.h"

#include <string.h>

#define HEAD_LEN 2        /* 0, 2 */
#define PADDING_LEN_MIN 8 /* nonzero bytes before the terminating one */
#define LENGTHS 128       /* candidates, two bytes each: that none fits happens once in 2^128 */
#define LENGTH_BYTES (2 * LENGTHS)
#define LENGTH_MAX (PAY_RSA_LEN - HEAD_LEN - PADDING_LEN_MIN) /* of noise: below it */
#define LENGTH_BITS 0x1ffU                                    /* enough to hold LENGTH_MAX */
#define LABEL_MAX 7

/* ---- choices without a branch: a mask is all ones for yes, 0 for no */

/* Hides the value from the compiler, so that it makes no branch from operations on it. */
static inline unsigned int veil(unsigned int value)
{
    __asm__("" : "+r"(value));
    return value;
}

static inline unsigned int mask_of_top_bit(unsigned int value)
{
    return 0U - (veil(value) >> (sizeof(value) * 8 - 1));
}

static inline unsigned int mask_is_zero(unsigned int value)
{
    return mask_of_top_bit(~value & (value - 1));
}

/* Both below 2^31. */
static inline unsigned int mask_is_below(unsigned int a, unsigned int b)
{
    return mask_of_top_bit(a - b);
}

static inline unsigned int choose(unsigned int mask, unsigned int yes, unsigned int no)
{
    return (veil(mask) & yes) | (veil(~mask) & no);
}

/* ---- noise */

/* The draft's PRF: HMAC of counter, label and length in bits, as often as needed. */
static apr_status_t noise_make(unsigned char *out, apr_size_t len,
                               const unsigned char key[PAY_SHA256_LEN], const char *label)
{
    const unsigned int bits = (unsigned int)len * 8;
    const apr_size_t label_len = strlen(label);
    unsigned char input[2 + LABEL_MAX + 2];
    apr_status_t rv = APR_SUCCESS;
    apr_size_t at;

    memcpy(input + 2, label, label_len);
    input[2 + label_len] = (unsigned char)(bits >> 8);
    input[2 + label_len + 1] = (unsigned char)bits;
    for (at = 0; at < len && rv == APR_SUCCESS; at += PAY_SHA256_LEN) {
        input[0] = (unsigned char)(at / PAY_SHA256_LEN >> 8);
        input[1] = (unsigned char)(at / PAY_SHA256_LEN);
        rv = pay_hmac_sha256(out + at, key, PAY_SHA256_LEN, input, 2 + label_len + 2);
    }
    return rv;
}

/* Returns the last candidate that is not too long. */
static unsigned int noise_length(const unsigned char candidates[LENGTH_BYTES])
{
    unsigned int length = 0, candidate;
    int i;

    for (i = 0; i < LENGTH_BYTES; i += 2) {
        candidate = ((unsigned int)candidates[i] << 8 | candidates[i + 1]) & LENGTH_BITS;
        length = choose(mask_is_below(candidate, LENGTH_MAX), candidate, length);
    }
    return length;
}

/* ---- the text */

/* Returns a mask: the padding is right; *start is then the start of the text. */
static unsigned int text_find(unsigned int *start, const unsigned char encoded[PAY_RSA_LEN])
{
    unsigned int good = mask_is_zero(encoded[0]) & mask_is_zero(encoded[1] ^ 2U);
    unsigned int found = 0, zero = 0, is_zero, i;

    for (i = HEAD_LEN; i < PAY_RSA_LEN; i++) {
        is_zero = mask_is_zero(encoded[i]);
        zero = choose(~found & is_zero, i, zero);
        found |= is_zero;
    }
    *start = zero + 1;
    return good & ~mask_is_below(zero, HEAD_LEN + PADDING_LEN_MIN);
}

/* Shifts the bytes from `start` on to the front, one bit of `start` per round, and zeroes the
 * rest. */
static void text_align(unsigned char text[PAY_RSA_LEN], unsigned int start)
{
    unsigned int mask, step, i;

    for (step = 1; step <= PAY_RSA_LEN; step <<= 1) {
        mask = ~mask_is_zero(start & step);
        for (i = 0; i < PAY_RSA_LEN; i++) {
            text[i] =
                (unsigned char)choose(mask, i + step < PAY_RSA_LEN ? text[i + step] : 0, text[i]);
        }
    }
}

apr_status_t pay_rsa_unpad(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                           const unsigned char encoded[PAY_RSA_LEN], int refused,
                           const unsigned char key[PAY_SHA256_LEN],
                           const unsigned char block[PAY_RSA_LEN])
{
    unsigned char candidates[LENGTH_BYTES], derived[PAY_SHA256_LEN];
    unsigned int good, start, i;
    apr_status_t rv;

    *len = 0;
    memset(text, 0, PAY_RSA_LEN);
    rv = pay_hmac_sha256(derived, key, PAY_SHA256_LEN, block, PAY_RSA_LEN);
    if (rv == APR_SUCCESS) {
        rv = noise_make(candidates, sizeof(candidates), derived, "length");
    }
    if (rv == APR_SUCCESS) {
        rv = noise_make(text, PAY_RSA_LEN, derived, "message");
    }
    if (rv == APR_SUCCESS) {
        good = text_find(&start, encoded) & mask_is_zero(refused != 0);
        start = choose(good, start, PAY_RSA_LEN - noise_length(candidates));
        for (i = 0; i < PAY_RSA_LEN; i++) {
            text[i] = (unsigned char)choose(good, encoded[i], text[i]);
        }
        text_align(text, start);
        *len = PAY_RSA_LEN - start;
    }
    pay_wipe(candidates, sizeof(candidates));
    pay_wipe(derived, sizeof(derived));
    return rv;
}
