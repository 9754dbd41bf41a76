/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOP_CHARGE_H
#define SHOP_CHARGE_H

/* Charges that a test puts into the shop's store itself, without a request. */

#include "checkout_goods.h"
#include "shop.h"

/* A charge of 10.50 NGN through the scripted acquirer, whose name for it is `there` (""), put into
 * the store as pending. */
static inline pay_charge_t *shop_charge_begin(shop_t *shop, const pay_scope_t *scope,
                                              const char *reference, const char *there,
                                              pay_charge_kind_t kind)
{
    const pay_charge_t proposal = {
        .scope = *scope,
        .kind = kind,
        .reference = reference,
        .token = "tok_1",
        .card = {"555555", "4444", "Mastercard", "NG", "debit"},
        .money = {1050, "NGN"},
        .email = "payer@shop.example",
        .first_name = "Ada",
        .last_name = "Obi",
        .request_ip = "192.0.2.1",
        .acquirer = "scripted",
        .acquirer_reference = there,
        .key_id = "key_1",
        .due_at = pay_time_now() + apr_time_from_sec(60),
        .answer_version = PAY_CHARGE_ANSWER_VERSION,
        .code = "",
        .message = "",
        .authorization_code = "",
        .contradiction = "",
        .checkout = kind == PAY_CHARGE_CHECKOUT
                        ? checkout_make(pay_time_now() + apr_time_from_sec(60), unit_pool)
                        : NULL};
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(
        STORE_REAL(charge_open)(&charge, &claim, shop->store, &proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

static inline pay_charge_t *shop_charge_open(shop_t *shop, const pay_scope_t *scope,
                                             const char *reference, pay_charge_kind_t kind)
{
    return shop_charge_begin(shop, scope, reference, "", kind);
}

/* Like shop_charge_begin, approved. */
static inline pay_charge_t *shop_charge_named(shop_t *shop, const pay_scope_t *scope,
                                              const char *reference, const char *there)
{
    static const pay_outcome_t approved = {.kind = PAY_OUTCOME_APPROVED,
                                           .code = "00",
                                           .message = "Approved",
                                           .authorization_code = "A1B2C3"};
    pay_charge_t *charge = shop_charge_begin(shop, scope, reference, there, PAY_CHARGE_TOKENIZED);
    int changed;

    ck_assert_int_eq(STORE_REAL(charge_resolve)(&charge, &changed, shop->store, scope, charge->seq,
                                                &approved, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    return charge;
}

static inline pay_charge_t *shop_charge(shop_t *shop, const pay_scope_t *scope,
                                        const char *reference)
{
    return shop_charge_named(shop, scope, reference, "");
}

#endif
