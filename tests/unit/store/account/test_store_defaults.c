/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

static const pay_account_settings_t general = {
    .key_prefix = "gen", .currency = "EUR", .timezone = "Europe/Paris"};
static const pay_account_settings_t special = {
    .key_prefix = "spec", .currency = "JPY", .timezone = "Asia/Tokyo"};

static const char *prefix_of(pay_store_t *store, const char *name)
{
    pay_account_settings_t *settings;

    ck_assert_int_eq(pay_store_defaults_get(&settings, store, name, unit_pool), APR_SUCCESS);
    return settings->key_prefix;
}

START_TEST(test_name_then_general_then_builtin)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_settings_t *settings;

    ck_assert_str_eq(prefix_of(store, "shop"), pay_account_settings_builtin.key_prefix);
    ck_assert_str_eq(prefix_of(store, ""), pay_account_settings_builtin.key_prefix);
    ck_assert_int_eq(pay_store_defaults_put(store, "shop", &special, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(prefix_of(store, "shop"), "spec");
    ck_assert_str_eq(prefix_of(store, "sho"), pay_account_settings_builtin.key_prefix);
    ck_assert_int_eq(pay_store_defaults_put(store, "", &general, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(prefix_of(store, "other"), "gen");
    ck_assert_str_eq(prefix_of(store, ""), "gen");
    ck_assert_int_eq(pay_store_defaults_get(&settings, store, "shop", unit_pool), APR_SUCCESS);
    ck_assert_str_eq(settings->currency, "JPY");
    ck_assert_str_eq(settings->timezone, "Asia/Tokyo");
}
END_TEST

START_TEST(test_the_same_again_writes_nothing)
{
    pay_store_t *store = fixture_open(unit_dir());
    MDB_envinfo before, after;

    ck_assert_int_eq(pay_store_defaults_put(store, "", &general, unit_pool), APR_SUCCESS);
    mdb_env_info(store->env->mdb, &before);
    ck_assert_int_eq(pay_store_defaults_put(store, "", &general, unit_pool), APR_SUCCESS);
    mdb_env_info(store->env->mdb, &after);
    ck_assert_uint_eq(before.me_last_txnid, after.me_last_txnid);
    ck_assert_int_eq(pay_store_defaults_put(store, "", &special, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(prefix_of(store, ""), "spec");
}
END_TEST

static const struct {
    const char *name;
    const char *account;
    pay_account_settings_t settings;
} bad_rows[] = {
    {"a name that no account can have",
     "No Name",
     {.key_prefix = "pay", .currency = "NGN", .timezone = "UTC"}},
    {"no prefix", "", {.currency = "NGN", .timezone = "UTC"}},
    {"no currency", "", {.key_prefix = "pay", .timezone = "UTC"}},
    {"no time zone", "", {.key_prefix = "pay", .currency = "NGN"}},
};

START_TEST(test_bad_ones_are_refused)
{
    pay_store_t *store = fixture_open(unit_dir());

    ck_assert_msg(
        pay_store_defaults_put(store, bad_rows[_i].account, &bad_rows[_i].settings, unit_pool)
            == APR_EINVAL,
        "%s", bad_rows[_i].name);
    ck_assert_str_eq(prefix_of(store, bad_rows[_i].account),
                     pay_account_settings_builtin.key_prefix);
}
END_TEST

START_TEST(test_damage)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_settings_t *settings;

    ck_assert_int_eq(fixture_put_meta(store, "defaults/shop"), APR_SUCCESS);
    ck_assert_int_eq(pay_store_defaults_get(&settings, store, "shop", unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(settings);
    ck_assert_str_eq(prefix_of(store, "other"), pay_account_settings_builtin.key_prefix);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_name_then_general_then_builtin);
    tcase_add_test(tcase, test_the_same_again_writes_nothing);
    tcase_add_loop_test(tcase, test_bad_ones_are_refused, 0, UNIT_ROWS(bad_rows));
    tcase_add_test(tcase, test_damage);
}

UNIT_PROGRAM(add)
