/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"
#include "model/charge.h"

const char *const pay_charge_csv_titles[] = {"id",
                                             "reference",
                                             "status",
                                             "amount",
                                             "currency",
                                             "refundedAmount",
                                             "refundsPendingAmount",
                                             "last4Digits",
                                             "email",
                                             "createdAt",
                                             "updatedAt",
                                             "gatewayResponseCode",
                                             "gatewayResponseMessage",
                                             "authorizationCode",
                                             "keyId",
                                             "paymentStatus",
                                             "transactionFee",
                                             NULL};

void pay_charge_to_csv(pay_csv_t *csv, const pay_charge_t *charge)
{
    const char *currency = charge->money.currency;

    pay_csv_number(csv, charge->seq);
    pay_csv_text(csv, charge->reference);
    pay_csv_text(csv, pay_charge_status_name(charge->state));
    pay_csv_amount(csv, charge->money.amount_minor, currency);
    pay_csv_text(csv, currency);
    pay_csv_amount(csv, pay_charge_refunded_minor(charge), currency);
    pay_csv_amount(csv, charge->refunds_pending_minor, currency);
    pay_csv_text(csv, charge->card.last4);
    pay_csv_text(csv, charge->email);
    pay_csv_time(csv, charge->created_at);
    pay_csv_time(csv, charge->updated_at);
    pay_csv_text(csv, charge->code);
    pay_csv_text(csv, charge->message);
    pay_csv_text(csv, charge->authorization_code);
    pay_csv_text(csv, charge->key_id);
    pay_csv_text(csv, pay_charge_state_name(charge->state));
    pay_csv_amount(csv, charge->fee_minor, currency);
}
