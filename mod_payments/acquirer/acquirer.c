/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/acquirer.h"

#include "base/net/url.h"
#include "model/checkout.h"
#include "model/text.h"
#include "model/token.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <stddef.h>
#include <string.h>

#define RETRY_AFTER_MAX apr_time_from_sec(60)

/* 1 if the connector's own table, which may be shorter than today's, has this member. */
#define REACHES(connector, member)                                                                 \
    ((connector)->struct_size                                                                      \
     >= offsetof(payments_acquirer_t, member) + sizeof((connector)->member))

const char *pay_acquirer_fault(const payments_acquirer_t *connector, apr_pool_t *p)
{
    if (connector->abi != PAYMENTS_ACQUIRER_ABI) {
        return apr_psprintf(p, "it is built for version %u of this interface, not for %d",
                            connector->abi, PAYMENTS_ACQUIRER_ABI);
    }
    if (!REACHES(connector, refund_query)) { /* the last slot of the first version */
        return "its table of functions is too short: build it again with this mod_payments.h";
    }
    if (!connector->check || !connector->open || !connector->charge || !connector->charge_query
        || !connector->refund || !connector->refund_query) {
        return "it lacks check, open, charge, charge_query, refund or refund_query";
    }
    return NULL;
}

int pay_acquirer_is_pure(const pay_acquirer_t *acquirer)
{
    return (acquirer->connector->flags & PAYMENTS_PURE) != 0;
}

int pay_acquirer_keeps_tokens(const pay_acquirer_t *acquirer)
{
    return (acquirer->connector->flags & PAYMENTS_OWN_TOKENS) != 0;
}

int pay_acquirer_has_refund_list(const pay_acquirer_t *acquirer)
{
    return REACHES(acquirer->connector, refund_list) && acquirer->connector->refund_list;
}

/* ---- records for connectors */

static const char *major_units(const pay_money_t *money, apr_pool_t *p)
{
    char text[PAY_MONEY_TEXT_MAX];

    return apr_pstrdup(p, pay_money_format(text, money->amount_minor, money->currency));
}

static payments_charge_t charge_told(const pay_charge_t *charge, apr_pool_t *p)
{
    payments_charge_t told = {
        .struct_size = sizeof(told),
        .reference = pay_charge_acquirer_reference(charge),
        .token = charge->token,
        .amount_minor = charge->money.amount_minor,
        .currency = charge->money.currency,
        .amount = major_units(&charge->money, p),
        .email = charge->email,
        .first_name = charge->first_name,
        .last_name = charge->last_name,
        .card_first6 = charge->card.first6,
        .card_last4 = charge->card.last4,
        .opened_at = pay_moment_wall(&charge->opened, charge->created_at),
        .live = charge->scope.mode == PAY_LIVE,
        .refunded_minor = pay_charge_refunded_minor(charge),
        .refunds_pending_minor = charge->refunds_pending_minor,
    };

    return told;
}

static payments_refund_t refund_told(const pay_refund_t *refund, apr_pool_t *p)
{
    payments_refund_t told = {
        .struct_size = sizeof(told),
        .reference = refund->refund_reference,
        .tag = refund->tag,
        /* A refund made elsewhere is known by the acquirer's own name. */
        .acquirer_reference =
            refund->import_number ? refund->refund_reference : refund->acquirer_reference,
        .amount_minor = refund->money.amount_minor,
        .currency = refund->money.currency,
        .amount = major_units(&refund->money, p),
        .merchant_note = refund->merchant_note ? refund->merchant_note : "",
        .customer_note = refund->customer_note ? refund->customer_note : "",
        .opened_at = pay_moment_wall(&refund->opened, refund->created_at),
    };

    return told;
}

/* Makes the full refund of a charge that was approved too late. */
static payments_refund_t late_refund_told(const pay_charge_t *charge, apr_pool_t *p)
{
    payments_refund_t told = {
        .struct_size = sizeof(told),
        .reference = charge->late_tag,
        .tag = charge->late_tag,
        .acquirer_reference = "",
        .amount_minor = charge->money.amount_minor,
        .currency = charge->money.currency,
        .amount = major_units(&charge->money, p),
        .merchant_note = "",
        .customer_note = "",
        .opened_at = pay_moment_wall(&charge->absent_from, charge->decided_at),
    };

    return told;
}

/* ---- answers of connectors */

/* Returns text from elsewhere in the form that is stored and shown: one line of UTF-8 without
 * control characters, with a question mark or a blank for each invalid one; "" if it contains a
 * card number. */
static const char *text_of(const char *text, apr_pool_t *p)
{
    char *line;
    char *at;

    if (!text || pay_card_number_within(text)) {
        return "";
    }
    if (pay_text_is_plain(text, "")) {
        return text;
    }
    line = apr_pstrdup(p, pay_text_printable(text, PAY_OUTCOME_MESSAGE_MAX, p));
    for (at = line; *at; at++) {
        if (*at == '\n' || *at == '\t') {
            *at = ' ';
        }
    }
    return line;
}

/* It is used to find the refund, so the spelling must be exact. */
static const char *name_of(const char *text)
{
    return text && pay_text_is_plain(text, "") ? text : "";
}

/* Copies `len` digits, or nothing: other text is not part of a card number. */
static void copy_digits(char *out, const char *text, apr_size_t len)
{
    apr_size_t i;

    out[0] = '\0';
    if (!text || strlen(text) != len) {
        return;
    }
    for (i = 0; i < len; i++) {
        if (!apr_isdigit(text[i])) {
            return;
        }
    }
    memcpy(out, text, len + 1);
}

/* Returns NULL if the acquirer reports nothing of the card. */
static const pay_card_t *card_of(const payments_answer_t *answer, apr_pool_t *p)
{
    pay_card_t *card = apr_pcalloc(p, sizeof(*card));

    copy_digits(card->first6, answer->card_first6, PAY_CARD_FIRST6_LEN);
    copy_digits(card->last4, answer->card_last4, PAY_CARD_LAST4_LEN);
    card->issuer = text_of(answer->card_issuer, p);
    card->country = text_of(answer->card_country, p);
    card->type = text_of(answer->card_type, p);
    return *card->last4 || *card->issuer ? card : NULL;
}

/* Returns NULL if it reports no token that could be charged later. */
static const char *token_of(const char *text)
{
    if (!text || pay_token_text_check(text) != APR_SUCCESS || pay_test_token_is_reserved(text)) {
        return NULL;
    }
    return text;
}

static void news_take(pay_acquirer_news_t *news, const payments_times_t *times,
                      payments_trouble_t trouble, apr_interval_time_t retry_after)
{
    memset(news, 0, sizeof(*news));
    news->times = *times;
    news->trouble = trouble;
    news->retry_after = retry_after;
    if (news->retry_after < 0) {
        news->retry_after = 0;
    } else if (news->retry_after > RETRY_AFTER_MAX) {
        news->retry_after = RETRY_AFTER_MAX;
    }
}

/*
 * Only a complete answer with a verdict of the table counts. A connector is foreign code: missing
 * values read as absent, invalid ones as an unknown outcome.
 */
static apr_status_t take(pay_outcome_t *out, pay_acquirer_news_t *news,
                         const payments_answer_t *answer, apr_status_t answered, apr_pool_t *p)
{
    memset(out, 0, sizeof(*out));
    out->code = out->message = out->authorization_code = out->acquirer_reference = "";
    news_take(news, &answer->times, answer->trouble, answer->retry_after);
    if (answered != APR_SUCCESS) {
        return answered;
    }
    out->acquirer_reference = name_of(answer->acquirer_reference);
    switch (answer->verdict) {
    case PAYMENTS_APPROVED:
        out->kind = PAY_OUTCOME_APPROVED;
        out->spent = answer->spent != 0;
        out->refunded_minor = answer->refunded_minor > 0 ? answer->refunded_minor : 0;
        out->card = card_of(answer, p);
        out->token = token_of(answer->card_token);
        news->present = 1;
        break;
    case PAYMENTS_DECLINED:
        out->kind = PAY_OUTCOME_DECLINED;
        out->card = card_of(answer, p);
        news->present = 1;
        break;
    case PAYMENTS_PENDING:
        news->present = 1;
        break;
    case PAYMENTS_DIFFERENT:
        news->present = 1;
        news->different = 1;
        out->held = PAY_HELD_DIFFERENT;
        out->acquirer_reference = "";
        break;
    case PAYMENTS_ABSENT:
        news->absent = 1;
        news->similar = answer->similar && answer->similar->nelts > 0 ? answer->similar : NULL;
        break;
    case PAYMENTS_UNKNOWN:
        news->doubted = answer->doubted != 0;
        break;
    default:
        break;
    }
    if (out->kind != PAY_OUTCOME_UNKNOWN) {
        out->code = text_of(answer->code, p);
        out->message = text_of(answer->message, p);
        out->authorization_code = text_of(answer->authorization_code, p);
    }
    return APR_SUCCESS;
}

/* An answer to a request that was sent just now: a report of absence means nothing. */
static void take_sent(pay_acquirer_news_t *news)
{
    news->absent = news->doubted = 0;
    news->similar = NULL;
}

/* ---- calls */

#define ANSWER_EMPTY                                                                               \
    {                                                                                              \
        .struct_size = sizeof(payments_answer_t)                                                   \
    }

apr_status_t pay_acquirer_charge(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                 apr_pool_t *p)
{
    const payments_charge_t told = charge_told(charge, p);
    payments_answer_t answer = ANSWER_EMPTY;
    apr_status_t rv;

    rv = acquirer->connector->charge(&answer, acquirer->context, &told, acquirer->timeout, p);
    rv = take(out, news, &answer, rv, p);
    take_sent(news);
    return rv;
}

apr_status_t pay_acquirer_charge_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                       apr_pool_t *p)
{
    const payments_charge_t told = charge_told(charge, p);
    payments_answer_t answer = ANSWER_EMPTY;
    apr_status_t rv;

    rv = acquirer->connector->charge_query(&answer, acquirer->context, &told, acquirer->timeout, p);
    return take(out, news, &answer, rv, p);
}

/* Of a charge that is not known here only the currency can be passed on. `pending` 1: the refund is
 * one of the charge's pending ones. */
static apr_status_t refund_call(pay_outcome_t *out, pay_acquirer_news_t *news,
                                const pay_acquirer_t *acquirer, const payments_refund_t *refund,
                                const pay_charge_t *charge, int query, int pending, apr_pool_t *p)
{
    const payments_charge_t unknown = {.struct_size = sizeof(unknown), .reference = ""};
    payments_charge_t told = charge ? charge_told(charge, p) : unknown;
    payments_answer_t answer = ANSWER_EMPTY;
    apr_status_t rv;

    if (pending && told.refunds_pending_minor >= refund->amount_minor) {
        told.refunds_pending_minor -= refund->amount_minor;
    }
    if (query) {
        rv = acquirer->connector->refund_query(&answer, acquirer->context, refund, &told,
                                               acquirer->timeout, p);
        return take(out, news, &answer, rv, p);
    }
    rv = acquirer->connector->refund(&answer, acquirer->context, refund, &told, acquirer->timeout,
                                     p);
    rv = take(out, news, &answer, rv, p);
    take_sent(news);
    return rv;
}

apr_status_t pay_acquirer_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                 const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                 const pay_charge_t *charge, apr_pool_t *p)
{
    const payments_refund_t told = refund_told(refund, p);

    return refund_call(out, news, acquirer, &told, charge, 0, 1, p);
}

apr_status_t pay_acquirer_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                       const pay_acquirer_t *acquirer, const pay_refund_t *refund,
                                       const pay_charge_t *charge, apr_pool_t *p)
{
    const payments_refund_t told = refund_told(refund, p);

    return refund_call(out, news, acquirer, &told, charge, 1, refund->state == PAY_REFUND_PENDING,
                       p);
}

apr_status_t pay_acquirer_late_refund(pay_outcome_t *out, pay_acquirer_news_t *news,
                                      const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                      apr_pool_t *p)
{
    const payments_refund_t told = late_refund_told(charge, p);

    return refund_call(out, news, acquirer, &told, charge, 0, 0, p);
}

apr_status_t pay_acquirer_late_refund_query(pay_outcome_t *out, pay_acquirer_news_t *news,
                                            const pay_acquirer_t *acquirer,
                                            const pay_charge_t *charge, apr_pool_t *p)
{
    const payments_refund_t told = late_refund_told(charge, p);

    return refund_call(out, news, acquirer, &told, charge, 1, 0, p);
}

/* ---- pages */

int pay_acquirer_has_checkout(const pay_acquirer_t *acquirer)
{
    return REACHES(acquirer->connector, checkout) && acquirer->connector->checkout;
}

static payments_checkout_t checkout_told(const pay_charge_t *charge, const char *return_url,
                                         apr_pool_t *p)
{
    payments_checkout_t told = {
        .struct_size = sizeof(told),
        .reference = pay_charge_acquirer_reference(charge),
        .amount_minor = charge->money.amount_minor,
        .currency = charge->money.currency,
        .amount = major_units(&charge->money, p),
        .email = charge->email,
        .first_name = charge->first_name,
        .last_name = charge->last_name,
        .phone = charge->checkout ? charge->checkout->phone : "",
        .redirect_url = return_url,
        .description = charge->checkout ? charge->checkout->description : "",
        .opened_at = charge->created_at,
        .live = charge->scope.mode == PAY_LIVE,
    };

    return told;
}

/* A payer's browser is sent there: only a complete https URL of limited length is accepted. */
static int is_page(const char *text, apr_pool_t *p)
{
    const char *fault;
    pay_url_t *url;

    return strlen(text) <= PAY_CHECKOUT_URL_MAX
           && pay_url_parse(&url, &fault, text, "https", p) == APR_SUCCESS;
}

apr_status_t pay_acquirer_checkout(const char **page_url, pay_acquirer_news_t *news,
                                   const pay_acquirer_t *acquirer, const pay_charge_t *charge,
                                   const char *return_url, apr_pool_t *p)
{
    const payments_checkout_t told = checkout_told(charge, return_url, p);
    payments_page_t page = {.struct_size = sizeof(page)};
    apr_status_t rv;

    *page_url = NULL;
    rv = acquirer->connector->checkout(&page, acquirer->context, &told, acquirer->timeout, p);
    news_take(news, &page.times, page.trouble, page.retry_after);
    if (rv != APR_SUCCESS) {
        news->present = rv == APR_EEXIST && page.trouble == PAYMENTS_NO_TROUBLE;
        return rv;
    }
    /* A refusal to open a page is an answer too: anybody can cause one. */
    news->present = page.url ? is_page(page.url, p) : page.trouble == PAYMENTS_NO_TROUBLE;
    *page_url = news->present ? page.url : NULL;
    return *page_url ? APR_SUCCESS : APR_EGENERAL;
}
