/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAIL_FIXTURE_H
#define MAIL_FIXTURE_H

/* The common part of the tests of e-mails: records, their event, and its mail. */

#include "service/outbox/mail.h"

#include "unit.h"

#include <string.h>

#define CREATED APR_INT64_C(1795267800000000) /* 2026-11-21T13:30:00Z */
#define HOUR apr_time_from_sec(3600)
#define TEMPLATES apr_pstrcat(unit_pool, unit_share(), "/mail", NULL)

/* A payment of Ada's, its refund, and their event; tests change the subject. */
typedef struct mail_fixture_t {
    pay_account_t account;
    pay_charge_t charge;
    pay_refund_t refund;
    pay_event_t parked;
    pay_event_t event;
    pay_delivery_t delivery;
    const char *merchant;
    pay_transfer_t transfer;
    const char *fault;
} mail_fixture_t;

static inline mail_fixture_t *mail_fixture_make(pay_endpoint_kind_t endpoint, pay_event_kind_t kind,
                                                int state)
{
    static const pay_card_t card = {"555555", "4444", "Mastercard", "NG", "debit"};
    mail_fixture_t *mail = apr_pcalloc(unit_pool, sizeof(*mail));
    const pay_scope_t scope = {7, PAY_TEST};

    mail->account = (pay_account_t){
        .number = 7,
        .name = "my-shop",
        .settings = {
            .key_prefix = "pay", .currency = "NGN", .timezone = "Africa/Lagos", .shop_name = ""}};
    mail->charge = (pay_charge_t){.scope = scope,
                                  .seq = 42,
                                  .reference = "order-1",
                                  .card = card,
                                  .money = {123450, "NGN"},
                                  .email = "ada@example.com",
                                  .first_name = "Ada",
                                  .last_name = "Obi",
                                  .created_at = CREATED - HOUR,
                                  .decided_state = PAY_CHARGE_SUCCESSFUL,
                                  .code = "00",
                                  .message = "Approved by bank",
                                  .authorization_code = "L5K7O4"};
    mail->refund = (pay_refund_t){.id = "9",
                                  .refund_reference = "rfd_1",
                                  .money = {50, "NGN"},
                                  .scope = scope,
                                  .merchant_note = "came broken",
                                  .customer_note = "We are sorry",
                                  .transaction_reference = "order-1"};
    mail->event = (pay_event_t){.scope = scope,
                                .endpoint = endpoint,
                                .charge_seq = 42,
                                .sequence = 2,
                                .kind = kind,
                                .state = state,
                                .decided = 1,
                                .created_at = CREATED,
                                .error = "",
                                .answer = "",
                                .charge = &mail->charge};
    mail->event.refund = kind == PAY_EVENT_REFUND ? &mail->refund : NULL;
    mail->parked = mail->event;
    mail->parked.endpoint = PAY_ENDPOINT_WEBHOOK;
    mail->parked.kind = PAY_EVENT_TRANSACTION;
    mail->parked.state = PAY_CHARGE_FAILED;
    mail->parked.created_at = CREATED - 72 * HOUR;
    mail->parked.failures = 19;
    mail->parked.status = 503;
    mail->parked.error = "The receiver answered 503";
    if (kind == PAY_EVENT_PARKED) {
        mail->event.sequence |= PAY_EVENT_PARKED_BIT;
        mail->event.parked = &mail->parked;
    }
    mail->delivery = (pay_delivery_t){0, "", "", "smtp://localhost", "", "pay@shop.example", ""};
    mail->delivery.mail_templates = TEMPLATES;
    mail->merchant = "owner@shop.example";
    pay_mail_set_installed("/nowhere");
    return mail;
}

static inline mail_fixture_t *receipt(void)
{
    return mail_fixture_make(PAY_ENDPOINT_RECEIPT, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL);
}

static inline apr_status_t make(mail_fixture_t *mail)
{
    mail->fault = "set";
    return pay_mail_make(&mail->transfer, &mail->fault, &mail->event, &mail->account,
                         mail->merchant, &mail->delivery, unit_pool);
}

static inline void made(mail_fixture_t *mail)
{
    apr_status_t rv = make(mail);

    ck_assert_msg(rv == APR_SUCCESS, "%s", mail->fault);
    ck_assert_ptr_null(mail->fault);
}

static inline const char *header(const mail_fixture_t *mail, const char *name)
{
    const apr_array_header_t *headers = mail->transfer.headers;
    const char *found = NULL;
    int i;

    for (i = 0; i < headers->nelts; i++) {
        const char *line = APR_ARRAY_IDX(headers, i, const char *);

        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            ck_assert_ptr_null(found);
            found = line + strlen(name) + 2;
        }
    }
    return found;
}

static inline const char *text_of(const mail_fixture_t *mail)
{
    return mail->transfer.parts[0].text;
}

static inline const char *html_of(const mail_fixture_t *mail)
{
    return mail->transfer.parts[1].text;
}

#endif
