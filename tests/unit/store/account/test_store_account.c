/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "base/text/time.h"
#include "store/account/account.h"

static apr_time_t now;

static apr_time_t fixed_clock(void)
{
    return now;
}

static pay_account_t *create(pay_store_t *store, const char *name)
{
    pay_account_t *account;

    ck_assert_int_eq(
        pay_store_account_create(&account, store, name, &pay_account_settings_builtin, unit_pool),
        APR_SUCCESS);
    return account;
}

START_TEST(test_create_and_get)
{
    const pay_account_settings_t settings = {
        .key_prefix = "shop", .currency = "EUR", .timezone = "Europe/Berlin", .shop_name = "Shop"};
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_t *made, *got;

    now = apr_time_from_sec(1000) + 1999;
    pay_time_set_source(fixed_clock);
    ck_assert_int_eq(pay_store_account_create(&made, store, "demo", &settings, unit_pool),
                     APR_SUCCESS);
    pay_time_set_source(NULL);
    ck_assert_int_eq(pay_store_account_get(&got, store, "demo", unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(made->number, 1);
    ck_assert_uint_eq(got->number, 1);
    ck_assert_str_eq(got->name, "demo");
    ck_assert_str_eq(got->settings.key_prefix, "shop");
    ck_assert_str_eq(got->settings.currency, "EUR");
    ck_assert_str_eq(got->settings.timezone, "Europe/Berlin");
    ck_assert_str_eq(got->settings.shop_name, "Shop");
    ck_assert_str_eq(got->settings.shop_logo, "");
    ck_assert_str_eq(got->settings.shop_text, "");
    ck_assert_int_eq(got->mode, PAY_TEST);
    ck_assert_int_eq(got->created_at, apr_time_from_sec(1000) + 1000); /* whole milliseconds */
    ck_assert_int_eq(got->updated_at, got->created_at);
}
END_TEST

START_TEST(test_numbers_count_up)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_t *account;

    ck_assert_uint_eq(create(store, "z")->number, 1);
    ck_assert_uint_eq(create(store, "a")->number, 2);
    ck_assert_int_eq(
        pay_store_account_create(&account, store, "a", &pay_account_settings_builtin, unit_pool),
        APR_EEXIST);
    ck_assert_ptr_null(account);
    ck_assert_uint_eq(create(store, "m")->number, 3); /* the refused one took none */
}
END_TEST

static const struct {
    const char *name;
    const char *account;
} bad_names[] = {
    {"empty", ""},
    {"upper case", "Demo"},
    {"blank", "a b"},
    {"one too long", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
};

START_TEST(test_bad_names_are_refused)
{
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_t *account;

    ck_assert_msg(pay_store_account_create(&account, store, bad_names[_i].account,
                                           &pay_account_settings_builtin, unit_pool)
                      == APR_EINVAL,
                  "%s", bad_names[_i].name);
    ck_assert_msg(pay_store_account_get(&account, store, bad_names[_i].account, unit_pool)
                      == APR_NOTFOUND,
                  "%s", bad_names[_i].name);
    ck_assert_ptr_null(account);
}
END_TEST

START_TEST(test_the_longest_name)
{
    const char *longest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    ck_assert_uint_eq(strlen(longest), PAY_ACCOUNT_NAME_MAX);
    ck_assert_str_eq(create(fixture_open(unit_dir()), longest)->name, longest);
}
END_TEST

START_TEST(test_set_changes_only_what_is_given)
{
    const pay_account_settings_t currency = {.currency = "KWD", .shop_logo = "/l.png"};
    const pay_mode_t live = PAY_LIVE;
    pay_store_t *store = fixture_open(unit_dir());
    pay_account_t *account;

    create(store, "demo");
    create(store, "other");
    ck_assert_int_eq(pay_store_account_set(&account, store, "demo", &currency, NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(account->settings.currency, "KWD");
    ck_assert_str_eq(account->settings.shop_logo, "/l.png");
    ck_assert_str_eq(account->settings.shop_name, "");
    ck_assert_str_eq(account->settings.key_prefix, pay_account_settings_builtin.key_prefix);
    ck_assert_str_eq(account->settings.timezone, pay_account_settings_builtin.timezone);
    ck_assert_int_eq(account->mode, PAY_TEST);
    ck_assert_int_eq(pay_store_account_set(&account, store, "demo", NULL, &live, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(account->mode, PAY_LIVE);
    ck_assert_str_eq(account->settings.currency, "KWD");
    ck_assert_int_eq(pay_store_account_get(&account, store, "demo", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(account->mode, PAY_LIVE);
    ck_assert_int_eq(pay_store_account_get(&account, store, "other", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(account->mode, PAY_TEST);
    ck_assert_str_eq(account->settings.currency, pay_account_settings_builtin.currency);
    ck_assert_int_eq(pay_store_account_set(&account, store, "none", NULL, &live, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(account);
}
END_TEST

START_TEST(test_list_is_by_name)
{
    static const char *const want[] = {"a", "m", "z"};
    pay_store_t *store = fixture_open(unit_dir());
    apr_array_header_t *accounts;
    int i;

    ck_assert_int_eq(pay_store_account_list(&accounts, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(accounts->nelts, 0);
    create(store, "z");
    create(store, "a");
    create(store, "m");
    ck_assert_int_eq(pay_store_account_list(&accounts, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(accounts->nelts, UNIT_ROWS(want));
    for (i = 0; i < UNIT_ROWS(want); i++) {
        ck_assert_str_eq(APR_ARRAY_IDX(accounts, i, pay_account_t *)->name, want[i]);
    }
}
END_TEST

static const struct {
    const char *name;
    pay_table_t table;
    const char *key;
    size_t key_len;
    size_t value_len;
} damage_rows[] = {
    {"the account", PAY_TABLE_ACCOUNT, "\0\0\0\1", 4, 3},
    {"the name's number is short", PAY_TABLE_ACCOUNT_NAME, "one", 3, 3},
    {"the name points nowhere", PAY_TABLE_ACCOUNT_NAME, "one", 3, 4},
};

START_TEST(test_damage_is_an_error_of_that_row)
{
    static const char junk[] = "\7\7\7\7";
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *accounts;
    pay_account_t *account;

    ck_assert_int_eq(fixture_put(store, (fixture_row_t){damage_rows[_i].table, damage_rows[_i].key,
                                                        damage_rows[_i].key_len, junk,
                                                        damage_rows[_i].value_len}),
                     APR_SUCCESS);
    fixture_listen();
    ck_assert_msg(pay_store_account_get(&account, store, "one", unit_pool) == PAY_STORE_ECORRUPT,
                  "%s", damage_rows[_i].name);
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("PAY00104: table "));
    ck_assert(fixture_logged(pay_rows_table_name(damage_rows[_i].table)));
    ck_assert_int_eq(pay_store_account_list(&accounts, store, unit_pool), PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_account_get(&account, store, "two", unit_pool), APR_SUCCESS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_create_and_get);
    tcase_add_test(tcase, test_numbers_count_up);
    tcase_add_loop_test(tcase, test_bad_names_are_refused, 0, UNIT_ROWS(bad_names));
    tcase_add_test(tcase, test_the_longest_name);
    tcase_add_test(tcase, test_set_changes_only_what_is_given);
    tcase_add_test(tcase, test_list_is_by_name);
    tcase_add_loop_test(tcase, test_damage_is_an_error_of_that_row, 0, UNIT_ROWS(damage_rows));
}

UNIT_PROGRAM(add)
