/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CRYPTO_H
#define PAY_CRYPTO_H

/* The only file that calls libcrypto. Thread-safe. */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_SHA256_LEN 32

/* SHA-256 (FIPS 180-4) of `len` bytes. APR_EGENERAL when libcrypto refuses (FIPS provider gone). */
apr_status_t pay_sha256(unsigned char out[PAY_SHA256_LEN], const void *data, apr_size_t len);

/* 1 when equal; the time taken does not depend on the contents. */
int pay_bytes_equal(const void *a, const void *b, apr_size_t len);

/* Bytes from the operating system's generator (RAND_bytes). */
apr_status_t pay_random_bytes(void *out, apr_size_t len);

/* Lower-case hex, NUL-terminated, in `p`. */
const char *pay_hex(const void *data, apr_size_t len, apr_pool_t *p);

#endif
