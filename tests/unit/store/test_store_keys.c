/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/keys.h"

#include <string.h>

static const struct {
    const char *name;
    apr_time_t smaller;
    apr_time_t larger;
} time_rows[] = {
    {"one apart", 1, 2},
    {"across a byte", 255, 256},
    {"across 32 bits", APR_INT64_C(0xFFFFFFFF), APR_INT64_C(0x100000000)},
    {"negative and zero", -1, 0},
    {"two negative", -2, -1},
    {"the ends", INT64_MIN, INT64_MAX},
};

START_TEST(test_times_keep_their_order)
{
    pay_store_key_t smaller, larger;

    pay_store_key_start(&smaller);
    pay_store_key_time(&smaller, time_rows[_i].smaller);
    pay_store_key_start(&larger);
    pay_store_key_time(&larger, time_rows[_i].larger);
    ck_assert_msg(memcmp(smaller.bytes, larger.bytes, 8) < 0, "%s", time_rows[_i].name);
    ck_assert_msg(pay_store_read_time(smaller.bytes) == time_rows[_i].smaller, "%s",
                  time_rows[_i].name);
    ck_assert_msg(pay_store_read_time(larger.bytes) == time_rows[_i].larger, "%s",
                  time_rows[_i].name);
}
END_TEST

static const struct {
    const char *name;
    pay_scope_t smaller;
    pay_scope_t larger;
} scope_rows[] = {
    {"test before live", {7, PAY_TEST}, {7, PAY_LIVE}},
    {"account before mode", {7, PAY_LIVE}, {8, PAY_TEST}},
    {"across a byte", {255, PAY_LIVE}, {256, PAY_TEST}},
    {"the largest", {1, PAY_TEST}, {UINT32_MAX, PAY_LIVE}},
};

START_TEST(test_scopes_keep_their_order)
{
    pay_store_key_t smaller, larger;
    pay_scope_t back;

    pay_store_key_of_scope(&smaller, &scope_rows[_i].smaller);
    pay_store_key_u64(&smaller, UINT64_MAX); /* no key of the scope reaches the next one */
    pay_store_key_of_scope(&larger, &scope_rows[_i].larger);
    pay_store_key_u64(&larger, 0);
    ck_assert_msg(smaller.len == PAY_STORE_SCOPE_LEN + 8, "%s", scope_rows[_i].name);
    ck_assert_msg(memcmp(smaller.bytes, larger.bytes, smaller.len) < 0, "%s", scope_rows[_i].name);
    pay_store_read_scope(&back, larger.bytes);
    ck_assert_msg(back.account == scope_rows[_i].larger.account, "%s", scope_rows[_i].name);
    ck_assert_msg(back.mode == scope_rows[_i].larger.mode, "%s", scope_rows[_i].name);
}
END_TEST

START_TEST(test_numbers_are_big_endian)
{
    static const unsigned char want[] = {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 1, 0};
    pay_store_key_t key;
    pay_bytes_t val;

    pay_store_key_start(&key);
    pay_store_key_u32(&key, 0x01020304);
    pay_store_key_u64(&key, 256);
    val = pay_store_key_val(&key);
    ck_assert_uint_eq(val.len, sizeof(want));
    ck_assert_mem_eq(val.data, want, sizeof(want));
    ck_assert_uint_eq(pay_store_read_u32(key.bytes), 0x01020304);
    ck_assert_uint_eq(pay_store_read_u64(key.bytes + 4), 256);
}
END_TEST

static const struct {
    const char *name;
    size_t before; /* bytes that are in the key already */
    size_t len;
    int want;
} length_rows[] = {
    {"nothing", 0, 0, 1},
    {"the longest", 0, PAY_STORE_KEY_MAX, 1},
    {"one past the longest", 0, PAY_STORE_KEY_MAX + 1, 0},
    {"up to the end", PAY_STORE_SCOPE_LEN, PAY_STORE_KEY_MAX - PAY_STORE_SCOPE_LEN, 1},
    {"one past the end", PAY_STORE_SCOPE_LEN, PAY_STORE_KEY_MAX - PAY_STORE_SCOPE_LEN + 1, 0},
    {"far past the end", PAY_STORE_SCOPE_LEN, SIZE_MAX, 0},
};

START_TEST(test_a_key_never_grows_too_long)
{
    static const char bytes[PAY_STORE_KEY_MAX + 1];
    pay_store_key_t key;

    pay_store_key_start(&key);
    ck_assert_int_eq(pay_store_key_bytes(&key, bytes, length_rows[_i].before), 1);
    ck_assert_msg(pay_store_key_bytes(&key, bytes, length_rows[_i].len) == length_rows[_i].want,
                  "%s", length_rows[_i].name);
    ck_assert_msg(key.len
                      == length_rows[_i].before + (length_rows[_i].want ? length_rows[_i].len : 0),
                  "%s", length_rows[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_times_keep_their_order, 0, UNIT_ROWS(time_rows));
    tcase_add_loop_test(tcase, test_scopes_keep_their_order, 0, UNIT_ROWS(scope_rows));
    tcase_add_test(tcase, test_numbers_are_big_endian);
    tcase_add_loop_test(tcase, test_a_key_never_grows_too_long, 0, UNIT_ROWS(length_rows));
}

UNIT_PROGRAM(add)
