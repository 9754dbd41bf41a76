/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fee_request.h"

#include "base/problem.h"
#include "base/text/writer.h"
#include "model/form.h"

#include <string.h>
#include <strings.h>

/* The clients' names for the channels, in any case. */
static const struct {
    const char *word;
    pay_channel_t channel;
} words[] = {
    {"card", PAY_CHANNEL_CARD},
    {"c", PAY_CHANNEL_CARD},
    {"bank_transfer", PAY_CHANNEL_BANK_TRANSFER},
    {"bank-transfer", PAY_CHANNEL_BANK_TRANSFER},
    {"banktransfer", PAY_CHANNEL_BANK_TRANSFER},
    {"transfer", PAY_CHANNEL_BANK_TRANSFER},
};

/* The members that may name the channel; the first that is given counts. */
static const char *const members[] = {"channel", "paymentOption", "paymentoption"};

static void read_channel(pay_fee_request_t *request, pay_form_t *form)
{
    const char *name = NULL, *text;
    apr_size_t i;

    request->channel = PAY_CHANNEL_CARD;
    for (i = 0; i < sizeof(members) / sizeof(members[0]) && !name; i++) {
        name = pay_form_is_given(form, members[i]) ? members[i] : NULL;
    }
    text = name ? pay_form_string(form, name) : NULL;
    if (!text) {
        return;
    }
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(words[i].word, text) == 0) {
            request->channel = words[i].channel;
            return;
        }
    }
    pay_form_fault(form, name, "must be card or bank_transfer");
}

const pay_problem_t *pay_fee_request_from_json(pay_fee_request_t *out,
                                               const struct pay_json_t *body,
                                               const char *default_currency, apr_pool_t *p)
{
    pay_form_t form = {body, NULL, p, NULL};

    memset(out, 0, sizeof(*out));
    (void)pay_form_money(&out->money, &form, default_currency);
    read_channel(out, &form);
    return form.problem;
}

void pay_fee_to_json(pay_writer_t *w, const pay_fee_request_t *request, apr_int64_t fee_minor)
{
    const pay_money_t *money = &request->money;

    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", 1);
    pay_writer_string(w, "message", "Successful");
    pay_writer_object_open(w, "data");
    pay_writer_amount(w, "amount", money->amount_minor, money->currency);
    pay_writer_amount(w, "transactionFee", fee_minor, money->currency);
    pay_writer_amount(w, "fee", fee_minor, money->currency);
    pay_writer_string(w, "currency", money->currency);
    pay_writer_string(w, "channel", pay_channel_name(request->channel));
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}
