/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/accounts.h"

#include "base/crypto/keyring.h"
#include "model/card.h"
#include "service/account/endpoints.h"
#include "service/change.h"
#include "shop.h"

#include <unistd.h>

static shop_t *shop;
static const pay_actor_t actor = {.who = "ada", .from = "paymentsctl"};

static void set_up(void)
{
    shop = shop_open(unit_dir());
    shop->service.actor = &actor;
}

/* The newest entry of the account as "WHAT|SUBJECT|DETAIL"; "": none exists. */
static const char *newest(const pay_account_t *account)
{
    apr_array_header_t *list;
    const pay_audit_t *entry;

    ck_assert_int_eq(pay_store_audit_list(&list, shop->store, account->number, 0, 1, unit_pool),
                     APR_SUCCESS);
    if (list->nelts == 0) {
        return "";
    }
    entry = APR_ARRAY_IDX(list, 0, const pay_audit_t *);
    return apr_pstrcat(unit_pool, entry->what, "|", entry->subject, "|", entry->detail, NULL);
}

/* ---- settings */

static const struct {
    const char *name;
    pay_account_settings_t given;
    const char *fields; /* at fault */
} settings_cases[] = {
    {"nothing is given", {.currency = NULL}, ""},
    {"all is well",
     {.key_prefix = "nc",
      .currency = "usd",
      .timezone = "Africa/Lagos",
      .shop_name = "Ada's",
      .shop_logo = "/logo.png",
      .shop_text = "Thanks",
      .return_hosts = "shop.example",
      .fees = "NGN 1.5%"},
     ""},
    {"texts are taken away", {.shop_name = "", .shop_logo = "", .shop_text = ""}, ""},
    {"a prefix with a digit first", {.key_prefix = "1a"}, "/keyPrefix"},
    {"a currency that there is not", {.currency = "naira"}, "/currency"},
    {"a zone that there is not", {.timezone = "Africa/Nowhere"}, "/timezone"},
    {"a name of two lines", {.shop_name = "a\nb"}, "/shop/name"},
    {"a logo without a slash", {.shop_logo = "logo.png"}, "/shop/logo"},
    {"a card number", {.shop_text = "4111111111111111"}, "/shop/text"},
    {"no host", {.return_hosts = "https://"}, "/returnHosts"},
    {"no rule", {.fees = "1.5%"}, "/fees"},
    {"two faults", {.currency = "naira", .fees = "1.5%"}, "/currency/fees"},
};

START_TEST(test_settings)
{
    pay_account_settings_t settings = settings_cases[_i].given;
    pay_problem_t *problem = NULL;

    pay_account_settings_judge(&settings, &problem, unit_pool);
    ck_assert_msg(!strcmp(problem ? shop_fields(problem) : "", settings_cases[_i].fields), "%s: %s",
                  settings_cases[_i].name, problem ? shop_fields(problem) : "nothing");
}
END_TEST

START_TEST(test_settings_are_normalised)
{
    pay_account_settings_t settings = {.currency = "usd"};
    pay_problem_t *problem = pay_problem_make(PAY_ERR_INVALID, "/mode", APR_SUCCESS, unit_pool);

    pay_account_settings_judge(&settings, &problem, unit_pool);
    ck_assert_str_eq(settings.currency, "USD");
    ck_assert_str_eq(shop_fields(problem), "/mode"); /* earlier faults stay */
    settings.timezone = "nowhere";
    pay_account_settings_judge(&settings, &problem, unit_pool);
    ck_assert_str_eq(shop_fields(problem), "/mode/timezone");
}
END_TEST

START_TEST(test_open)
{
    const pay_account_settings_t defaults = {
        .key_prefix = "nc", .currency = "USD", .timezone = "Africa/Lagos"};
    const pay_account_settings_t given = {.currency = "EUR", .shop_name = "Stall"};
    pay_account_t *account, *again;

    ck_assert_int_eq(pay_store_defaults_put(shop->store, "stall", &defaults, unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_null(pay_account_open(&account, &shop->service, "stall", &given, unit_pool));
    ck_assert_str_eq(account->settings.key_prefix, "nc");
    ck_assert_str_eq(account->settings.currency, "EUR");
    ck_assert_str_eq(account->settings.timezone, "Africa/Lagos");
    ck_assert_str_eq(account->settings.shop_name, "Stall");
    ck_assert_int_eq(account->mode, PAY_TEST);
    ck_assert_str_eq(newest(account), "account create|stall|");
    shop_check_problem(
        "taken", pay_account_open(&again, &shop->service, "stall", &given, unit_pool), 409, "D1");
    ck_assert_ptr_null(again);
}
END_TEST

START_TEST(test_change_and_switch)
{
    const pay_account_settings_t given = {.currency = "EUR"};
    pay_account_t *account, nobody = {.number = 99, .name = "nobody"};

    ck_assert_ptr_null(
        pay_account_change(&account, &shop->service, shop->account, &given, unit_pool));
    ck_assert_str_eq(account->settings.currency, "EUR");
    ck_assert_str_eq(newest(shop->account), "account set|demo|currency NGN -> EUR");
    ck_assert_ptr_null(
        pay_account_switch(&account, &shop->service, shop->account, PAY_LIVE, unit_pool));
    ck_assert_int_eq(account->mode, PAY_LIVE);
    ck_assert_str_eq(newest(shop->account), "account mode|demo|test -> live");
    ck_assert_ptr_null(
        pay_account_switch(&account, &shop->service, shop->account, PAY_TEST, unit_pool));
    ck_assert_str_eq(newest(shop->account), "account mode|demo|live -> test");
    shop_check_problem("gone",
                       pay_account_switch(&account, &shop->service, &nobody, PAY_LIVE, unit_pool),
                       404, "N1");
}
END_TEST

/* ---- Live Mode */

static void add_keyring(void)
{
    const char *reason;
    pay_keyring_t *ring;
    int made;

    ck_assert_int_eq(pay_keyring_load(&ring, &made, &reason,
                                      apr_pstrcat(unit_pool, unit_dir(), "/key", NULL), 1, getuid(),
                                      unit_pool),
                     APR_SUCCESS);
    shop->service.keyring = ring;
}

static void add_webhook(void)
{
    const pay_scope_t live = {shop->account->number, PAY_LIVE};
    pay_endpoint_t *endpoint;
    const char *secret;

    ck_assert_ptr_null(pay_webhook_set(&endpoint, &secret, &shop->service, &live,
                                       "https://shop.example/hook?a=1", unit_pool));
    ck_assert_str_eq(newest(shop->account), "webhook set|webhook|live: https://shop.example:443");
}

/* The content of the list, a word each: essential ones in capitals. */
static const char *lacks_of(const apr_array_header_t *lacks)
{
    static const struct {
        const char *within;
        const char *word;
    } words[] = {{"No acquirer", "A"},
                 {"no secret key", "K"},
                 {"no master key", "M"},
                 {"There is no webhook", "w"},
                 {"without TLS", "t"}};
    const char *text = "";
    apr_size_t word;
    int i;

    for (i = 0; i < lacks->nelts; i++) {
        const pay_account_lack_t *lack = &APR_ARRAY_IDX(lacks, i, const pay_account_lack_t);

        for (word = 0; word < UNIT_ROWS(words); word++) {
            if (strstr(lack->what, words[word].within)) {
                ck_assert_int_eq(lack->is_essential, *words[word].word < 'a');
                text = apr_pstrcat(unit_pool, text, words[word].word, NULL);
            }
        }
    }
    return text;
}

static const struct {
    const char *name;
    int acquirer, key, ring, tls;
    const char *want;
} lack_cases[] = {
    {"nothing was done", 0, 0, 0, 0, "AKMwt"},
    {"no acquirer", 0, 1, 1, 1, "A"},
    {"no key", 1, 0, 1, 1, "K"},
    {"no master key", 1, 1, 0, 1, "Mw"},
    {"calls without TLS", 1, 1, 1, 0, "t"},
    {"all was done", 1, 1, 1, 1, ""},
};

START_TEST(test_lacks)
{
    const pay_problem_t *problem;
    apr_array_header_t *lacks;
    pay_api_key_t *key;
    const char *text;

    if (lack_cases[_i].acquirer) {
        shop->service.acquirer[PAY_LIVE] = &shop_simulator;
    }
    if (lack_cases[_i].key) {
        ck_assert_ptr_null(pay_key_issue(&key, &text, &shop->service, shop->account, PAY_LIVE,
                                         PAY_KEY_SECRET, unit_pool));
    }
    if (lack_cases[_i].ring) {
        add_keyring();
        add_webhook();
    }
    ck_assert_ptr_null(
        pay_account_lacks(&lacks, &shop->service, shop->account, lack_cases[_i].tls, unit_pool));
    ck_assert_msg(!strcmp(lacks_of(lacks), lack_cases[_i].want), "%s: %s", lack_cases[_i].name,
                  lacks_of(lacks));
    problem = pay_account_judge_lacks(lacks, unit_pool);
    if (!strpbrk(lack_cases[_i].want, "AKM")) {
        ck_assert_ptr_null(problem);
        return;
    }
    shop_check_problem(lack_cases[_i].name, problem, 409, "G1");
    ck_assert_int_eq(problem->fields->nelts, (int)strspn(lack_cases[_i].want, "AKM"));
}
END_TEST

static const struct {
    const char *name;
    pay_mode_t mode;
    pay_key_kind_t kind;
    int revoked;
    int has_key, has_secret_key;
} setup_cases[] = {
    {"a secret key", PAY_LIVE, PAY_KEY_SECRET, 0, 1, 1},
    {"a public key", PAY_LIVE, PAY_KEY_PUBLIC, 0, 1, 0},
    {"one of the other mode", PAY_TEST, PAY_KEY_SECRET, 0, 0, 0},
    {"one that was revoked", PAY_LIVE, PAY_KEY_SECRET, 1, 0, 0},
};

START_TEST(test_setup_of_keys)
{
    pay_account_setup_t setup;
    pay_api_key_t *key;
    const char *text;

    ck_assert_ptr_null(pay_key_issue(&key, &text, &shop->service, shop->account,
                                     setup_cases[_i].mode, setup_cases[_i].kind, unit_pool));
    if (setup_cases[_i].revoked) {
        ck_assert_ptr_null(pay_key_revoke(&key, &shop->service, shop->account, key->id, unit_pool));
    }
    ck_assert_ptr_null(
        pay_account_setup(&setup, &shop->service, shop->account, PAY_LIVE, unit_pool));
    ck_assert_msg(setup.has_key == setup_cases[_i].has_key
                      && setup.has_secret_key == setup_cases[_i].has_secret_key,
                  "%s", setup_cases[_i].name);
    ck_assert_int_eq(setup.has_webhook, 0);
}
END_TEST

/* ---- grants and tokens */

static const pay_problem_t *give(const char *user, pay_role_t role)
{
    pay_grant_t *grant;

    return pay_grant_give(&grant, &shop->service, shop->account, "a.example", user, role, 1,
                          unit_pool);
}

static const pay_problem_t *take(const char *user, int keep_owner)
{
    pay_grant_t *grant;

    return pay_grant_take(&grant, &shop->service, shop->account, "a.example", user, keep_owner,
                          unit_pool);
}

START_TEST(test_grants)
{
    ck_assert_ptr_null(give("bob", PAY_ROLE_OWNER));
    ck_assert_str_eq(newest(shop->account), "account grant|bob|a.example: none -> owner");
    shop_check_problem("the only owner", give("bob", PAY_ROLE_VIEWER), 409, "D1");
    shop_check_problem("the only owner", take("bob", 1), 409, "D1");
    shop_check_problem("nobody", take("eve", 1), 404, "N1");
    ck_assert_str_eq(newest(shop->account), "account grant|bob|a.example: none -> owner");
    ck_assert_ptr_null(take("bob", 0));
    ck_assert_str_eq(newest(shop->account), "account revoke|bob|a.example: owner -> none");
}
END_TEST

static const struct {
    const char *name;
    const char *user;
    int ok;
} user_cases[] = {
    {"a name", "bob", 1}, {"other letters", "Zo\xc3\xab", 1}, {"nobody", NULL, 0},
    {"empty", "", 0},     {"a control character", "a\tb", 0},
};

START_TEST(test_user)
{
    ck_assert_msg((pay_grant_user_fault(user_cases[_i].user) == NULL) == user_cases[_i].ok, "%s",
                  user_cases[_i].name);
}
END_TEST

START_TEST(test_tokens)
{
    const pay_token_t proposal = {.scope = {shop->account->number, PAY_TEST},
                                  .token = "tok_1",
                                  .email = "ada@example.com",
                                  .card = *pay_test_card_find("5555555555554444")};
    pay_token_t *token;

    ck_assert_ptr_null(pay_token_issue(&token, &shop->service, &proposal, unit_pool));
    ck_assert_str_eq(newest(shop->account), "token create|card ...4444|test");
    shop_check_problem("known", pay_token_issue(&token, &shop->service, &proposal, unit_pool), 409,
                       "D1");
    ck_assert_ptr_null(
        pay_token_revoke(&token, &shop->service, &proposal.scope, "tok_1", unit_pool));
    ck_assert_str_eq(newest(shop->account), "token revoke|card ...4444|test");
    shop_check_problem(
        "unknown", pay_token_revoke(&token, &shop->service, &proposal.scope, "tok_2", unit_pool),
        404, "N1");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_settings, 0, UNIT_ROWS(settings_cases));
    tcase_add_test(tcase, test_settings_are_normalised);
    tcase_add_test(tcase, test_open);
    tcase_add_test(tcase, test_change_and_switch);
    tcase_add_loop_test(tcase, test_lacks, 0, UNIT_ROWS(lack_cases));
    tcase_add_loop_test(tcase, test_setup_of_keys, 0, UNIT_ROWS(setup_cases));
    tcase_add_test(tcase, test_grants);
    tcase_add_loop_test(tcase, test_user, 0, UNIT_ROWS(user_cases));
    tcase_add_test(tcase, test_tokens);
}

UNIT_PROGRAM(add)
