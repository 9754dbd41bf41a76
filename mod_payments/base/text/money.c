/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/money.h"

#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#define MAJOR_MAX 999999999999 /* whole units; below them as many nines as hundredths allow */
#define CENTS_MAX 99
#define EXPONENT_MAX 1000 /* a larger exponent only means "far too large" or "far too small" */
#define MINOR_DIGITS_MAX 16

typedef struct currency_t {
    char code[PAY_CURRENCY_LEN + 1];
    int digits;
} currency_t;

/*
 * ISO 4217 list one as of 2026, sorted by code. Left out: precious metals, bond market units, XDR,
 * XSU, XUA, XTS and XXX, which have no minor unit and are not used for payments.
 */
static const currency_t currencies[] = {
    {"AED", 2}, {"AFN", 2}, {"ALL", 2}, {"AMD", 2}, {"AOA", 2}, {"ARS", 2}, {"AUD", 2}, {"AWG", 2},
    {"AZN", 2}, {"BAM", 2}, {"BBD", 2}, {"BDT", 2}, {"BHD", 3}, {"BIF", 0}, {"BMD", 2}, {"BND", 2},
    {"BOB", 2}, {"BOV", 2}, {"BRL", 2}, {"BSD", 2}, {"BTN", 2}, {"BWP", 2}, {"BYN", 2}, {"BZD", 2},
    {"CAD", 2}, {"CDF", 2}, {"CHE", 2}, {"CHF", 2}, {"CHW", 2}, {"CLF", 4}, {"CLP", 0}, {"CNY", 2},
    {"COP", 2}, {"COU", 2}, {"CRC", 2}, {"CUP", 2}, {"CVE", 2}, {"CZK", 2}, {"DJF", 0}, {"DKK", 2},
    {"DOP", 2}, {"DZD", 2}, {"EGP", 2}, {"ERN", 2}, {"ETB", 2}, {"EUR", 2}, {"FJD", 2}, {"FKP", 2},
    {"GBP", 2}, {"GEL", 2}, {"GHS", 2}, {"GIP", 2}, {"GMD", 2}, {"GNF", 0}, {"GTQ", 2}, {"GYD", 2},
    {"HKD", 2}, {"HNL", 2}, {"HTG", 2}, {"HUF", 2}, {"IDR", 2}, {"ILS", 2}, {"INR", 2}, {"IQD", 3},
    {"IRR", 2}, {"ISK", 0}, {"JMD", 2}, {"JOD", 3}, {"JPY", 0}, {"KES", 2}, {"KGS", 2}, {"KHR", 2},
    {"KMF", 0}, {"KPW", 2}, {"KRW", 0}, {"KWD", 3}, {"KYD", 2}, {"KZT", 2}, {"LAK", 2}, {"LBP", 2},
    {"LKR", 2}, {"LRD", 2}, {"LSL", 2}, {"LYD", 3}, {"MAD", 2}, {"MDL", 2}, {"MGA", 2}, {"MKD", 2},
    {"MMK", 2}, {"MNT", 2}, {"MOP", 2}, {"MRU", 2}, {"MUR", 2}, {"MVR", 2}, {"MWK", 2}, {"MXN", 2},
    {"MXV", 2}, {"MYR", 2}, {"MZN", 2}, {"NAD", 2}, {"NGN", 2}, {"NIO", 2}, {"NOK", 2}, {"NPR", 2},
    {"NZD", 2}, {"OMR", 3}, {"PAB", 2}, {"PEN", 2}, {"PGK", 2}, {"PHP", 2}, {"PKR", 2}, {"PLN", 2},
    {"PYG", 0}, {"QAR", 2}, {"RON", 2}, {"RSD", 2}, {"RUB", 2}, {"RWF", 0}, {"SAR", 2}, {"SBD", 2},
    {"SCR", 2}, {"SDG", 2}, {"SEK", 2}, {"SGD", 2}, {"SHP", 2}, {"SLE", 2}, {"SOS", 2}, {"SRD", 2},
    {"SSP", 2}, {"STN", 2}, {"SVC", 2}, {"SYP", 2}, {"SZL", 2}, {"THB", 2}, {"TJS", 2}, {"TMT", 2},
    {"TND", 3}, {"TOP", 2}, {"TRY", 2}, {"TTD", 2}, {"TWD", 2}, {"TZS", 2}, {"UAH", 2}, {"UGX", 0},
    {"USD", 2}, {"USN", 2}, {"UYI", 0}, {"UYU", 2}, {"UYW", 4}, {"UZS", 2}, {"VED", 2}, {"VES", 2},
    {"VND", 0}, {"VUV", 0}, {"WST", 2}, {"XAD", 2}, {"XAF", 0}, {"XCD", 2}, {"XCG", 2}, {"XOF", 0},
    {"XPF", 0}, {"YER", 2}, {"ZAR", 2}, {"ZMW", 2}, {"ZWG", 2}};

#define CURRENCY_COUNT (sizeof(currencies) / sizeof(currencies[0]))

static const apr_int64_t power_of_ten[] = {1, 10, 100, 1000, 10000};

/* A decimal number: `count` significant digits, then the power of ten to multiply with. */
typedef struct decimal_t {
    char digits[PAY_MONEY_LITERAL_MAX];
    int count;
    int exponent;
    int negative;
} decimal_t;

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int compare_code(const void *key, const void *row)
{
    return strcmp(key, ((const currency_t *)row)->code);
}

int pay_currency_digits(const char *code)
{
    const currency_t *found;

    found = bsearch(code, currencies, CURRENCY_COUNT, sizeof(currencies[0]), compare_code);
    if (!found) {
        return -1;
    }
    return found->digits;
}

apr_status_t pay_currency_normalize(char out[PAY_CURRENCY_LEN + 1], const char *text)
{
    char code[PAY_CURRENCY_LEN + 1];
    int i;

    memset(out, 0, PAY_CURRENCY_LEN + 1);
    if (strlen(text) != PAY_CURRENCY_LEN) {
        return APR_EINVAL;
    }
    for (i = 0; i <= PAY_CURRENCY_LEN; i++) {
        code[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
    }
    if (pay_currency_digits(code) < 0) {
        return APR_EINVAL;
    }
    memcpy(out, code, sizeof(code));
    return APR_SUCCESS;
}

/* Reads the digits of integer and fraction, without leading zeros; moves `*text` to their end. */
static apr_status_t read_mantissa(decimal_t *number, const char **text)
{
    const char *s = *text;

    if (!is_digit(*s) || (*s == '0' && is_digit(s[1]))) {
        return APR_EINVAL;
    }
    for (; is_digit(*s); s++) {
        if (number->count || *s != '0') {
            number->digits[number->count++] = *s;
        }
    }
    if (*s == '.') {
        s++;
        if (!is_digit(*s)) {
            return APR_EINVAL;
        }
        for (; is_digit(*s); s++) {
            number->exponent--;
            if (number->count || *s != '0') {
                number->digits[number->count++] = *s;
            }
        }
    }
    *text = s;
    return APR_SUCCESS;
}

/* Reads the exponent after 'e' or 'E', cut at EXPONENT_MAX. */
static apr_status_t read_exponent(decimal_t *number, const char **text)
{
    const char *s = *text + 1;
    int negative = *s == '-';
    int value = 0;

    if (*s == '-' || *s == '+') {
        s++;
    }
    if (!is_digit(*s)) {
        return APR_EINVAL;
    }
    for (; is_digit(*s); s++) {
        if (value < EXPONENT_MAX) {
            value = value * 10 + (*s - '0');
        }
    }
    number->exponent += negative ? -value : value;
    *text = s;
    return APR_SUCCESS;
}

static apr_status_t read_decimal(decimal_t *number, const char *text)
{
    apr_status_t rv;

    memset(number, 0, sizeof(*number));
    if (strlen(text) > PAY_MONEY_LITERAL_MAX) {
        return APR_EINVAL;
    }
    if (*text == '-') {
        number->negative = 1;
        text++;
    }
    rv = read_mantissa(number, &text);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (*text == 'e' || *text == 'E') {
        rv = read_exponent(number, &text);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    while (number->count && number->digits[number->count - 1] == '0') {
        number->count--;
        number->exponent++;
    }
    return *text ? APR_EINVAL : APR_SUCCESS;
}

static apr_int64_t amount_minor_max(int digits)
{
    apr_int64_t cents = digits >= 2 ? CENTS_MAX * power_of_ten[digits - 2] : 0;

    return MAJOR_MAX * power_of_ten[digits] + cents;
}

apr_status_t pay_money_parse(pay_money_t *out, const char *text, const char *currency)
{
    decimal_t number;
    apr_int64_t amount_minor = 0;
    apr_status_t rv;
    int digits, shift, i;

    memset(out, 0, sizeof(*out));
    digits = pay_currency_digits(currency);
    if (digits < 0) {
        return APR_EINVAL;
    }
    rv = read_decimal(&number, text);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!number.count) {
        return APR_ERANGE;
    }
    shift = number.exponent + digits;
    if (shift < 0) {
        return APR_EINVAL;
    }
    if (number.negative || number.count + shift > MINOR_DIGITS_MAX) {
        return APR_ERANGE;
    }
    for (i = 0; i < number.count + shift; i++) {
        amount_minor = amount_minor * 10 + (i < number.count ? number.digits[i] - '0' : 0);
    }
    if (amount_minor > amount_minor_max(digits)) {
        return APR_ERANGE;
    }
    out->amount_minor = amount_minor;
    memcpy(out->currency, currency, PAY_CURRENCY_LEN + 1);
    return APR_SUCCESS;
}

apr_status_t pay_decimal_normalize(char out[PAY_DECIMAL_TEXT_MAX], const char *text)
{
    decimal_t number;
    apr_status_t rv;

    memset(out, 0, PAY_DECIMAL_TEXT_MAX);
    rv = read_decimal(&number, text);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!number.count) {
        out[0] = '0';
        return APR_SUCCESS;
    }
    apr_snprintf(out, PAY_DECIMAL_TEXT_MAX, "%s%.*se%d", number.negative ? "-" : "", number.count,
                 number.digits, number.exponent);
    return APR_SUCCESS;
}

const char *pay_money_format(char out[PAY_MONEY_TEXT_MAX], apr_int64_t amount_minor,
                             const char *currency)
{
    int digits = pay_currency_digits(currency);
    apr_uint64_t rest = (apr_uint64_t)amount_minor;
    char *start = &out[PAY_MONEY_TEXT_MAX - 1];
    int written = 0;

    if (digits < 0) {
        digits = 0; /* a stored row may name no currency: only the bare number is known */
    }
    if (amount_minor < 0) {
        rest = 0 - rest;
    }
    *start = '\0';
    do {
        if (written && written == digits) {
            *--start = '.';
        }
        *--start = (char)('0' + rest % 10);
        rest /= 10;
        written++;
    } while (rest || written <= digits);
    if (amount_minor < 0) {
        *--start = '-';
    }
    memmove(out, start, (size_t)(out + PAY_MONEY_TEXT_MAX - start));
    return out;
}

const char *pay_money_show(char out[PAY_MONEY_SHOWN_MAX], apr_int64_t amount_minor,
                           const char *currency)
{
    char text[PAY_MONEY_TEXT_MAX];
    const char *from = pay_money_format(text, amount_minor, currency);
    size_t whole;
    char *to = out;

    while (*currency && to - out < PAY_CURRENCY_LEN) {
        *to++ = *currency++;
    }
    if (to > out) {
        *to++ = ' ';
    }
    if (*from == '-') {
        *to++ = *from++;
    }
    for (whole = strcspn(from, "."); whole > 0; whole--) {
        *to++ = *from++;
        if (whole > 1 && whole % 3 == 1) {
            *to++ = ',';
        }
    }
    memcpy(to, from, strlen(from) + 1);
    return out;
}
