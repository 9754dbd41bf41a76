/* SPDX-License-Identifier: Apache-2.0 */
#include "checkout_shop.h"

#define REFERENCE "checkout-00000001"

static void set_up(void)
{
    checkout_shop_open(unit_dir());
}

START_TEST(test_new)
{
    const pay_charge_t *charge = checkout_new((pay_mode_t)_i, REFERENCE);

    ck_assert_int_eq(charge->kind, PAY_CHARGE_CHECKOUT);
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_str_eq(charge->email, "ada@shop.example");
    ck_assert_int_eq(charge->checkout->expires_at, NOW + LIFETIME);
    ck_assert_int_eq(pages_asked, _i == PAY_LIVE);
    if (_i == PAY_LIVE) {
        ck_assert_str_eq(charge->checkout->acquirer_url, PAGE_OF_ACQUIRER);
        ck_assert_str_eq(page_returned, apr_pstrcat(unit_pool, PAGE_ROOT, charge->checkout->page_id,
                                                    PAY_PAGE_RETURN_SUFFIX, NULL));
        ck_assert_uint_eq(strlen(charge->acquirer_reference), PAY_ACQUIRER_REFERENCE_LEN);
    } else {
        ck_assert_int_eq(charge->due_at, NOW + LIFETIME);
    }
    store_is_clean();
}
END_TEST

static const struct {
    const char *name;
    const char *reference, *key;
    int amount;
    const char *want; /* the code of the second request */
    int replayed;
} seconds[] = {
    {"the same", REFERENCE, "k", 10, "", 1},
    {"the same without a key", REFERENCE, NULL, 10, "", 1},
    {"another amount", REFERENCE, "k", 11, "D1", 0},
    {"the key for another reference", "checkout-00000002", "k", 10, "D1", 0},
    {"another reference and key", "checkout-00000002", "l", 10, "", 0},
};

START_TEST(test_second)
{
    const pay_charge_t *first, *second;
    int replayed;

    ck_assert_str_eq(checkout_ask(&first, &replayed, PAY_LIVE, REFERENCE, 10, "k"), "");
    ck_assert_str_eq(checkout_ask(&second, &replayed, PAY_LIVE, seconds[_i].reference,
                                  seconds[_i].amount, seconds[_i].key),
                     seconds[_i].want);
    ck_assert_msg(replayed == seconds[_i].replayed, "%s", seconds[_i].name);
    if (replayed) {
        ck_assert_str_eq(first->checkout->page_id, second->checkout->page_id);
    }
    ck_assert_int_eq(pages_asked, 1 + (!replayed && !*seconds[_i].want));
    store_is_clean();
}
END_TEST

/* A reference of a charge by token is not a checkout's. */
START_TEST(test_reference_of_a_charge)
{
    const pay_charge_t *charge;
    int replayed;

    (void)shop_charge(shop, &test, REFERENCE);
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_TEST, REFERENCE, 10, NULL), "D1");
}
END_TEST

/* ---- the way back */

static const struct {
    const char *name;
    pay_key_kind_t kind;
    const char *of_account, *of_host, *url;
    const char *code;
    int trusted;
} ways[] = {
    {"a secret key", PAY_KEY_SECRET, "", NULL, "https://any.example/", "", 1},
    {"a secret key beside lists", PAY_KEY_SECRET, "a.example", "b.example", "http://any.example/",
     "", 1},
    {"a public key", PAY_KEY_PUBLIC, "", NULL, "https://any.example/", "", 0},
    {"nowhere", PAY_KEY_PUBLIC, "a.example", NULL, "", "", 1},
    {"listed by the account", PAY_KEY_PUBLIC, "a.example", "b.example", "https://a.example/", "",
     1},
    {"listed by the server", PAY_KEY_PUBLIC, "a.example", "b.example", "https://b.example/", "", 1},
    {"listed by neither", PAY_KEY_PUBLIC, "a.example", "b.example", "https://any.example/", "T1",
     0},
    {"not listed by the account", PAY_KEY_PUBLIC, "a.example", NULL, "https://any.example/", "T1",
     0},
    {"not listed by the server", PAY_KEY_PUBLIC, "", "b.example", "https://any.example/", "T1", 0},
    {"no URL", PAY_KEY_PUBLIC, "", NULL, "https://a@b.example/", "T1", 0},
};

START_TEST(test_way_back)
{
    pay_account_t account = *shop->account;
    pay_caller_t caller = checkout_caller(PAY_TEST, NULL);
    pay_checkout_request_t *request = checkout_request(REFERENCE, 10);
    const pay_problem_t *problem;
    const pay_charge_t *charge;
    pay_charge_t *stored;
    int replayed;

    account.settings.return_hosts = ways[_i].of_account;
    shop->service.policy.return_hosts = ways[_i].of_host;
    caller.account = &account;
    caller.key_kind = ways[_i].kind;
    request->redirect_url = ways[_i].url;
    problem = pay_checkout_create(&charge, &replayed, &shop->service, &caller, request, PAGE_ROOT,
                                  "192.0.2.1", unit_pool);
    ck_assert_msg(!strcmp(problem ? problem->code : "", ways[_i].code), "%s", ways[_i].name);
    if (!problem) {
        ck_assert_int_eq(STORE_REAL(charge_find)(&stored, shop->store, &test, REFERENCE, unit_pool),
                         APR_SUCCESS);
        ck_assert_msg(stored->checkout->return_trusted == ways[_i].trusted, "%s", ways[_i].name);
    }
}
END_TEST

/* ---- Live Mode: the acquirer's page */

static const struct {
    const char *name;
    apr_status_t status;
    const char *url;
    const char *code;
    pay_charge_state_t want;
} answers[] = {
    {"a page", APR_SUCCESS, PAGE_OF_ACQUIRER, "", PAY_CHARGE_PENDING},
    {"no byte left", PAYMENTS_NOT_SENT, NULL, "E2", PAY_CHARGE_PENDING},
    {"refused", APR_EGENERAL, NULL, "", PAY_CHARGE_FAILED},
    {"a page without TLS", APR_SUCCESS, "http://bank.example/pay", "", PAY_CHARGE_FAILED},
    {"a page that is none", APR_SUCCESS, "javascript:alert(1)", "", PAY_CHARGE_FAILED},
    {"nothing", APR_SUCCESS, NULL, "", PAY_CHARGE_FAILED},
};

START_TEST(test_pages)
{
    const pay_charge_t *charge;
    pay_charge_t *stored;
    int replayed;

    script.status = answers[_i].status;
    page_url = answers[_i].url;
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL),
                     answers[_i].code);
    if (*answers[_i].code) { /* the reference is free again */
        ck_assert_int_eq(STORE_REAL(charge_find)(&stored, shop->store, &live, REFERENCE, unit_pool),
                         APR_NOTFOUND);
    } else {
        ck_assert_msg(charge->state == answers[_i].want, "%s", answers[_i].name);
        ck_assert_int_eq(charge->due_at != 0, 1); /* queried, early or late */
        script.status = APR_SUCCESS;
        ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL), "");
        ck_assert_int_eq(replayed, 1);
        ck_assert_int_eq(pages_asked, 1);
    }
    store_is_clean();
}
END_TEST

START_TEST(test_acquirer_without_pages)
{
    const pay_charge_t *charge;
    int replayed;

    acquirer.connector = &script_connector;
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL), "I1");
    ck_assert_ptr_null(charge);
}
END_TEST

START_TEST(test_live_while_the_account_is_in_test_mode)
{
    const pay_charge_t *charge;
    int replayed;

    ck_assert_int_eq(pay_store_account_set(&shop->account, shop->store, "demo",
                                           &(pay_account_settings_t){0}, &test.mode, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_LIVE, REFERENCE, 10, NULL), "B02");
    ck_assert_int_eq(pages_asked, 0);
}
END_TEST

START_TEST(test_currency_that_is_not_taken)
{
    apr_array_header_t *currencies = apr_array_make(unit_pool, 1, sizeof(const char *));
    const pay_charge_t *charge;
    int replayed;

    APR_ARRAY_PUSH(currencies, const char *) = "USD";
    shop->service.policy.currencies = currencies;
    ck_assert_str_eq(checkout_ask(&charge, &replayed, PAY_TEST, REFERENCE, 10, NULL), "T1");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_new, 0, PAY_MODE_COUNT);
    tcase_add_loop_test(tcase, test_second, 0, UNIT_ROWS(seconds));
    tcase_add_test(tcase, test_reference_of_a_charge);
    tcase_add_loop_test(tcase, test_way_back, 0, UNIT_ROWS(ways));
    tcase_add_loop_test(tcase, test_pages, 0, UNIT_ROWS(answers));
    tcase_add_test(tcase, test_acquirer_without_pages);
    tcase_add_test(tcase, test_live_while_the_account_is_in_test_mode);
    tcase_add_test(tcase, test_currency_that_is_not_taken);
}

UNIT_PROGRAM(add)
