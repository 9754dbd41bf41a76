/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fee.h"

#include "unit.h"

static const struct {
    const char *name, *text;
    const char *rules; /* NULL: refused */
    const char *fault; /* a part of the reason; NULL with rules */
} texts[] = {
    {"none", "", "", NULL},
    {"blanks", "  ", "", NULL},
    {"only an end", ";", "", NULL},
    {"a percentage", "NGN 1.5%", "NGN 1.5%", NULL},
    {"in lower case", "ngn 1.5%", "NGN 1.5%", NULL},
    {"zeros", "NGN 01.5000% + 100 max 2000.0", "NGN 1.5% + 100.00 max 2000.00", NULL},
    {"no blanks", "NGN 1.5%+100;USD 3%", "NGN 1.5% + 100.00; USD 3%", NULL},
    {"four decimals", "NGN 0.0001%", "NGN 0.0001%", NULL},
    {"nothing", "NGN 0%", "NGN 0%", NULL},
    {"all", "NGN 100%", "NGN 100%", NULL},
    {"an amount", "NGN 50", "NGN 50.00", NULL},
    {"no decimals", "JPY 3.6% + 30", "JPY 3.6% + 30", NULL},
    {"three decimals", "KWD 2% min 0.125", "KWD 2% min 0.125", NULL},
    {"a channel", "NGN card 1.5%", "NGN card 1.5%", NULL},
    {"both channels", "NGN 1%; NGN bank_transfer 50", "NGN 1%; NGN bank_transfer 50.00", NULL},
    {"both bounds", "NGN 1% min 10 max 10", "NGN 1% min 10.00 max 10.00", NULL},
    {"as given twice on a command line", "NGN 1.5% + 100 USD 3%", "NGN 1.5% + 100.00; USD 3%",
     NULL},
    {"no semicolon after a bound", "NGN 1% max 5 NGN card 2%", "NGN 1% max 5.00; NGN card 2%",
     NULL},
    {"an end too many", "NGN 1%;;USD 2%;", "NGN 1%; USD 2%", NULL},
    {"a tab", "NGN\t1%", "NGN 1%", NULL},
    {"no currency", "1.5%", NULL, "want rules such as"},
    {"a currency that there is not", "XYZ 1%", NULL, "want rules such as"},
    {"a currency alone", "NGN", NULL, "want rules such as"},
    {"a channel alone", "NGN card", NULL, "want rules such as"},
    {"a channel that there is not", "NGN ussd 1%", NULL, "want amounts"},
    {"a sign alone", "NGN %", NULL, "want a percentage"},
    {"above 100", "NGN 100.0001%", NULL, "want a percentage"},
    {"five decimals", "NGN 1.00001%", NULL, "want a percentage"},
    {"no digit before the point", "NGN .5%", NULL, "want a percentage"},
    {"no digit after the point", "NGN 1.%", NULL, "want a percentage"},
    {"two points", "NGN 1.2.3%", NULL, "want a percentage"},
    {"less than nothing", "NGN -1%", NULL, "want a percentage"},
    {"an exponent", "NGN 1e1%", NULL, "want a percentage"},
    {"an amount below nothing", "NGN -50", NULL, "want amounts"},
    {"an amount of nothing", "NGN 0", NULL, "want amounts"},
    {"too many decimals", "JPY 30.5", NULL, "want amounts"},
    {"nothing after the plus", "NGN 1% +", NULL, "want amounts"},
    {"two amounts", "NGN 1% + 5 + 5", NULL, "want rules such as"},
    {"two percentages", "NGN 1% + 2%", NULL, "want amounts"},
    {"the amount first", "NGN 5 + 1%", NULL, "want rules such as"},
    {"bounds of an amount", "NGN 50 max 60", NULL, "want rules such as"},
    {"min without an amount", "NGN 1% min", NULL, "want amounts"},
    {"max before min", "NGN 1% max 5 min 1", NULL, "want rules such as"},
    {"min above max", "NGN 1% min 5.01 max 5", NULL, "min is above max"},
    {"a word too many", "NGN 1% max 5 please", NULL, "want rules such as"},
    {"a word too long", "NGN 1% + 100000000000000000000000000000000000000000", NULL,
     "want amounts"},
    {"a word too long at the end", "NGN 1% aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL,
     "want rules such as"},
    {"a long word first", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL,
     "want rules such as"},
    {"twice", "NGN 1%; NGN 2%", NULL, "two rules have the same"},
    {"twice of a channel", "NGN card 1%; NGN 3%; ngn card 2%", NULL, "two rules have the same"},
};

START_TEST(test_texts)
{
    const char *rules = NULL, *again = NULL;
    const char *fault = pay_fee_rules_read(&rules, texts[_i].text, unit_pool);

    if (!texts[_i].rules) {
        ck_assert_msg(fault && strstr(fault, texts[_i].fault), "%s: %s", texts[_i].name, fault);
        ck_assert_ptr_null(rules);
        return;
    }
    ck_assert_msg(!fault && !strcmp(rules, texts[_i].rules), "%s: %s%s", texts[_i].name, rules,
                  fault);
    ck_assert_ptr_null(pay_fee_rules_read(&again, rules, unit_pool));
    ck_assert_str_eq(again, rules); /* the stored form is read as the same */
}
END_TEST

#define CURRENCIES                                                                                 \
    "AED AFN ALL AMD CRC AOA ARS AUD AWG AZN BAM BBD BDT COP BHD BIF BMD BND BOB BRL BSD BTN BWP " \
    "BYN BZD CAD CDF CHF CLP CNY"

START_TEST(test_how_many)
{
    const char *text = "", *rules = NULL;
    char *word, *last;
    int count = 0;

    for (word = apr_strtok(apr_pstrdup(unit_pool, CURRENCIES), " ", &last); word;
         word = apr_strtok(NULL, " ", &last)) {
        text = apr_pstrcat(unit_pool, text, word, " 1% ", NULL);
        count++;
    }
    text = apr_pstrcat(unit_pool, text, "NGN card 1% NGN 2%", NULL);
    ck_assert_int_eq(count + 2, PAY_FEE_RULES_MAX);
    ck_assert_ptr_null(pay_fee_rules_read(&rules, text, unit_pool));
    text = apr_pstrcat(unit_pool, text, " USD 1%", NULL);
    ck_assert_str_eq(pay_fee_rules_read(&rules, text, unit_pool), "want at most 32 rules");
}
END_TEST

#define RULES                                                                                      \
    "NGN 1.5% + 100.00 max 2000.00; NGN bank_transfer 50.00; USD card 3.9%; EUR 1% min 0.50; "     \
    "JPY 3.6%; GBP 0%; GBP card 100%; KWD 0.0001%"

static const struct {
    const char *name;
    pay_money_t money;
    pay_channel_t channel;
    apr_int64_t fee_minor;
} fees[] = {
    {"percentage and amount", {150050, "NGN"}, PAY_CHANNEL_CARD, 2251 + 10000},
    {"at its most", {12666667, "NGN"}, PAY_CHANNEL_CARD, 200000},
    {"above its most", {99999999, "NGN"}, PAY_CHANNEL_CARD, 200000},
    {"of all the money that there is", {99999999999999, "NGN"}, PAY_CHANNEL_CARD, 200000},
    {"the smallest amount", {1, "NGN"}, PAY_CHANNEL_CARD, 10000},
    {"of its channel", {150050, "NGN"}, PAY_CHANNEL_BANK_TRANSFER, 5000},
    {"only of a channel", {1000, "USD"}, PAY_CHANNEL_CARD, 39},
    {"only of another channel", {1000, "USD"}, PAY_CHANNEL_BANK_TRANSFER, 0},
    {"at its least", {100, "EUR"}, PAY_CHANNEL_CARD, 50},
    {"above its least", {5100, "EUR"}, PAY_CHANNEL_CARD, 51},
    {"half up", {1250, "JPY"}, PAY_CHANNEL_CARD, 45},
    {"below half", {1236, "JPY"}, PAY_CHANNEL_CARD, 44},
    {"half", {125, "JPY"}, PAY_CHANNEL_CARD, 5}, /* 4.5 */
    {"nothing", {1000, "GBP"}, PAY_CHANNEL_BANK_TRANSFER, 0},
    {"all of it", {99999999999999, "GBP"}, PAY_CHANNEL_CARD, 99999999999999},
    {"a part in a million", {499999, "KWD"}, PAY_CHANNEL_CARD, 0},
    {"half a part in a million", {500000, "KWD"}, PAY_CHANNEL_CARD, 1},
    {"much of a part in a million", {999999999999990, "KWD"}, PAY_CHANNEL_CARD, 1000000000},
    {"another currency", {1000, "CHF"}, PAY_CHANNEL_CARD, 0},
};

START_TEST(test_fees)
{
    ck_assert_int_eq(pay_fee_of(RULES, &fees[_i].money, fees[_i].channel), fees[_i].fee_minor);
    ck_assert_int_eq(pay_fee_of("", &fees[_i].money, fees[_i].channel), 0);
}
END_TEST

/* A currency that existed when the rules were set; the others are not lost with it. */
START_TEST(test_dropped_currency)
{
    const pay_money_t money = {1000, "NGN"};

    ck_assert_int_eq(pay_fee_of("XQQ 5% + 1.00 max 9.00; NGN 2%", &money, PAY_CHANNEL_CARD), 20);
    ck_assert_int_eq(pay_fee_of("NGN 2%; XQQ 5%", &money, PAY_CHANNEL_CARD), 20);
    ck_assert_int_eq(pay_fee_of("XQQ 5%", &money, PAY_CHANNEL_CARD), 0);
}
END_TEST

/* The rule of a channel counts before or after the general one. */
START_TEST(test_order)
{
    const pay_money_t money = {1000, "NGN"};

    ck_assert_int_eq(pay_fee_of("NGN card 2%; NGN 1%", &money, PAY_CHANNEL_CARD), 20);
    ck_assert_int_eq(pay_fee_of("NGN 1%; NGN card 2%", &money, PAY_CHANNEL_CARD), 20);
    ck_assert_int_eq(pay_fee_of("NGN card 2%; NGN 1%", &money, PAY_CHANNEL_BANK_TRANSFER), 10);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_texts, 0, UNIT_ROWS(texts));
    tcase_add_test(tcase, test_how_many);
    tcase_add_loop_test(tcase, test_fees, 0, UNIT_ROWS(fees));
    tcase_add_test(tcase, test_dropped_currency);
    tcase_add_test(tcase, test_order);
}

UNIT_PROGRAM(add)
