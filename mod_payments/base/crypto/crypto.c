/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/crypto.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <string.h>

#define STACK_WIPED 16384
#define TEXT_SEALED 1024 /* long enough for the paths that take many blocks at a time */

/*
 * OpenSSL looks a digest up by its name at each use of EVP_sha256(), which takes longer than
 * digesting our short texts. It is fetched once and kept for good; if that fails, each use looks it
 * up and reports the error.
 */
static const EVP_MD *sha256;
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;

static void fetch_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!sha256) {
        sha256 = EVP_sha256();
    }
}

static const EVP_MD *sha256_method(void)
{
    return pthread_once(&sha256_once, fetch_sha256) == 0 ? sha256 : EVP_sha256();
}

void pay_crypto_keep_at_exit(void)
{
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

apr_status_t pay_sha256(unsigned char out[PAY_SHA256_LEN], const void *data, apr_size_t len)
{
    int ok;

    memset(out, 0, PAY_SHA256_LEN);
    ok = EVP_Digest(data, len, out, NULL, sha256_method(), NULL);
    if (!ok) {
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

apr_status_t pay_hmac_sha256(unsigned char out[PAY_SHA256_LEN], const void *key, apr_size_t key_len,
                             const void *data, apr_size_t len)
{
    const unsigned char *made;
    unsigned int made_len = 0;

    memset(out, 0, PAY_SHA256_LEN);
    if (key_len > INT_MAX) {
        return APR_EINVAL;
    }
    made = HMAC(sha256_method(), key, (int)key_len, data, len, out, &made_len);
    if (!made || made_len != PAY_SHA256_LEN) {
        memset(out, 0, PAY_SHA256_LEN);
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

apr_status_t pay_gcm_seal(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *text, apr_size_t len)
{
    EVP_CIPHER_CTX *ctx;
    int done = 0, rest = 0;
    int ok;

    if (len > INT_MAX - PAY_GCM_TAG_LEN || bound_len > INT_MAX) {
        return APR_EINVAL;
    }
    ctx = EVP_CIPHER_CTX_new();
    ok = ctx && EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce)
         && EVP_EncryptUpdate(ctx, NULL, &done, bound, (int)bound_len)
         && EVP_EncryptUpdate(ctx, out, &done, text, (int)len)
         && EVP_EncryptFinal_ex(ctx, out + done, &rest) && (apr_size_t)done == len && rest == 0
         && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, PAY_GCM_TAG_LEN, out + len);
    EVP_CIPHER_CTX_free(ctx);
    if (!ok) {
        OPENSSL_cleanse(out, len + PAY_GCM_TAG_LEN); /* the output so far may be the text itself */
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

apr_status_t pay_gcm_open(unsigned char *out, const unsigned char key[PAY_GCM_KEY_LEN],
                          const unsigned char nonce[PAY_GCM_NONCE_LEN], const void *bound,
                          apr_size_t bound_len, const void *sealed, apr_size_t sealed_len)
{
    unsigned char tag[PAY_GCM_TAG_LEN];
    EVP_CIPHER_CTX *ctx;
    int done = 0, rest = 0;
    apr_size_t len;
    int ok;

    if (sealed_len < PAY_GCM_TAG_LEN || sealed_len > INT_MAX || bound_len > INT_MAX) {
        return APR_EINVAL;
    }
    len = sealed_len - PAY_GCM_TAG_LEN;
    memcpy(tag, (const unsigned char *)sealed + len, sizeof(tag));
    ctx = EVP_CIPHER_CTX_new();
    ok = ctx && EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce)
         && EVP_DecryptUpdate(ctx, NULL, &done, bound, (int)bound_len)
         && EVP_DecryptUpdate(ctx, out, &done, sealed, (int)len)
         && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, PAY_GCM_TAG_LEN, tag)
         && EVP_DecryptFinal_ex(ctx, out + done, &rest) > 0;
    EVP_CIPHER_CTX_free(ctx);
    if (!ok) {
        OPENSSL_cleanse(out, len); /* nobody sees a text without a valid tag */
        return APR_EINVAL;
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

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const char *pay_base64(const void *data, apr_size_t len, apr_pool_t *p)
{
    const unsigned char *bytes = data;
    char *out = apr_palloc(p, (len + 2) / 3 * 4 + 1);
    char *at = out;
    unsigned int bits;
    apr_size_t i;

    for (i = 0; i < len; i += 3) {
        bits = (unsigned int)bytes[i] << 16;
        bits |= i + 1 < len ? (unsigned int)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < len ? (unsigned int)bytes[i + 2] : 0;
        *at++ = base64_digits[bits >> 18];
        *at++ = base64_digits[bits >> 12 & 0x3f];
        *at++ = i + 1 < len ? base64_digits[bits >> 6 & 0x3f] : '=';
        *at++ = i + 2 < len ? base64_digits[bits & 0x3f] : '=';
    }
    *at = '\0';
    return out;
}

apr_status_t pay_base64_decode(unsigned char **out, apr_size_t *len, const char *text,
                               apr_pool_t *p)
{
    apr_size_t digits = strspn(text, base64_digits);
    apr_size_t padding = strspn(text + digits, "=");
    unsigned int bits = 0;
    apr_size_t i;

    *out = NULL;
    *len = 0;
    if (text[digits + padding] != '\0' || padding > 2 || (digits + padding) % 4 != 0) {
        return APR_EINVAL;
    }
    *out = apr_palloc(p, digits / 4 * 3 + 3);
    for (i = 0; i < digits; i++) {
        bits = bits << 6 | (unsigned int)(strchr(base64_digits, text[i]) - base64_digits);
        if (i % 4 != 0) {
            (*out)[(*len)++] = (unsigned char)(bits >> (6 - i % 4 * 2));
        }
    }
    if (padding && (bits & (padding == 1 ? 0x03U : 0x0fU)) != 0) {
        *out = NULL;
        *len = 0;
        return APR_EINVAL;
    }
    (*out)[*len] = '\0';
    return APR_SUCCESS;
}

void pay_wipe(void *memory, apr_size_t len)
{
    OPENSSL_cleanse(memory, len);
}

void pay_wipe_traces(void)
{
    static const unsigned char nothing[PAY_GCM_KEY_LEN];
    unsigned char stack[STACK_WIPED];

    /* The same code again, over data that is not secret, uses the same registers. */
    memset(stack, 0, sizeof(stack));
    (void)pay_gcm_seal(stack, nothing, nothing, nothing, sizeof(nothing), stack, TEXT_SEALED);
    (void)pay_sha256(stack, stack, TEXT_SEALED);
    OPENSSL_cleanse(stack, sizeof(stack));
}
