/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/lmdb/backoff.h"

static const struct {
    const char *name;
    apr_int64_t delay_ms;
    apr_int64_t want_ms;
} backoff_rows[] = {
    {"the first", 0, PAY_LMDB_BACKOFF_MIN_MS},
    {"doubles", 1000, 2000},
    {"the last doubling", 29999, 59998},
    {"up to the maximum", 30000, PAY_LMDB_BACKOFF_MAX_MS},
    {"stays there", PAY_LMDB_BACKOFF_MAX_MS, PAY_LMDB_BACKOFF_MAX_MS},
};

START_TEST(test_backoff)
{
    ck_assert_msg(pay_lmdb_backoff_next(backoff_rows[_i].delay_ms) == backoff_rows[_i].want_ms,
                  "%s", backoff_rows[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_backoff, 0, UNIT_ROWS(backoff_rows));
}

UNIT_PROGRAM(add)
