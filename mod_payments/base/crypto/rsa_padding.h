/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_RSA_PADDING_H
#define PAY_BASE_CRYPTO_RSA_PADDING_H

/*
 * Removes the padding of RSAES-PKCS1-v1_5 (RFC 8017, section 7.2) with implicit rejection
 * (draft-irtf-cfrg-rsa-guidance, section 7; OpenSSL from 3.2 on does the same by itself, and gives
 * the same noise). Branches, addresses and the number of steps do not depend on the decrypted data.
 * Pure.
 */

#include "base/crypto/crypto.h"

#define PAY_RSA_LEN 512                     /* bytes of a block, and of the modulus */
#define PAY_RSA_TEXT_MAX (PAY_RSA_LEN - 11) /* of the text in one block */

/*
 * Writes the text of `encoded` (a decrypted block), or noise derived from `block` (as received)
 * under `key` if the padding is wrong or `refused` is 1. text[*len] is NUL.
 */
apr_status_t pay_rsa_unpad(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                           const unsigned char encoded[PAY_RSA_LEN], int refused,
                           const unsigned char key[PAY_SHA256_LEN],
                           const unsigned char block[PAY_RSA_LEN]);

#endif
