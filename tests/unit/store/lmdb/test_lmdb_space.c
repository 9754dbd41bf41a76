/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#define VALUE_LEN (64 * 1024)
#define MAP_LEN (APR_INT64_C(4) << 20)

static int fill_work(pay_rows_txn_t *txn, void *baton)
{
    static char bytes[VALUE_LEN];
    const char *name = baton;
    pay_bytes_t key = {strlen(name), name};
    pay_bytes_t val = {sizeof(bytes), bytes};

    return pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
}

static int drop_work(pay_rows_txn_t *txn, void *baton)
{
    const char *name = baton;
    pay_bytes_t key = {strlen(name), name};

    return pay_rows_del(txn, PAY_TABLE_META, &key);
}

static apr_status_t fill(pay_store_t *store, int grows, int number)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "fill%d", number);
    return pay_rows_commit(store, pay_turn_all(), grows, fill_work, name);
}

static apr_status_t drop(pay_store_t *store, int number)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "fill%d", number);
    return pay_rows_commit(store, pay_turn_all(), 0, drop_work, name);
}

/* A measurement is believed for a second; tests do not wait for that. */
static void forget_measure(pay_store_t *store)
{
    store->env->space_at_ms = 0;
}

START_TEST(test_the_reserve_of_the_map)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    int count = 0;
    int more = 0;

    options.map_bytes = MAP_LEN;
    options.reserve_bytes = MAP_LEN / 2;
    store = fixture_open_with(unit_dir(), &options);
    fixture_listen();
    while (fill(store, 1, count) == APR_SUCCESS) {
        forget_measure(store);
        count++;
        ck_assert_int_lt(count, 64);
    }
    ck_assert_int_gt(count, 16);
    ck_assert_int_eq(fill(store, 1, count), PAY_STORE_EFULL);
    ck_assert_int_eq(fixture_lines, 1); /* at most one in ten seconds */
    ck_assert(fixture_logged("PAY00105: ") && fixture_logged("PaymentsStoreReserve"));
    ck_assert(fixture_logged("PaymentsStoreSize"));

    /* Work under way still finds room, down to the map's very end. */
    while (fill(store, 0, count + more) == APR_SUCCESS) {
        more++;
        ck_assert_int_lt(more, 64);
    }
    ck_assert_int_gt(more, 8);
    ck_assert_int_eq(fill(store, 0, count + more), PAY_STORE_EFULL);
    ck_assert_int_eq(fixture_put_meta(store, "small"), APR_SUCCESS); /* the failed one is undone */
}
END_TEST

START_TEST(test_deleted_rows_give_room_back)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    int count = 0;
    int i;

    options.map_bytes = MAP_LEN;
    options.reserve_bytes = MAP_LEN / 2;
    store = fixture_open_with(unit_dir(), &options);
    while (fill(store, 1, count) == APR_SUCCESS) {
        forget_measure(store);
        count++;
        ck_assert_int_lt(count, 64);
    }
    for (i = 0; i < count; i++) {
        ck_assert_int_eq(drop(store, i), APR_SUCCESS);
    }
    forget_measure(store);
    ck_assert_int_eq(fill(store, 1, 0), APR_SUCCESS);
}
END_TEST

START_TEST(test_a_full_map_names_the_directive)
{
    pay_store_options_t options = fixture_options();
    pay_store_t *store;
    int count = 0;

    options.map_bytes = MAP_LEN;
    store = fixture_open_with(unit_dir(), &options);
    fixture_listen();
    while (fill(store, 1, count) == APR_SUCCESS) {
        count++;
        ck_assert_int_lt(count, 128);
    }
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("PAY00107: ") && fixture_logged("raise PaymentsStoreSize"));
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t change; /* the disk's free space against the reserve */
    apr_status_t want;
} disk_rows[] = {
    {"as much as the reserve", 0, APR_SUCCESS},
    {"a byte less", -1, PAY_STORE_EFULL},
};

START_TEST(test_the_reserve_of_the_disk)
{
    const char *dir = unit_dir();
    pay_store_options_t options = fixture_options();
    pay_lmdb_env_t *env;
    pay_store_t *store;

    options.reserve_bytes = 4096;
    store = fixture_open_with(dir, &options);
    ck_assert_int_eq(fill(store, 1, 0), APR_SUCCESS);
    env = store->env;
    ck_assert_int_gt(env->disk_free, 0); /* it was asked */
    ck_assert_int_gt(env->map_free, options.reserve_bytes);
    env->disk_free = options.reserve_bytes + disk_rows[_i].change;
    env->space_at_ms = pay_clock_ms();
    fixture_listen();
    ck_assert_msg(fill(store, 1, 1) == disk_rows[_i].want, "%s", disk_rows[_i].name);
    ck_assert_int_eq(fixture_lines, disk_rows[_i].want == APR_SUCCESS ? 0 : 1);
    ck_assert_int_eq(fixture_logged("its disk"), disk_rows[_i].want != APR_SUCCESS);
    ck_assert_int_eq(fill(store, 0, 1), APR_SUCCESS);
}
END_TEST

START_TEST(test_a_measure_is_kept_a_while)
{
    pay_store_options_t options = fixture_options();
    pay_lmdb_env_t *env;
    pay_store_t *store;

    options.reserve_bytes = 1;
    store = fixture_open_with(unit_dir(), &options);
    ck_assert_int_eq(fill(store, 1, 0), APR_SUCCESS);
    env = store->env;
    ck_assert_int_gt(env->space_at_ms, 0);
    env->map_free = 0; /* believed as long as it is fresh */
    env->space_at_ms = pay_clock_ms();
    ck_assert_int_eq(fill(store, 1, 1), PAY_STORE_EFULL);
    env->space_at_ms = pay_clock_ms() - PAY_LMDB_SPACE_AGE_MAX_MS;
    ck_assert_int_eq(fill(store, 1, 1), APR_SUCCESS);
}
END_TEST

START_TEST(test_a_disk_that_cannot_be_asked)
{
    ck_assert_int_eq(pay_lmdb_space_disk_free("/nonexistent/directory"), -1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_the_reserve_of_the_map);
    tcase_add_test(tcase, test_deleted_rows_give_room_back);
    tcase_add_test(tcase, test_a_full_map_names_the_directive);
    tcase_add_loop_test(tcase, test_the_reserve_of_the_disk, 0, UNIT_ROWS(disk_rows));
    tcase_add_test(tcase, test_a_measure_is_kept_a_while);
    tcase_add_test(tcase, test_a_disk_that_cannot_be_asked);
}

UNIT_PROGRAM(add)
