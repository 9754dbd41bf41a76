/* SPDX-License-Identifier: Apache-2.0 */
#include "rsa_fixture.h"

#include "base/crypto/rsa_padding.h"

#include <openssl/err.h>

/*
 * One pair, and for each block the expected result, length and SHA-256. OpenSSL 3.5, which rejects
 * implicitly by itself, gave the same texts for the same blocks (it refuses those from the modulus
 * on), and so did a program of a few lines that was written from the draft alone.
 */

static const struct {
    const char *name;
    unsigned char first, second, fill;
    int zero; /* the position of the byte that ends the padding; 0: none exists */
    int step; /* of the text after it, from 1 on; 0: zeros */
    int want_len;
    const char *want;
} block_rows[] = {
    {"the longest text", 0x00, 0x02, 0x2b, 10, 7, 501,
     "ece4acf13238268824bcb92aeabfa2442328fd471f09849491820d02acbd772e"},
    {"one byte less", 0x00, 0x02, 0x2b, 11, 7, 500,
     "2511b4a005eca74438d6cd3db2cf3a7430bba7009169853cad003f2c7ebbae56"},
    {"an empty text", 0x00, 0x02, 0x2b, 511, 7, 0,
     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"one byte", 0x00, 0x02, 0x2b, 510, 7, 1,
     "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
    {"an order", 0x00, 0x02, 0x2b, 300, 7, 211,
     "b9a143b2e19ece8ae9fdd7e8f086aa46d8e2d7beec52154ccc36ddfbe96bbeed"},
    {"a text of zeros", 0x00, 0x02, 0x2b, 471, 0, 40,
     "2c34ce1df23b838c5abf2a7f6437cca3d3067ed509ff25f11df6b11b582b51eb"},
    {"padding of ff", 0x00, 0x02, 0xff, 300, 7, 211,
     "b9a143b2e19ece8ae9fdd7e8f086aa46d8e2d7beec52154ccc36ddfbe96bbeed"},
    {"padding of 01", 0x00, 0x02, 0x01, 300, 7, 211,
     "b9a143b2e19ece8ae9fdd7e8f086aa46d8e2d7beec52154ccc36ddfbe96bbeed"},
    /* Invalid blocks become noise. */
    {"the first byte is 1", 0x01, 0x02, 0x2b, 11, 7, 97,
     "e120979e40c2cc55ba5144447ca9273864478a06f56ac6fd2608555ff3d20756"},
    {"the first byte is 80", 0x80, 0x02, 0x2b, 11, 7, 330,
     "42d69efb8bb52eefe4f5da759bf2862b0977e80e00b3063c209ad4fbeb3d3fd7"},
    {"type 1", 0x00, 0x01, 0x2b, 11, 7, 206,
     "8a6f3ddb146bf1d4626dd661cf4ea84bef57f4e5ba1c05283d58e3bb833df8e7"},
    {"type 0", 0x00, 0x00, 0x2b, 11, 7, 138,
     "7472091ee3c9cdb1c84096df30cecf7211a0018e21d4a705134c6ef79eebdd9b"},
    {"type 3", 0x00, 0x03, 0x2b, 11, 7, 433,
     "313db7d415a3d2441e5d4974a464654c54d369e451cbe09a42aed82cd828b579"},
    {"type 82", 0x00, 0x82, 0x2b, 11, 7, 350,
     "9acd40f5e282869516220054596017c74d0c3834e2b909cd2c4930f74446e225"},
    {"no byte ends the padding", 0x00, 0x02, 0x2b, 0, 7, 162,
     "9f5768e2a336235c9711c5711249ac57421f413b6e0c66dd48e099bb2ca8e1e4"},
    {"0 bytes of padding", 0x00, 0x02, 0x2b, 2, 7, 454,
     "026a2c0838fc3e8f2bbcd394d1bf51829c57a1659f961546d670da8e014d1d69"},
    {"1 bytes of padding", 0x00, 0x02, 0x2b, 3, 7, 76,
     "679fc600e30a72764ff105d8d19ab7a04743de1ab16818dffaa27a3df4248ed8"},
    {"2 bytes of padding", 0x00, 0x02, 0x2b, 4, 7, 454,
     "60ee30db5ba3561a58462261c9a5b0a379365c51f64f53c96a7e721f08251c56"},
    {"3 bytes of padding", 0x00, 0x02, 0x2b, 5, 7, 494,
     "c512e5e4649ec82df7413ecaaf80a685551c4eac7d9d5ce1a97d732f6603f011"},
    {"4 bytes of padding", 0x00, 0x02, 0x2b, 6, 7, 56,
     "488121209e3c012fdc95dee016020dda1604e038a1847a5821e4b1bfd0ca9b34"},
    {"5 bytes of padding", 0x00, 0x02, 0x2b, 7, 7, 299,
     "4f1c7159800461ef159522ec1d747659ec4795cdd8601175ad1f298276ccd00b"},
    {"6 bytes of padding", 0x00, 0x02, 0x2b, 8, 7, 342,
     "6f5975c1e433ab8e4cff64ae11b678c7195883cd5eaadfcf51051aa0f94ee673"},
    {"7 bytes of padding", 0x00, 0x02, 0x2b, 9, 7, 285,
     "dbd534a014f4b8a4b32ec32ce4492ed9a06a86e260210691d8d3d4f0256310d9"},
    {"padding of zeros", 0x00, 0x02, 0x00, 300, 7, 122,
     "3eaacb03f2286dd8b684afbeccf3f54f3c6844a0a068eb7de9a36c63ed1d16f9"},
};

/* Numbers that no client sends. */
static const struct {
    const char *name;
    int want_len;
    const char *want;
} number_rows[] = {
    {"zero", 425, "e42191db9a85c3d76c57aae0400080b495016bf9e9da592096a15b6a4c79a760"},
    {"one", 295, "5356919e67f1bfc416afb7db47db5c2d4860df86053db464e91a3fc7d5cc6f90"},
    {"the modulus less 1", 59, "7b2793920f63dbedc21c24efd802f4b3882bc314986fe280b1caaff828c86cdd"},
    {"the modulus", 501, "cac5a6b15c8f382bc636405c9cc8b00bb55dfbd15f8621bab67abe9d3826f703"},
    {"the modulus and 1", 359, "868036b3006a579f0f3c470d4d0e45d9105dd376720be67b97639bc5501a9a6b"},
    {"all ones", 372, "dfcce42cc67de18247e41279931f067d2c07389ed6e366c9dc3d5d30616c0a25"},
};

/* The result of any block that cannot even be read. */
#define FILLER_LEN 154
#define FILLER_WANT "5fa6ad2a0ca4ee867a57399eac47639d11865fd642b314f4a6c65f913ce79cd7"

static void encoded_make(unsigned char encoded[PAY_RSA_LEN], int row)
{
    const int zero = block_rows[row].zero;
    int i;

    memset(encoded, block_rows[row].fill, PAY_RSA_LEN);
    encoded[0] = block_rows[row].first;
    encoded[1] = block_rows[row].second;
    for (i = zero; zero && i < PAY_RSA_LEN; i++) {
        encoded[i] = (unsigned char)(i == zero || !block_rows[row].step
                                         ? 0
                                         : (i - zero - 1) * block_rows[row].step + 1);
    }
}

static void check_text(const char *name, const unsigned char *block, int want_len, const char *want)
{
    unsigned char text[PAY_RSA_LEN], digest[PAY_SHA256_LEN];
    apr_size_t len, i;
    int round;

    for (round = 0; round < 2; round++) { /* blinding differs, the text does not */
        memset(text, 'x', sizeof(text));
        ck_assert_int_eq(pay_rsa_decrypt(text, &len, fixture_private, block), APR_SUCCESS);
        ck_assert_msg((int)len == want_len, "%s: %d bytes", name, (int)len);
        ck_assert_int_eq(pay_sha256(digest, text, len), APR_SUCCESS);
        ck_assert_msg(strcmp(pay_hex(digest, sizeof(digest), unit_pool), want) == 0, "%s: %s", name,
                      pay_hex(digest, sizeof(digest), unit_pool));
        for (i = len; i < PAY_RSA_LEN; i++) {
            ck_assert_msg(text[i] == 0, "%s: behind the text", name);
        }
    }
}

START_TEST(test_blocks)
{
    unsigned char encoded[PAY_RSA_LEN], block[PAY_RSA_LEN];

    encoded_make(encoded, _i);
    fixture_encrypt(block, fixture_public, RSA_NO_PADDING, encoded, sizeof(encoded));
    check_text(block_rows[_i].name, block, block_rows[_i].want_len, block_rows[_i].want);
}
END_TEST

/* The modulus is in the XML form, which proves that the private key belongs to it. */
static void modulus_read(unsigned char modulus[PAY_RSA_LEN])
{
    unsigned char *bytes;
    const char *xml, *at;
    apr_size_t len;

    ck_assert_int_eq(pay_rsa_xml(&xml, fixture_public, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(strncmp(xml, "4096!<RSAKeyValue><Modulus>", 27), 0);
    at = strstr(xml, "</Modulus>");
    ck_assert_ptr_nonnull(at);
    ck_assert_str_eq(at, "</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>");
    ck_assert_int_eq(pay_base64_decode(&bytes, &len,
                                       apr_pstrmemdup(unit_pool, xml + 27, (size_t)(at - xml) - 27),
                                       unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(len, PAY_RSA_LEN);
    memcpy(modulus, bytes, PAY_RSA_LEN);
}

START_TEST(test_numbers)
{
    unsigned char block[PAY_RSA_LEN] = {0};
    int odd;

    modulus_read(block);
    odd = block[PAY_RSA_LEN - 1] & 1;
    ck_assert_int_eq(odd, 1);
    ck_assert_uint_lt(block[PAY_RSA_LEN - 1], 255); /* adding 1 carries nothing */
    switch (_i) {
    case 0:
    case 1:
        memset(block, 0, sizeof(block));
        block[PAY_RSA_LEN - 1] = (unsigned char)_i;
        break;
    case 2:
        block[PAY_RSA_LEN - 1]--;
        break;
    case 3:
        break;
    case 4:
        block[PAY_RSA_LEN - 1]++;
        break;
    default:
        memset(block, 0xff, sizeof(block));
        break;
    }
    check_text(number_rows[_i].name, block, number_rows[_i].want_len, number_rows[_i].want);
}
END_TEST

START_TEST(test_no_block)
{
    check_text("no block", NULL, FILLER_LEN, FILLER_WANT);
}
END_TEST

/* As libraries encrypt. */
START_TEST(test_padded_by_a_library)
{
    static const char order[] = "{\"order\":{\"amount\":10}}";
    unsigned char text[PAY_RSA_LEN], block[PAY_RSA_LEN];
    apr_size_t len;

    fixture_encrypt(block, fixture_public, RSA_PKCS1_PADDING, order, sizeof(order) - 1);
    ck_assert_int_eq(pay_rsa_decrypt(text, &len, fixture_private, block), APR_SUCCESS);
    ck_assert_uint_eq(len, sizeof(order) - 1);
    ck_assert_str_eq((const char *)text, order);
}
END_TEST

/* ---- foreign keys */

static EVP_PKEY *foreign_key(int type, int size)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(type, NULL);
    EVP_PKEY *key = NULL;

    ck_assert_int_gt(EVP_PKEY_keygen_init(ctx), 0);
    if (type == EVP_PKEY_RSA) {
        ck_assert_int_gt(EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, size), 0);
    }
    ck_assert_int_gt(EVP_PKEY_keygen(ctx, &key), 0);
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static const char *foreign_pem(EVP_PKEY *key, int is_private, const char *password)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = apr_pcalloc(unit_pool, PAY_RSA_PRIVATE_SIZE);

    if (is_private) {
        ck_assert_int_gt(PEM_write_bio_PKCS8PrivateKey(bio, key,
                                                       password ? EVP_aes_256_cbc() : NULL,
                                                       password, password ? 4 : 0, NULL, NULL),
                         0);
    } else {
        ck_assert_int_gt(PEM_write_bio_PUBKEY(bio, key), 0);
    }
    ck_assert_int_gt(BIO_read(bio, text, PAY_RSA_PRIVATE_SIZE - 1), 0);
    BIO_free(bio);
    return text;
}

static EVP_PKEY *fixture_key(void)
{
    BIO *bio = BIO_new_mem_buf(fixture_private, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    ck_assert_ptr_nonnull(key);
    BIO_free(bio);
    return key;
}

static const struct {
    const char *name;
    int type; /* 0: the fixture's own */
    int bits;
    const char *password;
    const char *text; /* in place of a key */
} foreign_rows[] = {
    {"nothing", 0, 0, NULL, ""},
    {"no PEM", 0, 0, NULL, "4096!<RSAKeyValue></RSAKeyValue>"},
    {"a PEM of nothing", 0, 0, NULL,
     "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"},
    {"the other half", 0, 0, NULL, NULL},
    {"2048 bits", EVP_PKEY_RSA, 2048, NULL, NULL},
    {"another kind", EVP_PKEY_ED25519, 0, NULL, NULL},
    {"with a password", 0, 0, "word", NULL},
};

START_TEST(test_foreign_keys)
{
    const char *private_pem = foreign_rows[_i].text, *public_pem = private_pem;
    unsigned char text[PAY_RSA_LEN], block[PAY_RSA_LEN] = {1};
    EVP_PKEY *key = NULL;
    const char *xml = "";
    apr_size_t len = 1;

    if (!private_pem) {
        key = foreign_rows[_i].type ? foreign_key(foreign_rows[_i].type, foreign_rows[_i].bits)
                                    : fixture_key();
        private_pem = foreign_pem(key, 1, foreign_rows[_i].password);
        public_pem = foreign_pem(key, 0, NULL);
    }
    if (!strcmp(foreign_rows[_i].name, "the other half")) {
        const char *other = private_pem;

        private_pem = public_pem;
        public_pem = other;
    }
    ERR_clear_error();
    ERR_put_error(ERR_LIB_USER, 0, 1, "", 0); /* another process's, which has not looked yet */
    ck_assert_msg(pay_rsa_decrypt(text, &len, private_pem, block) == APR_EINVAL, "%s",
                  foreign_rows[_i].name);
    ck_assert_uint_eq(len, 0);
    ck_assert_uint_eq(text[0], 0);
    if (!foreign_rows[_i].password) {
        ck_assert_int_eq(pay_rsa_xml(&xml, public_pem, unit_pool), APR_EINVAL);
        ck_assert_ptr_null(xml);
    }
    ck_assert_int_eq(ERR_GET_LIB(ERR_get_error()), ERR_LIB_USER);
    ck_assert_uint_eq(ERR_get_error(), 0); /* and nothing of ours */
    EVP_PKEY_free(key);
}
END_TEST

/* A public exponent that OpenSSL would not choose has no XML here. */
START_TEST(test_another_exponent)
{
    char *pem = apr_pstrdup(unit_pool, fixture_public);
    char *at = strstr(pem, "AwEAAQ==");
    const char *xml;

    ck_assert_ptr_nonnull(at); /* 03 01 00 01 in base64 */
    at[5] = 'w';
    ck_assert_int_eq(pay_rsa_xml(&xml, pem, unit_pool), APR_EINVAL);
    ck_assert_ptr_null(xml);
}
END_TEST

/* Lengths of noise are spread over all possible lengths of a text. */
START_TEST(test_noise_lengths)
{
    static const unsigned char key[PAY_SHA256_LEN] = {1, 2, 3};
    unsigned char encoded[PAY_RSA_LEN] = {0}, text[PAY_RSA_LEN], other[PAY_RSA_LEN] = {0};
    apr_size_t len, longest = 0, shortest = PAY_RSA_LEN, sum = 0;
    int i;

    for (i = 0; i < 1000; i++) {
        other[0] = (unsigned char)(i >> 8);
        other[1] = (unsigned char)i;
        ck_assert_int_eq(pay_rsa_unpad(text, &len, encoded, 0, key, other), APR_SUCCESS);
        longest = len > longest ? len : longest;
        shortest = len < shortest ? len : shortest;
        sum += len;
    }
    ck_assert_uint_le(longest, PAY_RSA_TEXT_MAX);
    ck_assert_uint_gt(longest, PAY_RSA_TEXT_MAX - 10);
    ck_assert_uint_lt(shortest, 10);
    ck_assert_uint_gt(sum / 1000, 225);
    ck_assert_uint_lt(sum / 1000, 275);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_blocks, 0, UNIT_ROWS(block_rows));
    tcase_add_loop_test(tcase, test_numbers, 0, UNIT_ROWS(number_rows));
    tcase_add_test(tcase, test_no_block);
    tcase_add_test(tcase, test_padded_by_a_library);
    tcase_add_loop_test(tcase, test_foreign_keys, 0, UNIT_ROWS(foreign_rows));
    tcase_add_test(tcase, test_another_exponent);
    tcase_add_test(tcase, test_noise_lengths);
}

UNIT_PROGRAM(add)
