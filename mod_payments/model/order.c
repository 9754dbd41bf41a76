/* SPDX-License-Identifier: Apache-2.0 */
#include "model/order.h"

#include "base/text/writer.h"
#include "model/checkout_answer.h"
#include "model/form.h"

/* The numbers are those that clients compare with. */
typedef struct state_t {
    const char *word;
    int id;
    int is_final;
} state_t;

static const state_t states[] = {
    [PAY_CHARGE_PENDING] = {"Pending", 1, 0}, [PAY_CHARGE_SUCCESSFUL] = {"Successful", 5, 1},
    [PAY_CHARGE_FAILED] = {"Failed", 4, 1},   [PAY_CHARGE_REVERSED] = {"Failed", 4, 1},
    [PAY_CHARGE_VOID] = {"Failed", 4, 1},     [PAY_CHARGE_ABANDONED] = {"Failed", 4, 1},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == PAY_CHARGE_STATE_COUNT, "one row a state");

static void text(pay_writer_t *w, const char *name, const char *value)
{
    pay_writer_string(w, name, value ? value : "");
}

static void nulls(pay_writer_t *w, const char *const *names, apr_size_t count)
{
    apr_size_t i;

    for (i = 0; i < count; i++) {
        pay_writer_null(w, names[i]);
    }
}

static void envelope_open(pay_writer_t *w, int is_good, const char *message)
{
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "status", is_good ? "success" : "failed");
    pay_writer_string(w, "status_code", is_good ? "00" : "02");
    pay_writer_string(w, "statusCode", is_good ? "00" : "02");
    pay_writer_string(w, "message", message);
    pay_writer_object_open(w, "data");
}

static void envelope_close(pay_writer_t *w)
{
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}

static const char *description(const pay_charge_t *charge)
{
    return charge->checkout ? charge->checkout->description : "";
}

static void customer_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view)
{
    const int secret = view == PAY_VIEW_SECRET;

    pay_writer_object_open(w, "customer");
    text(w, "email", secret ? charge->email : "");
    text(w, "firstName", secret ? charge->first_name : "");
    text(w, "lastName", secret ? charge->last_name : "");
    text(w, "mobile", secret && charge->checkout ? charge->checkout->phone : "");
    pay_writer_string(w, "country", "");
    pay_writer_object_close(w);
}

/* Opens the object of an order; `status` is the word that its operation uses. */
static void order_open(pay_writer_t *w, const pay_charge_t *charge, const char *status, int id)
{
    pay_writer_object_open(w, "order");
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_string(w, "processorReference", "");
    pay_writer_null(w, "orderPaymentReference");
    pay_writer_amount(w, "amount", charge->money.amount_minor, charge->money.currency);
    pay_writer_integer(w, "fee", 0);
    pay_writer_integer(w, "feeRate", 0);
    pay_writer_integer(w, "statusId", id);
    pay_writer_string(w, "status", status);
    pay_writer_string(w, "currency", charge->money.currency);
    text(w, "narration", description(charge));
    text(w, "description", description(charge));
    pay_writer_time(w, "createdAt", charge->created_at);
}

/* ---- order/create */

static void shop_to_json(pay_writer_t *w, const pay_account_t *account)
{
    const char *name = account->settings.shop_name;

    pay_writer_object_open(w, "subsidiary");
    pay_writer_integer(w, "id", account->number);
    pay_writer_string(w, "name", *name ? name : account->name);
    pay_writer_string(w, "country", "");
    pay_writer_string(w, "supportEmail", "");
    pay_writer_array_open(w, "customization");
    pay_writer_array_close(w);
    pay_writer_object_close(w);
}

/* Nothing of a payment is known before the payer is on the hosted page. */
static void payment_to_json(pay_writer_t *w)
{
    static const char *const unknown[] = {"code", "selectedOption", "accountNumber",
                                          "bankProviderName"};

    pay_writer_object_open(w, "payment");
    pay_writer_string(w, "source", "");
    nulls(w, unknown, sizeof(unknown) / sizeof(unknown[0]));
    pay_writer_object_close(w);
}

static void summary_to_json(pay_writer_t *w, const pay_charge_t *charge)
{
    pay_writer_object_open(w, "subsidiaryOrderSummary");
    text(w, "orderName", description(charge));
    pay_writer_amount(w, "totalAmount", charge->money.amount_minor, charge->money.currency);
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_string(w, "currency", charge->money.currency);
    pay_writer_array_open(w, "orderItems");
    pay_writer_array_close(w);
    pay_writer_object_close(w);
}

/* Clients look for the page under several names. */
static void page_to_json(pay_writer_t *w, const char *page_url)
{
    static const char *const names[] = {"checkout_url", "checkoutUrl", "paymentUrl", "redirect_url",
                                        "paymentLink"};
    apr_size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pay_writer_string(w, names[i], page_url);
    }
}

void pay_order_created_to_json(pay_writer_t *w, const pay_charge_t *charge,
                               const pay_account_t *account, const char *page_url, pay_view_t view)
{
    const int open = pay_checkout_was_opened(charge);
    const state_t *state = &states[open ? PAY_CHARGE_PENDING : PAY_CHARGE_FAILED];

    envelope_open(w, open, open ? "Order created successfully" : PAY_CHECKOUT_UNOPENED);
    order_open(w, charge, open ? "pending" : "failed", state->id);
    pay_writer_string(w, "paymentLink", page_url);
    pay_writer_object_close(w);
    shop_to_json(w, account);
    customer_to_json(w, charge, view);
    payment_to_json(w);
    pay_writer_array_open(w, "otherPaymentOptions");
    pay_writer_array_close(w);
    pay_writer_array_open(w, "savedCards");
    pay_writer_array_close(w);
    summary_to_json(w, charge);
    page_to_json(w, page_url);
    envelope_close(w);
}

/* ---- order/fee */

void pay_order_fee_to_json(pay_writer_t *w, const pay_fee_request_t *request, apr_int64_t fee_minor)
{
    const pay_money_t *money = &request->money;

    envelope_open(w, 1, "Fee computed successfully");
    pay_writer_amount(w, "amount", money->amount_minor, money->currency);
    pay_writer_amount(w, "fee", fee_minor, money->currency);
    pay_writer_string(w, "currency", money->currency);
    pay_writer_string(w, "paymentType", pay_channel_name(request->channel));
    envelope_close(w);
}

/* ---- order/verify and order/status */

const struct pay_problem_t *
pay_order_reference_from_json(const char **out, const struct pay_json_t *body, apr_pool_t *p)
{
    pay_form_t form = {body, NULL, p, NULL};

    *out = pay_form_reference(&form, "reference");
    return form.problem;
}

static apr_int64_t charged_minor(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_SUCCESSFUL ? charge->money.amount_minor : 0;
}

static void order_summary_to_json(pay_writer_t *w, const pay_charge_t *charge, const state_t *state)
{
    pay_writer_object_open(w, "orderSummary");
    pay_writer_integer(w, "id", (apr_int64_t)charge->seq);
    pay_writer_string(w, "paymentReference", charge->reference);
    pay_writer_string(w, "orderReference", charge->reference);
    pay_writer_amount(w, "totalChargedAmount", charged_minor(charge), charge->money.currency);
    pay_writer_integer(w, "fee", 0);
    pay_writer_integer(w, "statusId", state->id);
    pay_writer_string(w, "status", state->word);
    pay_writer_string(w, "paymentType", pay_channel_name(charge->channel));
    pay_writer_integer(w, "currencyId", 0);
    text(w, "paymentResponseCode", charge->code);
    text(w, "paymentResponseMessage", charge->message);
    pay_writer_null(w, "providerResponseDate");
    if (state->id == states[PAY_CHARGE_SUCCESSFUL].id) {
        pay_writer_time(w, "datePaymentConfirmed", charge->decided_at);
    } else {
        pay_writer_null(w, "datePaymentConfirmed");
    }
    pay_writer_time(w, "dateCreated", charge->created_at);
    text(w, "narration", description(charge));
    pay_writer_string(w, "remarks", "");
    pay_writer_object_close(w);
}

void pay_order_state_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view)
{
    const state_t *state = &states[charge->state];
    const char *currency = charge->money.currency;

    envelope_open(w, 1, "Order retrieved successfully");
    pay_writer_string(w, "status", state->word);
    pay_writer_integer(w, "statusId", state->id);
    pay_writer_amount(w, "totalAmountCharged", charged_minor(charge), currency);
    pay_writer_amount(w, "orderAmount", charge->money.amount_minor, currency);
    pay_writer_integer(w, "fee", 0);
    pay_writer_string(w, "currencyName", currency);
    pay_writer_string(w, "paymentReference", charge->reference);
    pay_writer_string(w, "orderReference", charge->reference);
    pay_writer_bool(w, "isFinalStatus", state->is_final);
    pay_writer_bool(w, "requeryNeeded", !state->is_final);
    pay_writer_null(w, "requeryType");
    order_open(w, charge, state->word, state->id);
    pay_writer_object_close(w);
    customer_to_json(w, charge, view);
    order_summary_to_json(w, charge, state);
    pay_writer_array_open(w, "orderPayments");
    pay_writer_array_close(w);
    envelope_close(w);
}
