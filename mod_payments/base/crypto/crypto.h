/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_CRYPTO_H
#define PAY_BASE_CRYPTO_CRYPTO_H

/* libcrypto, but for RSA (base/crypto/rsa.h). Thread-safe. */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_SHA256_LEN 32
#define PAY_GCM_KEY_LEN 32
#define PAY_GCM_NONCE_LEN 12
#define PAY_GCM_TAG_LEN 16

/*
 * Keeps OpenSSL from taking itself down in exit(): a thread that ends meanwhile frees what it had
 * of OpenSSL, and exit() would free that as well. To be called before anybody uses OpenSSL in this
 * process; later it does nothing.
 */
void pay_crypto_keep_at_exit(void);

/* SHA-256 (FIPS 180-4) of `len` bytes. APR_EGENERAL when libcrypto refuses (FIPS provider gone). */
apr_status_t pay_sha256(unsigned char out[PAY_SHA256_LEN], const void *data, apr_size_t len);

/* HMAC (RFC 2104) with SHA-256. APR_EINVAL: a key of 2 GiB or more. */
apr_status_t pay_hmac_sha256(unsigned char out[PAY_SHA256_LEN], const void *key, apr_size_t key_len,
                             const void *data, apr_size_t len);

/*
 * AES-256-GCM (NIST SP 800-38D). Sealed bytes are as many as the text's and then the tag's. A nonce
 * is used once under a key. `out` may be the input itself.
 */
apr_status_t pay_gcm_seal(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *text, apr_size_t len);
/* APR_EINVAL: not what was sealed with this key, nonce and `bound`; `out` is all zero then. */
apr_status_t pay_gcm_open(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *sealed, apr_size_t sealed_len);

/* 1 when equal; the time taken does not depend on the contents. */
int pay_bytes_equal(const void *a, const void *b, apr_size_t len);

/* Bytes from the operating system's generator (RAND_bytes). */
apr_status_t pay_random_bytes(void *out, apr_size_t len);

/* Lower-case hex, NUL-terminated, in `p`. */
const char *pay_hex(const void *data, apr_size_t len, apr_pool_t *p);

/* Base64 (RFC 4648 section 4), padded, in one line, NUL-terminated, in `p`. */
const char *pay_base64(const void *data, apr_size_t len, apr_pool_t *p);

/*
 * The bytes that pay_base64 would write as `text`, and a NUL behind them. APR_EINVAL: there are
 * none: other characters, blanks, missing padding, bits set behind the end.
 */
apr_status_t pay_base64_decode(unsigned char **out, apr_size_t *len, const char *text,
                               apr_pool_t *p);

/* Zeroes memory that holds a secret; the compiler does not leave it out. */
void pay_wipe(void *memory, apr_size_t len);

/* Overwrites what code that worked on secrets left behind in vector registers and on the stack,
 * where the linker saves them too: as well as a program can from outside of that code. */
void pay_wipe_traces(void);

#endif
