/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "acquirer/acquirer.h"
#include "acquirer/simulator.h"

#include <string.h>

#define UNKNOWN PAY_OUTCOME_UNKNOWN
#define APPROVED PAY_OUTCOME_APPROVED
#define DECLINED PAY_OUTCOME_DECLINED

/* The table of docs/api.md, "Test data": by token, and by the card behind an issued token. */
static const struct {
    const char *name;   /* of a built-in token, or of a card */
    const char *number; /* NULL: the token decides */
    pay_outcome_kind_t charge;
    const char *charge_code;
    pay_outcome_kind_t query;
    const char *query_code;
    pay_outcome_kind_t refund;
} cases[] = {
    {"tok_test_success", NULL, APPROVED, "00", APPROVED, "00", APPROVED},
    {"tok_test_declined", NULL, DECLINED, "05", DECLINED, "05", APPROVED},
    {"tok_test_insufficient_funds", NULL, DECLINED, "51", DECLINED, "51", APPROVED},
    {"tok_test_expired_card", NULL, DECLINED, "54", DECLINED, "54", APPROVED},
    {"tok_test_error", NULL, UNKNOWN, "", DECLINED, "96", APPROVED},
    {"tok_test_timeout", NULL, UNKNOWN, "", APPROVED, "00", APPROVED},
    {"tok_test_refund_fails", NULL, APPROVED, "00", APPROVED, "00", DECLINED},
    {"approved card", "5555555555554444", APPROVED, "00", APPROVED, "00", APPROVED},
    {"declined card", "1234567898765432", DECLINED, "05", DECLINED, "05", APPROVED},
    {"insufficient funds", "4000000000009995", DECLINED, "51", DECLINED, "51", APPROVED},
    {"expired card", "4000000000000069", DECLINED, "54", DECLINED, "54", APPROVED},
    {"no answer", "4000000000000119", UNKNOWN, "", APPROVED, "00", APPROVED},
    {"one-time code", "4000000000003220", APPROVED, "00", APPROVED, "00", APPROVED},
};

static const pay_acquirer_t simulator = {.connector = &pay_acquirer_simulator, .name = "simulator"};

static pay_charge_t charge_make(const char *token, const char *number)
{
    pay_charge_t charge = {.scope = {1, PAY_TEST},
                           .reference = "order-1",
                           .token = number ? "tok_issued" : token,
                           .money = {1050, "NGN"}};

    if (number) {
        charge.card = *pay_test_card_find(number);
    }
    return charge;
}

static void assert_outcome(const pay_outcome_t *got, pay_outcome_kind_t kind, const char *code,
                           const char *authorization, const char *name)
{
    ck_assert_msg(got->kind == kind, "%s: kind %d", name, (int)got->kind);
    ck_assert_msg(!strcmp(got->code, code), "%s: code %s", name, got->code);
    ck_assert_msg(!*got->message == (kind == UNKNOWN), "%s: message %s", name, got->message);
    ck_assert_msg(strlen(got->message) <= PAY_OUTCOME_MESSAGE_MAX, "%s", name);
    ck_assert_msg(!strcmp(got->authorization_code, kind == APPROVED ? authorization : ""),
                  "%s: authorization %s", name, got->authorization_code);
}

START_TEST(test_charge)
{
    pay_charge_t charge = charge_make(cases[_i].name, cases[_i].number);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &simulator, &charge, unit_pool), APR_SUCCESS);
    assert_outcome(&out, cases[_i].charge, cases[_i].charge_code, "L5K7O4", cases[_i].name);
    ck_assert_int_eq(pay_acquirer_charge_query(&out, &news, &simulator, &charge, unit_pool),
                     APR_SUCCESS);
    assert_outcome(&out, cases[_i].query, cases[_i].query_code, "L5K7O4", cases[_i].name);
}
END_TEST

START_TEST(test_refund)
{
    pay_charge_t charge = charge_make(cases[_i].name, cases[_i].number);
    pay_refund_t refund = {.refund_reference = "RF-1", .money = {1050, "NGN"}};
    const char *code = cases[_i].refund == APPROVED ? "00" : "05";
    pay_acquirer_news_t news;
    pay_outcome_t out;

    ck_assert_int_eq(pay_acquirer_refund(&out, &news, &simulator, &refund, &charge, unit_pool),
                     APR_SUCCESS);
    assert_outcome(&out, cases[_i].refund, code, "", cases[_i].name);
    ck_assert_int_eq(
        pay_acquirer_refund_query(&out, &news, &simulator, &refund, &charge, unit_pool),
        APR_SUCCESS);
    assert_outcome(&out, cases[_i].refund, code, "", cases[_i].name);
}
END_TEST

START_TEST(test_token_goes_before_card)
{
    pay_charge_t charge = charge_make("tok_test_declined", NULL);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    charge.card = *pay_test_card_find("5555555555554444");
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &simulator, &charge, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(out.kind, DECLINED);
}
END_TEST

START_TEST(test_authorization_follows_reference)
{
    pay_charge_t charge = charge_make("tok_test_success", NULL);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    charge.reference = "order-2";
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &simulator, &charge, unit_pool), APR_SUCCESS);
    ck_assert_str_eq(out.authorization_code, "ZWNGZG");
}
END_TEST

START_TEST(test_refund_without_charge)
{
    pay_refund_t refund = {.refund_reference = "RF-1", .money = {1050, "NGN"}};
    pay_acquirer_news_t news;
    pay_outcome_t out;

    ck_assert_int_eq(pay_acquirer_refund_query(&out, &news, &simulator, &refund, NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(out.kind, APPROVED);
}
END_TEST

START_TEST(test_vtable)
{
    ck_assert_uint_eq(pay_acquirer_simulator.struct_size, sizeof(payments_acquirer_t));
    ck_assert_uint_eq(pay_acquirer_simulator.abi, PAYMENTS_ACQUIRER_ABI);
    ck_assert_str_eq(pay_acquirer_simulator.name, "simulator");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_charge, 0, UNIT_ROWS(cases));
    tcase_add_loop_test(tcase, test_refund, 0, UNIT_ROWS(cases));
    tcase_add_test(tcase, test_token_goes_before_card);
    tcase_add_test(tcase, test_authorization_follows_reference);
    tcase_add_test(tcase, test_refund_without_charge);
    tcase_add_test(tcase, test_vtable);
}

UNIT_PROGRAM(add)
