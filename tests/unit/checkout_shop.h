/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECKOUT_SHOP_H
#define CHECKOUT_SHOP_H

/* A shop whose Live Mode's acquirer, the scripted one, has payment pages, and requests of it. */

#include "base/text/json.h"
#include "reconcile_rows.h"
#include "service/checkout/checkout_create.h"
#include "service/checkout/checkouts.h"

#define PAGE_ROOT "https://shop.example/payment/page/"
#define PAGE_OF_ACQUIRER "https://bank.example/pay/1"
#define LIFETIME HOUR

static pay_scope_t test;
static const char *page_url;      /* the acquirer's answer; NULL: no page */
static const char *page_returned; /* the return address that it received */
static int pages_asked;

static inline apr_status_t script_page(payments_page_t *out, void *context,
                                       const payments_checkout_t *checkout,
                                       apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    pages_asked++;
    page_returned = apr_pstrdup(unit_pool, checkout->redirect_url);
    out->url = page_url;
    return script.status;
}

static const payments_acquirer_t page_connector = {SCRIPT_CONNECTOR, .checkout = script_page};

static inline void checkout_shop_open(const char *dir)
{
    shop_set_up(dir);
    acquirer.connector = &page_connector;
    test = (pay_scope_t){shop->account->number, PAY_TEST};
    shop->service.policy.checkout_lifetime = LIFETIME;
    page_url = PAGE_OF_ACQUIRER;
    pages_asked = 0;
    ck_assert_int_eq(pay_store_account_set(&shop->account, shop->store, "demo",
                                           &(pay_account_settings_t){0}, &live.mode, unit_pool),
                     APR_SUCCESS);
}

static inline pay_caller_t checkout_caller(pay_mode_t mode, const char *idempotency_key)
{
    const pay_caller_t caller = {
        shop->account, {shop->account->number, mode}, PAY_KEY_PUBLIC, "", idempotency_key};

    return caller;
}

static inline pay_checkout_request_t *checkout_request(const char *reference, int amount)
{
    const char *text =
        apr_psprintf(unit_pool,
                     "{\"transactionReference\":\"%s\",\"amount\":%d,\"currency\":\"NGN\","
                     "\"checkoutCustomerData\":{\"email\":\"Ada@shop.example\",\"firstName\":"
                     "\"Ada\",\"lastName\":\"Obi\"},\"redirectUrl\":\"https://shop.example/done\"}",
                     reference, amount);
    pay_checkout_request_t *request;
    const pay_problem_t *problem;
    const pay_json_t *body;
    const char *reason;

    ck_assert_int_eq(pay_json_parse(&body, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    problem = pay_checkout_request_from_json(&request, body, PAY_CHECKOUT_FORM_INITIATE, "NGN",
                                             unit_pool);
    ck_assert_ptr_null(problem);
    return request;
}

/* Returns the problem's code, or "" and *out. */
static inline const char *checkout_ask(const pay_charge_t **out, int *replayed, pay_mode_t mode,
                                       const char *reference, int amount, const char *key)
{
    const pay_caller_t caller = checkout_caller(mode, key);
    const pay_problem_t *problem =
        pay_checkout_create(out, replayed, &shop->service, &caller,
                            checkout_request(reference, amount), PAGE_ROOT, "192.0.2.1", unit_pool);

    return problem ? problem->code : "";
}

static inline const pay_charge_t *checkout_new(pay_mode_t mode, const char *reference)
{
    const pay_charge_t *charge;
    int replayed;

    ck_assert_str_eq(checkout_ask(&charge, &replayed, mode, reference, 10, NULL), "");
    ck_assert_int_eq(replayed, 0);
    return charge;
}

static inline pay_page_t checkout_page(const pay_charge_t *charge)
{
    pay_page_t page;

    ck_assert_ptr_null(pay_page_get(&page, &shop->service, charge->checkout->page_id, unit_pool));
    return page;
}

/* Runs reconciliation as often as there are due rows. */
static inline void checkout_watchdog(void)
{
    (void)step_of(&shop->service, NULL);
}

#endif
