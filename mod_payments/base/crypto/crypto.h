/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_CRYPTO_CRYPTO_H
#define PAY_BASE_CRYPTO_CRYPTO_H

/* libcrypto, except for RSA (base/crypto/rsa.h). Thread-safe. */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_SHA256_LEN 32
#define PAY_GCM_KEY_LEN 32
#define PAY_GCM_NONCE_LEN 12
#define PAY_GCM_TAG_LEN 16

/*
 * Keeps OpenSSL from shutting down in exit(): a thread that ends at that moment frees its OpenSSL
 * state, and exit() would free it again. Call it before anything uses OpenSSL in this process;
 * later it has no effect.
 */
void pay_crypto_keep_at_exit(void);

/*
 * Computes SHA-256 (FIPS 180-4) of `len` bytes. APR_EGENERAL if libcrypto refuses (FIPS provider
 * gone).
 */
apr_status_t pay_sha256(unsigned char out[PAY_SHA256_LEN], const void *data, apr_size_t len);

/* Computes HMAC (RFC 2104) with SHA-256. APR_EINVAL if the key is 2 GiB or longer. */
apr_status_t pay_hmac_sha256(unsigned char out[PAY_SHA256_LEN], const void *key, apr_size_t key_len,
                             const void *data, apr_size_t len);

/*
 * Encrypts with AES-256-GCM (NIST SP 800-38D). Writes `len` bytes, then the tag. Use a nonce only
 * once under a key. `out` may be the input itself.
 */
apr_status_t pay_gcm_seal(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *text, apr_size_t len);
/*
 * APR_EINVAL if the input was not sealed with this key, nonce and `bound`; `out` is then all zero.
 */
apr_status_t pay_gcm_open(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *sealed, apr_size_t sealed_len);

/* Returns 1 if the bytes are equal; the time taken does not depend on the contents. */
int pay_bytes_equal(const void *a, const void *b, apr_size_t len);

/* Fills `out` from the operating system's generator (RAND_bytes). */
apr_status_t pay_random_bytes(void *out, apr_size_t len);

/* Lower-case hex, NUL-terminated, in `p`. */
const char *pay_hex(const void *data, apr_size_t len, apr_pool_t *p);

/* Base64 (RFC 4648 section 4), padded, in one line, NUL-terminated, in `p`. */
const char *pay_base64(const void *data, apr_size_t len, apr_pool_t *p);

/*
 * Decodes text that pay_base64 would write, and adds a NUL. APR_EINVAL for anything else: other
 * characters, blanks, missing padding, bits set beyond the end.
 */
apr_status_t pay_base64_decode(unsigned char **out, apr_size_t *len, const char *text,
                               apr_pool_t *p);

/* Zeroes memory that holds a secret; the compiler does not leave it out. */
void pay_wipe(void *memory, apr_size_t len);

/* Overwrites the traces that code working on secrets left in vector registers and on the stack,
 * where the linker saves them too: as far as a program can do that from outside of that code. */
void pay_wipe_traces(void);

#endif
