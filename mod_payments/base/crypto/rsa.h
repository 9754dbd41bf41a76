/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_RSA_H
#define PAY_BASE_CRYPTO_RSA_H

/*
 * RSA key pairs of 4096 bits, and decryption of texts that clients encrypted with the public key
 * (RSAES-PKCS1-v1_5, RFC 8017). Thread-safe.
 */

#include "base/crypto/rsa_padding.h"

#define PAY_RSA_BITS 4096
#define PAY_RSA_PRIVATE_SIZE 4096 /* of a private key's PEM (PKCS #8) with its NUL */

/*
 * Makes a new pair, which takes a second or several. The caller wipes `private_pem`, also after an
 * error.
 */
apr_status_t pay_rsa_make(char private_pem[PAY_RSA_PRIVATE_SIZE], const char **public_pem,
                          apr_pool_t *p);

/*
 * Writes the public key (PEM of a SubjectPublicKeyInfo) in the form that clients of the deployed
 * API read: "4096!<RSAKeyValue><Modulus>...</Modulus><Exponent>...</Exponent></RSAKeyValue>".
 * APR_EINVAL if it is not an RSA key of 4096 bits.
 */
apr_status_t pay_rsa_xml(const char **out, const char *public_pem, apr_pool_t *p);

/*
 * Decrypts with implicit rejection: for any block it returns APR_SUCCESS and a text, in the same
 * time. For an invalid block (also 0, or not below the modulus; NULL stands for any of these) the
 * text is noise, always the same for the same block. text[*len] is NUL. The caller wipes `text`.
 * APR_EINVAL: the private key is damaged; APR_EGENERAL: libcrypto refuses. Neither depends on the
 * block.
 */
apr_status_t pay_rsa_decrypt(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                             const char *private_pem, const unsigned char block[PAY_RSA_LEN]);

#endif
