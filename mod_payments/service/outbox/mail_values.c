/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail_values.h"

#include "base/text/timezone.h"
#include "model/text.h"

#include <apr_strings.h>
#include <stdlib.h>

#define DAY_MINUTES (24 * 60)

/* The source of the values. */
typedef struct source_t {
    const pay_event_t *event;
    const pay_account_t *account;
    const pay_timezone_t *zone;
    pay_charge_t charge;
    pay_refund_t refund;
    int has_charge;
    int has_refund;
    apr_pool_t *pool;
} source_t;

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

/*
 * Returns text of unknown origin in a form for a mail: "" if a mail program would make a link of
 * it, because the mail comes from the shop, and anyone who has a public key may cause mails to
 * anybody.
 */
static const char *words(const source_t *s, const char *text)
{
    text = pay_text_visible(text_or_none(text), s->pool);
    return pay_text_has_link(text) ? "" : text;
}

/* "2026-11-21 14:30 (UTC+01:00)"; "" for 0. */
static const char *time_text(const source_t *s, apr_time_t when)
{
    char utc[PAY_TIME_TEXT_LEN + 1];
    apr_int64_t offset = pay_timezone_offset(s->zone, when) / 60;
    int minutes = abs((int)offset);

    if (!when) {
        return "";
    }
    pay_time_format(utc, when + apr_time_from_sec(offset * 60));
    utc[10] = '\0';
    utc[16] = '\0';
    if (!offset) {
        return apr_psprintf(s->pool, "%s %s (UTC)", utc, utc + 11);
    }
    return apr_psprintf(s->pool, "%s %s (UTC%c%02d:%02d)", utc, utc + 11, offset < 0 ? '-' : '+',
                        minutes / 60, minutes % 60);
}

static const char *money_text(const source_t *s, const pay_money_t *money)
{
    char text[PAY_MONEY_TEXT_MAX];

    if (!money->currency[0]) { /* imported history may not have it */
        return "";
    }
    return apr_pstrdup(s->pool, pay_money_format(text, money->amount_minor, money->currency));
}

/* ---- of the event and account */

static const char *of_account(const source_t *s)
{
    return s->account->name;
}

static const char *of_mode(const source_t *s)
{
    return pay_mode_name(s->event->scope.mode);
}

static const char *of_mode_test(const source_t *s)
{
    return s->event->scope.mode == PAY_TEST ? "TEST MODE" : "";
}

static const char *of_date(const source_t *s)
{
    return time_text(s, s->event->created_at);
}

static const char *of_status(const source_t *s)
{
    return pay_event_notify_type(s->event);
}

/* A parked event is named by its own id: the merchant's command needs it. */
static const char *of_event_id(const source_t *s)
{
    if (s->event->kind == PAY_EVENT_PARKED) {
        return s->event->parked ? pay_event_id(s->event->parked, s->pool) : "";
    }
    return pay_event_id(s->event, s->pool);
}

static const char *of_event_name(const source_t *s)
{
    const pay_event_t *event = s->event;

    if (event->kind == PAY_EVENT_PARKED) {
        event = event->parked;
        if (!event) {
            return "";
        }
    }
    return apr_pstrcat(s->pool, pay_event_notify(event), " ", pay_event_notify_type(event), NULL);
}

static const char *of_event_date(const source_t *s)
{
    const pay_event_t *event = s->event->kind == PAY_EVENT_PARKED ? s->event->parked : s->event;

    return event ? time_text(s, event->created_at) : "";
}

static const char *of_endpoint_status(const source_t *s)
{
    const pay_event_t *parked = s->event->parked;

    return parked && parked->status ? apr_itoa(s->pool, parked->status) : "";
}

static const char *of_endpoint_error(const source_t *s)
{
    return s->event->parked ? text_or_none(s->event->parked->error) : "";
}

static const char *of_endpoint_tries(const source_t *s)
{
    const pay_event_t *parked = s->event->parked;

    return parked ? apr_psprintf(s->pool, "%u", parked->failures) : "";
}

/* ---- of the charge */

static const char *of_amount(const source_t *s)
{
    return s->has_charge ? money_text(s, &s->charge.money) : "";
}

static const char *of_currency(const source_t *s)
{
    if (s->has_charge) {
        return s->charge.money.currency;
    }
    return s->has_refund ? s->refund.money.currency : "";
}

/* The merchant needs it, whatever it contains. */
static const char *of_reference(const source_t *s)
{
    if (s->has_charge) {
        return s->event->endpoint == PAY_ENDPOINT_RECEIPT ? words(s, s->charge.reference)
                                                          : s->charge.reference;
    }
    return s->has_refund ? text_or_none(s->refund.transaction_reference) : "";
}

static const char *of_payment_date(const source_t *s)
{
    return s->has_charge ? time_text(s, s->charge.created_at) : "";
}

/* "Mastercard debit **** 4444": the known parts, without words of a language. */
static const char *of_card(const source_t *s)
{
    const char *issuer, *type;

    if (!s->has_charge || !s->charge.card.last4[0]) {
        return "";
    }
    issuer = text_or_none(s->charge.card.issuer);
    type = text_or_none(s->charge.card.type);
    return apr_pstrcat(s->pool, issuer, *issuer ? " " : "", type, *type ? " " : "", "**** ",
                       s->charge.card.last4, NULL);
}

static const char *of_card_last4(const source_t *s)
{
    return s->has_charge ? s->charge.card.last4 : "";
}

static const char *of_card_issuer(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.card.issuer) : "";
}

static const char *of_card_type(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.card.type) : "";
}

static const char *of_customer_name(const source_t *s)
{
    const char *first, *last;

    if (!s->has_charge) {
        return "";
    }
    first = pay_text_visible(text_or_none(s->charge.first_name), s->pool);
    last = pay_text_visible(text_or_none(s->charge.last_name), s->pool);
    return words(s, apr_pstrcat(s->pool, first, *first && *last ? " " : "", last, NULL));
}

static const char *of_customer_email(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.email) : "";
}

static const char *of_code(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.code) : "";
}

static const char *of_message(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.message) : "";
}

static const char *of_authorization_code(const source_t *s)
{
    return s->has_charge ? text_or_none(s->charge.authorization_code) : "";
}

/* ---- of the refund */

static const char *of_refund_reference(const source_t *s)
{
    return s->has_refund ? s->refund.refund_reference : "";
}

static const char *of_refund_amount(const source_t *s)
{
    return s->has_refund ? money_text(s, &s->refund.money) : "";
}

static const char *of_customer_note(const source_t *s)
{
    return s->has_refund ? words(s, s->refund.customer_note) : "";
}

static const char *of_merchant_note(const source_t *s)
{
    return s->has_refund ? words(s, s->refund.merchant_note) : "";
}

/* ---- */

static const struct {
    const char *name;
    const char *(*value)(const source_t *s);
    int merchant_only;
} names[] = {
    {"account", of_account, 0},
    {"amount", of_amount, 0},
    {"authorization_code", of_authorization_code, 0},
    {"card", of_card, 0},
    {"card_issuer", of_card_issuer, 0},
    {"card_last4", of_card_last4, 0},
    {"card_type", of_card_type, 0},
    {"code", of_code, 1},
    {"currency", of_currency, 0},
    {"customer_email", of_customer_email, 1},
    {"customer_name", of_customer_name, 0},
    {"customer_note", of_customer_note, 0},
    {"date", of_date, 0},
    {"endpoint_error", of_endpoint_error, 1},
    {"endpoint_status", of_endpoint_status, 1},
    {"endpoint_tries", of_endpoint_tries, 1},
    {"event_date", of_event_date, 1},
    {"event_id", of_event_id, 0},
    {"event_name", of_event_name, 1},
    {"merchant_note", of_merchant_note, 1},
    {"message", of_message, 0},
    {"mode", of_mode, 0},
    {"mode_test", of_mode_test, 0},
    {"payment_date", of_payment_date, 0},
    {"reference", of_reference, 0},
    {"refund_amount", of_refund_amount, 0},
    {"refund_reference", of_refund_reference, 0},
    {"status", of_status, 0},
};
#define NAMES_COUNT ((int)(sizeof(names) / sizeof(names[0])))
_Static_assert(sizeof(names) / sizeof(names[0]) <= PAY_MAIL_VALUES_MAX, "all names have room");

static void source_init(source_t *source, const pay_account_t *account, apr_pool_t *p)
{
    source->account = account;
    source->pool = p;
    if (pay_timezone_load(&source->zone, account->settings.timezone, p) != APR_SUCCESS) {
        (void)pay_timezone_load(&source->zone, "UTC", p);
    }
}

int pay_mail_values_sample(pay_template_value_t out[PAY_MAIL_VALUES_MAX], pay_endpoint_kind_t kind)
{
    int count = 0;
    int i;

    for (i = 0; i < NAMES_COUNT; i++) {
        if (kind == PAY_ENDPOINT_NOTICE || !names[i].merchant_only) {
            out[count].name = names[i].name;
            out[count++].value = "x";
        }
    }
    return count;
}

int pay_mail_values(pay_template_value_t out[PAY_MAIL_VALUES_MAX], const pay_event_t *event,
                    const pay_account_t *account, apr_pool_t *p)
{
    source_t *source = apr_pcalloc(p, sizeof(*source)); /* values point into it */
    int count = 0;
    int i;

    source->event = event;
    source_init(source, account, p);
    if (event->charge) {
        source->charge = pay_event_charge(event);
        source->has_charge = 1;
    }
    if (event->refund) {
        source->refund = pay_event_refund(event);
        source->has_refund = 1;
    }
    for (i = 0; i < NAMES_COUNT; i++) {
        if (event->endpoint == PAY_ENDPOINT_NOTICE || !names[i].merchant_only) {
            out[count].name = names[i].name;
            out[count++].value = names[i].value(source);
        }
    }
    return count;
}

/* ---- a confirmation */

int pay_mail_values_confirmation(pay_template_value_t out[PAY_MAIL_VALUES_MAX],
                                 const pay_mail_confirmation_t *confirmation,
                                 const pay_account_t *account, apr_pool_t *p)
{
    source_t source = {.event = NULL};
    int count = 0;

    source_init(&source, account, p);
    out[count++] = (pay_template_value_t){"account", account->name};
    out[count++] = (pay_template_value_t){"change", confirmation->change};
    out[count++] = (pay_template_value_t){"code", confirmation->code};
    out[count++] = (pay_template_value_t){"date", time_text(&source, confirmation->at)};
    out[count++] = (pay_template_value_t){"host", confirmation->host};
    out[count++] = (pay_template_value_t){"minutes", apr_itoa(p, confirmation->minutes)};
    out[count++] = (pay_template_value_t){"user", confirmation->user};
    return count;
}

int pay_mail_values_confirmation_sample(pay_template_value_t out[PAY_MAIL_VALUES_MAX])
{
    static const char *const known[] = {"account", "change",  "code", "date",
                                        "host",    "minutes", "user"};
    const int count = (int)(sizeof(known) / sizeof(known[0]));
    int i;

    for (i = 0; i < count; i++) {
        out[i] = (pay_template_value_t){known[i], "x"};
    }
    return count;
}
