/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pay_checkout_answer.h"

#include "base/pay_writer.h"

/*
 * Live, one that the acquirer opened no page for has failed at once: nobody can ever pay it. One of
 * another state had a page, also where that was blanked since, with what is known of its payer.
 */
static int is_open(const pay_charge_t *charge)
{
    return charge->scope.mode != PAY_LIVE || !charge->checkout || *charge->checkout->acquirer_url
           || (charge->state != PAY_CHARGE_PENDING && charge->state != PAY_CHARGE_FAILED);
}

void pay_checkout_answer_to_json(pay_writer_t *w, const pay_charge_t *charge, const char *page_url,
                                 const char *public_key)
{
    const int open = is_open(charge);

    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", open);
    pay_writer_string(w, "message",
                      open ? "Transaction Initialized successfully" : PAY_CHECKOUT_UNOPENED);
    pay_writer_object_open(w, "data");
    pay_writer_string(w, "transactionReference", charge->reference);
    pay_writer_amount(w, "amount", charge->money.amount_minor, charge->money.currency);
    pay_writer_string(w, "statusCode", open ? "01" : "02");
    pay_writer_string(w, "statusMessage", open ? "Transaction Initialized" : PAY_CHECKOUT_UNOPENED);
    pay_writer_string(w, "publicKey", public_key);
    pay_writer_string(w, "paymentRedirectUrl", page_url);
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}

void pay_checkout_order_answer_to_json(pay_writer_t *w, const pay_charge_t *charge,
                                       const char *page_url)
{
    const int open = is_open(charge);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "status", open ? "success" : "failed");
    pay_writer_string(w, "status_code", open ? "00" : "02");
    pay_writer_string(w, "statusCode", open ? "00" : "02");
    pay_writer_string(w, "message", open ? "Order created successfully" : PAY_CHECKOUT_UNOPENED);
    pay_writer_object_open(w, "data");
    pay_writer_object_open(w, "order");
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_amount(w, "amount", charge->money.amount_minor, charge->money.currency);
    pay_writer_string(w, "currency", charge->money.currency);
    pay_writer_string(w, "status", open ? "pending" : "failed");
    pay_writer_string(w, "description", charge->checkout ? charge->checkout->description : "");
    pay_writer_time(w, "createdAt", charge->created_at);
    pay_writer_object_close(w);
    pay_writer_object_open(w, "payment");
    pay_writer_object_close(w);
    pay_writer_string(w, "checkout_url", page_url);
    pay_writer_string(w, "paymentLink", page_url);
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}
