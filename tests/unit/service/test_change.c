/* SPDX-License-Identifier: Apache-2.0 */
#include "service/change.h"

#include "shop.h"

#define QUOTA 4

static shop_t *shop;
static pay_actor_t actor = {.who = "ada", .from = "dashboard a.example ::1"};

static void set_up(void)
{
    shop = shop_open(unit_dir());
    actor.has_quota = 0;
    shop->service.actor = &actor;
}

static const apr_array_header_t *entries(void)
{
    apr_array_header_t *list;

    ck_assert_int_eq(
        pay_store_audit_list(&list, shop->store, shop->account->number, 0, 100, unit_pool),
        APR_SUCCESS);
    return list;
}

/* A change of the shop's name through the handle for it. */
static apr_status_t change(pay_store_t *store, const char *name)
{
    const pay_account_settings_t settings = {.shop_name = name};
    pay_account_t *account;

    return pay_store_account_set(&account, store, shop->account->name, &settings, NULL, unit_pool);
}

/* Each has words: the tests of paymentsctl and the dashboard compare the entries. */
START_TEST(test_words)
{
    const char *name = pay_change_name((pay_change_t)_i);

    ck_assert_ptr_nonnull(name);
    ck_assert_msg(*name && strspn(name, "abcdefghijklmnopqrstuvwxyz -") == strlen(name), "%s",
                  name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *detail;
} scope_cases[] = {
    {"a mode", "", "live"},
    {"a mode and words", "off", "live: off"},
};

START_TEST(test_in_a_mode)
{
    const pay_scope_t scope = {shop->account->number, PAY_LIVE};
    const pay_audit_t *entry;
    pay_store_t *store;

    ck_assert_int_eq(pay_change_begin_in(&store, &shop->service, PAY_CHANGE_WEBHOOK_TEST, &scope,
                                         "webhook", scope_cases[_i].text, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(entries()->nelts, 0); /* begun is not done */
    ck_assert_int_eq(pay_store_audit_note(store), APR_SUCCESS);
    ck_assert_int_eq(entries()->nelts, 1);
    entry = APR_ARRAY_IDX(entries(), 0, const pay_audit_t *);
    ck_assert_str_eq(entry->who, "ada");
    ck_assert_str_eq(entry->from, "dashboard a.example ::1");
    ck_assert_str_eq(entry->what, "webhook test");
    ck_assert_str_eq(entry->subject, "webhook");
    ck_assert_msg(!strcmp(entry->detail, scope_cases[_i].detail), "%s: %s", scope_cases[_i].name,
                  entry->detail);
}
END_TEST

START_TEST(test_nobody)
{
    pay_store_t *store;

    shop->service.actor = NULL;
    ck_assert_int_eq(pay_change_begin(&store, &shop->service, PAY_CHANGE_ACCOUNT_SET,
                                      shop->account->number, "", "", unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_eq(store, shop->store);
    ck_assert_int_eq(change(store, "Ada's"), APR_SUCCESS);
    ck_assert_int_eq(entries()->nelts, 0);
}
END_TEST

static const struct {
    const char *name;
    pay_change_t change;
    int has_quota;
    int entries; /* of so many attempts, with room for QUOTA */
} bound_cases[] = {
    {"a change", PAY_CHANGE_ACCOUNT_SET, 1, QUOTA},
    {"a change in a shell", PAY_CHANGE_ACCOUNT_SET, 0, QUOTA + 2},
    {"what ends something", PAY_CHANGE_WEBHOOK_OFF, 1, QUOTA + 2},
    {"what is not a change", PAY_CHANGE_EXPORT_CHARGES, 1, QUOTA / 2},
};

START_TEST(test_bound)
{
    pay_store_options_t options = unit_store_options();
    apr_status_t rv;
    int i;

    options.account_rows_max = QUOTA;
    ck_assert_int_eq(pay_store_open(&shop->service.store, shop->url, &options, unit_pool),
                     APR_SUCCESS);
    actor.has_quota = bound_cases[_i].has_quota;
    for (i = 0; i < QUOTA + 2; i++) {
        rv = pay_change_note(&shop->service, bound_cases[_i].change, shop->account->number, "", "",
                             unit_pool);
        ck_assert_msg(rv == (i < bound_cases[_i].entries ? APR_SUCCESS : PAY_STORE_EFULL),
                      "%s, %d: %d", bound_cases[_i].name, i, rv);
    }
    ck_assert_int_eq(entries()->nelts, bound_cases[_i].entries);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_words, 0, PAY_CHANGE_COUNT);
    tcase_add_loop_test(tcase, test_in_a_mode, 0, UNIT_ROWS(scope_cases));
    tcase_add_test(tcase, test_nobody);
    tcase_add_loop_test(tcase, test_bound, 0, UNIT_ROWS(bound_cases));
}

UNIT_PROGRAM(add)
