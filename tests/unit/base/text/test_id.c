/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/id.h"

#include "unit.h"

#include <apr_hash.h>
#include <string.h>

#define BITS_MAX 320
#define IDS_MANY 2000

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

static const struct {
    const char *name;
    const char *prefix;
    int bits;
    apr_size_t want_len; /* behind the prefix */
} rows[] = {
    {"an id", "re_", PAY_ID_BITS, 26},
    {"a key's body", "", PAY_KEY_BITS, 48},
    {"shortest", "x", 5, 1},
    {"longest", "x", BITS_MAX, 64},
    {"prefix of its own", "pay_test_sk_", PAY_KEY_BITS, 48},
};

START_TEST(test_make)
{
    const char *id = NULL;
    const char *body;

    ck_assert_int_eq(pay_id_make(&id, rows[_i].prefix, rows[_i].bits, unit_pool), APR_SUCCESS);
    ck_assert_msg(strncmp(id, rows[_i].prefix, strlen(rows[_i].prefix)) == 0, "%s: %s",
                  rows[_i].name, id);
    body = id + strlen(rows[_i].prefix);
    ck_assert_msg(strlen(body) == rows[_i].want_len, "%s: %s", rows[_i].name, id);
    ck_assert_msg(strspn(body, alphabet) == rows[_i].want_len, "%s: %s", rows[_i].name, id);
}
END_TEST

/* All different, and every character of the alphabet at every position. */
START_TEST(test_random)
{
    apr_hash_t *seen = apr_hash_make(unit_pool);
    int places[26][32];
    const char *id;
    int i, j;

    memset(places, 0, sizeof(places));
    for (i = 0; i < IDS_MANY; i++) {
        ck_assert_int_eq(pay_id_make(&id, "", PAY_ID_BITS, unit_pool), APR_SUCCESS);
        ck_assert_ptr_null(apr_hash_get(seen, id, APR_HASH_KEY_STRING));
        apr_hash_set(seen, id, APR_HASH_KEY_STRING, id);
        for (j = 0; j < 26; j++) {
            places[j][strchr(alphabet, id[j]) - alphabet]++;
        }
    }
    for (i = 0; i < 26; i++) {
        for (j = 0; j < 32; j++) {
            ck_assert_int_gt(places[i][j], 0);
        }
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_make, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_random);
}

UNIT_PROGRAM(add)
