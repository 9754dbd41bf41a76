/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/failure_table.h"

#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND apr_time_from_sec(1)

static const pay_failure_limit_t three = {3, 10 * SECOND};
static const pay_failure_owner_t shop = {7, 1, 0}, other = {7, 2, 0}, live = {7, 1, 1};
static const unsigned char secret[PAY_FAILURE_SECRET_LEN] = "secret";

static pay_failure_table_t *table;
static void *memory;

static void setup(void)
{
    memory = mmap(NULL, pay_failure_table_size(), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    ck_assert_int_eq(pay_failure_table_init(&table, memory, secret), APR_SUCCESS);
    ck_assert_ptr_eq(pay_failure_table_at(memory), table);
}

static void teardown(void)
{
    munmap(memory, pay_failure_table_size());
}

static void key_of(unsigned char *out, const pay_failure_owner_t *owner, pay_failure_kind_t kind,
                   const char *value)
{
    ck_assert_int_eq(pay_failure_key(out, table, owner, kind, 'x', value), APR_SUCCESS);
}

/* Of the shop, by the limit `three`. */
static int fail_at(pay_failure_kind_t kind, const char *value, apr_time_t now)
{
    unsigned char key[PAY_FAILURE_KEY_LEN];

    key_of(key, &shop, kind, value);
    return pay_failure_add(table, &shop, kind, key, value, &three, now);
}

static apr_interval_time_t left_of(pay_failure_kind_t kind, const char *value, apr_time_t now)
{
    unsigned char key[PAY_FAILURE_KEY_LEN];

    key_of(key, &shop, kind, value);
    return pay_failure_left(table, kind, key, now);
}

/* When failures come, in seconds, and how long the key is blocked after the last one. */
static const struct {
    const char *name;
    int at[8]; /* ends with 0 */
    int left;
} courses[] = {
    {"one fewer than the limit", {1, 2}, 0},
    {"as many as the limit", {1, 2, 3}, 10},
    {"all at once", {1, 1, 1}, 10},
    {"the window is over before the last", {1, 2, 11}, 0},
    {"the window is just not over", {1, 2, 10}, 10},
    {"a new window after the first", {1, 2, 11, 12, 13}, 10},
    {"failures while it is blocked make it no longer", {1, 2, 3, 8}, 5},
    {"afterwards it is counted from the start", {1, 2, 3, 13, 14}, 0},
    {"afterwards it is blocked again", {1, 2, 3, 13, 14, 15}, 10},
};

START_TEST(test_course)
{
    int i, begins = 0;

    for (i = 0; courses[_i].at[i]; i++) {
        begins = fail_at(PAY_FAILURE_CARD, "a", courses[_i].at[i] * SECOND);
    }
    ck_assert_msg(left_of(PAY_FAILURE_CARD, "a", courses[_i].at[i - 1] * SECOND)
                      == courses[_i].left * SECOND,
                  "%s", courses[_i].name);
    ck_assert_msg(begins == (courses[_i].left == 10), "%s: begins", courses[_i].name);
    ck_assert_msg(left_of(PAY_FAILURE_CARD, "b", courses[_i].at[i - 1] * SECOND) == 0,
                  "%s: another", courses[_i].name);
}
END_TEST

START_TEST(test_keys)
{
    unsigned char first[PAY_FAILURE_KEY_LEN], second[PAY_FAILURE_KEY_LEN];

    key_of(first, &shop, PAY_FAILURE_CARD, "a");
    key_of(second, &shop, PAY_FAILURE_CARD, "a");
    ck_assert_mem_eq(first, second, sizeof(first));
    key_of(second, &other, PAY_FAILURE_CARD, "a");
    ck_assert_mem_ne(first, second, sizeof(first));
    key_of(second, &live, PAY_FAILURE_CARD, "a");
    ck_assert_mem_ne(first, second, sizeof(first));
    key_of(second, &shop, PAY_FAILURE_ADDRESS, "a");
    ck_assert_mem_ne(first, second, sizeof(first));
    ck_assert_int_eq(pay_failure_key(second, table, &shop, PAY_FAILURE_CARD, 'y', "a"),
                     APR_SUCCESS);
    ck_assert_mem_ne(first, second, sizeof(first));
}
END_TEST

static void block(pay_failure_kind_t kind, const char *value, apr_time_t now)
{
    int i;

    for (i = 0; i < three.count; i++) {
        (void)fail_at(kind, value, now);
    }
    ck_assert_msg(left_of(kind, value, now) > 0, "%s is not blocked", value);
}

static const char *number(int i)
{
    static char text[16];

    (void)apr_snprintf(text, sizeof(text), "%d", i);
    return text;
}

/* A flood of addresses ends no block, and does not affect accounts. */
START_TEST(test_flood)
{
    int i, blocked = 0;

    block(PAY_FAILURE_ACCOUNT, "", SECOND);
    block(PAY_FAILURE_ADDRESS, "first", SECOND);
    for (i = 0; i < 200000; i++) {
        (void)fail_at(PAY_FAILURE_ADDRESS, number(i), SECOND + i);
    }
    ck_assert(left_of(PAY_FAILURE_ACCOUNT, "", SECOND) > 0);
    ck_assert(left_of(PAY_FAILURE_ADDRESS, "first", SECOND) > 0);
    ck_assert(left_of(PAY_FAILURE_ADDRESS, "1", SECOND) == 0);
    for (i = 0; i < 3000; i++) { /* there is room for many blocks at once */
        block(PAY_FAILURE_CARD, number(i), SECOND);
    }
    for (i = 0; i < 3000; i++) {
        blocked += left_of(PAY_FAILURE_CARD, number(i), SECOND) > 0;
    }
    ck_assert_int_eq(blocked, 3000);
}
END_TEST

START_TEST(test_list_and_lift)
{
    apr_array_header_t *list = apr_array_make(unit_pool, 1, sizeof(pay_failure_block_t));
    const pay_failure_block_t *one;
    unsigned char key[PAY_FAILURE_KEY_LEN];
    pay_failure_block_t found;
    int i;

    ck_assert_int_eq(pay_failure_list(list, table, &shop, SECOND), 0);
    block(PAY_FAILURE_ADDRESS, "early", SECOND);
    block(PAY_FAILURE_CARD, "late", 2 * SECOND);
    block(PAY_FAILURE_ACCOUNT, "", SECOND);
    block(PAY_FAILURE_NOTICES, "", SECOND);
    (void)fail_at(PAY_FAILURE_CARD, "once", 2 * SECOND);
    ck_assert_int_eq(pay_failure_list(list, table, &other, 2 * SECOND), 0);
    ck_assert_int_eq(pay_failure_list(list, table, &live, 2 * SECOND), 0);
    ck_assert_int_eq(pay_failure_list(list, table, &shop, 2 * SECOND), 3);
    ck_assert_int_eq(list->nelts, 3);
    ck_assert_int_eq(APR_ARRAY_IDX(list, 0, pay_failure_block_t).kind, PAY_FAILURE_ACCOUNT);
    one = &APR_ARRAY_IDX(list, 1, pay_failure_block_t);
    ck_assert_str_eq(one->hint, "late");
    ck_assert(one->left == 10 * SECOND);
    ck_assert_str_eq(APR_ARRAY_IDX(list, 2, pay_failure_block_t).hint, "early");

    memcpy(key, one->key, sizeof(key));
    ck_assert_int_eq(pay_failure_lift(table, &other, PAY_FAILURE_CARD, key, 3 * SECOND),
                     APR_NOTFOUND);
    ck_assert_int_eq(pay_failure_lift(table, &shop, PAY_FAILURE_LINK, key, 3 * SECOND),
                     APR_NOTFOUND);
    ck_assert_int_eq(pay_failure_find(&found, table, &shop, PAY_FAILURE_CARD, key, 3 * SECOND),
                     APR_SUCCESS);
    ck_assert(found.left == 9 * SECOND);
    ck_assert_int_eq(pay_failure_lift(table, &shop, PAY_FAILURE_CARD, key, 3 * SECOND),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_failure_lift(table, &shop, PAY_FAILURE_CARD, key, 3 * SECOND),
                     APR_NOTFOUND);
    ck_assert(left_of(PAY_FAILURE_CARD, "late", 3 * SECOND) == 0);
    ck_assert(!pay_failure_is_known(table, PAY_FAILURE_CARD, key, 3 * SECOND));

    for (i = 0; i < 2 * PAY_FAILURE_LIST_MAX; i++) {
        block(PAY_FAILURE_CARD, number(i), 4 * SECOND + i);
    }
    ck_assert_int_eq(pay_failure_list(list, table, &shop, 5 * SECOND),
                     2 + 2 * PAY_FAILURE_LIST_MAX);
    ck_assert_int_eq(list->nelts, PAY_FAILURE_LIST_MAX);
    ck_assert_int_eq(APR_ARRAY_IDX(list, 0, pay_failure_block_t).kind, PAY_FAILURE_ACCOUNT);
    ck_assert_str_eq(APR_ARRAY_IDX(list, 1, pay_failure_block_t).hint, "399");
    ck_assert_int_eq(pay_failure_list(list, table, &shop, 60 * SECOND), 0);
}
END_TEST

START_TEST(test_known)
{
    unsigned char key[PAY_FAILURE_KEY_LEN];

    key_of(key, &shop, PAY_FAILURE_CARD, "a");
    ck_assert(!pay_failure_is_known(table, PAY_FAILURE_CARD, key, SECOND));
    (void)fail_at(PAY_FAILURE_CARD, "a", SECOND);
    ck_assert(pay_failure_is_known(table, PAY_FAILURE_CARD, key, 10 * SECOND));
    ck_assert(!pay_failure_is_known(table, PAY_FAILURE_CARD, key, 11 * SECOND));
}
END_TEST

/* Several processes count one key, and each failure counts once. */
START_TEST(test_processes)
{
    const pay_failure_limit_t many = {4000, 1000 * SECOND};
    unsigned char key[PAY_FAILURE_KEY_LEN];
    int i, child, status, begins = 0;

    key_of(key, &shop, PAY_FAILURE_CARD, "a");
    for (child = 0; child < 4; child++) {
        if (fork() == 0) {
            for (i = 0; i < 1000; i++) {
                begins += pay_failure_add(table, &shop, PAY_FAILURE_CARD, key, "", &many, SECOND);
            }
            _exit(begins);
        }
    }
    for (child = 0; child < 4; child++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert(WIFEXITED(status));
        begins += WEXITSTATUS(status);
    }
    ck_assert_int_eq(begins, 1);
    ck_assert(pay_failure_left(table, PAY_FAILURE_CARD, key, SECOND) == 1000 * SECOND);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test_course, 0, UNIT_ROWS(courses));
    tcase_add_test(tcase, test_keys);
    tcase_add_test(tcase, test_flood);
    tcase_add_test(tcase, test_list_and_lift);
    tcase_add_test(tcase, test_known);
    tcase_add_test(tcase, test_processes);
}

UNIT_PROGRAM(add)
