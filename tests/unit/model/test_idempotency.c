/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/idempotency.h"

#include <string.h>

/* The promises of docs/api.md, "Retries"; all other tests depend on the names. */
_Static_assert(PAY_IDEMPOTENCY_KEEP == APR_INT64_C(24) * 3600 * 1000000, "24 hours");

#define K5 "k-key"
#define K50 K5 K5 K5 K5 K5 K5 K5 K5 K5 K5
#define K255 K50 K50 K50 K50 K50 K5
#define ALL_BUT_QUOTE                                                                              \
    "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"

static const struct {
    const char *name;
    const char *value;
    const char *want; /* NULL: refused */
} key_cases[] = {
    {"bare", "8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"},
    {"quoted", "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", "8e03978e-40d5-43dd-bc93-6894a57f9324"},
    {"one character", "a", "a"},
    {"one quoted", "\"a\"", "a"},
    {"blanks around", " \t k \t", "k"},
    {"blanks around quotes", " \"k\" \t", "k"},
    {"blanks inside", "a b  c", "a b  c"},
    {"blanks inside quotes are part of it", "\" k \"", " k "},
    {"a blank alone, quoted", "\" \"", " "},
    {"printable ASCII", ALL_BUT_QUOTE, ALL_BUT_QUOTE},
    {"printable ASCII, quoted", "\"" ALL_BUT_QUOTE "\"", ALL_BUT_QUOTE},
    {"escapes", "\"a\\\"b\\\\c\"", "a\"b\\c"},
    {"a quote within a bare one", "a\"b", "a\"b"},
    {"a backslash within a bare one", "a\\b", "a\\b"},
    {"a comma within", "a,b", "a,b"},
    {"two quoted as one string", "\"a, b\"", "a, b"},
    {"longest", K255, K255},
    {"longest, quoted", "\"" K255 "\"", K255},
    {"longest, escaped", "\"\\\\" K50 K50 K50 K50 K50 "1234\"", "\\" K50 K50 K50 K50 K50 "1234"},
    {"longest, blanks around", "  " K255 "  ", K255},
    {"one longer", K255 "x", NULL},
    {"one longer, quoted", "\"" K255 "x\"", NULL},
    {"empty", "", NULL},
    {"blanks", " \t", NULL},
    {"empty quoted", "\"\"", NULL},
    {"two lines joined", "a, b", NULL},
    {"two quoted lines joined", "\"a\", \"b\"", NULL},
    {"not closed", "\"abc", NULL},
    {"a quote alone", "\"", NULL},
    {"closed by an escaped quote", "\"abc\\\"", NULL},
    {"ends in an escape", "\"abc\\", NULL},
    {"another escape", "\"a\\nb\"", NULL},
    {"text behind", "\"abc\"d", NULL},
    {"a parameter behind", "\"abc\";a=1", NULL},
    {"a tab within", "a\tb", NULL},
    {"a tab within quotes", "\"a\tb\"", NULL},
    {"a control character", "a\x01z", NULL},
    {"DEL", "a\x7fz", NULL},
    {"DEL, quoted", "\"a\x7fz\"", NULL},
    {"not ASCII", "cl\xc3\xa9", NULL},
    {"not ASCII, quoted", "\"cl\xc3\xa9\"", NULL},
};

START_TEST(test_key)
{
    const char *key = "unset", *name = key_cases[_i].name;
    apr_status_t rv;

    rv = pay_idempotency_key_parse(&key, key_cases[_i].value, unit_pool);
    if (!key_cases[_i].want) {
        ck_assert_msg(rv == APR_EINVAL, "%s: status %d", name, rv);
        ck_assert_msg(key == NULL, "%s: %s", name, key);
        return;
    }
    ck_assert_msg(rv == APR_SUCCESS, "%s: status %d", name, rv);
    ck_assert_msg(!strcmp(key, key_cases[_i].want), "%s: %s", name, key);
}
END_TEST

static const struct {
    const char *name;
    const char *values[3];
    apr_size_t count;
} digest_cases[] = {
    {"none", {NULL}, 0},
    {"absent", {NULL}, 1},
    {"empty", {""}, 1},
    {"one", {"ab"}, 1},
    {"one, absent", {"ab", NULL}, 2},
    {"one, empty", {"ab", ""}, 2},
    {"absent, one", {NULL, "ab"}, 2},
    {"split", {"a", "b"}, 2},
    {"turned", {"b", "a"}, 2},
    {"split with a hole", {"a", NULL, "b"}, 3},
    {"split with an empty one", {"a", "", "b"}, 3},
    {"a hole at the end", {"a", "b", NULL}, 3},
};

/* No two of the rows are one request. */
START_TEST(test_digest)
{
    unsigned char digest[PAY_SHA256_LEN], again[PAY_SHA256_LEN], other[PAY_SHA256_LEN];
    int i;

    ck_assert_int_eq(
        pay_idempotency_digest(digest, digest_cases[_i].values, digest_cases[_i].count),
        APR_SUCCESS);
    ck_assert_int_eq(pay_idempotency_digest(again, digest_cases[_i].values, digest_cases[_i].count),
                     APR_SUCCESS);
    ck_assert_mem_eq(digest, again, PAY_SHA256_LEN);
    for (i = 0; i < UNIT_ROWS(digest_cases); i++) {
        ck_assert_int_eq(
            pay_idempotency_digest(other, digest_cases[i].values, digest_cases[i].count),
            APR_SUCCESS);
        ck_assert_msg((memcmp(digest, other, PAY_SHA256_LEN) == 0) == (i == _i), "%s and %s",
                      digest_cases[_i].name, digest_cases[i].name);
    }
}
END_TEST

/* Stored digests must identify the same request after an update: these bytes never change. */
START_TEST(test_digest_is_for_ever)
{
    static const char *const values[] = {"order-1", "42e-1", NULL, "for us"};
    unsigned char digest[PAY_SHA256_LEN];

    ck_assert_int_eq(pay_idempotency_digest(digest, values, 4), APR_SUCCESS);
    ck_assert_str_eq(pay_hex(digest, PAY_SHA256_LEN, unit_pool),
                     "0ec401b23c1660355b66c9982f7d4271e9cbf35cd08c86e48fa052314f3f703f");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_key, 0, UNIT_ROWS(key_cases));
    tcase_add_loop_test(tcase, test_digest, 0, UNIT_ROWS(digest_cases));
    tcase_add_test(tcase, test_digest_is_for_ever);
}

UNIT_PROGRAM(add)
