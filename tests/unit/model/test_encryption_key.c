/* SPDX-License-Identifier: Apache-2.0 */
#include "model/encryption_key.h"

#include "unit.h"

static const struct {
    pay_scope_t scope;
    const char *want;
} context_rows[] = {
    {{12, PAY_TEST}, "encryption key account 12 test"},
    {{12, PAY_LIVE}, "encryption key account 12 live"},
    {{4294967295U, PAY_TEST}, "encryption key account 4294967295 test"},
};

/* Stored keys open under these words alone: they never change. */
START_TEST(test_context)
{
    ck_assert_str_eq(pay_encryption_key_context(&context_rows[_i].scope, unit_pool),
                     context_rows[_i].want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_context, 0, UNIT_ROWS(context_rows));
}

UNIT_PROGRAM(add)
