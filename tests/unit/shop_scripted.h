/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOP_SCRIPTED_H
#define SHOP_SCRIPTED_H

/* The common part of the tests of charges: a shop whose acquirer is the script, and its key. */

#include "service/charge/charges.h"
#include "shop.h"

static shop_t *shop;
static pay_api_key_t *key;

static const pay_outcome_t approved = {.kind = PAY_OUTCOME_APPROVED,
                                       .code = "00",
                                       .message = "Approved",
                                       .authorization_code = "A1B2C3"};

/* A shop in whose Test Mode the script decides. */
static inline void set_up_scripted(void)
{
    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = &script_acquirer;
    key = shop_key(shop, PAY_TEST);
    memset(&script, 0, sizeof(script));
    script.outcome = approved;
}

static inline const pay_problem_t *create(pay_charge_t **out, int *replayed,
                                          const pay_charge_request_t *request)
{
    const pay_caller_t caller = pay_caller_of_key(key, NULL);

    return pay_charge_create(out, replayed, &shop->service, &caller, request, "192.0.2.1",
                             unit_pool);
}

static inline void check_unknown(const char *name, const char *reference)
{
    pay_charge_t *charge;

    ck_assert_msg(STORE_REAL(charge_find)(&charge, shop->store, &key->scope, reference, unit_pool)
                      == APR_NOTFOUND,
                  "%s: the reference is taken", name);
}

#endif
