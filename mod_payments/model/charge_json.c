/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "model/checkout.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

#define CUSTOMER_CODE_BYTES 8

/* The envelope of an answer by the decided state; a NULL message is the acquirer's. */
static const struct {
    int status;
    const char *message;
} answers[] = {
    [PAY_CHARGE_PENDING] = {1, "Charge pending"},
    [PAY_CHARGE_SUCCESSFUL] = {1, "Charge successful"},
    [PAY_CHARGE_FAILED] = {0, NULL},
    [PAY_CHARGE_REVERSED] = {0, "Charge reversed"},
    [PAY_CHARGE_VOID] = {0, "Charge void"},
    [PAY_CHARGE_ABANDONED] = {0, "Charge abandoned"},
};
_Static_assert(sizeof(answers) / sizeof(answers[0]) == PAY_CHARGE_STATE_COUNT, "one row a state");

/* Strings that do not apply are empty, never null: clients break on null. */
static void text(pay_writer_t *w, const char *name, const char *value)
{
    pay_writer_string(w, name, value ? value : "");
}

static const char *full_name(const pay_charge_t *charge, apr_pool_t *p)
{
    const char *first = charge->first_name ? charge->first_name : "";
    const char *last = charge->last_name ? charge->last_name : "";

    return apr_pstrcat(p, first, *first && *last ? " " : "", last, NULL);
}

/*
 * Payers have no table of their own: number and code follow from account, mode and e-mail, so they
 * are the same for every charge of one payer. The number fits 31 bits, because typed clients read
 * it into an int; only the code identifies the payer.
 */
static void customer_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view)
{
    unsigned char digest[PAY_SHA256_LEN];
    const char *source;
    apr_int64_t id;
    apr_status_t rv = APR_EGENERAL;

    if (view == PAY_VIEW_SECRET && *charge->email) { /* nobody's once the payer was erased */
        source = apr_psprintf(w->pool, "%u %s %s", charge->scope.account,
                              pay_mode_name(charge->scope.mode), charge->email);
        rv = pay_sha256(digest, source, strlen(source));
    }
    pay_writer_object_open(w, "customer");
    if (rv == APR_SUCCESS) {
        const unsigned char *tail = digest + CUSTOMER_CODE_BYTES;

        id = (apr_int64_t)(tail[0] & 0x7f) << 24 | tail[1] << 16 | tail[2] << 8 | tail[3];
        pay_writer_integer(w, "id", id ? id : 1);
        pay_writer_string(
            w, "customerCode",
            apr_pstrcat(w->pool, "CUS_", pay_hex(digest, CUSTOMER_CODE_BYTES, w->pool), NULL));
    } else {
        pay_writer_integer(w, "id", 0);
        pay_writer_string(w, "customerCode", "");
    }
    text(w, "email", view == PAY_VIEW_SECRET ? charge->email : "");
    text(w, "name", view == PAY_VIEW_SECRET ? full_name(charge, w->pool) : "");
    pay_writer_object_close(w);
}

static void card_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view)
{
    pay_writer_object_open(w, "card");
    pay_writer_string(w, "first6Digits", charge->card.first6);
    pay_writer_string(w, "last4Digits", charge->card.last4);
    text(w, "issuer", charge->card.issuer);
    text(w, "country", charge->card.country);
    text(w, "type", charge->card.type);
    text(w, "token", view == PAY_VIEW_SECRET ? charge->token : "");
    pay_writer_object_close(w);
}

/* Of a transfer only the account of Test Mode that it came from is known. */
static void transfer_to_json(pay_writer_t *w, const pay_charge_t *charge)
{
    static const struct {
        const char *name;
        const char *test_value;
    } members[] = {{"bankCode", PAY_TEST_BANK_CODE},
                   {"bankName", PAY_TEST_BANK_NAME},
                   {"accountNumber", PAY_TEST_BANK_ACCOUNT},
                   {"sessionId", ""},
                   {"creditAccountName", ""},
                   {"originatorName", ""},
                   {"originatorAccountNumber", ""}};
    const int known =
        charge->channel == PAY_CHANNEL_BANK_TRANSFER && charge->scope.mode == PAY_TEST;
    apr_size_t i;

    pay_writer_object_open(w, "transferDetail");
    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        pay_writer_string(w, members[i].name, known ? members[i].test_value : "");
    }
    pay_writer_object_close(w);
}

/*
 * Shops compare requested_amount with their order's total, also after a status that they do not
 * know or ignore by mistake: it is the amount only while the shop has the money. Form 1 always had
 * the amount.
 */
static apr_int64_t requested_minor(const pay_charge_t *charge, int form)
{
    const int told = form == 1 || charge->state == PAY_CHARGE_SUCCESSFUL;

    return told ? charge->money.amount_minor : 0;
}

static void amounts_to_json(pay_writer_t *w, const pay_charge_t *charge, int form)
{
    const pay_money_t *money = &charge->money;
    int taken = charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED;

    pay_writer_amount(w, "amount", money->amount_minor, money->currency);
    pay_writer_amount(w, "chargedAmount", taken ? money->amount_minor : 0, money->currency);
    pay_writer_amount(w, "transactionFee", charge->fee_minor, money->currency);
    pay_writer_amount(w, "requested_amount", requested_minor(charge, form), money->currency);
    pay_writer_amount(w, "refundedAmount", pay_charge_refunded_minor(charge), money->currency);
    pay_writer_amount(w, "refundsPendingAmount", charge->refunds_pending_minor, money->currency);
    pay_writer_string(w, "currency", money->currency);
}

static void members_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view, int form)
{
    const pay_checkout_t *checkout = charge->checkout;
    int secret = view == PAY_VIEW_SECRET;

    pay_writer_integer(w, "id", (apr_int64_t)charge->seq);
    pay_writer_string(w, "transactionReference", charge->reference);
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_string(w, "status", pay_charge_status_name(charge->state));
    pay_writer_string(w, "paymentStatus", pay_charge_state_name(charge->state));
    amounts_to_json(w, charge, form);
    pay_writer_string(w, "domain", pay_mode_name(charge->scope.mode));
    pay_writer_string(w, "channel", pay_channel_name(charge->channel));
    text(w, "gatewayResponseCode", charge->code);
    text(w, "gatewayResponseMessage", charge->message);
    text(w, "authorizationCode", secret ? charge->authorization_code : "");
    text(w, "authCode", secret ? charge->authorization_code : "");
    text(w, "requestIp", secret ? charge->request_ip : "");
    pay_writer_string(w, "paymentDescriptor", "");
    pay_writer_string(w, "transactionType", "");
    text(w, "redirectUrl", checkout ? checkout->redirect_url : "");
    text(w, "checkoutMetadata", checkout && secret ? checkout->metadata : "");
    card_to_json(w, charge, view);
    customer_to_json(w, charge, view);
    transfer_to_json(w, charge);
    pay_writer_time(w, "createdAt", charge->created_at);
    pay_writer_time(w, "updatedAt", charge->updated_at);
}

void pay_charge_members_to_json(pay_writer_t *w, const pay_charge_t *charge, pay_view_t view)
{
    members_to_json(w, charge, view, PAY_CHARGE_ANSWER_VERSION);
}

void pay_charge_to_json(pay_writer_t *w, const char *name, const pay_charge_t *charge,
                        pay_view_t view)
{
    pay_writer_object_open(w, name);
    pay_charge_members_to_json(w, charge, view);
    pay_writer_object_close(w);
}

/*
 * An undecided charge is in the present form: no outcome was reported yet. A decision keeps the
 * form in which it was first reported; the golden bytes of the unit test fix each form.
 */
static int form_of(const pay_charge_t *charge)
{
    _Static_assert(PAY_CHARGE_ANSWER_VERSION == 2, "a new form stands beside the old ones");
    return charge->state != PAY_CHARGE_PENDING && charge->answer_version == 1
               ? 1
               : PAY_CHARGE_ANSWER_VERSION;
}

void pay_charge_answer_to_json(pay_writer_t *w, const pay_charge_t *charge)
{
    pay_charge_t then = *charge;
    const char *message;

    /* As it was when decided: later refunds and queries are not part of the answer. */
    then.state = charge->decided_state;
    if ((unsigned int)then.state >= PAY_CHARGE_STATE_COUNT) {
        then.state = PAY_CHARGE_PENDING; /* a damaged row promises nothing */
    }
    then.updated_at =
        charge->decided_state == PAY_CHARGE_PENDING ? charge->created_at : charge->decided_at;
    then.refunded_minor = then.state == PAY_CHARGE_REVERSED ? then.money.amount_minor : 0;
    then.refunds_pending_minor = 0;
    then.refunded_there_minor = 0;
    then.spent = 0;

    message = answers[then.state].message;
    if (!message) {
        message = then.message && *then.message ? then.message : "Charge failed";
    }
    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", answers[then.state].status);
    pay_writer_string(w, "message", message);
    pay_writer_object_open(w, "data");
    members_to_json(w, &then, PAY_VIEW_SECRET, form_of(&then));
    pay_writer_object_close(w);
    pay_writer_object_close(w);
}
