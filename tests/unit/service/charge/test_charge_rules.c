/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "service/charge/charge_rules.h"
#include "shop_scripted.h"
#include "watched.h"

typedef enum given_t {
    GIVEN_NOTHING,
    GIVEN_LIVE_KEY = 1,
    GIVEN_LIVE_ACCOUNT = 2,
    GIVEN_LIVE_ACQUIRER = 4,
    GIVEN_USD_ONLY = 8,
    GIVEN_REVOKED = 16,
    GIVEN_OWN_TOKENS = 32,
    GIVEN_LIVE = GIVEN_LIVE_KEY | GIVEN_LIVE_ACCOUNT | GIVEN_LIVE_ACQUIRER
} given_t;

static const struct {
    const char *name;
    const char *token;
    const char *token_email; /* NULL: the token is not stored */
    unsigned int given;      /* of given_t */
    int status;              /* 0: charged */
    const char *fields;      /* at fault, joined */
    const char *message;     /* part of it */
} policy_cases[] = {
    {"test token", "tok_test_success", NULL, GIVEN_NOTHING, 0, "", ""},
    {"no such test token", "tok_test_nonsense", NULL, GIVEN_NOTHING, 400, "/token", "parameter"},
    {"unknown token", "tok_abc", NULL, GIVEN_NOTHING, 400, "/token", "parameter"},
    {"stored token", "tok_abc", "payer@shop.example", GIVEN_NOTHING, 0, "", ""},
    {"stored token, other case", "tok_abc", "Payer@Shop.Example", GIVEN_NOTHING, 0, "", ""},
    {"of another payer", "tok_abc", "other@shop.example", GIVEN_NOTHING, 400, "/email", ""},
    {"revoked", "tok_abc", "payer@shop.example", GIVEN_REVOKED, 400, "/token", ""},
    {"currency", "tok_test_success", NULL, GIVEN_USD_ONLY, 400, "/currency", ""},
    {"several", "tok_abc", "other@shop.example", GIVEN_USD_ONLY, 400, "/email/currency", ""},
    {"several", "tok_abc", NULL, GIVEN_USD_ONLY, 400, "/token/currency", ""},
    {"live key in Test Mode", "tok_abc", NULL, GIVEN_LIVE_KEY | GIVEN_LIVE_ACQUIRER, 403, "",
     "Invalid Merchant Authorization"},
    {"no live acquirer", "tok_abc", NULL, GIVEN_LIVE_KEY | GIVEN_LIVE_ACCOUNT, 403, "",
     "No live acquirer"},
    {"live, test token", "tok_test_success", NULL, GIVEN_LIVE, 400, "/token", ""},
    {"live, token of test mode", "tok_abc", "payer@shop.example", GIVEN_LIVE, 400, "/token", ""},
    {"live, token of the acquirer", "tok_abc", NULL, GIVEN_LIVE | GIVEN_OWN_TOKENS, 0, "", ""},
    {"live, test token, own tokens", "tok_test_success", NULL, GIVEN_LIVE | GIVEN_OWN_TOKENS, 400,
     "/token", ""},
    {"test key, live account", "tok_test_success", NULL, GIVEN_LIVE_ACCOUNT, 0, "", ""},
};

static void store_token(const char *text, const char *email, int revoked)
{
    pay_token_t token = {{shop->account->number, PAY_TEST},
                         text,
                         {"555555", "4444", "Mastercard", "NG", "debit"},
                         email,
                         0,
                         0};
    pay_token_t *out;

    ck_assert_int_eq(pay_store_token_create(&out, shop->store, &token, unit_pool), APR_SUCCESS);
    if (revoked) {
        ck_assert_int_eq(pay_store_token_revoke(&out, shop->store, &token.scope, text, unit_pool),
                         APR_SUCCESS);
    }
}

static void set_account_mode(pay_mode_t mode)
{
    pay_account_settings_t none = {.key_prefix = NULL};
    pay_account_t *account;

    ck_assert_int_eq(pay_store_account_set(&account, shop->store, "demo", &none, &mode, unit_pool),
                     APR_SUCCESS);
}

START_TEST(test_policy)
{
    const char *name = policy_cases[_i].name;
    unsigned int given = policy_cases[_i].given;
    pay_charge_request_t *request = shop_request("order-1", policy_cases[_i].token);
    apr_array_header_t *usd = apr_array_make(unit_pool, 1, sizeof(const char *));
    const pay_problem_t *problem;
    pay_charge_t *charge;
    int replayed;

    APR_ARRAY_PUSH(usd, const char *) = "USD";
    set_up_scripted();
    shop->service.policy.currencies = given & GIVEN_USD_ONLY ? usd : NULL;
    shop->service.acquirer[PAY_LIVE] = !(given & GIVEN_LIVE_ACQUIRER) ? NULL
                                       : given & GIVEN_OWN_TOKENS     ? &script_tokens_acquirer
                                                                      : &script_acquirer;
    set_account_mode(given & GIVEN_LIVE_ACCOUNT ? PAY_LIVE : PAY_TEST);
    key = shop_key(shop, given & GIVEN_LIVE_KEY ? PAY_LIVE : PAY_TEST);
    if (policy_cases[_i].token_email) {
        store_token(policy_cases[_i].token, policy_cases[_i].token_email,
                    (given & GIVEN_REVOKED) != 0);
    }
    problem = create(&charge, &replayed, request);
    ck_assert_msg(!strcmp(shop_fields(problem), policy_cases[_i].fields), "%s: %s", name,
                  shop_fields(problem));
    if (!policy_cases[_i].status) {
        ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
        return;
    }
    shop_check_problem(name, problem, policy_cases[_i].status,
                       policy_cases[_i].status == 400 ? "T1" : "B02");
    ck_assert_msg(strstr(problem->message, policy_cases[_i].message) != NULL, "%s: %s", name,
                  problem->message);
    check_unknown(name, "order-1");
    ck_assert_int_eq(script.calls, 0);
}
END_TEST

/* A live charge with the acquirer's own token has a name that reveals nothing of the reference. */
START_TEST(test_name_at_the_acquirer)
{
    const char *want;
    pay_charge_t *charge, *again;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    ck_assert_int_eq(pay_account_reference(&want, key->account, PAY_LIVE, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(charge->acquirer_reference, want);
    ck_assert_str_eq(charge->card.last4, "");
    ck_assert_ptr_null(create(&again, &replayed, shop_request("order-1", "card_9")));
    ck_assert_int_eq(replayed, 1);
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* The acquirer's data of its card is on record; in Test Mode no such name is made. */
START_TEST(test_card_of_the_acquirer)
{
    static const pay_card_t card = {"411111", "1111", "Visa", "NG", "credit"};
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    ck_assert_str_eq(charge->acquirer_reference, "");
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    script.outcome.card = &card;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    ck_assert_str_eq(charge->card.first6, "411111");
    ck_assert_str_eq(charge->card.last4, "1111");
    ck_assert_str_eq(charge->card.issuer, "Visa");
}
END_TEST

static const struct {
    apr_status_t status;
    pay_outcome_kind_t kind;
    int want; /* 0: answered with the charge */
} place_cases[] = {
    {APR_SUCCESS, PAY_OUTCOME_APPROVED, 0},
    {APR_TIMEUP, PAY_OUTCOME_UNKNOWN, 0},
    {PAYMENTS_NOT_SENT, PAY_OUTCOME_UNKNOWN, 503},
};

/* A live call without a slot is refused before anything is written; Test Mode needs none. */
START_TEST(test_no_slot)
{
    const pay_problem_t *problem;
    pay_charge_t *charge;
    int replayed, slot;

    set_up_scripted();
    shop->service.slots = slots_of(1);
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    slot = pay_slots_take(shop->service.slots, shop->account->number);
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "tok_test_success")));
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    problem = create(&charge, &replayed, shop_request("order-1", "card_9"));
    shop_check_problem("no slot", problem, 503, "E2");
    ck_assert_int_eq(problem->error, PAY_ERR_BUSY);
    ck_assert_int_gt(problem->retry_after, 0);
    check_unknown("no slot", "order-1");
    ck_assert_int_eq(script.calls, 1);
    pay_slots_give(shop->service.slots, slot);
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    ck_assert_int_eq(pay_slots_count(shop->service.slots), 0);
}
END_TEST

/* The one place at the acquirer is free again, whatever happened to the charge before. */
START_TEST(test_place_is_given_back)
{
    pay_acquirer_t acquirer = script_tokens_acquirer;
    const pay_problem_t *problem;
    pay_charge_t *charge;
    apr_size_t i;
    int replayed;

    set_up_scripted();
    acquirer.slots = slots_of(1);
    shop->service.acquirer[PAY_LIVE] = &acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    for (i = 0; i < UNIT_ROWS(place_cases); i++) {
        script.status = place_cases[i].status;
        script.outcome.kind = place_cases[i].kind;
        problem = create(&charge, &replayed,
                         shop_request(apr_psprintf(unit_pool, "order-%d", (int)i), "card_9"));
        ck_assert_int_eq(problem ? problem->status : 0, place_cases[i].want);
        ck_assert_int_eq(script.calls, (int)i + 1);
        ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
    }
}
END_TEST

/* If its acquirer's names for its charges cannot be made, nothing is sent. */
START_TEST(test_account_without_a_secret)
{
    pay_charge_t *charge;
    pay_account_t account;
    int replayed;

    set_up_scripted();
    watch();
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    account = *key->account;
    memset(account.secret, 0, sizeof(account.secret)); /* as an earlier build made it */
    key->account = &account;
    shop_check_problem("no secret", create(&charge, &replayed, shop_request("order-1", "card_9")),
                       503, "E2");
    ck_assert_int_eq(logged("PAY00204: account demo was created by an earlier version"), 1);
    check_unknown("no secret", "order-1");
    ck_assert_int_eq(script.calls, 0);
}
END_TEST

/* If another amount is reported it is held at once, whether or not the acquirer answers again. */
START_TEST(test_different)
{
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    script.verdict = PAYMENTS_DIFFERENT;
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge->held, PAY_HELD_DIFFERENT);
    ck_assert_int_gt(charge->due_at, 0);
}
END_TEST

/* While the acquirer is left alone known charges are answered; new ones are refused, and not
 * written. */
START_TEST(test_known_while_it_is_left_alone)
{
    pay_acquirer_t acquirer = script_tokens_acquirer;
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    acquirer.breaker = pay_breaker_init(apr_palloc(unit_pool, pay_breaker_size()));
    shop->service.acquirer[PAY_LIVE] = &acquirer;
    set_account_mode(PAY_LIVE);
    key = shop_key(shop, PAY_LIVE);
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    pay_breaker_fault(acquirer.breaker);
    ck_assert_ptr_null(create(&charge, &replayed, shop_request("order-1", "card_9")));
    ck_assert_int_eq(replayed, 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    shop_check_problem("new", create(&charge, &replayed, shop_request("order-2", "card_9")), 503,
                       "E2");
    check_unknown("new", "order-2");
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_policy, 0, UNIT_ROWS(policy_cases));
    tcase_add_test(tcase, test_name_at_the_acquirer);
    tcase_add_test(tcase, test_account_without_a_secret);
    tcase_add_test(tcase, test_card_of_the_acquirer);
    tcase_add_test(tcase, test_no_slot);
    tcase_add_test(tcase, test_place_is_given_back);
    tcase_add_test(tcase, test_different);
    tcase_add_test(tcase, test_known_while_it_is_left_alone);
}

UNIT_PROGRAM(add)
