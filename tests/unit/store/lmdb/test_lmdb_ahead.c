/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* data.mdb grows by a step before its pages are used up, and no further than it may. */

#define MIB (APR_INT64_C(1) << 20)
#define ROW ((size_t)64 << 10)

static const char *dir;

static apr_int64_t file_size(void)
{
    struct stat info;

    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, dir, "/" PAY_LMDB_DATA_FILE, NULL), &info), 0);
    return (apr_int64_t)info.st_size;
}

/* Puts a row of 64 KiB. */
static apr_status_t put(pay_store_t *store, int number)
{
    static const char zeros[ROW];
    const char *key = apr_psprintf(unit_pool, "row %d", number);

    return fixture_put(store, (fixture_row_t){PAY_TABLE_META, key, 0, zeros, ROW});
}

static apr_int64_t used(pay_store_t *store)
{
    pay_store_stat_t stat;

    ck_assert_int_eq(pay_store_stat(&stat, store, unit_pool), APR_SUCCESS);
    return stat.used_bytes;
}

START_TEST(test_by_steps)
{
    pay_store_t *store = fixture_open(dir = unit_dir());
    apr_int64_t before, after;
    int i, steps = 0;

    ck_assert_int_eq(put(store, 0), APR_SUCCESS);
    before = file_size();
    ck_assert_int_ge(before, MIB);
    for (i = 1; i < 64; i++) { /* 4 MiB */
        ck_assert_int_eq(put(store, i), APR_SUCCESS);
        after = file_size();
        ck_assert_msg(after == before || after == before + MIB, "%d: %ld", i, (long)after);
        ck_assert_int_ge(after - used(store), MIB / 4);
        steps += after != before;
        before = after;
    }
    ck_assert_int_ge(steps, 3);
    ck_assert_int_le(before - used(store), 2 * MIB);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t map, limit, reserve; /* bytes; limit 0: none */
    apr_int64_t want_max;
} end_rows[] = {
    {"the end of the map", 2 * MIB, 0, 0, 2 * MIB},
    {"what the process may write", 64 * MIB, 3 * MIB / 2, 0, 3 * MIB / 2},
    {"the reserve", 64 * MIB, 0, APR_INT64_MAX / 2, MIB / 2},
};

START_TEST(test_no_further)
{
    pay_store_options_t options = fixture_options();
    struct rlimit limit, before;
    pay_store_t *store;
    int i;

    options.map_bytes = end_rows[_i].map;
    options.reserve_bytes = end_rows[_i].reserve;
    store = fixture_open_with(dir = unit_dir(), &options);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    if (end_rows[_i].limit) {
        limit.rlim_cur = (rlim_t)end_rows[_i].limit;
    }
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (i = 0; i < 4; i++) {
        ck_assert_msg(put(store, i) == APR_SUCCESS, "%s", end_rows[_i].name);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_msg(file_size() <= end_rows[_i].want_max, "%s: %ld", end_rows[_i].name,
                  (long)file_size());
}
END_TEST

/* Data after the last page is not a fault, and not part of a copy. */
START_TEST(test_a_store_like_any_other)
{
    pay_store_t *store = fixture_shop(dir = unit_dir());
    const char *copy = apr_pstrcat(unit_pool, unit_dir(), "/copy", NULL);
    apr_size_t faults;
    struct stat info;

    ck_assert_int_ge(file_size(), MIB);
    ck_assert_int_eq(pay_store_check(&faults, store, NULL, NULL, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(faults, 0);
    ck_assert_int_eq(pay_store_backup(store, copy, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(stat(apr_pstrcat(unit_pool, copy, "/" PAY_LMDB_DATA_FILE, NULL), &info), 0);
    ck_assert_int_lt(info.st_size, MIB);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_by_steps);
    tcase_add_loop_test(tcase, test_no_further, 0, UNIT_ROWS(end_rows));
    tcase_add_test(tcase, test_a_store_like_any_other);
}

UNIT_PROGRAM(add)
