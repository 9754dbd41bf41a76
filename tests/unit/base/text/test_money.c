/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/money.h"

#include "unit.h"

#include <string.h>

#define NINES_10 "9999999999"
#define ZEROS_10 "0000000000"
#define ZEROS_60 ZEROS_10 ZEROS_10 ZEROS_10 ZEROS_10 ZEROS_10 ZEROS_10

static const struct {
    const char *name;
    const char *text;
    const char *currency;
    apr_int64_t want_minor;
    apr_status_t want;
} parse_rows[] = {
    {"two decimals", "10.50", "EUR", 1050, APR_SUCCESS},
    {"no decimals", "10", "EUR", 1000, APR_SUCCESS},
    {"one decimal", "10.5", "EUR", 1050, APR_SUCCESS},
    {"smallest", "0.01", "EUR", 1, APR_SUCCESS},
    {"no binary fraction", "0.29", "EUR", 29, APR_SUCCESS},
    {"one too many", "10.505", "EUR", 0, APR_EINVAL},
    {"zeros beyond", "10.5000", "EUR", 1050, APR_SUCCESS},
    {"yen", "10", "JPY", 10, APR_SUCCESS},
    {"yen with zeros", "10.00", "JPY", 10, APR_SUCCESS},
    {"yen has no decimals", "10.5", "JPY", 0, APR_EINVAL},
    {"dinar has three", "10.505", "KWD", 10505, APR_SUCCESS},
    {"dinar has not four", "10.5051", "KWD", 0, APR_EINVAL},
    {"unit of four", "1.0001", "CLF", 10001, APR_SUCCESS},
    {"five of four", "1.00001", "CLF", 0, APR_EINVAL},
    {"exponent", "1e2", "EUR", 10000, APR_SUCCESS},
    {"exponent with plus", "1E+2", "EUR", 10000, APR_SUCCESS},
    {"negative exponent", "1050e-2", "EUR", 1050, APR_SUCCESS},
    {"leading zero fraction", "0.1e1", "EUR", 100, APR_SUCCESS},
    {"exponent with leading zeros", "1e0000000000000000002", "EUR", 10000, APR_SUCCESS},
    {"huge mantissa, small exponent", "1" ZEROS_10 "e-10", "EUR", 100, APR_SUCCESS},
    {"long fraction of zeros", "1." ZEROS_60, "EUR", 100, APR_SUCCESS},
    {"literal of 64", "12." ZEROS_60 "0", "EUR", 1200, APR_SUCCESS},
    {"literal of 65", "123." ZEROS_60 "0", "EUR", 0, APR_EINVAL},
    {"largest", "999999999999.99", "NGN", APR_INT64_C(99999999999999), APR_SUCCESS},
    {"above the largest", "1000000000000", "NGN", 0, APR_ERANGE},
    {"largest yen", "999999999999", "JPY", APR_INT64_C(999999999999), APR_SUCCESS},
    {"above the largest yen", "1000000000000", "JPY", 0, APR_ERANGE},
    {"largest dinar", "999999999999.99", "KWD", APR_INT64_C(999999999999990), APR_SUCCESS},
    {"above the largest dinar", "999999999999.991", "KWD", 0, APR_ERANGE},
    {"largest of four", "999999999999.99", "CLF", APR_INT64_C(9999999999999900), APR_SUCCESS},
    {"above the largest of four", "999999999999.9901", "CLF", 0, APR_ERANGE},
    {"sixty digits", NINES_10 NINES_10 NINES_10 NINES_10 NINES_10 NINES_10, "EUR", 0, APR_ERANGE},
    {"1e400", "1e400", "EUR", 0, APR_ERANGE},
    {"1e99999999999999999999", "1e99999999999999999999", "EUR", 0, APR_ERANGE},
    {"1e-400", "1e-400", "EUR", 0, APR_EINVAL},
    {"1e-99999999999999999999", "1e-99999999999999999999", "EUR", 0, APR_EINVAL},
    {"zero", "0", "EUR", 0, APR_ERANGE},
    {"zero to a high power", "0e9999", "EUR", 0, APR_ERANGE},
    {"zero with many decimals", "0.0000000", "EUR", 0, APR_ERANGE},
    {"minus zero", "-0", "EUR", 0, APR_ERANGE},
    {"negative", "-1", "EUR", 0, APR_ERANGE},
    {"empty", "", "EUR", 0, APR_EINVAL},
    {"minus alone", "-", "EUR", 0, APR_EINVAL},
    {"leading zeros", "00", "EUR", 0, APR_EINVAL},
    {"leading zero", "01", "EUR", 0, APR_EINVAL},
    {"plus", "+1", "EUR", 0, APR_EINVAL},
    {"no integer", ".5", "EUR", 0, APR_EINVAL},
    {"no fraction", "5.", "EUR", 0, APR_EINVAL},
    {"no exponent", "5e", "EUR", 0, APR_EINVAL},
    {"signed nothing", "5e+", "EUR", 0, APR_EINVAL},
    {"blank before", " 5", "EUR", 0, APR_EINVAL},
    {"blank behind", "5 ", "EUR", 0, APR_EINVAL},
    {"comma", "5,00", "EUR", 0, APR_EINVAL},
    {"two points", "5.0.0", "EUR", 0, APR_EINVAL},
    {"hexadecimal", "0x10", "EUR", 0, APR_EINVAL},
    {"not a number", "NaN", "EUR", 0, APR_EINVAL},
    {"infinity", "Infinity", "EUR", 0, APR_EINVAL},
    {"other digits", "\xd9\xa1", "EUR", 0, APR_EINVAL},
    {"no currency", "5", "XXX", 0, APR_EINVAL},
    {"lower-case currency", "5", "eur", 0, APR_EINVAL},
};

START_TEST(test_parse)
{
    pay_money_t money;
    apr_status_t rv;

    memset(&money, 0xff, sizeof(money));
    rv = pay_money_parse(&money, parse_rows[_i].text, parse_rows[_i].currency);
    ck_assert_msg(rv == parse_rows[_i].want, "%s: status %d", parse_rows[_i].name, rv);
    ck_assert_msg(money.amount_minor == parse_rows[_i].want_minor, "%s: %lld", parse_rows[_i].name,
                  (long long)money.amount_minor);
    ck_assert_msg(strcmp(money.currency, rv == APR_SUCCESS ? parse_rows[_i].currency : "") == 0,
                  "%s: currency '%s'", parse_rows[_i].name, money.currency);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t amount_minor;
    const char *currency;
    const char *want;
} format_rows[] = {
    {"two decimals", 123450, "EUR", "1234.50"},
    {"below one", 5, "EUR", "0.05"},
    {"tenth", 50, "EUR", "0.50"},
    {"zero", 0, "EUR", "0.00"},
    {"negative", -5, "EUR", "-0.05"},
    {"yen", 1234, "JPY", "1234"},
    {"zero yen", 0, "JPY", "0"},
    {"dinar", 1, "KWD", "0.001"},
    {"four decimals", 10001, "CLF", "1.0001"},
    {"largest", APR_INT64_C(99999999999999), "NGN", "999999999999.99"},
    {"largest at all", APR_INT64_MAX, "KWD", "9223372036854775.807"},
    {"smallest at all", APR_INT64_MIN, "CLF", "-922337203685477.5808"},
    {"no currency", 12, "", "12"},
};

START_TEST(test_format)
{
    char text[PAY_MONEY_TEXT_MAX];

    memset(text, 'x', sizeof(text));
    ck_assert_ptr_eq(pay_money_format(text, format_rows[_i].amount_minor, format_rows[_i].currency),
                     text);
    ck_assert_msg(strcmp(text, format_rows[_i].want) == 0, "%s: '%s'", format_rows[_i].name, text);
}
END_TEST

static const struct {
    const char *name;
    const char *code;
    int want;
} digits_rows[] = {
    {"first", "AED", 2},
    {"last", "ZWG", 2},
    {"naira", "NGN", 2},
    {"yen", "JPY", 0},
    {"CFA franc", "XOF", 0},
    {"dinar", "TND", 3},
    {"Chilean unit", "CLF", 4},
    {"pension unit", "UYW", 4},
    {"new in 2025", "XCG", 2},
    {"gone in 2026", "BGN", -1},
    {"gold", "XAU", -1},
    {"bond unit", "XBA", -1},
    {"drawing right", "XDR", -1},
    {"test", "XTS", -1},
    {"none", "XXX", -1},
    {"lower case", "eur", -1},
    {"empty", "", -1},
    {"too short", "EU", -1},
    {"too long", "EURO", -1},
    {"before the first", "AAA", -1},
    {"after the last", "ZZZ", -1},
};

START_TEST(test_digits)
{
    int digits = pay_currency_digits(digits_rows[_i].code);

    ck_assert_msg(digits == digits_rows[_i].want, "%s: %d", digits_rows[_i].name, digits);
}
END_TEST

/* The look-up is a binary search: a row out of order would not be found. */
START_TEST(test_all_codes)
{
    int count[5] = {0, 0, 0, 0, 0};
    char code[PAY_CURRENCY_LEN + 1] = "AAA";
    int i, digits;

    for (i = 0; i < 26 * 26 * 26; i++) {
        code[0] = (char)('A' + i / 676);
        code[1] = (char)('A' + i / 26 % 26);
        code[2] = (char)('A' + i % 26);
        digits = pay_currency_digits(code);
        ck_assert_msg(digits >= -1 && digits <= 4, "%s: %d", code, digits);
        if (digits >= 0) {
            count[digits]++;
        }
    }
    ck_assert_int_eq(count[0], 17);
    ck_assert_int_eq(count[1], 0);
    ck_assert_int_eq(count[2], 139);
    ck_assert_int_eq(count[3], 7);
    ck_assert_int_eq(count[4], 2);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    const char *want;
} normalize_rows[] = {
    {"upper", "NGN", "NGN"},
    {"lower", "ngn", "NGN"},
    {"mixed", "nGn", "NGN"},
    {"unknown", "abc", ""},
    {"short", "ng", ""},
    {"long", "ngnn", ""},
    {"empty", "", ""},
    {"blank", " ngn", ""},
    {"digits", "123", ""},
    {"test code", "xxx", ""},
    {"not ASCII", "\xc3\xa9n", ""},
};

START_TEST(test_normalize)
{
    char code[PAY_CURRENCY_LEN + 1] = {'x', 'x', 'x', 'x'};
    apr_status_t rv;

    rv = pay_currency_normalize(code, normalize_rows[_i].text);
    ck_assert_msg(rv == (*normalize_rows[_i].want ? APR_SUCCESS : APR_EINVAL), "%s: status %d",
                  normalize_rows[_i].name, rv);
    ck_assert_msg(strcmp(code, normalize_rows[_i].want) == 0, "%s: '%.4s'", normalize_rows[_i].name,
                  code);
}
END_TEST

/* Rows of one text are one number; no two texts are. */
static const struct {
    const char *name;
    const char *text;
    const char *want; /* "": no number */
} decimal_rows[] = {
    {"an integer", "10", "1e1"},
    {"with decimals", "10.0", "1e1"},
    {"with more", "10.00", "1e1"},
    {"with an exponent", "1e1", "1e1"},
    {"with a negative exponent", "1000E-2", "1e1"},
    {"with a signed exponent", "0.1e+2", "1e1"},
    {"another", "10.01", "1001e-2"},
    {"below one", "0.10", "1e-1"},
    {"zero", "0", "0"},
    {"zero with decimals", "0.00", "0"},
    {"zero with an exponent", "0e5", "0"},
    {"negative", "-4.20", "-42e-1"},
    {"longest", "1234567890123456789012345678901234567890123456789012345678901234",
     "1234567890123456789012345678901234567890123456789012345678901234e0"},
    {"longest exponent of it", "-1234567890123456789012345678901234567890123456789012345e-999999",
     "-1234567890123456789012345678901234567890123456789012345e-9999"},
    {"one longer", "12345678901234567890123456789012345678901234567890123456789012345", ""},
    {"empty", "", ""},
    {"words", "ten", ""},
    {"blank", " 1", ""},
    {"leading zero", "010", ""},
    {"bare fraction", ".5", ""},
};

START_TEST(test_decimal)
{
    char text[PAY_DECIMAL_TEXT_MAX];
    apr_status_t rv;

    rv = pay_decimal_normalize(text, decimal_rows[_i].text);
    ck_assert_msg(rv == (*decimal_rows[_i].want ? APR_SUCCESS : APR_EINVAL), "%s: status %d",
                  decimal_rows[_i].name, rv);
    ck_assert_msg(strcmp(text, decimal_rows[_i].want) == 0, "%s: %s", decimal_rows[_i].name, text);
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t amount_minor;
    const char *currency;
    const char *want;
} show_rows[] = {
    {"below a thousand", 99999, "NGN", "NGN 999.99"},
    {"thousands", 150000, "NGN", "NGN 1,500.00"},
    {"millions", 123456789, "EUR", "EUR 1,234,567.89"},
    {"no decimals", 1000, "JPY", "JPY 1,000"},
    {"three decimals", 1000, "KWD", "KWD 1.000"},
    {"zero", 0, "NGN", "NGN 0.00"},
    {"negative", -100000, "NGN", "NGN -1,000.00"},
    {"the largest that is stored", APR_INT64_MAX, "JPY", "JPY 9,223,372,036,854,775,807"},
    {"the least", APR_INT64_MIN, "CLF", "CLF -922,337,203,685,477.5808"},
    {"no currency", 1000, "", "1,000"},
};

START_TEST(test_show)
{
    char text[PAY_MONEY_SHOWN_MAX];

    ck_assert_ptr_eq(pay_money_show(text, show_rows[_i].amount_minor, show_rows[_i].currency),
                     text);
    ck_assert_msg(strcmp(text, show_rows[_i].want) == 0, "%s: %s", show_rows[_i].name, text);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_show, 0, UNIT_ROWS(show_rows));
    tcase_add_loop_test(tcase, test_decimal, 0, UNIT_ROWS(decimal_rows));
    tcase_add_loop_test(tcase, test_parse, 0, UNIT_ROWS(parse_rows));
    tcase_add_loop_test(tcase, test_format, 0, UNIT_ROWS(format_rows));
    tcase_add_loop_test(tcase, test_digits, 0, UNIT_ROWS(digits_rows));
    tcase_add_test(tcase, test_all_codes);
    tcase_add_loop_test(tcase, test_normalize, 0, UNIT_ROWS(normalize_rows));
}

UNIT_PROGRAM(add)
