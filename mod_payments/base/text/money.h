/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_MONEY_H
#define PAY_BASE_TEXT_MONEY_H

/*
 * An exact amount of money: integer minor units with an ISO 4217 currency. No floating point
 * anywhere. All functions are pure and thread-safe.
 */

#include <apr.h>
#include <apr_errno.h>

/* The largest amount in major units is 999,999,999,999.99 (docs/api.md, "Amounts"). */
#define PAY_MONEY_TEXT_MAX 32    /* bytes that any formatted amount needs, NUL included */
#define PAY_MONEY_SHOWN_MAX 48   /* bytes of an amount with its currency and commas */
#define PAY_MONEY_LITERAL_MAX 64 /* longest decimal literal that is parsed */
#define PAY_DECIMAL_TEXT_MAX 80  /* bytes that any normalised literal needs, NUL included */
#define PAY_CURRENCY_LEN 3

typedef struct pay_money_t {
    apr_int64_t amount_minor;            /* in the currency's minor unit (cents, kobo, yen) */
    char currency[PAY_CURRENCY_LEN + 1]; /* ISO 4217 alphabetic code, upper case */
} pay_money_t;

/*
 * Returns the decimals of the currency (0 to 4), or -1 if `code` is not an upper-case ISO 4217
 * code.
 */
int pay_currency_digits(const char *code);

/* Converts `text`, in any case, to upper case; APR_EINVAL if it is not an ISO 4217 currency. */
apr_status_t pay_currency_normalize(char out[PAY_CURRENCY_LEN + 1], const char *text);

/*
 * Parses a decimal literal in JSON's number grammar (RFC 8259 section 6; exponents allowed, exact)
 * in major units. `currency` is an upper-case code. Surplus decimals are accepted if they are zero.
 * APR_EINVAL: not a number, or more decimals than the currency has. APR_ERANGE: not above 0, or
 * above the maximum.
 */
apr_status_t pay_money_parse(pay_money_t *out, const char *text, const char *currency);

/*
 * Writes the same text for every literal of the same number, for digests: significant digits and a
 * power of ten ("10", "10.0" and "1e1" are "1e1", every zero is "0"). Exponents beyond any amount
 * of money are cut, so only literals that pay_money_parse accepts are distinguished. APR_EINVAL:
 * not a number.
 */
apr_status_t pay_decimal_normalize(char out[PAY_DECIMAL_TEXT_MAX], const char *text);

/* Writes "1234.50": all of the currency's decimals, no grouping. Returns `out`. */
const char *pay_money_format(char out[PAY_MONEY_TEXT_MAX], apr_int64_t amount_minor,
                             const char *currency);

/* Writes "NGN 1,234.50", for people. Returns `out`. */
const char *pay_money_show(char out[PAY_MONEY_SHOWN_MAX], apr_int64_t amount_minor,
                           const char *currency);

#endif
