/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/card.h"

#include <string.h>

static const struct {
    const char *name;
    const char *text;
    int want;
} number_cases[] = {
    {"Visa, 16", "4111111111111111", 1},
    {"Visa, 13", "4222222222222", 1},
    {"Visa, 19", "4000000000000000006", 1},
    {"Visa of 14, Luhn holds", "42222222222226", 0},
    {"Mastercard", "5555555555554444", 1},
    {"Mastercard, first of the second range", "2221000000000009", 1},
    {"Mastercard, last of the second range", "2720990000000007", 1},
    {"just above that range", "2721000000000004", 0},
    {"American Express", "378282246310005", 1},
    {"American Express, other prefix", "341111111111111", 1},
    {"Diners Club", "30569309025904", 1},
    {"Discover", "6011111111111117", 1},
    {"JCB", "3530111333300000", 1},
    {"UnionPay", "6200000000000005", 1},
    {"UnionPay, 19", "6205500000000000004", 1},
    {"Verve", "5060990580000217499", 1},
    {"Maestro", "6759649826438453", 1},
    {"Maestro, 18", "586824160825533338", 1},
    {"Mir", "2200000000000004", 1},
    {"cards of Test Mode that have a network", "4000000000009995", 1},
    {"the declined card of Test Mode has none", "1234567898765432", 0},
    {"blanks", "4111 1111 1111 1111", 1},
    {"dashes", "4111-1111-1111-1111", 1},
    {"blanks and dashes all over", " -4111--1111  1111 1111- ", 1},
    {"tab", "4111\t1111 1111 1111", 1},
    {"no-break space",
     "4111\xc2\xa0"
     "1111\xc2\xa0"
     "1111\xc2\xa0"
     "1111",
     1},
    {"narrow no-break space",
     "4111\xe2\x80\xaf"
     "111111111111",
     1},
    {"en dash",
     "4111\xe2\x80\x93"
     "1111\xe2\x80\x93"
     "11111111",
     1},
    {"ellipsis is no separator",
     "4111\xe2\x80\xa6"
     "111111111111",
     0},
    {"wrong check digit", "4111111111111112", 0},
    {"one digit less", "411111111111111", 0},
    {"one digit more, Luhn holds", "41111111111111113", 0},
    {"twenty digits", "41111111111111111110", 0},
    {"time in milliseconds", "1763701200000", 0},
    {"time in microseconds, Luhn holds", "1763701200000006", 0},
    {"zeros, Luhn holds", "0000000000000000", 0},
    {"telephone number", "+49 151 12345678", 0},
    {"text around it", "card 4111111111111111", 0},
    {"letter within", "4111111111111111a", 0},
    {"empty", "", 0},
    {"separators only", " - ", 0},
    {"cut separator at the end", "4111111111111111\xe2\x80", 0},
};

START_TEST(test_number)
{
    ck_assert_msg(pay_card_number_is(number_cases[_i].text) == number_cases[_i].want, "%s",
                  number_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int want;
} within_cases[] = {
    {"whole text", "4111111111111111", 1},
    {"text around", "paid with 4111111111111111, thanks", 1},
    {"with blanks", "paid with 4111 1111 1111 1111 today", 1},
    {"with dashes", "(4111-1111-1111-1111)", 1},
    {"after a number", "order 12 4111 1111 1111 1111", 1},
    {"before a number", "4111 1111 1111 1111 12/27 123", 1},
    {"letters touch it", "ORD4111111111111111X", 1},
    {"after a date", "2026-11-21 4111111111111111", 1},
    {"second of two numbers", "1763701200000, 378282246310005", 1},
    {"at the end of a line", "card:\n4111111111111111\nthanks", 1},
    {"lines are not joined", "41111111\n11111111", 0},
    {"dots do not join", "4111.1111.1111.1111", 0},
    {"inside a longer run", "99411111111111111199", 0},
    {"at the end of a longer run", "994111111111111111", 0},
    {"wrong check digit", "4111 1111 1111 1112", 0},
    {"telephone number, Luhn holds", "call +4222222222222", 0},
    {"telephone number in groups", "call +42 222 22222222", 0},
    {"card number after a telephone number", "call +1 or 4111 1111 1111 1111", 1},
    {"twenty digits in groups", "99999 99999 99999 99999", 0},
    {"no digits", "customer changed his mind", 0},
    {"empty", "", 0},
};

START_TEST(test_within)
{
    ck_assert_msg(pay_card_number_within(within_cases[_i].text) == within_cases[_i].want, "%s",
                  within_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int want;
} phone_cases[] = {
    {"card number", "4111111111111111", 1},
    {"behind a plus sign", "+4111111111111111", 1},
    {"in groups", "(4111) 1111.1111/1111", 1},
    {"nineteen digits", "6304000000000000000", 1},
    {"fifteen digits, an American Express card's", "378282246310005", 0},
    {"mobile number, Luhn holds", "+49 151 12345678", 0},
    {"twenty digits", "41111111111111111110", 0},
    {"wrong check digit", "4111111111111112", 0},
    {"empty", "", 0},
};

START_TEST(test_phone)
{
    ck_assert_msg(pay_card_number_in_phone(phone_cases[_i].text) == phone_cases[_i].want, "%s",
                  phone_cases[_i].name);
}
END_TEST

#define U "https://shop.example/back"

static const struct {
    const char *name;
    const char *url;
    int want;
} url_cases[] = {
    {"in the query", U "?pan=4111111111111111", 1},
    {"in the path", U "/4111111111111111/x", 1},
    {"in the fragment", U "#4111111111111111", 1},
    {"plus signs", U "?pan=4111+1111+1111+1111", 1},
    {"encoded blanks", U "?pan=4111%201111%201111%201111", 1},
    {"encoded dashes", U "?pan=4111%2D1111%2d1111%2D1111", 1},
    {"encoded digits", U "?pan=%34%31%31%31111111111111", 1},
    {"behind an encoded plus sign", U "?pan=%2B4111111111111111", 1},
    {"American Express", U "?pan=378282246310005", 1},
    {"part of a longer run", U "?id=94111111111111111199999", 0},
    {"part of a longer run that is encoded", U "?id=%394111111111111111%3999999", 0},
    {"article's number with Luhn", U "?ean=4222222222222", 0},
    {"time", U "?t=1763701200000", 0},
    {"percent sign alone", U "?a=100%", 0},
    {"percent sign and one digit", U "?a=100%4", 0},
    {"encoded NUL", U "?a=4111%001111%001111%001111", 0},
    {"empty", "", 0},
};

START_TEST(test_url)
{
    ck_assert_msg(pay_card_number_in_url(url_cases[_i].url) == url_cases[_i].want, "%s",
                  url_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *number;
    const char *first6; /* NULL: no such card */
    const char *last4;
    pay_test_behaviour_t behaviour;
} card_cases[] = {
    {"approved", "5555555555554444", "555555", "4444", PAY_TEST_APPROVE},
    {"declined", "1234567898765432", "123456", "5432", PAY_TEST_DECLINE},
    {"insufficient funds", "4000000000009995", "400000", "9995", PAY_TEST_INSUFFICIENT_FUNDS},
    {"expired", "4000000000000069", "400000", "0069", PAY_TEST_EXPIRED_CARD},
    {"no answer", "4000000000000119", "400000", "0119", PAY_TEST_TIMEOUT},
    {"one-time code", "4000000000003220", "400000", "3220", PAY_TEST_ONE_TIME_CODE},
    {"blanks", "5555 5555 5555 4444", "555555", "4444", PAY_TEST_APPROVE},
    {"dashes", "4000-0000-0000-9995", "400000", "9995", PAY_TEST_INSUFFICIENT_FUNDS},
    {"another card", "4111111111111111", NULL, NULL, PAY_TEST_APPROVE},
    {"one digit less", "555555555555444", NULL, NULL, PAY_TEST_APPROVE},
    {"one digit more", "55555555555544440", NULL, NULL, PAY_TEST_APPROVE},
    {"letters", "5555555555554444x", NULL, NULL, PAY_TEST_APPROVE},
    {"empty", "", NULL, NULL, PAY_TEST_APPROVE},
};

START_TEST(test_test_card)
{
    const pay_card_t *card = pay_test_card_find(card_cases[_i].number);

    if (!card_cases[_i].first6) {
        ck_assert_msg(card == NULL, "%s", card_cases[_i].name);
        return;
    }
    ck_assert_msg(card != NULL, "%s", card_cases[_i].name);
    ck_assert_str_eq(card->first6, card_cases[_i].first6);
    ck_assert_str_eq(card->last4, card_cases[_i].last4);
    ck_assert_msg(card->issuer && card->country && card->type, "%s", card_cases[_i].name);
    ck_assert_msg(pay_test_card_behaviour(card) == card_cases[_i].behaviour, "%s",
                  card_cases[_i].name);
}
END_TEST

START_TEST(test_unknown_card_approves)
{
    pay_card_t card = {"400000", "1111", "", "", ""};

    ck_assert_int_eq(pay_test_card_behaviour(&card), PAY_TEST_APPROVE);
    card = (pay_card_t){"555555", "9995", "", "", ""};
    ck_assert_int_eq(pay_test_card_behaviour(&card), PAY_TEST_APPROVE);
}
END_TEST

static const struct {
    const char *name;
    const char *token;
    int reserved;
    int found;
    pay_test_behaviour_t behaviour;
    const char *last4;
} token_cases[] = {
    {"success", "tok_test_success", 1, 1, PAY_TEST_APPROVE, "4444"},
    {"declined", "tok_test_declined", 1, 1, PAY_TEST_DECLINE, "5432"},
    {"funds", "tok_test_insufficient_funds", 1, 1, PAY_TEST_INSUFFICIENT_FUNDS, "9995"},
    {"expired", "tok_test_expired_card", 1, 1, PAY_TEST_EXPIRED_CARD, "0069"},
    {"error", "tok_test_error", 1, 1, PAY_TEST_ERROR, "4444"},
    {"timeout", "tok_test_timeout", 1, 1, PAY_TEST_TIMEOUT, "0119"},
    {"refund fails", "tok_test_refund_fails", 1, 1, PAY_TEST_REFUND_FAILS, "4444"},
    {"reserved but unknown", "tok_test_other", 1, 0, PAY_TEST_APPROVE, NULL},
    {"nothing behind the prefix", "tok_test_", 1, 0, PAY_TEST_APPROVE, NULL},
    {"longer than one", "tok_test_success1", 1, 0, PAY_TEST_APPROVE, NULL},
    {"other case", "TOK_TEST_SUCCESS", 0, 0, PAY_TEST_APPROVE, NULL},
    {"an issued token", "tok_abc", 0, 0, PAY_TEST_APPROVE, NULL},
    {"empty", "", 0, 0, PAY_TEST_APPROVE, NULL},
};

START_TEST(test_test_token)
{
    const pay_card_t *card;
    pay_test_behaviour_t behaviour = PAY_TEST_ERROR;

    ck_assert_msg(pay_test_token_is_reserved(token_cases[_i].token) == token_cases[_i].reserved,
                  "%s", token_cases[_i].name);
    ck_assert_msg(pay_test_token_find(&card, &behaviour, token_cases[_i].token)
                      == token_cases[_i].found,
                  "%s", token_cases[_i].name);
    ck_assert_msg(behaviour == token_cases[_i].behaviour, "%s", token_cases[_i].name);
    if (!token_cases[_i].found) {
        ck_assert_msg(card == NULL, "%s", token_cases[_i].name);
        return;
    }
    ck_assert_msg(card && !strcmp(card->last4, token_cases[_i].last4), "%s", token_cases[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_number, 0, UNIT_ROWS(number_cases));
    tcase_add_loop_test(tcase, test_within, 0, UNIT_ROWS(within_cases));
    tcase_add_loop_test(tcase, test_phone, 0, UNIT_ROWS(phone_cases));
    tcase_add_loop_test(tcase, test_url, 0, UNIT_ROWS(url_cases));
    tcase_add_loop_test(tcase, test_test_card, 0, UNIT_ROWS(card_cases));
    tcase_add_test(tcase, test_unknown_card_approves);
    tcase_add_loop_test(tcase, test_test_token, 0, UNIT_ROWS(token_cases));
}

UNIT_PROGRAM(add)
