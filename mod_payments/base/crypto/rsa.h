/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_RSA_H
#define PAY_BASE_CRYPTO_RSA_H

/*
 * RSA pairs of 4096 bits, and what was encrypted with their public halves (RSAES-PKCS1-v1_5, RFC
 * 8017). Thread-safe.
 */

#include "base/crypto/rsa_padding.h"

#define PAY_RSA_BITS 4096
#define PAY_RSA_PRIVATE_SIZE 4096 /* of a private half's PEM (PKCS #8) and its NUL */

/* A new pair: a second of work, or several. The caller wipes `private_pem`, also after an error. */
apr_status_t pay_rsa_make(char private_pem[PAY_RSA_PRIVATE_SIZE], const char **public_pem,
                          apr_pool_t *p);

/*
 * The public half (PEM of a SubjectPublicKeyInfo) in the form that clients of the deployed API
 * read: "4096!<RSAKeyValue><Modulus>...</Modulus><Exponent>...</Exponent></RSAKeyValue>".
 * APR_EINVAL: it is no RSA key of 4096 bits.
 */
apr_status_t pay_rsa_xml(const char **out, const char *public_pem, apr_pool_t *p);

/*
 * Decrypts with implicit rejection: whatever the block is, the answer is APR_SUCCESS with a text,
 * which comes in the same time. Of a block that nobody encrypted (also 0, or not below the modulus;
 * NULL stands for any such) the text is noise, the same whenever it is asked. text[*len] is NUL.
 * The caller wipes `text`. APR_EINVAL: the private half is damaged; APR_EGENERAL: libcrypto
 * refuses. Neither depends on the block.
 */
apr_status_t pay_rsa_decrypt(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                             const char *private_pem, const unsigned char block[PAY_RSA_LEN]);

#endif
