/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/text/json.h"
#include "base/text/money.h"

/* Amounts: three bytes of currency, a blank or anything else, then the literal. */

#define MAJOR_LIMIT 1e12         /* every amount is below it */
#define ROUNDING_MAX (1.0 / 1e9) /* of doubles, relative; amounts have 16 digits at most */

static const double powers[] = {1, 10, 100, 1000, 10000};

/* Written text reads as the same amount, with all of the currency's decimals. */
static void check_format(const pay_money_t *money)
{
    char text[PAY_MONEY_TEXT_MAX], again[PAY_MONEY_TEXT_MAX];
    int digits = pay_currency_digits(money->currency);
    const char *point;
    pay_money_t back;

    CHECK(pay_money_format(text, money->amount_minor, money->currency) == text);
    CHECK(strlen(text) < PAY_MONEY_TEXT_MAX);
    point = strchr(text, '.');
    CHECK((point ? (int)strlen(point + 1) : 0) == digits);
    CHECK(pay_money_parse(&back, text, money->currency) == APR_SUCCESS);
    CHECK(back.amount_minor == money->amount_minor);
    CHECK(!strcmp(back.currency, money->currency));
    CHECK(!strcmp(pay_money_format(again, back.amount_minor, back.currency), text));
}

/* The value, measured another way, and the grammar, judged by the JSON reader. */
static void check_amount(const pay_money_t *money, const char *literal, apr_pool_t *p)
{
    const char *text = apr_pstrcat(p, "{\"a\":", literal, "}", NULL);
    double wanted = strtod(literal, NULL) * powers[pay_currency_digits(money->currency)];
    double amount = (double)money->amount_minor;
    const pay_json_t *json;
    const char *reason;

    CHECK(money->amount_minor > 0);
    CHECK(strtod(literal, NULL) < MAJOR_LIMIT);
    CHECK(amount - wanted <= wanted * ROUNDING_MAX && wanted - amount <= wanted * ROUNDING_MAX);
    CHECK(pay_json_parse(&json, &reason, text, strlen(text), p) == APR_SUCCESS);
    CHECK(!strcmp(pay_json_number(json, "a"), literal));
}

static void check_literal(const char *literal, const char *code, apr_pool_t *p)
{
    pay_money_t money;
    apr_status_t rv;

    rv = pay_money_parse(&money, literal, code);
    CHECK(rv == APR_SUCCESS || rv == APR_EINVAL || rv == APR_ERANGE);
    if (rv != APR_SUCCESS) {
        CHECK(money.amount_minor == 0 && money.currency[0] == '\0');
        return;
    }
    CHECK(!strcmp(money.currency, code));
    CHECK(strlen(literal) <= PAY_MONEY_LITERAL_MAX);
    check_format(&money);
    check_amount(&money, literal, p);
}

/* Any number that a damaged row may contain: digits, a sign and a point, and never too long. */
static void check_any_number(const char *text, size_t len, const char *currency)
{
    char out[PAY_MONEY_TEXT_MAX];
    apr_int64_t number = 0;

    memcpy(&number, text, len < sizeof(number) ? len : sizeof(number));
    (void)pay_money_format(out, number, currency);
    CHECK(strlen(out) < PAY_MONEY_TEXT_MAX);
    CHECK(strspn(out, "-.0123456789") == strlen(out));
    CHECK((out[0] == '-') == (number < 0));
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    static const char *const always[] = {"NGN", "JPY", "KWD", "CLF"};
    char *text = fuzz_text(data, size);
    size_t len = strlen(text), cut = len < PAY_CURRENCY_LEN ? len : PAY_CURRENCY_LEN;
    char *currency = fuzz_copy(text, cut);
    const char *literal = text + cut + (len > cut);
    char code[PAY_CURRENCY_LEN + 1], again[PAY_CURRENCY_LEN + 1];
    size_t i;

    if (pay_currency_normalize(code, currency) == APR_SUCCESS) {
        CHECK(strlen(code) == PAY_CURRENCY_LEN && pay_currency_digits(code) >= 0);
        CHECK(pay_currency_normalize(again, code) == APR_SUCCESS && !strcmp(again, code));
        check_literal(literal, code, p);
    } else {
        CHECK(code[0] == '\0' && pay_currency_digits(currency) < 0);
    }
    for (i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        check_literal(text, always[i], p);
        check_literal(literal, always[i], p);
        check_any_number(text, len, always[i]);
    }
    check_any_number(text, len, currency);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
