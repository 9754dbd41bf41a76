/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_crypto.h"

#include "unit.h"

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

/* No bit of the output stands still. */
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

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_sha256, 0, UNIT_ROWS(sha256_rows));
    tcase_add_loop_test(tcase, test_equal, 0, UNIT_ROWS(equal_rows));
    tcase_add_test(tcase, test_hex);
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_random_after_fork);
}

int main(void)
{
    return unit_run("crypto", add);
}
