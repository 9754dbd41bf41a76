/* SPDX-License-Identifier: Apache-2.0 */
#include "rsa_fixture.h"

/* New pairs: seconds each. */

static void make(char private_pem[PAY_RSA_PRIVATE_SIZE], const char **public_pem)
{
    memset(private_pem, 'x', PAY_RSA_PRIVATE_SIZE);
    ck_assert_int_eq(pay_rsa_make(private_pem, public_pem, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(strncmp(private_pem, "-----BEGIN PRIVATE KEY-----\n", 28), 0);
    ck_assert_int_eq(strncmp(*public_pem, "-----BEGIN PUBLIC KEY-----\n", 27), 0);
}

START_TEST(test_make)
{
    char one[PAY_RSA_PRIVATE_SIZE], other[PAY_RSA_PRIVATE_SIZE];
    const char *one_public, *other_public, *one_xml, *other_xml;
    unsigned char text[PAY_RSA_LEN], block[PAY_RSA_LEN];
    apr_size_t len;

    make(one, &one_public);
    make(other, &other_public);
    ck_assert_int_eq(pay_rsa_xml(&one_xml, one_public, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_rsa_xml(&other_xml, other_public, unit_pool), APR_SUCCESS);
    ck_assert_str_ne(one, other);
    ck_assert_str_ne(one_xml, other_xml);
    ck_assert_uint_eq(strlen(one_xml), strlen(other_xml));
    fixture_encrypt(block, one_public, RSA_PKCS1_PADDING, "{}", 2);
    ck_assert_int_eq(pay_rsa_decrypt(text, &len, one, block), APR_SUCCESS);
    ck_assert_uint_eq(len, 2);
    ck_assert_str_eq((const char *)text, "{}");
    ck_assert_int_eq(pay_rsa_decrypt(text, &len, other, block), APR_SUCCESS);
    ck_assert_str_ne((const char *)text, "{}");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, test_make);
}

UNIT_PROGRAM(add)
