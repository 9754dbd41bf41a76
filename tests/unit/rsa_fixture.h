/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RSA_FIXTURE_H
#define RSA_FIXTURE_H

/* A key pair for tests: its private key is published here. */

#include "unit.h"

#include "base/crypto/rsa.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

static const char fixture_private[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIJQwIBADANBgkqhkiG9w0BAQEFAASCCS0wggkpAgEAAoICAQDLp4sphOK+kFEC\n"
    "3I+DD2BfZajtTReFcgik1XDAhh3rkCzYt5G2j0Ju5Zpg6eGcZ/OWYLqBV5Gaw80i\n"
    "Ou0V3ykZQ0IKixA9YOOR7GlPYoLn2PGURHvTh+Yo7sueDoI49DPwMOw6Vf1PioVD\n"
    "swqQnEvYi0F8jUN86ydter3dZK3bKFvSTF0/7xO2yBtQosCv5hgV7SdEme5kuxAl\n"
    "8tXVuGoEymndnHQH4EeT0NjbzU+uWcPe89XplfZp07yT3YrwTE+pwX6iwWtukf4K\n"
    "YzJSLup66xkeCkqvzUXS75fZF5GTn1YkvlYZm1+1NV49corYyQPZtX5BFKiP2n5M\n"
    "9jVSGZp1UwLxzHaWjPGwZSeTkLAqmfWkSU7Tlu2YiKNxr4xt+rxhxxdRB28EKay7\n"
    "S1Z5fGSiZ0QfLc0dGtwROSaTBp4fBQmi+j5wnx3vp+I/+HVOAVnksQD12yzPMLtS\n"
    "EB62NOqu8yMM0gNNJrzZrDjEt0Ec0SdBqaLMJOGDKTb1ezMVDRbAgBbp3drnjQ/6\n"
    "xipeLWOQ0IO6WHVGISdqvdUuu+ZoItCzjuv90ygt+FIAItDxU9WFG3KKlswtKuaE\n"
    "vY7NvTNQB159EjvKNDNz67FWe4TB7hqT7oEk/aYiodJ70p9sLA3ah5QbYpJAKNxM\n"
    "2Vpk9YLNIhIS639nc/e2JuwgpvcMPwIDAQABAoICABPz23BbFW9P1VgJ7ZeMvfJA\n"
    "FAUCfLpKxKpdl66NFUkFzEGuo9HhMZmK2OKuLLf1qUmuOrzprEQfndfrh7HmYMZE\n"
    "WX04na6IcRNUDbHvjV1osFZzP+HRb+J1GYbn61M9fbSGc9vNSURDO9uOTYvYfEfV\n"
    "cOTiiYj8wv/4urms9P7tR9MP6ezrH/Z+9B96KpWxMzfmuburYc4FqRyGsPOU80d6\n"
    "i1UL0IRlsVg76cXd1Mot/5Y23oTZopWWCeTqG4QqfdLnDbX6wZXzgL0Ey00o9+PI\n"
    "vSJn0LnDoJfSIyxA9mF3sWln1Sisw9Di+dOHBtpxa0qnpkcls9QQNzfpa/+aBDtV\n"
    "+S1XFK/G9gTpvs5poAqsTKCy9slhG5FpBt0EpwHKH4UZNHh94Hdq5ZgzI+AZZ5iJ\n"
    "cNTUBeaZq7h561blOnT/359yZrHmbOxL06Gr/U0Z/uDjQ7PPrzk7BuIjhHZGkkkP\n"
    "6XKUVsI/cuw5dKmUWkrqkE4zp9mawz+GQ8V5zVyegUDxtVQ0/tF9Z8+wbdt8v69e\n"
    "nzsAwdYRoPD2rPLX0BVw2JKK/RjRnlS8zxFw3i49eJossNbsvmCvR/yaEx1kG6hB\n"
    "t+JO07+DmVwAI3WRVPxSgxBG3g6PqCw6X1ORfsqIimsZlvRfIGaXGyTaobWtIZSg\n"
    "fgA2gMgrqoWpMqms3MFBAoIBAQDuXeqxthjFbBtOpR1rC2sauFDh2WNpm3G76+1N\n"
    "12PlAdkDUQjVZGGk0mRQMI23NcPjeGQ65KcbkZY5lRgrrRWksg5PZg6pOx4YbZkR\n"
    "wgkHyeC0xFrw1M2WI5+eidN8E0Rbkup2wQBI+9+RcTW5GXyzVqGnTIaFCTE0R9xe\n"
    "/PnZ8oTpDjZevIWJNfIs6E4e2x6KpK5YUQo/WCz7GNDcPPq4h5qu/3cpHZk7bofK\n"
    "5o18g9VjifJIE3WlV0FgVb9WwJ/MKq7OPUa2JUNKyNb7LogJYqtXscLd421DZuFv\n"
    "efxhVE79lRZhuiHIMuBU4A3+GFiF4TXWAJSszMRjw7cr2ZFBAoIBAQDauEJf5Hdw\n"
    "1rrcbg4RjrOCUvtmeB2hRbD/1TZExhD4eLTRqqMxKM++boASPJPg5EmjUztUggJu\n"
    "OUHfO/c24aoKRU6xtecg/HJBA49mRdJy+YzOulpPa4av86oU32eYR0KiXF6mFPbg\n"
    "uVdwYPUzEVIVOIDAn0b5uZhoLHZIsWvbG0VJXoS+EOutj3/EjiUjIeOJ4sh1/bMb\n"
    "07JG17XUinwR/g8oP+OX1ai2wZw+EXVgwFjWDnlD5eSHYwZwpPJIZbCAhIxrDS3N\n"
    "2qP0BqG34WuSYmHPgx1K+930dNeP3BFVMHc2KQSI792zgLYbXu4RUIlF9bU9fEV5\n"
    "L+2saz8IC71/AoIBAD/MiVWZXJXysnhhPzd4belP7e4VJkOM5Gsc4X4VKVqRHQmD\n"
    "Ne8PmAbqfQjthfDEhjKq9YDB1GxPkjrFShvejs1vDt93fHMVLJ/zLaYQHiSkhu07\n"
    "JPAStRf7XuyrDRzHd2NfNjwkujPOnm8qMuvhA3xosom5tMOEy1On7DbMVP9dpu9N\n"
    "64V9xewMsU4Nu2MM2ObY3wUqY6jCq/9lC/n2pFChkuhF3hn2Hx5GHjhTbwklrAah\n"
    "VGSwOKvRZ+El8jmBAwQ9ZF41DmkQHiu1B71hHe4NJ7koDfUfuw3wSmRw7PkL/Lxo\n"
    "m/36OLKB04NEGNqqn37t4V/u9dwuTl45cxxcdkECggEBAKLb9thuRx2nVmZSMHmU\n"
    "V0fgQD/xiqaOPRiSCyG0leheAM3qEC/HosC6iPSLVNVtRwOtMw1e7S5jxg/SF+cu\n"
    "qy2Qo+MhfmOKdgzA+OL/dI+WD+nSyvI+L4EOn4OBQiMaVJyOyQ9Dpvx4JYqRN6L5\n"
    "77PLaduD/hZuwvQ2vzCro5L3wGS8U30vHj4TDuEtsqtxTXtbeUaaTOaYgDPN5R/I\n"
    "qk+/bEvdHrvtJP5INe3llBAhyURCbLtJEBxbeO0hdSLBTWa0y9Xeb0/L0K8gzQQd\n"
    "frr2NLyOdZ5i4sdmxSfihql3OB0E99J7QQqq+W5yBjSwUjbcmUKaKSTusjvjc4Cr\n"
    "NUMCggEBAL+/SayWjmg4+5zmcInXryE7fK91Vl6UZHewGfaOoVq5TNAd195Pgel0\n"
    "eJiB6jUUxZbXpV7TAxgHX1eRzES7d6sQG+A6id1M6wcuajaYSkUNu+vfwAneZNTy\n"
    "AurLkggPYyCIRwU8Yvkxl+YRK90H9cn4gA+mHMZa/2+EJho0PiRG7EK6OJDcnNls\n"
    "b/cfkxAMpU73eCTYW0EV6QoMVU8hevvbAKlNuShHAIjsqvLmWklQBP8x8XF5ULUd\n"
    "honRLYjMUZ0y2RaexhcADHv8xLvz1VUxZPhlbmNZnGo5ldlgJc69EbvBvkaQ2YCt\n"
    "Ke3M+t+PG7NC3nuCPb8YAxkEx23djIk=\n"
    "-----END PRIVATE KEY-----\n";

static const char fixture_public[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAy6eLKYTivpBRAtyPgw9g\n"
    "X2Wo7U0XhXIIpNVwwIYd65As2LeRto9CbuWaYOnhnGfzlmC6gVeRmsPNIjrtFd8p\n"
    "GUNCCosQPWDjkexpT2KC59jxlER704fmKO7Lng6COPQz8DDsOlX9T4qFQ7MKkJxL\n"
    "2ItBfI1DfOsnbXq93WSt2yhb0kxdP+8TtsgbUKLAr+YYFe0nRJnuZLsQJfLV1bhq\n"
    "BMpp3Zx0B+BHk9DY281PrlnD3vPV6ZX2adO8k92K8ExPqcF+osFrbpH+CmMyUi7q\n"
    "eusZHgpKr81F0u+X2ReRk59WJL5WGZtftTVePXKK2MkD2bV+QRSoj9p+TPY1Uhma\n"
    "dVMC8cx2lozxsGUnk5CwKpn1pElO05btmIijca+Mbfq8YccXUQdvBCmsu0tWeXxk\n"
    "omdEHy3NHRrcETkmkwaeHwUJovo+cJ8d76fiP/h1TgFZ5LEA9dsszzC7UhAetjTq\n"
    "rvMjDNIDTSa82aw4xLdBHNEnQamizCThgyk29XszFQ0WwIAW6d3a540P+sYqXi1j\n"
    "kNCDulh1RiEnar3VLrvmaCLQs47r/dMoLfhSACLQ8VPVhRtyipbMLSrmhL2Ozb0z\n"
    "UAdefRI7yjQzc+uxVnuEwe4ak+6BJP2mIqHSe9KfbCwN2oeUG2KSQCjcTNlaZPWC\n"
    "zSISEut/Z3P3tibsIKb3DD8CAwEAAQ==\n"
    "-----END PUBLIC KEY-----\n";

/* Encrypts as any client can with the public key; `padding` is RSA_PKCS1_PADDING, or RSA_NO_PADDING
 * for PAY_RSA_LEN bytes of the caller's own. */
static inline void fixture_encrypt(unsigned char block[PAY_RSA_LEN], const char *public_pem,
                                   int padding, const void *text, size_t len)
{
    BIO *bio = BIO_new_mem_buf(public_pem, -1);
    EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(key, NULL);
    size_t made = PAY_RSA_LEN;

    ck_assert_ptr_nonnull(ctx);
    ck_assert_int_gt(EVP_PKEY_encrypt_init(ctx), 0);
    ck_assert_int_gt(EVP_PKEY_CTX_set_rsa_padding(ctx, padding), 0);
    ck_assert_int_gt(EVP_PKEY_encrypt(ctx, block, &made, text, len), 0);
    ck_assert_uint_eq(made, PAY_RSA_LEN);
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
    BIO_free(bio);
}

#endif
