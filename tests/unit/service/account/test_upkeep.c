/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/upkeep.h"

#include "base/crypto/keyring.h"
#include "model/card.h"
#include "service/account/endpoints.h"
#include "service/change.h"
#include "shop.h"

#include <unistd.h>

#define EMAIL "ada@example.com"

static shop_t *shop;
static const pay_actor_t actor = {.who = "ada", .from = "paymentsctl"};

static void set_up(void)
{
    shop = shop_open(unit_dir());
    shop->service.actor = &actor;
}

/* The newest entry of the account (0: of the whole store) as "WHAT|SUBJECT|DETAIL"; "": none. */
static const char *newest(apr_uint32_t account)
{
    apr_array_header_t *list;
    const pay_audit_t *entry;

    ck_assert_int_eq(pay_store_audit_list(&list, shop->store, account, 0, 1, unit_pool),
                     APR_SUCCESS);
    if (list->nelts == 0) {
        return "";
    }
    entry = APR_ARRAY_IDX(list, 0, const pay_audit_t *);
    return apr_pstrcat(unit_pool, entry->what, "|", entry->subject, "|", entry->detail, NULL);
}

/* A token of the payer's in each mode. */
static void add_tokens(void)
{
    pay_token_t proposal = {
        .token = "tok_1", .email = EMAIL, .card = *pay_test_card_find("5555555555554444")};
    pay_token_t *token;
    int mode;

    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        proposal.scope = (pay_scope_t){shop->account->number, (pay_mode_t)mode};
        ck_assert_int_eq(pay_store_token_create(&token, shop->store, &proposal, unit_pool),
                         APR_SUCCESS);
    }
}

static const struct {
    const char *name;
    pay_mode_t first, last;
    int tokens[PAY_MODE_COUNT];
    const char *entry;
} erase_cases[] = {
    {"one mode", PAY_LIVE, PAY_LIVE, {0, 1}, "payer erase||live"},
    {"both", PAY_TEST, PAY_LIVE, {1, 1}, "payer erase||both modes"},
};

START_TEST(test_erase)
{
    pay_purge_t purged[PAY_MODE_COUNT];
    int mode, wanted;

    add_tokens();
    ck_assert_ptr_null(pay_payer_erase(purged, &shop->service, shop->account, EMAIL,
                                       erase_cases[_i].first, erase_cases[_i].last, unit_pool));
    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        wanted = erase_cases[_i].tokens[mode];
        ck_assert_msg(purged[mode].is_done == wanted && purged[mode].tokens == (unsigned)wanted,
                      "%s: mode %d", erase_cases[_i].name, mode);
    }
    ck_assert_str_eq(newest(shop->account->number), erase_cases[_i].entry);
}
END_TEST

START_TEST(test_reset)
{
    pay_purge_t purge;

    add_tokens();
    ck_assert_ptr_null(pay_account_reset(&purge, &shop->service, shop->account, unit_pool));
    ck_assert_int_eq(purge.is_done, 1);
    ck_assert_uint_eq(purge.tokens, 1);
    ck_assert_uint_eq(purge.left, 0);
    ck_assert_str_eq(newest(shop->account->number), "account reset||test");
}
END_TEST

START_TEST(test_nothing_to_confirm)
{
    const pay_account_t *unsynced;
    int was_held = 1;

    ck_assert_ptr_null(pay_restore_confirm(&was_held, &unsynced, &shop->service, 1, unit_pool));
    ck_assert_int_eq(was_held, 0);
    ck_assert_ptr_null(unsynced);
    ck_assert_str_eq(newest(0), ""); /* which is no change */
}
END_TEST

static pay_keyring_t *ring_of(const char *path, int create)
{
    const char *reason;
    pay_keyring_t *ring;
    int made;

    ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason, path, create, getuid(), unit_pool),
                     APR_SUCCESS);
    return ring;
}

/* A webhook whose secret is sealed under service.keyring. */
static void add_webhook(pay_mode_t mode)
{
    const pay_scope_t scope = {shop->account->number, mode};
    pay_endpoint_t *endpoint;
    const char *secret;

    ck_assert_ptr_null(pay_webhook_set(&endpoint, &secret, &shop->service, &scope,
                                       "https://shop.example/", unit_pool));
}

START_TEST(test_reseal)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/key", NULL), *reason;
    pay_reseal_t pass = {.resealed = 0};

    shop->service.keyring = ring_of(path, 1);
    add_webhook(PAY_TEST);
    add_webhook(PAY_LIVE);
    ck_assert_ptr_null(pay_secrets_reseal(&pass, &shop->service, unit_pool));
    ck_assert_int_eq(pass.behind, 0);
    ck_assert_int_eq(pay_keyring_add(&reason, path, unit_pool), APR_SUCCESS);
    shop->service.keyring = ring_of(path, 0);
    ck_assert_ptr_null(pay_secrets_reseal(&pass, &shop->service, unit_pool));
    ck_assert_int_eq(pass.behind, 2);
    ck_assert_uint_eq(pass.resealed, 2);
    ck_assert_ptr_null(pay_secrets_reseal(&pass, &shop->service, unit_pool));
    ck_assert_int_eq(pass.behind, 0);
    ck_assert_uint_eq(pass.resealed, 2);
    ck_assert_str_eq(newest(0), "");
    ck_assert_int_eq(pay_secrets_note(&shop->service, pass.resealed, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(newest(0), "store rotate-master-key|master key|2 sealed anew");
}
END_TEST

START_TEST(test_reseal_what_does_not_open)
{
    pay_reseal_t pass = {.resealed = 0};
    const pay_problem_t *problem;

    shop->service.keyring = ring_of(apr_pstrcat(unit_pool, unit_dir(), "/key", NULL), 1);
    add_webhook(PAY_TEST);
    shop->service.keyring = ring_of(apr_pstrcat(unit_pool, unit_dir(), "/other", NULL), 1);
    problem = pay_secrets_reseal(&pass, &shop->service, unit_pool);
    shop_check_problem("another key", problem, 500, "E1");
    ck_assert_int_eq(problem->cause, APR_NOTFOUND);
    ck_assert_str_eq(pass.closed, "the webhook secret of account 1 in test mode");
    ck_assert_uint_eq(pass.resealed, 0);
}
END_TEST

START_TEST(test_server)
{
    const pay_account_settings_t settings = {
        .key_prefix = "nc", .currency = "USD", .timezone = "UTC"};
    const pay_delivery_t delivery = {.trusted_ca = "",
                                     .webhook_allow = "",
                                     .mail_relay = "smtp://relay",
                                     .mail_login = "",
                                     .mail_from = "a@b.example",
                                     .mail_templates = ""};
    pay_account_settings_t *defaults;
    pay_delivery_t *stored, *again;

    ck_assert_int_eq(pay_server_defaults_put(shop->store, "", &settings, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_defaults_get(&defaults, shop->store, "new", unit_pool), APR_SUCCESS);
    ck_assert_str_eq(defaults->currency, "USD");
    ck_assert_int_eq(pay_server_delivery_put(shop->store, NULL, &delivery, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_delivery_get(&stored, shop->store, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(stored->mail_relay, "smtp://relay");
    again = apr_pmemdup(unit_pool, stored, sizeof(*stored));
    shop->store = NULL; /* an equal value is not written */
    ck_assert_int_eq(pay_server_delivery_put(shop->store, stored, again, unit_pool), APR_SUCCESS);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_erase, 0, UNIT_ROWS(erase_cases));
    tcase_add_test(tcase, test_reset);
    tcase_add_test(tcase, test_nothing_to_confirm);
    tcase_add_test(tcase, test_reseal);
    tcase_add_test(tcase, test_reseal_what_does_not_open);
    tcase_add_test(tcase, test_server);
}

UNIT_PROGRAM(add)
