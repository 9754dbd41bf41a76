/* SPDX-License-Identifier: Apache-2.0 */
#include "model/transaction.h"

#include "base/problem.h"
#include "base/text/writer.h"
#include "model/card.h"
#include "model/form.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define TRANSACTION_TYPE_MAX 100 /* characters */

/* Nothing is judged by it, but it distinguishes one request from another. */
static const char *read_transaction_type(pay_form_t *form)
{
    const char *text = pay_form_string(form, "transactionType");

    if (text && pay_text_length(text) > TRANSACTION_TYPE_MAX) {
        pay_form_fault(form, "transactionType",
                       "must be at most " APR_STRINGIFY(TRANSACTION_TYPE_MAX) " characters");
    } else if (text && pay_card_number_is(text)) {
        pay_form_fault(form, "transactionType", "must not be a card number");
    }
    return text;
}

const pay_problem_t *pay_verify_request_from_json(pay_verify_request_t **out,
                                                  const struct pay_json_t *body, apr_pool_t *p)
{
    pay_verify_request_t *request = apr_pcalloc(p, sizeof(*request));
    pay_form_t form = {body, NULL, p, NULL};

    *out = NULL;
    request->reference = pay_form_reference(&form, "transactionReference");
    request->amount = pay_form_amount(&form, "amount");
    request->transaction_type = read_transaction_type(&form);
    if (form.problem) {
        return form.problem;
    }
    *out = request;
    return NULL;
}

const pay_problem_t *pay_void_reference_from_json(const char **out, const struct pay_json_t *body,
                                                  apr_pool_t *p)
{
    pay_form_t form = {body, NULL, p, NULL};

    *out = pay_form_reference(&form, "transactionReference");
    return form.problem;
}

/*
 * With a public key the references are withheld, and the list is complete only if it is empty:
 * refundsComplete never claims that nothing was refunded if something was.
 */
static void refunds_to_json(pay_writer_t *w, const pay_transaction_t *transaction, pay_view_t view)
{
    int count = transaction->refunds ? transaction->refunds->nelts : 0;
    int shown = view == PAY_VIEW_SECRET ? count : 0;
    int i;

    pay_writer_array_open(w, "refunds");
    for (i = 0; i < shown; i++) {
        pay_writer_string(w, NULL, APR_ARRAY_IDX(transaction->refunds, i, const char *));
    }
    pay_writer_array_close(w);
    pay_writer_bool(w, "refundsComplete", transaction->refunds_complete && shown == count);
}

void pay_transaction_to_json(pay_writer_t *w, const char *name,
                             const pay_transaction_t *transaction, pay_view_t view)
{
    pay_writer_object_open(w, name);
    pay_charge_members_to_json(w, transaction->charge, view);
    refunds_to_json(w, transaction, view);
    pay_writer_object_close(w);
}

/* Opens an envelope and its data. */
static void envelope_open(pay_writer_t *w, const char *message,
                          const pay_transaction_t *transaction, pay_view_t view)
{
    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", 1);
    pay_writer_string(w, "message", message);
    pay_writer_object_open(w, "data");
    pay_charge_members_to_json(w, transaction->charge, view);
    refunds_to_json(w, transaction, view);
}

/* A client counts its entries after a decline, and breaks if there is nothing to count. */
static void log_to_json(pay_writer_t *w)
{
    pay_writer_object_open(w, "log");
    pay_writer_array_open(w, "history");
    pay_writer_array_close(w);
    pay_writer_object_close(w);
}

void pay_verify_answer_to_json(pay_writer_t *w, const pay_transaction_t *transaction,
                               pay_view_t view, const char *page_url)
{
    envelope_open(w, "Transaction details retrieved successfully", transaction, view);
    if (page_url) {
        pay_writer_string(w, "paymentRedirectUrl", page_url);
        pay_writer_string(w, "paymentMethod", pay_channel_name(transaction->charge->channel));
    }
    pay_writer_object_close(w);
    log_to_json(w);
    pay_writer_object_close(w);
}

void pay_void_answer_to_json(pay_writer_t *w, const pay_charge_t *charge)
{
    pay_charge_t now = *charge;
    const pay_transaction_t transaction = {&now, NULL, 1};

    envelope_open(w, "Transaction voided successfully", &transaction, PAY_VIEW_SECRET);
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}
