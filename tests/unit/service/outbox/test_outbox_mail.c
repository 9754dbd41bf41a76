/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail.h"

#include "outbox_fixture.h"

#define PAYLOG_MAILS_WAIT "PAY00262"
#define PAYLOG_WITHHELD "PAY00770"
#define PAYER "payer@shop.example"

static void list(const char *recipients)
{
    apr_array_header_t *switches = apr_array_make(unit_pool, 1, sizeof(pay_endpoint_switch_t));

    APR_ARRAY_PUSH(switches, pay_endpoint_switch_t) = (pay_endpoint_switch_t){
        .scope = scope, .kind = PAY_ENDPOINT_RECEIPT, .enabled = -1, .recipients = recipients};
    ck_assert_int_eq(pay_store_endpoint_switch(shop->store, switches, unit_pool), APR_SUCCESS);
}

static void mail_set_up(const peer_t *relay, const char *login)
{
    pay_delivery_t how = {0, "", "", "", "", "shop@pay.example", ""};

    set_up();
    pay_mail_set_installed(UNIT_SHARE "/mail");
    if (relay) {
        how.mail_relay = apr_psprintf(unit_pool, "smtp://127.0.0.1:%d", peer_port(relay));
    }
    if (login) {
        ck_assert_int_eq(pay_keyring_seal(&how.mail_login, keyring, PAY_DELIVERY_LOGIN_CONTEXT,
                                          login, unit_pool),
                         APR_SUCCESS);
    }
    deliver_as(&how);
    endpoint_put(&scope, PAY_ENDPOINT_RECEIPT, "");
    list(PAYER);
    charges(&scope, "order", 1);
}

static const struct {
    const char *name;
    peer_smtp_t plan;
    int taken, parked;
    int status;
} replies[] = {
    {"taken", {.ehlo = NULL}, 1, 0, 250},
    {"address rejected", {.rcpt = "550 no such user"}, 0, 1, 550},
    {"greylisted", {.rcpt = "450 later"}, 0, 0, 450},
    {"message rejected", {.end = "554 looks like spam"}, 0, 1, 554},
    {"relay is full", {.mail = "452 no room"}, 0, 0, 452},
    {"relay refuses", {.greeting = "421 not now"}, 0, 0, 421},
    {"relay closes", {.data = ""}, 0, 0, 0},
};

START_TEST(test_mail_replies)
{
    peer_t *relay = peer_smtp(&replies[_i].plan);
    const pay_event_t *event;

    mail_set_up(relay, NULL);
    ck_assert_msg(step() == replies[_i].taken, "%s: %s", replies[_i].name, logged);
    if (replies[_i].taken) {
        ck_assert_int_eq(waiting(&scope)->nelts, 0);
        ck_assert_ptr_nonnull(strstr(peer_text(relay), "RCPT TO:<payer@shop.example>"));
        return;
    }
    event = the_event();
    ck_assert_msg((event->parked_at != 0) == replies[_i].parked, "%s: parked %d %s",
                  replies[_i].name, !replies[_i].parked, event->error);
    ck_assert_msg(replies[_i].status == 0 || event->status == replies[_i].status, "%s: %d %s",
                  replies[_i].name, event->status, event->error);
    ck_assert_int_eq(log_count(PAYLOG_PARKED), replies[_i].parked);
    ck_assert_msg(!strstr(logged, "payer@"), "%s: the address is in the log", replies[_i].name);
}
END_TEST

/* It costs no attempt. */
START_TEST(test_mail_waits)
{
    const peer_smtp_t usual = {.ehlo = NULL};
    peer_t *relay = peer_smtp(&usual);

    if (_i == 0) {
        mail_set_up(NULL, NULL);
    } else {
        mail_set_up(relay, "user\npassword");
        keyring = NULL;
        deliver_as(&delivery);
    }
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(log_count(PAYLOG_MAILS_WAIT), 1);
    ck_assert_uint_eq(the_event()->failures, 0);
    ck_assert_int_eq(peer_connections(relay), 0);
}
END_TEST

/* Anyone who has a public key of Test Mode can cause mail only to those who want it. */
START_TEST(test_not_listed)
{
    const peer_smtp_t usual = {.ehlo = NULL};
    peer_t *relay = peer_smtp(&usual);
    const pay_event_t *event;
    pay_event_t *retried;
    int i;

    mail_set_up(relay, NULL);
    list("ada@shop.example @other.example");
    charges(&scope, "more", 2);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(peer_connections(relay), 0);
    ck_assert_int_eq(waiting(&scope)->nelts, 3);
    for (i = 0; i < 3; i++) {
        event = APR_ARRAY_IDX(waiting(&scope), i, const pay_event_t *);
        ck_assert(event->parked_at != 0);
        ck_assert_str_eq(event->error, PAY_EVENT_NOT_LISTED);
        ck_assert_uint_eq(event->failures, 0);
    }
    ck_assert_int_eq(log_count(PAYLOG_WITHHELD), 1);
    ck_assert_int_eq(log_count(PAYLOG_PARKED), 0);
    ck_assert_ptr_null(strstr(logged, "payer@"));
    ck_assert_ptr_null(strstr(logged, "<warning>"));
    list("@shop.example");
    ck_assert_int_eq(STORE_REAL(event_retry)(&retried, shop->store, &scope, event, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(step(), 1);
    ck_assert_ptr_nonnull(strstr(peer_text(relay), "RCPT TO:<" PAYER ">"));
}
END_TEST

/* An unsent mail reports nothing about the relay. */
START_TEST(test_withheld_heals_nothing)
{
    const peer_smtp_t full = {.mail = "452 no room"};
    pay_endpoint_t *endpoint, *notice;

    mail_set_up(peer_smtp(&full), NULL);
    list("");
    notice = endpoint_put(&scope, PAY_ENDPOINT_NOTICE, PAYER);
    charges(&scope, "more", 4);
    ck_assert_int_eq(step(), 0);
    notice->enabled = 0;
    (void)endpoint_write(notice);
    charges(&scope, "again", 3);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(
        pay_store_endpoint_get(&endpoint, shop->store, &scope, PAY_ENDPOINT_RECEIPT, unit_pool),
        APR_SUCCESS);
    ck_assert(pay_endpoint_is_failing(endpoint));
    ck_assert_int_eq(endpoint->status, 452);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_not_listed);
    tcase_add_test(tcase, test_withheld_heals_nothing);
    tcase_add_loop_test(tcase, test_mail_replies, 0, UNIT_ROWS(replies));
    tcase_add_loop_test(tcase, test_mail_waits, 0, 2);
}

UNIT_PROGRAM(add)
