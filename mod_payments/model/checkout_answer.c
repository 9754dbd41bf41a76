/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkout_answer.h"

#include "base/text/writer.h"

int pay_checkout_was_opened(const pay_charge_t *charge)
{
    return charge->scope.mode != PAY_LIVE || !charge->checkout || *charge->checkout->acquirer_url
           || (charge->state != PAY_CHARGE_PENDING && charge->state != PAY_CHARGE_FAILED);
}

void pay_checkout_answer_to_json(pay_writer_t *w, const pay_charge_t *charge, const char *page_url,
                                 const char *public_key)
{
    const int open = pay_checkout_was_opened(charge);

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
