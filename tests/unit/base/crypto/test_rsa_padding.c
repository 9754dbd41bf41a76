/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/rsa_padding.h"

#include "unit.h"

#include <string.h>

/*
 * Under valgrind all decrypted data counts as undefined: any branch or address that depends on it
 * is an error. So the run under valgrind proves what the clock can only suggest.
 */
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define HIDE(at, len) (void)VALGRIND_MAKE_MEM_UNDEFINED(at, len)
#define SHOW(at, len) (void)VALGRIND_MAKE_MEM_DEFINED(at, len)
/* Whether decrypted data decides a branch does not depend on its value: the first and the last of
 * 256 values are tried, and some between. */
#define STEP (RUNNING_ON_VALGRIND ? 51 : 1)
#else
#define HIDE(at, len) (void)0
#define SHOW(at, len) (void)0
#define STEP 1
#endif

#define FIRST 10 /* the earliest position of the byte that ends the padding */
#define LAST (PAY_RSA_LEN - 1)

static const unsigned char key[PAY_SHA256_LEN] = {1, 2, 3};
static const unsigned char block[PAY_RSA_LEN] = {4, 5, 6};

static unsigned char encoded[PAY_RSA_LEN], text[PAY_RSA_LEN];
static unsigned char noise[PAY_RSA_LEN];
static apr_size_t noise_len;

static apr_size_t unpad(int refused)
{
    apr_size_t len;

    memset(text, 'x', sizeof(text));
    HIDE(encoded, sizeof(encoded));
    HIDE(&refused, sizeof(refused));
    ck_assert_int_eq(pay_rsa_unpad(text, &len, encoded, refused, key, block), APR_SUCCESS);
    SHOW(encoded, sizeof(encoded));
    SHOW(text, sizeof(text));
    SHOW(&len, sizeof(len));
    return len;
}

/* Texts of each length; `zero` is where it begins, less 1. */
static void encode(int zero)
{
    int i;

    memset(encoded, 0xee, sizeof(encoded));
    encoded[0] = 0;
    encoded[1] = 2;
    encoded[zero] = 0;
    for (i = zero + 1; i < PAY_RSA_LEN; i++) {
        encoded[i] = (unsigned char)i;
    }
}

static void noise_take(void)
{
    encode(FIRST);
    encoded[1] = 1;
    noise_len = unpad(0);
    memcpy(noise, text, sizeof(noise));
    ck_assert_uint_gt(noise_len, 8); /* of this key and block: enough to tell it from a text */
    ck_assert_uint_le(noise_len, PAY_RSA_TEXT_MAX);
}

static void check_noise(const char *what, int value, int refused)
{
    apr_size_t len = unpad(refused);

    ck_assert_msg(len == noise_len, "%s %d: %d bytes", what, value, (int)len);
    ck_assert_msg(memcmp(text, noise, sizeof(noise)) == 0, "%s %d: another text", what, value);
}

static void check_good(const char *what, int value, int zero)
{
    apr_size_t len = unpad(0), i;

    ck_assert_msg((int)len == LAST - zero, "%s %d: %d bytes", what, value, (int)len);
    ck_assert_msg(memcmp(text, encoded + zero + 1, len) == 0, "%s %d: another text", what, value);
    for (i = len; i < PAY_RSA_LEN; i++) {
        ck_assert_msg(text[i] == 0, "%s %d: behind the text", what, value);
    }
}

START_TEST(test_each_length)
{
    int zero;

    noise_take();
    for (zero = 2; zero <= LAST; zero += zero < FIRST || zero > LAST - STEP ? 1 : STEP) {
        encode(zero);
        if (zero < FIRST) {
            check_noise("zero at", zero, 0);
        } else {
            check_good("zero at", zero, zero);
        }
        encode(zero);
        check_noise("refused, zero at", zero, 1);
    }
}
END_TEST

START_TEST(test_each_head)
{
    int value;

    noise_take();
    for (value = 0; value < 256; value += STEP) {
        encode(FIRST);
        encoded[0] = (unsigned char)value;
        if (value == 0) {
            check_good("first byte", value, FIRST);
        } else {
            check_noise("first byte", value, 0);
        }
        encode(FIRST);
        encoded[1] = (unsigned char)value;
        if (value == 2) {
            check_good("second byte", value, FIRST);
        } else {
            check_noise("second byte", value, 0);
        }
    }
}
END_TEST

/* Each byte of the padding, with each value: zero alone ends it. */
START_TEST(test_each_byte_of_padding)
{
    int at, value;

    noise_take();
    for (at = 2; at < FIRST; at++) {
        for (value = 0; value < 256; value += STEP) {
            encode(FIRST);
            encoded[at] = (unsigned char)value;
            if (value == 0) {
                check_noise("zero in the padding at", at, 0);
            } else {
                check_good("value in the padding", value, FIRST);
            }
        }
    }
}
END_TEST

START_TEST(test_no_end)
{
    noise_take();
    encode(LAST);
    encoded[LAST] = 1;
    check_noise("no end", 0, 0);
    memset(encoded, 0, sizeof(encoded));
    check_noise("zeros", 0, 0);
    memset(encoded, 0xff, sizeof(encoded));
    check_noise("ones", 0, 0);
}
END_TEST

/* Noise depends on key and block alone, and differs for each. */
START_TEST(test_noise_differs)
{
    unsigned char other_key[PAY_SHA256_LEN] = {1, 2, 4};
    unsigned char other_block[PAY_RSA_LEN] = {4, 5, 6};
    apr_size_t len;

    noise_take();
    encode(2);
    check_noise("another fault", 0, 0);
    ck_assert_int_eq(pay_rsa_unpad(text, &len, encoded, 0, other_key, block), APR_SUCCESS);
    ck_assert_int_ne(memcmp(text, noise, sizeof(noise)), 0);
    other_block[PAY_RSA_LEN - 1] = 1;
    ck_assert_int_eq(pay_rsa_unpad(text, &len, encoded, 0, key, other_block), APR_SUCCESS);
    ck_assert_int_ne(memcmp(text, noise, sizeof(noise)), 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_each_length);
    tcase_add_test(tcase, test_each_head);
    tcase_add_test(tcase, test_each_byte_of_padding);
    tcase_add_test(tcase, test_no_end);
    tcase_add_test(tcase, test_noise_differs);
}

UNIT_PROGRAM(add)
