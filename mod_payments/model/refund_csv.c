/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"
#include "model/refund.h"

const char *const pay_refund_csv_titles[] = {"id",
                                             "refundReference",
                                             "amount",
                                             "currency",
                                             "domain",
                                             "channel",
                                             "merchantNote",
                                             "customerNote",
                                             "status",
                                             "transactionReference",
                                             "createdAt",
                                             "updatedAt",
                                             NULL};

void pay_refund_to_csv(pay_csv_t *csv, const pay_refund_t *refund)
{
    const pay_money_t *money = &refund->money;

    pay_csv_text(csv, refund->id);
    pay_csv_text(csv, refund->refund_reference);
    if (money->amount_minor) { /* history may have left it out */
        pay_csv_amount(csv, money->amount_minor, money->currency);
    } else {
        pay_csv_text(csv, NULL);
    }
    pay_csv_text(csv, money->currency);
    pay_csv_text(csv, pay_mode_name(refund->scope.mode));
    pay_csv_text(csv, refund->channel);
    pay_csv_text(csv, refund->merchant_note);
    pay_csv_text(csv, refund->customer_note);
    pay_csv_text(csv, pay_refund_state_name(refund->state));
    pay_csv_text(csv, refund->transaction_reference);
    pay_csv_time(csv, refund->created_at);
    pay_csv_time(csv, refund->updated_at);
}
