/* SPDX-License-Identifier: Apache-2.0 */
#include "checkout_shop.h"

#include "service/checkout/links.h"

#define LINK "shop-1"

static void set_up(void)
{
    checkout_shop_open(unit_dir());
}

static const pay_link_t *make(pay_mode_t mode, const pay_link_form_t *form)
{
    const pay_link_t *link;

    ck_assert_ptr_null(pay_link_make(&link, &shop->service, shop->account, mode, form, unit_pool));
    return link;
}

static const pay_link_t *make_fixed(pay_mode_t mode, int once)
{
    const pay_link_form_t form = {.reference = LINK,
                                  .title = "Shoes",
                                  .description = "One pair",
                                  .redirect_url = "https://shop.example/thanks",
                                  .amount = "10",
                                  .once = once};

    return make(mode, &form);
}

static const char *key; /* the Idempotency-Key of those that follow; NULL: no key */

/* The problem's code, or "" and *out. */
static const char *ask(const pay_charge_t **out, int *replayed, pay_mode_t mode, const char *email,
                       const char *more)
{
    const char *text = apr_psprintf(unit_pool,
                                    "{\"paymentLinkReference\":\"" LINK
                                    "\",\"checkoutCustomerData\":{\"email\":\"%s\","
                                    "\"firstName\":\"Ada\",\"lastName\":\"Obi\"},%s}",
                                    email, more);
    const pay_caller_t caller = checkout_caller(mode, key);
    pay_checkout_request_t *request;
    const pay_problem_t *problem;
    const pay_json_t *body;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&body, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    problem =
        pay_checkout_request_from_json(&request, body, PAY_CHECKOUT_FORM_LINK, "NGN", unit_pool);
    ck_assert_ptr_null(problem);
    problem = pay_checkout_create(out, replayed, &shop->service, &caller, request, PAGE_ROOT,
                                  "192.0.2.1", unit_pool);
    return problem ? problem->code : "";
}

#define TEN_NGN "\"amount\":10,\"currency\":\"NGN\""

/* ---- links */

START_TEST(test_make)
{
    const pay_link_form_t nothing = {.once = 0};
    const pay_link_t *link = make(PAY_TEST, &nothing), *other = make(PAY_TEST, &nothing);
    const pay_problem_t *problem;

    ck_assert_int_eq(strncmp(link->reference, "lnk_", 4), 0);
    ck_assert_str_ne(link->reference, other->reference);
    ck_assert_str_ne(link->page_id, other->page_id);
    ck_assert_str_eq(link->money.currency, shop->account->settings.currency);
    make_fixed(PAY_TEST, 0);
    problem = pay_link_make(&link, &shop->service, shop->account, PAY_TEST,
                            &(pay_link_form_t){.reference = LINK}, unit_pool);
    ck_assert_str_eq(problem->code, "D1");
    ck_assert_ptr_null(link);
    problem = pay_link_make(&link, &shop->service, shop->account, PAY_TEST,
                            &(pay_link_form_t){.reference = "a/b"}, unit_pool);
    ck_assert_str_eq(problem->code, "T1");
    store_is_clean();
}
END_TEST

START_TEST(test_find_and_disable)
{
    const pay_scope_t scope = {shop->account->number, PAY_TEST};
    const pay_link_t *link;

    make_fixed(PAY_TEST, 0);
    ck_assert_ptr_null(pay_link_find(&link, shop->store, &scope, LINK, unit_pool));
    ck_assert_int_eq(link->disabled_at, 0);
    ck_assert_ptr_null(pay_link_disable(&link, &shop->service, &scope, LINK, unit_pool));
    ck_assert_int_eq(link->disabled_at, NOW);
    ck_assert_str_eq(pay_link_find(&link, shop->store, &live, LINK, unit_pool)->code, "N1");
    ck_assert_str_eq(pay_link_disable(&link, &shop->service, &scope, "none", unit_pool)->message,
                     "no record found for transaction with reference none");
}
END_TEST

/* ---- checkouts made from one */

START_TEST(test_checkout)
{
    const pay_mode_t mode = (pay_mode_t)_i;
    const pay_charge_t *charge, *again;
    int replayed;

    make_fixed(mode, 1);
    ck_assert_str_eq(ask(&charge, &replayed, mode, "ada@shop.example", TEN_NGN), "");
    ck_assert_int_eq(replayed, 0);
    ck_assert_str_eq(charge->checkout->link, LINK);
    ck_assert_str_eq(charge->checkout->redirect_url, "https://shop.example/thanks");
    ck_assert_str_eq(charge->checkout->title, "Shoes");
    ck_assert_str_eq(charge->checkout->description, "One pair");
    ck_assert_int_eq(strncmp(charge->reference, "link_", 5), 0);
    ck_assert_str_eq(ask(&again, &replayed, mode, "bob@shop.example", TEN_NGN), "V2");
    ck_assert_str_eq(ask(&again, &replayed, mode, "Ada@shop.example",
                         TEN_NGN ",\"redirectUrl\":\"https://shop.example/other\""),
                     "");
    ck_assert_int_eq(replayed, 1);
    ck_assert_str_eq(again->reference, charge->reference);
    ck_assert_int_eq(pages_asked, mode == PAY_LIVE);
    store_is_clean();
}
END_TEST

/* Another thread answers a request of the same key between our look and our write. */
static const pay_charge_t *meanwhile;
static const char *meanwhile_more;

static apr_status_t idempotency_find_early(pay_idempotency_record_t **out, pay_store_t *store,
                                           const pay_scope_t *scope, const pay_idempotency_t *use,
                                           apr_pool_t *p)
{
    apr_status_t rv = STORE_REAL(idempotency_find)(out, store, scope, use, p);
    int replayed;

    store_script.idempotency_find = NULL;
    ck_assert_str_eq(ask(&meanwhile, &replayed, scope->mode, "ada@shop.example", meanwhile_more),
                     "");
    ck_assert_int_eq(replayed, 0);
    return rv;
}

static const struct {
    const char *name;
    pay_mode_t mode;
    const char *more; /* of the other one */
    const char *want;
} races[] = {
    {"the same request", PAY_TEST, TEN_NGN, ""},
    {"the same request, live", PAY_LIVE, TEN_NGN, ""},
    {"another request", PAY_TEST, TEN_NGN ",\"redirectUrl\":\"https://shop.example/other\"", "D1"},
};

START_TEST(test_key_recorded_meanwhile)
{
    const pay_charge_t *charge;
    int replayed = 0;

    make_fixed(races[_i].mode, 0);
    key = "key-1";
    meanwhile_more = races[_i].more;
    store_script.idempotency_find = idempotency_find_early;
    ck_assert_msg(
        strcmp(ask(&charge, &replayed, races[_i].mode, "ada@shop.example", TEN_NGN), races[_i].want)
            == 0,
        "%s", races[_i].name);
    if (!*races[_i].want) {
        ck_assert_int_eq(replayed, 1);
        ck_assert_str_eq(charge->reference, meanwhile->reference);
    }
    ck_assert_int_eq(pages_asked, races[_i].mode == PAY_LIVE);
    key = NULL;
    store_is_clean();
}
END_TEST

/* The request takes precedence over the link. */
START_TEST(test_own_texts)
{
    const pay_charge_t *charge;
    int replayed;

    make_fixed(PAY_TEST, 0);
    ck_assert_str_eq(ask(&charge, &replayed, PAY_TEST, "ada@shop.example",
                         TEN_NGN ",\"redirectUrl\":\"https://shop.example/other\","
                                 "\"checkoutCustomizationData\":{\"paymentDescription\":\"Boots\","
                                 "\"checkoutModalTitle\":\"Order 7\"}"),
                     "");
    ck_assert_str_eq(charge->checkout->redirect_url, "https://shop.example/other");
    ck_assert_str_eq(charge->checkout->title, "Order 7");
    ck_assert_str_eq(charge->checkout->description, "Boots");
}
END_TEST

static const struct {
    const char *name;
    const char *amount; /* of the link */
    const char *more;
    const char *want;
    const char *field;
} moneys[] = {
    {"the link's", "10", TEN_NGN, "", NULL},
    {"written otherwise", "10", "\"amount\":\"10.00\",\"currency\":\"ngn\"", "", NULL},
    {"another amount", "10", "\"amount\":10.01,\"currency\":\"NGN\"", "T1", "/amount"},
    {"another currency", "10", "\"amount\":10,\"currency\":\"USD\"", "T1", "/currency"},
    {"an open link", NULL, "\"amount\":0.01,\"currency\":\"NGN\"", "", NULL},
    {"an open link in another currency", NULL, "\"amount\":10,\"currency\":\"USD\"", "T1",
     "/currency"},
};

START_TEST(test_money)
{
    const pay_link_form_t form = {.reference = LINK, .amount = moneys[_i].amount};
    const pay_charge_t *charge;
    int replayed;

    make(PAY_TEST, &form);
    ck_assert_msg(!strcmp(ask(&charge, &replayed, PAY_TEST, "ada@shop.example", moneys[_i].more),
                          moneys[_i].want),
                  "%s", moneys[_i].name);
    ck_assert_int_eq(!charge, *moneys[_i].want != '\0');
}
END_TEST

START_TEST(test_money_fields)
{
    const pay_checkout_request_t amount = {
        .link = LINK, .money = {999, "NGN"}, .redirect_url = "", .title = "", .description = ""};
    const pay_checkout_request_t currency = {
        .link = LINK, .money = {1000, "USD"}, .redirect_url = "", .title = "", .description = ""};
    const pay_checkout_request_t *applied;
    const pay_problem_t *problem;

    make_fixed(PAY_TEST, 0);
    problem = pay_link_apply(&applied, shop->store, &test, _i ? &currency : &amount, unit_pool);
    ck_assert_int_eq(problem->fields->nelts, 1);
    ck_assert_str_eq(APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t).field,
                     _i ? "/currency" : "/amount");
}
END_TEST

/* ---- links that cannot be paid */

START_TEST(test_unknown)
{
    const pay_charge_t *charge;
    int replayed;

    make_fixed(PAY_LIVE, 0);
    ck_assert_str_eq(ask(&charge, &replayed, PAY_TEST, "ada@shop.example", TEN_NGN), "N1");
    ck_assert_ptr_null(charge);
}
END_TEST

START_TEST(test_disabled)
{
    const pay_charge_t *charge;
    const pay_link_t *link;
    int replayed;

    make_fixed(PAY_TEST, 0);
    ck_assert_ptr_null(pay_link_disable(&link, &shop->service, &test, LINK, unit_pool));
    ck_assert_str_eq(ask(&charge, &replayed, PAY_TEST, "ada@shop.example", TEN_NGN), "V2");
    ck_assert_ptr_null(charge);
    store_is_clean();
}
END_TEST

static const struct {
    pay_claim_t claim;
    const char *code;
    const char *words;
} refusals[] = {
    {PAY_CLAIM_LINK_BUSY, "V2", "another payer"},
    {PAY_CLAIM_LINK_USED, "V2", "paid already"},
    {PAY_CLAIM_LINK_EXPIRED, "V2", "expired"},
    {PAY_CLAIM_LINK_DISABLED, "V2", "disabled"},
    {PAY_CLAIM_LINK_UNKNOWN, "N1", "no record found for transaction with reference " LINK},
};

START_TEST(test_refusals)
{
    const pay_problem_t *problem = pay_problem_of_link(refusals[_i].claim, LINK, unit_pool);

    ck_assert_str_eq(problem->code, refusals[_i].code);
    ck_assert_int_eq(problem->status, !strcmp(problem->code, "N1") ? 404 : 409);
    ck_assert_ptr_nonnull(strstr(problem->message, refusals[_i].words));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, test_make);
    tcase_add_test(tcase, test_find_and_disable);
    tcase_add_loop_test(tcase, test_checkout, 0, PAY_MODE_COUNT);
    tcase_add_loop_test(tcase, test_key_recorded_meanwhile, 0, UNIT_ROWS(races));
    tcase_add_test(tcase, test_own_texts);
    tcase_add_loop_test(tcase, test_money, 0, UNIT_ROWS(moneys));
    tcase_add_loop_test(tcase, test_money_fields, 0, 2);
    tcase_add_test(tcase, test_unknown);
    tcase_add_test(tcase, test_disabled);
    tcase_add_loop_test(tcase, test_refusals, 0, UNIT_ROWS(refusals));
}

UNIT_PROGRAM(add)
