/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_RSA_PADDING_H
#define PAY_BASE_CRYPTO_RSA_PADDING_H

/*
 * The padding of RSAES-PKCS1-v1_5 (RFC 8017, section 7.2), taken off with implicit rejection
 * (draft-irtf-cfrg-rsa-guidance, section 7; OpenSSL from 3.2 on does the same by itself, and gives
 * the same noise). Neither branches nor addresses nor the number of steps depend on what was
 * decrypted. Pure.
 */

#include "base/crypto/crypto.h"

#define PAY_RSA_LEN 512                     /* bytes of a block, and of the modulus */
#define PAY_RSA_TEXT_MAX (PAY_RSA_LEN - 11) /* of what one block holds */

/*
 * The text of `encoded` (a decrypted block), or noise derived from `block` (as it
 * came in) under `key` when the padding is not right or `refused` is 1. text[*len] is NUL.
 */
apr_status_t pay_rsa_unpad(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                           const unsigned char encoded[PAY_RSA_LEN], int refused,
                           const unsigned char key[PAY_SHA256_LEN],
                           const unsigned char block[PAY_RSA_LEN]);

#endif
