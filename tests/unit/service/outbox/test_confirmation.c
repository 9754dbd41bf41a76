/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "shop.h"

#include "service/account/endpoints.h"
#include "service/outbox/confirmation.h"

static const peer_smtp_t usual = {.ehlo = NULL};

static const pay_mail_confirmation_t confirmation = {
    .change = "make a live secret key of demo",
    .user = "olga",
    .host = "pay.example.com",
    .code = "ABCD-EFGH",
    .minutes = 10,
    .id = "0123456789abcdef",
    .at = APR_INT64_C(1795267800000000),
};

static void set_relay(shop_t *shop, const char *relay, const char *login)
{
    const pay_delivery_t delivery = {
        .trusted_ca = "",
        .webhook_allow = "",
        .mail_relay = relay,
        .mail_login = login,
        .mail_from = "pay@shop.example",
        .mail_templates = apr_pstrcat(unit_pool, unit_share(), "/mail", NULL),
    };

    ck_assert_int_eq(pay_store_delivery_put(shop->store, &delivery, unit_pool), APR_SUCCESS);
}

static void set_address(shop_t *shop, const char *address)
{
    const pay_mail_settings_t settings = {
        .notices = address != NULL, .address = address, .receipts = -1};

    ck_assert_ptr_null(pay_mail_set(&shop->service, shop->account->number, &settings, unit_pool));
}

static pay_confirmation_way_t way_of(shop_t *shop)
{
    pay_confirmation_way_t way;

    ck_assert_ptr_null(pay_confirmation_way(&way, &shop->service, shop->account, unit_pool));
    return way;
}

/* Missing settings are reported, one after the other, until none is left. */
START_TEST(test_way)
{
    shop_t *shop = shop_open(unit_dir());

    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "no merchant's address"));
    set_address(shop, "owner@shop.example");
    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "no mail relay"));
    set_relay(shop, "", "");
    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "no mail relay"));
    set_relay(shop, "http://127.0.0.1", "");
    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "not the URL of a mail relay"));
    set_relay(shop, "smtp://127.0.0.1", "sealed under a key that is gone");
    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "no master key"));
    set_relay(shop, "smtp://127.0.0.1", "");
    ck_assert_ptr_null(way_of(shop).lacks);
    ck_assert_str_eq(way_of(shop).address, "owner@shop.example");
    set_address(shop, NULL);
    ck_assert_ptr_nonnull(strstr(way_of(shop).lacks, "no merchant's address"));
}
END_TEST

START_TEST(test_send)
{
    shop_t *shop = shop_open(unit_dir());
    peer_t *relay = peer_smtp(&usual);
    pay_confirmation_way_t way;

    set_address(shop, "owner@shop.example");
    set_relay(shop, peer_url(relay, "smtp"), "");
    way = way_of(shop);
    ck_assert_ptr_null(pay_confirmation_send(&way, &confirmation, shop->account, unit_pool));
    ck_assert_int_eq(peer_requests(relay), 1);
    ck_assert_ptr_nonnull(strstr(peer_text(relay), "RCPT TO:<owner@shop.example>"));
    ck_assert_ptr_nonnull(strstr(peer_text(relay), "ABCD-EFGH"));
}
END_TEST

static const struct {
    const char *name;
    peer_smtp_t plan;
} refusals[] = {
    {"recipient", {.rcpt = "550 no such box\r\n"}},
    {"later", {.rcpt = "451 later\r\n"}},
    {"message", {.end = "554 no\r\n"}},
    {"sender", {.mail = "550 no\r\n"}},
    {"gone in the middle", {.data = ""}},
    {"no mail server", {.greeting = "554 no\r\n"}},
};

/* A sentence, without any address. */
START_TEST(test_refusals)
{
    shop_t *shop = shop_open(unit_dir());
    pay_confirmation_way_t way;
    const char *fault;

    set_address(shop, "owner@shop.example");
    set_relay(shop, peer_url(peer_smtp(&refusals[_i].plan), "smtp"), "");
    way = way_of(shop);
    fault = pay_confirmation_send(&way, &confirmation, shop->account, unit_pool);
    ck_assert_msg(fault && *fault, "%s", refusals[_i].name);
    ck_assert_ptr_null(strchr(fault, '@'));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_way);
    tcase_add_test(tcase, test_send);
    tcase_add_loop_test(tcase, test_refusals, 0, UNIT_ROWS(refusals));
}

UNIT_PROGRAM(add)
