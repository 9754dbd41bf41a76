/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOP_H
#define SHOP_H

/*
 * The common part of the tests of the services: a real store with an account, and a clock to set.
 */

#include "unit.h"

#include "acquirer/acquirer.h"
#include "acquirer/simulator.h"
#include "base/text/json.h"
#include "base/text/time.h"
#include "model/charge_request.h"
#include "scripted_acquirer.h"
#include "service/account/keys.h"
#include "service/service.h"
#include "store_options.h"
#include "store_script.h"

#include <string.h>

static const pay_acquirer_t shop_simulator = {
    .connector = &pay_acquirer_simulator, .name = "simulator", .timeout = apr_time_from_sec(20)};

typedef struct shop_t {
    const char *url;
    pay_store_t *store;
    pay_account_t *account;
    pay_service_t service; /* the simulator for Test Mode, no acquirer for Live Mode */
} shop_t;

static apr_time_t shop_clock;

static inline apr_time_t shop_clock_read(void)
{
    return shop_clock;
}

static apr_interval_time_t shop_clock_steps; /* of the wall clock, while no time passed */
static apr_int64_t shop_boot = 1;            /* another number: the machine was restarted */

static inline pay_moment_t shop_moment_read(void)
{
    return (pay_moment_t){shop_boot, apr_time_as_msec(shop_clock - shop_clock_steps)};
}

/* Time passes until the wall clock shows `when`. */
static inline void shop_clock_set(apr_time_t when)
{
    shop_clock = when;
    pay_time_set_source(shop_clock_read);
    pay_moment_set_source(shop_moment_read);
}

/* An administrator sets the wall clock by this much. */
static inline void shop_clock_step(apr_interval_time_t by)
{
    shop_clock_steps += by;
    shop_clock_set(shop_clock + by);
}

/* The store in `dir`, with account "demo", made if it is missing. */
static inline shop_t *shop_open(const char *dir)
{
    shop_t *shop = apr_pcalloc(unit_pool, sizeof(*shop));
    const pay_store_options_t options = unit_store_options();
    apr_status_t rv;

    shop->url = apr_pstrcat(unit_pool, "lmdb:", dir, NULL);
    ck_assert_int_eq(pay_store_open(&shop->store, shop->url, &options, unit_pool), APR_SUCCESS);
    rv = pay_store_account_create(&shop->account, shop->store, "demo",
                                  &pay_account_settings_builtin, unit_pool);
    if (rv == APR_EEXIST) {
        rv = pay_store_account_get(&shop->account, shop->store, "demo", unit_pool);
    }
    ck_assert_int_eq(rv, APR_SUCCESS);
    shop->service.store = shop->store;
    shop->service.acquirer[PAY_TEST] = &shop_simulator;
    shop->service.policy.refund_repeat_window = apr_time_from_sec(600);
    return shop;
}

/* The charge as it is in Test Mode. */
static inline pay_charge_t *shop_stored(shop_t *shop, const char *reference)
{
    const pay_scope_t scope = {shop->account->number, PAY_TEST};
    pay_charge_t *charge;

    ck_assert_int_eq(STORE_REAL(charge_find)(&charge, shop->store, &scope, reference, unit_pool),
                     APR_SUCCESS);
    return charge;
}

/* As a request's gate would make it. */
static inline pay_api_key_t *shop_key(shop_t *shop, pay_mode_t mode)
{
    pay_api_key_t *key;
    const char *text;

    ck_assert_ptr_null(
        pay_key_issue(&key, &text, &shop->service, shop->account, mode, PAY_KEY_SECRET, unit_pool));
    ck_assert_int_eq(pay_store_key_get(&key, shop->store, key->id, unit_pool), APR_SUCCESS);
    return key;
}

/* A request for 10.50 NGN of payer@shop.example. */
static inline pay_charge_request_t *shop_request(const char *reference, const char *token)
{
    pay_charge_request_t *request;
    const pay_json_t *json;
    const char *reason;
    char *text = apr_psprintf(unit_pool,
                              "{\"reference\":\"%s\",\"token\":\"%s\",\"amount\":10.50,"
                              "\"email\":\"payer@shop.example\",\"currency\":\"NGN\"}",
                              reference, token);

    ck_assert_int_eq(pay_json_parse(&json, &reason, text, strlen(text), unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(pay_charge_request_from_json(&request, json, "NGN", unit_pool));
    return request;
}

static inline void shop_check_problem(const char *name, const pay_problem_t *problem, int status,
                                      const char *code)
{
    ck_assert_msg(problem != NULL, "%s: no problem", name);
    ck_assert_msg(problem->status == status && !strcmp(problem->code, code), "%s: %d %s, not %d %s",
                  name, problem->status, problem->code, status, code);
}

/* The fields at fault, one after the other. */
static inline const char *shop_fields(const pay_problem_t *problem)
{
    const char *text = "";
    int i;

    for (i = 0; problem && problem->fields && i < problem->fields->nelts; i++) {
        text = apr_pstrcat(unit_pool, text,
                           APR_ARRAY_IDX(problem->fields, i, pay_field_error_t).field, NULL);
    }
    return text;
}

#endif
