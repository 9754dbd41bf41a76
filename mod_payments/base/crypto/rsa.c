/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/rsa.h"

#include <apr_strings.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/core_names.h>
#endif

#define PUBLIC_SIZE 1024 /* of a public key's PEM with its NUL */
#define FILLER 0x2a      /* below any modulus if it fills every byte of a block */

/* The DER of an RSAPublicKey of 4096 bits with the usual exponent, up to the modulus. */
static const unsigned char der_head[] = {0x30, 0x82, 0x02, 0x0a, 0x02, 0x82, 0x02, 0x01, 0x00};
static const unsigned char der_tail[] = {0x02, 0x03, 0x01, 0x00, 0x01};
#define DER_LEN (sizeof(der_head) + PAY_RSA_LEN + sizeof(der_tail))
#define EXPONENT "AQAB"

/* Keys are not encrypted here: OpenSSL must not prompt on the terminal. */
static int no_password(char *buffer, int size, int writing, void *baton)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)baton;
    return 0;
}

static int is_ours(EVP_PKEY *key)
{
    return key && EVP_PKEY_base_id(key) == EVP_PKEY_RSA && EVP_PKEY_bits(key) == PAY_RSA_BITS;
}

/* NULL if it is not one of our keys. */
static EVP_PKEY *key_read(const char *pem, int is_private)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = NULL;

    if (bio) {
        key = is_private ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL)
                         : PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL);
        BIO_free(bio);
    }
    if (!is_ours(key)) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

/* Returns 0 if it does not fit. */
static int key_print(char *out, int size, EVP_PKEY *key, int is_private)
{
    BIO *bio = BIO_new(BIO_s_mem()); /* wiped when it is freed */
    int len = 0;
    int ok;

    ok = bio
         && (is_private ? PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)
                        : PEM_write_bio_PUBKEY(bio, key));
    if (ok) {
        len = BIO_read(bio, out, size - 1);
        ok = len > 0 && BIO_pending(bio) == 0;
    }
    out[ok ? len : 0] = '\0';
    BIO_free(bio);
    return ok;
}

static EVP_PKEY *key_make(void)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, NULL);
    EVP_PKEY *key = NULL;
    int ok;

    ok = ctx && EVP_PKEY_keygen_init(ctx) > 0
         && EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, PAY_RSA_BITS) > 0
         && EVP_PKEY_keygen(ctx, &key) > 0;
    EVP_PKEY_CTX_free(ctx);
    return ok ? key : NULL;
}

apr_status_t pay_rsa_make(char private_pem[PAY_RSA_PRIVATE_SIZE], const char **public_pem,
                          apr_pool_t *p)
{
    char public_text[PUBLIC_SIZE];
    EVP_PKEY *key;
    int ok;

    *public_pem = NULL;
    private_pem[0] = '\0';
    ERR_set_mark(); /* the rest of the thread's queue belongs to other code */
    key = key_make();
    ok = is_ours(key) && key_print(private_pem, PAY_RSA_PRIVATE_SIZE, key, 1)
         && key_print(public_text, sizeof(public_text), key, 0);
    EVP_PKEY_free(key);
    ERR_pop_to_mark();
    if (!ok) {
        return APR_EGENERAL;
    }
    *public_pem = apr_pstrdup(p, public_text);
    return APR_SUCCESS;
}

/* Returns 0 if the exponent is not the usual one. */
static int modulus_get(unsigned char out[PAY_RSA_LEN], EVP_PKEY *key)
{
    unsigned char der[DER_LEN];
    unsigned char *at = der;

    if (i2d_PublicKey(key, NULL) != (int)DER_LEN || i2d_PublicKey(key, &at) != (int)DER_LEN
        || memcmp(der, der_head, sizeof(der_head)) != 0
        || memcmp(der + sizeof(der_head) + PAY_RSA_LEN, der_tail, sizeof(der_tail)) != 0) {
        return 0;
    }
    memcpy(out, der + sizeof(der_head), PAY_RSA_LEN);
    return 1;
}

apr_status_t pay_rsa_xml(const char **out, const char *public_pem, apr_pool_t *p)
{
    unsigned char modulus[PAY_RSA_LEN];
    EVP_PKEY *key;
    int ok;

    *out = NULL;
    ERR_set_mark();
    key = key_read(public_pem, 0);
    ok = key && modulus_get(modulus, key);
    EVP_PKEY_free(key);
    ERR_pop_to_mark();
    if (!ok) {
        return APR_EINVAL;
    }
    *out = apr_psprintf(
        p, "%d!<RSAKeyValue><Modulus>%s</Modulus><Exponent>" EXPONENT "</Exponent></RSAKeyValue>",
        PAY_RSA_BITS, pay_base64(modulus, sizeof(modulus), p));
    return APR_SUCCESS;
}

/* Writes the private exponent in as many bytes as the modulus; returns 0 if the key has none. */
static int exponent_get(unsigned char out[PAY_RSA_LEN], EVP_PKEY *key)
{
    int ok;
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    BIGNUM *exponent = NULL;

    ok = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_D, &exponent) > 0
         && BN_bn2binpad(exponent, out, PAY_RSA_LEN) == PAY_RSA_LEN;
    BN_clear_free(exponent);
#else
    const BIGNUM *exponent = NULL;
    const RSA *rsa = EVP_PKEY_get0_RSA(key);

    if (rsa) {
        RSA_get0_key(rsa, NULL, NULL, &exponent);
    }
    ok = exponent && BN_bn2binpad(exponent, out, PAY_RSA_LEN) == PAY_RSA_LEN;
#endif
    return ok;
}

/* The key from which noise is derived: the draft's hash of the private exponent. */
static int noise_key(unsigned char out[PAY_SHA256_LEN], EVP_PKEY *key)
{
    unsigned char exponent[PAY_RSA_LEN];
    int ok;

    ok = exponent_get(exponent, key) && pay_sha256(out, exponent, sizeof(exponent)) == APR_SUCCESS;
    pay_wipe(exponent, sizeof(exponent));
    return ok;
}

/* The plain operation; libcrypto blinds it. */
static int block_decrypt(unsigned char out[PAY_RSA_LEN], EVP_PKEY *key,
                         const unsigned char block[PAY_RSA_LEN])
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    size_t len = PAY_RSA_LEN;
    int ok;

    ok = ctx && EVP_PKEY_decrypt_init(ctx) > 0
         && EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_NO_PADDING) > 0
         && EVP_PKEY_decrypt(ctx, out, &len, block, PAY_RSA_LEN) > 0 && len == PAY_RSA_LEN;
    EVP_PKEY_CTX_free(ctx);
    return ok;
}

/* Returns 1 for a number from 1 to the modulus minus 1: everybody can see that, so branching is
 * safe. */
static int block_is_valid(const unsigned char block[PAY_RSA_LEN],
                          const unsigned char modulus[PAY_RSA_LEN])
{
    static const unsigned char nothing[PAY_RSA_LEN];

    return memcmp(block, modulus, PAY_RSA_LEN) < 0 && memcmp(block, nothing, PAY_RSA_LEN) != 0;
}

apr_status_t pay_rsa_decrypt(unsigned char text[PAY_RSA_LEN], apr_size_t *len,
                             const char *private_pem, const unsigned char block[PAY_RSA_LEN])
{
    unsigned char filler[PAY_RSA_LEN], encoded[PAY_RSA_LEN], modulus[PAY_RSA_LEN];
    unsigned char secret[PAY_SHA256_LEN];
    apr_status_t rv = APR_EINVAL;
    EVP_PKEY *key;
    int refused;

    *len = 0;
    memset(text, 0, PAY_RSA_LEN);
    memset(filler, FILLER, sizeof(filler));
    ERR_set_mark();
    key = key_read(private_pem, 1);
    if (key && modulus_get(modulus, key) && noise_key(secret, key)) {
        refused = !block || !block_is_valid(block, modulus);
        rv = block_decrypt(encoded, key, refused ? filler : block)
                 ? pay_rsa_unpad(text, len, encoded, refused, secret, block ? block : filler)
                 : APR_EGENERAL;
    }
    EVP_PKEY_free(key);
    ERR_pop_to_mark();
    pay_wipe(encoded, sizeof(encoded));
    pay_wipe(secret, sizeof(secret));
    pay_wipe_traces();
    return rv;
}
