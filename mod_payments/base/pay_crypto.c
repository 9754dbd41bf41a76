/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_crypto.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

apr_status_t pay_sha256(unsigned char out[PAY_SHA256_LEN], const void *data, apr_size_t len)
{
    int ok;

    memset(out, 0, PAY_SHA256_LEN);
    ok = EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL);
    if (!ok) {
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

int pay_bytes_equal(const void *a, const void *b, apr_size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

apr_status_t pay_random_bytes(void *out, apr_size_t len)
{
    int ok;

    memset(out, 0, len);
    if (len > INT_MAX) {
        return APR_EINVAL;
    }
    ok = RAND_bytes(out, (int)len);
    if (ok != 1) {
        memset(out, 0, len);
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

const char *pay_hex(const void *data, apr_size_t len, apr_pool_t *p)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = data;
    char *out = apr_palloc(p, len * 2 + 1);
    apr_size_t i;

    for (i = 0; i < len; i++) {
        out[i * 2] = digits[bytes[i] >> 4];
        out[i * 2 + 1] = digits[bytes[i] & 0x0f];
    }
    out[len * 2] = '\0';
    return out;
}
