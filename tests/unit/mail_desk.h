/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAIL_DESK_H
#define MAIL_DESK_H

/* The common part of the tests of e-mails: records, their event, and its mail. */

#include "service/outbox/mail.h"

#include "unit.h"

#include <string.h>

#define CREATED APR_INT64_C(1795267800000000) /* 2026-11-21T13:30:00Z */
#define HOUR apr_time_from_sec(3600)
#define TEMPLATES apr_pstrcat(unit_pool, unit_share(), "/mail", NULL)

/* A payment of Ada's, its refund, and their event; tests change the subject. */
typedef struct desk_t {
    pay_account_t account;
    pay_charge_t charge;
    pay_refund_t refund;
    pay_event_t parked;
    pay_event_t event;
    pay_delivery_t delivery;
    const char *merchant;
    pay_transfer_t transfer;
    const char *fault;
} desk_t;

static inline desk_t *desk_make(pay_endpoint_kind_t endpoint, pay_event_kind_t kind, int state)
{
    static const pay_card_t card = {"555555", "4444", "Mastercard", "NG", "debit"};
    desk_t *desk = apr_pcalloc(unit_pool, sizeof(*desk));
    const pay_scope_t scope = {7, PAY_TEST};

    desk->account = (pay_account_t){
        .number = 7,
        .name = "my-shop",
        .settings = {
            .key_prefix = "pay", .currency = "NGN", .timezone = "Africa/Lagos", .shop_name = ""}};
    desk->charge = (pay_charge_t){.scope = scope,
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
    desk->refund = (pay_refund_t){.id = "9",
                                  .refund_reference = "rfd_1",
                                  .money = {50, "NGN"},
                                  .scope = scope,
                                  .merchant_note = "came broken",
                                  .customer_note = "We are sorry",
                                  .transaction_reference = "order-1"};
    desk->event = (pay_event_t){.scope = scope,
                                .endpoint = endpoint,
                                .charge_seq = 42,
                                .sequence = 2,
                                .kind = kind,
                                .state = state,
                                .decided = 1,
                                .created_at = CREATED,
                                .error = "",
                                .answer = "",
                                .charge = &desk->charge};
    desk->event.refund = kind == PAY_EVENT_REFUND ? &desk->refund : NULL;
    desk->parked = desk->event;
    desk->parked.endpoint = PAY_ENDPOINT_WEBHOOK;
    desk->parked.kind = PAY_EVENT_TRANSACTION;
    desk->parked.state = PAY_CHARGE_FAILED;
    desk->parked.created_at = CREATED - 72 * HOUR;
    desk->parked.failures = 19;
    desk->parked.status = 503;
    desk->parked.error = "The receiver answered 503";
    if (kind == PAY_EVENT_PARKED) {
        desk->event.sequence |= PAY_EVENT_PARKED_BIT;
        desk->event.parked = &desk->parked;
    }
    desk->delivery = (pay_delivery_t){0, "", "", "smtp://localhost", "", "pay@shop.example", ""};
    desk->delivery.mail_templates = TEMPLATES;
    desk->merchant = "owner@shop.example";
    pay_mail_set_installed("/nowhere");
    return desk;
}

static inline desk_t *receipt(void)
{
    return desk_make(PAY_ENDPOINT_RECEIPT, PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL);
}

static inline apr_status_t make(desk_t *desk)
{
    desk->fault = "set";
    return pay_mail_make(&desk->transfer, &desk->fault, &desk->event, &desk->account,
                         desk->merchant, &desk->delivery, unit_pool);
}

static inline void made(desk_t *desk)
{
    apr_status_t rv = make(desk);

    ck_assert_msg(rv == APR_SUCCESS, "%s", desk->fault);
    ck_assert_ptr_null(desk->fault);
}

static inline const char *header(const desk_t *desk, const char *name)
{
    const apr_array_header_t *headers = desk->transfer.headers;
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

static inline const char *text_of(const desk_t *desk)
{
    return desk->transfer.parts[0].text;
}

static inline const char *html_of(const desk_t *desk)
{
    return desk->transfer.parts[1].text;
}

#endif
