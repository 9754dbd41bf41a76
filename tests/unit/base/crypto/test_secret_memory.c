/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/secret_memory.h"

#include "unit.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIZE 5000 /* more than a page */

/* Returns 1 if core files omit the mapping around `at` ("dd"), 0 if not; -1: none exists. */
static int left_out(const void *at)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    const uintptr_t wanted = (uintptr_t)at;
    char line[1024];
    int inside = 0;
    int result = -1;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps)) {
        uintptr_t from, to;

        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
            inside = from <= wanted && wanted < to;
        } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            result = strstr(line, " dd") != NULL;
        }
    }
    fclose(maps);
    return result;
}

START_TEST(test_make)
{
    apr_pool_t *p;
    void *memory;
    char *text;
    int i;

    ck_assert_int_eq(apr_pool_create(&p, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_secret_memory_make(&memory, SIZE, p), APR_SUCCESS);
    text = memory;
    for (i = 0; i < SIZE; i++) {
        ck_assert_int_eq(text[i], 0);
    }
    memset(text, 's', SIZE);
    ck_assert_int_eq(left_out(text), 1);
    ck_assert_int_eq(left_out(text + SIZE - 1), 1);
    ck_assert_int_eq(left_out(p), 0);
    apr_pool_destroy(p);
    ck_assert_int_eq(left_out(text), -1);
}
END_TEST

/* Sealed memory can be read and not written, and can still be freed. */
START_TEST(test_seal)
{
    void *memory;
    volatile char *text;

    ck_assert_int_eq(pay_secret_memory_make(&memory, SIZE, unit_pool), APR_SUCCESS);
    text = memory;
    text[0] = 's';
    ck_assert_int_eq(pay_secret_memory_seal(memory), APR_SUCCESS);
    ck_assert_int_eq(text[0], 's');
    if (_i == 1) {
        (void)signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
        text[0] = 't';
    }
    pay_secret_memory_free(memory, unit_pool);
    ck_assert_int_eq(left_out(memory), -1);
}
END_TEST

START_TEST(test_no_memory)
{
    static const apr_size_t sizes[] = {0, APR_SIZE_MAX, APR_SIZE_MAX / 2};
    void *memory = unit_pool;

    ck_assert_int_ne(pay_secret_memory_make(&memory, sizes[_i], unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(memory);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_make);
    tcase_add_loop_test(tcase, test_seal, 0, 1);
    tcase_add_loop_test_raise_signal(tcase, test_seal, SIGSEGV, 1, 2);
    tcase_add_loop_test(tcase, test_no_memory, 0, 3);
}

UNIT_PROGRAM(add)
