/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/crypto.h"

#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANDOM_LEN 32
#define ROUNDS 4096

/* FIPS 180-4 examples. */
static const struct {
    const char *name;
    const char *data;
    int times;
    const char *want;
} sha256_rows[] = {
    {"empty", "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"one block", "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"a million", "aaaaaaaaaa", 100000,
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

START_TEST(test_sha256)
{
    apr_size_t len = strlen(sha256_rows[_i].data);
    char *data = apr_palloc(unit_pool, len * (apr_size_t)sha256_rows[_i].times + 1);
    unsigned char digest[PAY_SHA256_LEN];
    int i;

    for (i = 0; i < sha256_rows[_i].times; i++) {
        memcpy(data + (apr_size_t)i * len, sha256_rows[_i].data, len);
    }
    ck_assert_int_eq(pay_sha256(digest, data, len * (apr_size_t)sha256_rows[_i].times),
                     APR_SUCCESS);
    ck_assert_msg(strcmp(pay_hex(digest, sizeof(digest), unit_pool), sha256_rows[_i].want) == 0,
                  "%s: %s", sha256_rows[_i].name, pay_hex(digest, sizeof(digest), unit_pool));
}
END_TEST

static const struct {
    const char *name;
    const char *a;
    const char *b;
    apr_size_t len;
    int want;
} equal_rows[] = {
    {"equal", "abcdef", "abcdef", 6, 1},
    {"first differs", "xbcdef", "abcdef", 6, 0},
    {"last differs", "abcdex", "abcdef", 6, 0},
    {"differs behind the length", "abcdex", "abcdef", 5, 1},
    {"nothing", "a", "b", 0, 1},
    {"NUL is no end", "a\0b", "a\0c", 3, 0},
};

START_TEST(test_equal)
{
    ck_assert_msg(pay_bytes_equal(equal_rows[_i].a, equal_rows[_i].b, equal_rows[_i].len)
                      == equal_rows[_i].want,
                  "%s", equal_rows[_i].name);
}
END_TEST

START_TEST(test_hex)
{
    ck_assert_str_eq(pay_hex("\x00\x0f\xa5\xff", 4, unit_pool), "000fa5ff");
    ck_assert_str_eq(pay_hex("", 0, unit_pool), "");
}
END_TEST

/* No bit of the output is constant. */
START_TEST(test_random)
{
    unsigned char all_and[RANDOM_LEN], all_or[RANDOM_LEN], bytes[RANDOM_LEN];
    int i, j;

    memset(all_and, 0xff, sizeof(all_and));
    memset(all_or, 0, sizeof(all_or));
    for (i = 0; i < ROUNDS; i++) {
        ck_assert_int_eq(pay_random_bytes(bytes, sizeof(bytes)), APR_SUCCESS);
        for (j = 0; j < RANDOM_LEN; j++) {
            all_and[j] &= bytes[j];
            all_or[j] |= bytes[j];
        }
    }
    for (j = 0; j < RANDOM_LEN; j++) {
        ck_assert_int_eq(all_and[j], 0);
        ck_assert_int_eq(all_or[j], 0xff);
    }
    ck_assert_int_eq(pay_random_bytes(bytes, 0), APR_SUCCESS);
}
END_TEST

/* Children of one server must not draw the same ids. */
START_TEST(test_random_after_fork)
{
    unsigned char mine[RANDOM_LEN], theirs[RANDOM_LEN];
    int ends[2];
    int status;
    pid_t child;

    ck_assert_int_eq(pay_random_bytes(mine, sizeof(mine)), APR_SUCCESS);
    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        if (pay_random_bytes(theirs, sizeof(theirs)) != APR_SUCCESS
            || write(ends[1], theirs, sizeof(theirs)) != (ssize_t)sizeof(theirs)) {
            _exit(1);
        }
        _exit(0);
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(ends[0], theirs, sizeof(theirs)), sizeof(theirs));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(pay_random_bytes(mine, sizeof(mine)), APR_SUCCESS);
    ck_assert_int_ne(memcmp(mine, theirs, sizeof(mine)), 0);
}
END_TEST

/* The bytes that hex digits encode. */
static unsigned char *bytes_of(apr_size_t *len, const char *hex)
{
    unsigned char *out = apr_palloc(unit_pool, strlen(hex) / 2 + 1);
    unsigned int byte;

    for (*len = 0; hex[2 * *len]; (*len)++) {
        ck_assert_int_eq(sscanf(hex + 2 * *len, "%2x", &byte), 1);
        out[*len] = (unsigned char)byte;
    }
    return out;
}

#define TEN(text) text text text text text text text text text text
#define AA_131 TEN(TEN("aa")) TEN("aa") TEN("aa") TEN("aa") "aa"

/* RFC 4231, keys and data in hex. */
static const struct {
    const char *name;
    const char *key;
    const char *data;
    const char *want;
} hmac_rows[] = {
    {"case 1", TEN("0b") TEN("0b"), "4869205468657265",
     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"case 2, a short key", "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {"case 3", TEN("aa") TEN("aa"), TEN("dd") TEN("dd") TEN("dd") TEN("dd") TEN("dd"),
     "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"case 4", "0102030405060708090a0b0c0d0e0f10111213141516171819",
     TEN("cd") TEN("cd") TEN("cd") TEN("cd") TEN("cd"),
     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
    {"case 6, a key longer than a block", AA_131,
     "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b"
     "6579204669727374",
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {"case 7, key and data longer than a block", AA_131,
     "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a6520"
     "6b657920616e642061206c6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579"
     "206e6565647320746f20626520686173686564206265666f7265206265696e6720757365642062792074686520"
     "484d414320616c676f726974686d2e",
     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    {"nothing under nothing", "", "",
     "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"},
};

START_TEST(test_hmac)
{
    unsigned char digest[PAY_SHA256_LEN];
    unsigned char *key, *data;
    apr_size_t key_len, len;

    key = bytes_of(&key_len, hmac_rows[_i].key);
    data = bytes_of(&len, hmac_rows[_i].data);
    ck_assert_int_eq(pay_hmac_sha256(digest, key, key_len, data, len), APR_SUCCESS);
    ck_assert_msg(strcmp(pay_hex(digest, sizeof(digest), unit_pool), hmac_rows[_i].want) == 0,
                  "%s: %s", hmac_rows[_i].name, pay_hex(digest, sizeof(digest), unit_pool));
}
END_TEST

START_TEST(test_hmac_key_too_long)
{
    unsigned char digest[PAY_SHA256_LEN];

    ck_assert_int_eq(pay_hmac_sha256(digest, "", (apr_size_t)INT_MAX + 1, "", 0), APR_EINVAL);
}
END_TEST

#define KEY_0 "0000000000000000000000000000000000000000000000000000000000000000"
#define KEY_1 "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
#define TEXT_60                                                                                    \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"                             \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define SEALED_60                                                                                  \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"                             \
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

/* The test cases of AES-256 in the specification that NIST SP 800-38D took over; all in hex. */
static const struct {
    const char *name;
    const char *key;
    const char *nonce;
    const char *bound;
    const char *text;
    const char *sealed;
} gcm_rows[] = {
    {"13, no text", KEY_0, "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
    {"14, one block", KEY_0, "000000000000000000000000", "", "00000000000000000000000000000000",
     "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
    {"15, four blocks", KEY_1, "cafebabefacedbaddecaf888", "", TEXT_60 "1aafd255",
     SEALED_60 "898015adb094dac5d93471bdec1a502270e3cc6c"},
    {"16, bound text and a broken block", KEY_1, "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2", TEXT_60,
     SEALED_60 "76fc6ece0f4e1768cddf8853bb2d551b"},
};

START_TEST(test_gcm)
{
    apr_size_t key_len, nonce_len, bound_len, len, sealed_len;
    unsigned char *key = bytes_of(&key_len, gcm_rows[_i].key);
    unsigned char *nonce = bytes_of(&nonce_len, gcm_rows[_i].nonce);
    unsigned char *bound = bytes_of(&bound_len, gcm_rows[_i].bound);
    unsigned char *text = bytes_of(&len, gcm_rows[_i].text);
    unsigned char *sealed = bytes_of(&sealed_len, gcm_rows[_i].sealed);
    unsigned char *out = apr_palloc(unit_pool, sealed_len);

    ck_assert_uint_eq(key_len, PAY_GCM_KEY_LEN);
    ck_assert_uint_eq(nonce_len, PAY_GCM_NONCE_LEN);
    ck_assert_uint_eq(sealed_len, len + PAY_GCM_TAG_LEN);
    ck_assert_int_eq(pay_gcm_seal(out, key, nonce, bound, bound_len, text, len), APR_SUCCESS);
    ck_assert_msg(memcmp(out, sealed, sealed_len) == 0, "%s: %s", gcm_rows[_i].name,
                  pay_hex(out, sealed_len, unit_pool));
    ck_assert_int_eq(pay_gcm_open(out, key, nonce, bound, bound_len, sealed, sealed_len),
                     APR_SUCCESS);
    ck_assert_msg(memcmp(out, text, len) == 0, "%s: %s", gcm_rows[_i].name,
                  pay_hex(out, len, unit_pool));
}
END_TEST

/* In place, as both directions allow. */
START_TEST(test_gcm_in_place)
{
    apr_size_t key_len, len;
    unsigned char *key = bytes_of(&key_len, KEY_1);
    unsigned char *text = bytes_of(&len, TEXT_60);
    unsigned char buffer[128];

    ck_assert_uint_le(len + PAY_GCM_TAG_LEN, sizeof(buffer));
    memcpy(buffer, text, len);
    ck_assert_int_eq(pay_gcm_seal(buffer, key, key, "a", 1, buffer, len), APR_SUCCESS);
    ck_assert_int_ne(memcmp(buffer, text, len), 0);
    ck_assert_int_eq(pay_gcm_open(buffer, key, key, "a", 1, buffer, len + PAY_GCM_TAG_LEN),
                     APR_SUCCESS);
    ck_assert_int_eq(memcmp(buffer, text, len), 0);
}
END_TEST

/*
 * Each bit of all four inputs counts, and the length; a text without a valid tag is not returned.
 */
START_TEST(test_gcm_tampered)
{
    apr_size_t lens[4];
    unsigned char *inputs[4];
    unsigned char out[128];
    apr_size_t byte, i;
    int part, bit;

    inputs[0] = bytes_of(&lens[0], KEY_1);
    inputs[1] = bytes_of(&lens[1], gcm_rows[3].nonce);
    inputs[2] = bytes_of(&lens[2], gcm_rows[3].bound);
    inputs[3] = bytes_of(&lens[3], gcm_rows[3].sealed);
    for (part = 0; part < 4; part++) {
        for (byte = 0; byte < lens[part]; byte++) {
            for (bit = 0; bit < 8; bit++) {
                inputs[part][byte] ^= (unsigned char)(1 << bit);
                memset(out, 0xff, sizeof(out));
                ck_assert_int_eq(
                    pay_gcm_open(out, inputs[0], inputs[1], inputs[2], lens[2], inputs[3], lens[3]),
                    APR_EINVAL);
                for (i = 0; i < lens[3] - PAY_GCM_TAG_LEN; i++) {
                    ck_assert_uint_eq(out[i], 0);
                }
                inputs[part][byte] ^= (unsigned char)(1 << bit);
            }
        }
    }
    for (i = 0; i < lens[3]; i++) {
        ck_assert_int_eq(pay_gcm_open(out, inputs[0], inputs[1], inputs[2], lens[2], inputs[3], i),
                         APR_EINVAL);
    }
    ck_assert_int_eq(
        pay_gcm_open(out, inputs[0], inputs[1], inputs[2], lens[2] - 1, inputs[3], lens[3]),
        APR_EINVAL);
    ck_assert_int_eq(
        pay_gcm_open(out, inputs[0], inputs[1], inputs[2], lens[2], inputs[3], lens[3]),
        APR_SUCCESS);
}
END_TEST

START_TEST(test_gcm_too_long)
{
    unsigned char key[PAY_GCM_KEY_LEN] = {0};

    ck_assert_int_eq(
        pay_gcm_seal(key, key, key, "", 0, "", (apr_size_t)INT_MAX - PAY_GCM_TAG_LEN + 1),
        APR_EINVAL);
    ck_assert_int_eq(pay_gcm_seal(key, key, key, "", (apr_size_t)INT_MAX + 1, "", 0), APR_EINVAL);
    ck_assert_int_eq(pay_gcm_open(key, key, key, "", 0, "", (apr_size_t)INT_MAX + 1), APR_EINVAL);
    ck_assert_int_eq(pay_gcm_open(key, key, key, "", (apr_size_t)INT_MAX + 1, "", 16), APR_EINVAL);
}
END_TEST

/* RFC 4648 section 10, and the digits that its examples omit. */
static const struct {
    const char *data;
    apr_size_t len;
    const char *text;
} base64_rows[] = {
    {"", 0, ""},
    {"f", 1, "Zg=="},
    {"fo", 2, "Zm8="},
    {"foo", 3, "Zm9v"},
    {"foob", 4, "Zm9vYg=="},
    {"fooba", 5, "Zm9vYmE="},
    {"foobar", 6, "Zm9vYmFy"},
    {"\xfb\xff\xbf", 3, "+/+/"},
    {"\0\0\0\0", 4, "AAAAAA=="},
    {"\xff\xff", 2, "//8="},
};

START_TEST(test_base64)
{
    unsigned char *out;
    apr_size_t len;

    ck_assert_str_eq(pay_base64(base64_rows[_i].data, base64_rows[_i].len, unit_pool),
                     base64_rows[_i].text);
    ck_assert_int_eq(pay_base64_decode(&out, &len, base64_rows[_i].text, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(len, base64_rows[_i].len);
    ck_assert_int_eq(memcmp(out, base64_rows[_i].data, len), 0);
    ck_assert_uint_eq(out[len], 0);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
} base64_wrong_rows[] = {
    {"no padding", "Zg"},
    {"half the padding", "Zg="},
    {"a digit alone", "Z"},
    {"a digit and padding", "Z==="},
    {"padding alone", "===="},
    {"padding after a whole group", "Zm9v===="},
    {"too much padding", "Zm8=="},
    {"something behind the padding", "Zg==Zg=="},
    {"padding in the middle", "Z=g="},
    {"bits behind the end of one byte", "Zh=="},
    {"bits behind the end of two bytes", "Zm9="},
    {"a blank", "Zm9v Zm9v"},
    {"a line feed at the end", "Zm9v\n"},
    {"digits of base64url", "-_-_"},
    {"a byte that is no ASCII", "Zm9\xe4"},
};

START_TEST(test_base64_wrong)
{
    unsigned char *out;
    apr_size_t len;

    ck_assert_msg(pay_base64_decode(&out, &len, base64_wrong_rows[_i].text, unit_pool)
                      == APR_EINVAL,
                  "%s", base64_wrong_rows[_i].name);
    ck_assert_ptr_null(out);
    ck_assert_uint_eq(len, 0);
}
END_TEST

/* All bytes at all lengths come back. */
START_TEST(test_base64_lengths)
{
    unsigned char data[256];
    unsigned char *out;
    apr_size_t len, out_len;
    const char *text;

    for (len = 0; len < sizeof(data); len++) {
        data[len] = (unsigned char)(len * 151);
        text = pay_base64(data, len, unit_pool);
        ck_assert_uint_eq(strlen(text), (len + 2) / 3 * 4);
        ck_assert_int_eq(pay_base64_decode(&out, &out_len, text, unit_pool), APR_SUCCESS);
        ck_assert_uint_eq(out_len, len);
        ck_assert_int_eq(memcmp(out, data, len), 0);
    }
}
END_TEST

START_TEST(test_wipe)
{
    unsigned char bytes[4] = {1, 2, 3, 4};

    pay_wipe(bytes + 1, 2);
    ck_assert_int_eq(memcmp(bytes, "\1\0\0\4", 4), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_hmac, 0, UNIT_ROWS(hmac_rows));
    tcase_add_test(tcase, test_hmac_key_too_long);
    tcase_add_loop_test(tcase, test_gcm, 0, UNIT_ROWS(gcm_rows));
    tcase_add_test(tcase, test_gcm_in_place);
    tcase_add_test(tcase, test_gcm_tampered);
    tcase_add_test(tcase, test_gcm_too_long);
    tcase_add_loop_test(tcase, test_base64, 0, UNIT_ROWS(base64_rows));
    tcase_add_loop_test(tcase, test_base64_wrong, 0, UNIT_ROWS(base64_wrong_rows));
    tcase_add_test(tcase, test_base64_lengths);
    tcase_add_test(tcase, test_wipe);

    tcase_add_loop_test(tcase, test_sha256, 0, UNIT_ROWS(sha256_rows));
    tcase_add_loop_test(tcase, test_equal, 0, UNIT_ROWS(equal_rows));
    tcase_add_test(tcase, test_hex);
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_random_after_fork);
}

UNIT_PROGRAM(add)
