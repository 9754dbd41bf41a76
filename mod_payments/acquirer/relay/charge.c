/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/answer.h"
#include "base/net/url.h"

#include <apr_strings.h>
#include <string.h>

#define CHARGE_PATH "/api/v1/tokenized-card-charge"
#define CHECKOUT_PATH "/api/v1/initiate"
#define BODY_SIZE 1024

/* The largest difference of two clocks: an older record existed before we sent ours. */
#define OLDER_MAX apr_time_from_sec(5 * 60)

/* ---- records of a charge */

/* Both names mean the same; one of them must be ours. */
static pay_relay_match_t match_reference(const pay_json_t *data, const char *reference)
{
    pay_relay_match_t plain = pay_relay_match_text(data, "reference", reference);
    pay_relay_match_t full = pay_relay_match_text(data, "transactionReference", reference);

    if (plain == PAY_RELAY_SAME || full == PAY_RELAY_SAME) {
        return PAY_RELAY_SAME;
    }
    return pay_relay_match_both(plain, full);
}

static pay_relay_match_t match_charge(const pay_json_t *data, const pay_relay_t *relay,
                                      const payments_charge_t *charge)
{
    return pay_relay_match_both(
        pay_relay_match_both(match_reference(data, charge->reference),
                             pay_relay_match_text(data, "domain", pay_mode_name(relay->mode))),
        pay_relay_match_money(data, charge->amount_minor, charge->currency));
}

/* `opened_at` by the upstream's clock. */
static pay_relay_match_t match_age(const pay_json_t *data, apr_time_t opened_at)
{
    apr_time_t created_at;
    apr_status_t rv;

    rv = pay_time_parse(&created_at, pay_relay_text(data, "createdAt"));
    if (rv != APR_SUCCESS) {
        return PAY_RELAY_UNCLEAR;
    }
    return created_at < opened_at - OLDER_MAX ? PAY_RELAY_OTHER : PAY_RELAY_SAME;
}

static const struct {
    const char *status;
    payments_verdict_t verdict;
    int spent;
} statuses[] = {
    {"successful", PAYMENTS_APPROVED, 0},
    {"reversed", PAYMENTS_APPROVED, 1},
    {"failed", PAYMENTS_DECLINED, 0},
    {"pending", PAYMENTS_PENDING, 0},
    /* A checkout that is not paid yet: it may still be paid. */
    {"void", PAYMENTS_PENDING, 0},
    {"abandoned", PAYMENTS_PENDING, 0},
};

static void status_take(payments_answer_t *out, const pay_json_t *data)
{
    const char *status = pay_relay_text(data, "paymentStatus");
    apr_size_t i;

    if (!*status) {
        status = pay_relay_text(data, "status");
    }
    for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (strcmp(statuses[i].status, status) == 0) {
            out->verdict = statuses[i].verdict;
            out->spent = statuses[i].spent;
        }
    }
}

static void details_take(payments_answer_t *out, const pay_json_t *data, apr_pool_t *p)
{
    const pay_json_t *card = pay_json_object(data, "card", p);

    out->code = pay_relay_text(data, "gatewayResponseCode");
    out->message = pay_relay_text(data, "gatewayResponseMessage");
    out->authorization_code = pay_relay_text(data, "authorizationCode");
    if (!*out->authorization_code) {
        out->authorization_code = pay_relay_text(data, "authCode");
    }
    out->card_first6 = pay_relay_text(card, "first6Digits");
    out->card_last4 = pay_relay_text(card, "last4Digits");
    out->card_issuer = pay_relay_text(card, "issuer");
    out->card_country = pay_relay_text(card, "country");
    out->card_type = pay_relay_text(card, "type");
    out->card_token = pay_relay_text(card, "token");
}

/* Reads an envelope with a transaction; a contradictory one leaves the verdict unknown. */
static void transaction_take(payments_answer_t *out, const pay_relay_answer_t *answer,
                             const char *currency, pay_relay_match_t match, apr_pool_t *p)
{
    status_take(out, answer->data);
    if (out->verdict != PAYMENTS_UNKNOWN && match != PAY_RELAY_SAME) {
        out->verdict = match == PAY_RELAY_OTHER ? PAYMENTS_DIFFERENT : PAYMENTS_UNKNOWN;
        out->spent = 0;
        return;
    }
    if (out->verdict == PAYMENTS_APPROVED) {
        out->refunded_minor = pay_relay_amount(answer->data, "refundedAmount", currency);
    }
    details_take(out, answer->data, p);
}

/* ---- charge */

static void optional(pay_writer_t *w, const char *name, const char *text)
{
    if (text && *text) {
        pay_writer_string(w, name, text);
    }
}

static pay_writer_t *charge_body(const payments_charge_t *charge, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(BODY_SIZE, p);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "token", charge->token);
    pay_writer_amount(w, "amount", charge->amount_minor, charge->currency);
    pay_writer_string(w, "email", charge->email);
    pay_writer_string(w, "reference", charge->reference);
    pay_writer_string(w, "currency", charge->currency);
    optional(w, "firstName", charge->first_name);
    optional(w, "lastName", charge->last_name);
    pay_writer_object_close(w);
    return w;
}

static apr_status_t charge_judge(payments_answer_t *out, pay_relay_call_t *call,
                                 const pay_relay_answer_t *answer, const payments_charge_t *charge,
                                 apr_pool_t *p)
{
    int accepted = answer->status == 202;

    if ((answer->status == 200 || accepted) && answer->data && answer->good >= 0) {
        transaction_take(out, answer, charge->currency,
                         match_charge(answer->data, call->relay, charge), p);
        /* The envelope repeats it in its own way: 0 if it was declined, else 1; either if it was
         * refunded. */
        if (out->verdict != PAYMENTS_DIFFERENT && !out->spent
            && ((out->verdict == PAYMENTS_DECLINED) == answer->good
                || (accepted && out->verdict != PAYMENTS_PENDING))) {
            out->verdict = PAYMENTS_UNKNOWN;
        }
        if (out->verdict == PAYMENTS_DECLINED && !*out->message) {
            out->message = answer->message;
        }
    } else if (pay_relay_is_refusal(answer)) {
        out->verdict = PAYMENTS_DECLINED;
        out->message = pay_relay_refusal(answer, p);
    }
    return out->verdict == PAYMENTS_UNKNOWN ? pay_relay_undecided(call, answer, p) : APR_SUCCESS;
}

/* ---- query */

/* `known_at`: nothing older can be the charge; 0: the acquirer reported it already. */
static apr_status_t query(payments_answer_t *out, pay_relay_call_t *call,
                          const payments_charge_t *charge, apr_time_t known_at, apr_pool_t *p)
{
    const char *path = apr_pstrcat(p, "/api/v1/transaction/",
                                   pay_relay_segment(charge->reference, p), "/verify", NULL);
    pay_relay_match_t match;
    pay_relay_answer_t answer;
    apr_status_t rv;

    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, call, path, NULL, p);
    if (rv != APR_SUCCESS || out->trouble != PAYMENTS_NO_TROUBLE) {
        return rv;
    }
    if (answer.status == 200 && answer.data && answer.good == 1) {
        match = match_charge(answer.data, call->relay, charge);
        if (known_at) {
            match = pay_relay_match_both(match, match_age(answer.data, known_at + call->ahead));
        }
        transaction_take(out, &answer, charge->currency, match, p);
    } else if (pay_relay_is_absent(&answer, charge->reference)) {
        pay_relay_absent(out, call);
        return APR_SUCCESS;
    }
    return out->verdict == PAYMENTS_UNKNOWN ? pay_relay_undecided(call, &answer, p) : APR_SUCCESS;
}

/*
 * An approval that repeats the answer to an earlier request describes the state at that time: the
 * charge may have been refunded since. If that cannot be found out now, the outcome is unknown, and
 * is queried later.
 */
static apr_status_t approved_before(payments_answer_t *out, pay_relay_call_t *call,
                                    const payments_charge_t *charge, apr_pool_t *p)
{
    payments_answer_t now = {.struct_size = sizeof(now), .times = out->times};
    apr_status_t rv;

    rv = query(&now, call, charge, 0, p);
    now.times = out->times;
    *out = now;
    if (rv == PAYMENTS_NOT_SENT) {
        rv = APR_EGENERAL; /* the charge was sent */
    }
    return rv;
}

apr_status_t pay_relay_charge(payments_answer_t *out, void *context,
                              const payments_charge_t *charge, apr_interval_time_t timeout,
                              apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, &out->times, timeout);
    pay_relay_answer_t answer;
    apr_status_t rv;

    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, &call, CHARGE_PATH,
                       charge_body(charge, p), p);
    if (rv != APR_SUCCESS || out->trouble != PAYMENTS_NO_TROUBLE) {
        return rv;
    }
    rv = charge_judge(out, &call, &answer, charge, p);
    if (rv == APR_SUCCESS && answer.replayed && out->verdict == PAYMENTS_APPROVED) {
        rv = approved_before(out, &call, charge, p);
    }
    return rv;
}

apr_status_t pay_relay_charge_query(payments_answer_t *out, void *context,
                                    const payments_charge_t *charge, apr_interval_time_t timeout,
                                    apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, &out->times, timeout);

    return query(out, &call, charge, charge->opened_at, p);
}

/* ---- checkout */

static pay_writer_t *checkout_body(const payments_checkout_t *checkout, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(BODY_SIZE, p);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "transactionReference", checkout->reference);
    pay_writer_amount(w, "amount", checkout->amount_minor, checkout->currency);
    pay_writer_string(w, "currency", checkout->currency);
    pay_writer_object_open(w, "checkoutCustomerData");
    pay_writer_string(w, "email", checkout->email);
    pay_writer_string(w, "firstName", checkout->first_name ? checkout->first_name : "");
    pay_writer_string(w, "lastName", checkout->last_name ? checkout->last_name : "");
    optional(w, "phoneNumber", checkout->phone);
    pay_writer_object_close(w);
    optional(w, "redirectUrl", checkout->redirect_url);
    if (checkout->description && *checkout->description) {
        pay_writer_object_open(w, "checkoutCustomizationData");
        pay_writer_string(w, "paymentDescription", checkout->description);
        pay_writer_object_close(w);
    }
    pay_writer_object_close(w);
    return w;
}

/* A payer's browser is sent there, so only a complete https URL is accepted. */
static const char *page_of(const pay_relay_answer_t *answer, const char *reference, apr_pool_t *p)
{
    const char *fault;
    const char *text;
    pay_url_t *url;
    apr_status_t rv;

    if (answer->status != 200 || answer->good != 1 || !answer->data
        || pay_relay_match_text(answer->data, "transactionReference", reference)
               == PAY_RELAY_OTHER) {
        return NULL;
    }
    text = pay_relay_text(answer->data, "paymentRedirectUrl");
    rv = pay_url_parse(&url, &fault, text, "https", p);
    return rv == APR_SUCCESS ? text : NULL; /* as received: with its fragment */
}

/* Returns 1 for this API's report that it has no pages, or refuses this request. */
static int is_unopened(const pay_relay_answer_t *answer)
{
    return pay_relay_is_refusal(answer)
           || (pay_relay_is_error(answer) && (answer->status == 404 || answer->status == 501));
}

apr_status_t pay_relay_checkout(payments_page_t *out, void *context,
                                const payments_checkout_t *checkout, apr_interval_time_t timeout,
                                apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, &out->times, timeout);
    pay_relay_answer_t answer;
    apr_status_t rv;

    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, &call, CHECKOUT_PATH,
                       checkout_body(checkout, p), p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (out->trouble != PAYMENTS_NO_TROUBLE) {
        return APR_EGENERAL;
    }
    out->url = page_of(&answer, checkout->reference, p);
    if (out->url || (answer.status == 200 && answer.good == 0 && answer.data)) {
        return APR_SUCCESS; /* its own acquirer may have opened no page */
    }
    if (pay_relay_is_error(&answer) && answer.status == 409) {
        return APR_EEXIST; /* it may have opened one before, which was paid */
    }
    (void)pay_relay_undecided(&call, &answer, p); /* logged, whatever it is */
    return is_unopened(&answer) ? APR_SUCCESS : APR_EGENERAL;
}
