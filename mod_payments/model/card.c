/* SPDX-License-Identifier: Apache-2.0 */
#include "model/card.h"

#include <string.h>

#define DIGITS_MIN 13
#define DIGITS_MAX 19 /* ISO/IEC 7812-1 */

#define PHONE_DIGITS_MAX 15
#define URL_DIGITS_MIN 14

#define LENGTH(n) (1u << (n))
#define LENGTHS_13_19 (LENGTH(13) | LENGTHS_14_19)
#define LENGTHS_14_19 (LENGTH(14) | LENGTH(15) | LENGTHS_16_19)
#define LENGTHS_16_19 (LENGTH(16) | LENGTH(17) | LENGTH(18) | LENGTH(19))

/*
 * Prefixes and lengths of the networks. Ranges without cards in use that occur in order numbers,
 * times and telephone numbers are left out: Maestro's twelve digits, 1, 6390 (clock ticks).
 */
static const struct {
    int digits; /* of the prefix */
    int first;
    int last;
    unsigned int lengths;
} networks[] = {
    {1, 4, 4, LENGTH(13) | LENGTH(16) | LENGTH(19)}, /* Visa */
    {2, 51, 55, LENGTH(16)},                         /* Mastercard */
    {4, 2221, 2720, LENGTH(16)},
    {2, 34, 34, LENGTH(15)}, /* American Express */
    {2, 37, 37, LENGTH(15)},
    {3, 300, 305, LENGTHS_14_19}, /* Diners Club */
    {4, 3095, 3095, LENGTHS_14_19},
    {2, 36, 36, LENGTHS_14_19},
    {2, 38, 39, LENGTHS_14_19},
    {4, 3528, 3589, LENGTHS_16_19}, /* JCB */
    {4, 6011, 6011, LENGTHS_16_19}, /* Discover */
    {3, 644, 649, LENGTHS_16_19},
    {2, 65, 65, LENGTHS_16_19}, /* and Verve, RuPay, Troy */
    {2, 62, 62, LENGTHS_16_19}, /* UnionPay */
    {2, 81, 82, LENGTHS_16_19}, /* and RuPay */
    {2, 60, 60, LENGTH(16)},    /* RuPay */
    {2, 50, 50, LENGTHS_13_19}, /* Maestro, Verve */
    {2, 56, 58, LENGTHS_13_19},
    {4, 6304, 6304, LENGTHS_13_19},
    {2, 67, 67, LENGTHS_13_19},
    {4, 2200, 2204, LENGTH(16)}, /* Mir */
    {4, 9792, 9792, LENGTH(16)}, /* Troy */
};

static const struct test_card_t {
    const char *number;
    pay_test_behaviour_t behaviour;
    pay_card_t card;
} test_cards[] = {
    {"5555555555554444", PAY_TEST_APPROVE, {"555555", "4444", "Mastercard", "NG", "debit"}},
    {"1234567898765432", PAY_TEST_DECLINE, {"123456", "5432", "", "NG", "debit"}},
    {"4000000000009995", PAY_TEST_INSUFFICIENT_FUNDS, {"400000", "9995", "Visa", "NG", "debit"}},
    {"4000000000000069", PAY_TEST_EXPIRED_CARD, {"400000", "0069", "Visa", "NG", "debit"}},
    {"4000000000000119", PAY_TEST_TIMEOUT, {"400000", "0119", "Visa", "NG", "debit"}},
    {"4000000000003220", PAY_TEST_ONE_TIME_CODE, {"400000", "3220", "Visa", "NG", "debit"}},
};
#define TEST_CARD_COUNT (sizeof(test_cards) / sizeof(test_cards[0]))

#define TOKEN_RESERVED "tok_test_"

static const struct {
    const char *token;
    pay_test_behaviour_t behaviour;
    const char *number; /* of the card that it shows */
} test_tokens[] = {
    {TOKEN_RESERVED "success", PAY_TEST_APPROVE, "5555555555554444"},
    {TOKEN_RESERVED "declined", PAY_TEST_DECLINE, "1234567898765432"},
    {TOKEN_RESERVED "insufficient_funds", PAY_TEST_INSUFFICIENT_FUNDS, "4000000000009995"},
    {TOKEN_RESERVED "expired_card", PAY_TEST_EXPIRED_CARD, "4000000000000069"},
    {TOKEN_RESERVED "error", PAY_TEST_ERROR, "5555555555554444"},
    {TOKEN_RESERVED "timeout", PAY_TEST_TIMEOUT, "4000000000000119"},
    {TOKEN_RESERVED "refund_fails", PAY_TEST_REFUND_FAILS, "5555555555554444"},
};
#define TEST_TOKEN_COUNT (sizeof(test_tokens) / sizeof(test_tokens[0]))

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Returns the bytes of the blank or dash at `s`, including those that word processors insert; 0 if
 * none exists.
 */
static apr_size_t separator_len(const char *s)
{
    if (*s == ' ' || *s == '\t' || *s == '-') {
        return 1;
    }
    if (!strncmp(s, "\xc2\xa0", 2)) { /* U+00A0 */
        return 2;
    }
    if (!strncmp(s, "\xe2\x80", 2)) {
        unsigned char last = (unsigned char)s[2];
        /* Blanks U+2000 to U+200A, dashes U+2010 to U+2015, narrow no-break space U+202F. */
        if ((last >= 0x80 && last <= 0x8a) || (last >= 0x90 && last <= 0x95) || last == 0xaf) {
            return 3;
        }
    }
    return 0;
}

static int luhn_holds(const char *digits, apr_size_t len)
{
    int sum = 0;
    apr_size_t i;

    for (i = 0; i < len; i++) {
        int digit = digits[len - 1 - i] - '0';
        if (i % 2 == 1) {
            digit = digit > 4 ? 2 * digit - 9 : 2 * digit;
        }
        sum += digit;
    }
    return sum % 10 == 0;
}

static int is_card_number(const char *digits, apr_size_t len)
{
    apr_size_t i;

    if (len < DIGITS_MIN || len > DIGITS_MAX) {
        return 0;
    }
    for (i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        int prefix = 0;
        int k;

        for (k = 0; k < networks[i].digits; k++) {
            prefix = 10 * prefix + (digits[k] - '0');
        }
        if (prefix >= networks[i].first && prefix <= networks[i].last
            && (networks[i].lengths & LENGTH(len))) {
            return luhn_holds(digits, len);
        }
    }
    return 0;
}

/*
 * Returns the number of digits of `text` without separators; 0 if there are other characters or too
 * many digits.
 */
static apr_size_t digits_of(char digits[DIGITS_MAX], const char *text)
{
    apr_size_t len = 0;

    while (*text) {
        apr_size_t skip = separator_len(text);
        if (skip) {
            text += skip;
            continue;
        }
        if (!is_digit(*text) || len == DIGITS_MAX) {
            return 0;
        }
        digits[len++] = *text++;
    }
    return len;
}

/*
 * Returns 1 if the group of digits that starts at `text`, alone or with groups after it, is a card
 * number.
 */
static int group_starts_number(const char *text)
{
    char digits[DIGITS_MAX];
    apr_size_t len = 0;

    while (is_digit(*text)) {
        while (is_digit(*text)) {
            if (len == DIGITS_MAX) {
                return 0;
            }
            digits[len++] = *text++;
        }
        if (is_card_number(digits, len)) {
            return 1;
        }
        while (separator_len(text)) {
            text += separator_len(text);
        }
    }
    return 0;
}

int pay_card_number_is(const char *text)
{
    char digits[DIGITS_MAX];

    return is_card_number(digits, digits_of(digits, text));
}

int pay_card_number_within(const char *text)
{
    char before = '\0';

    for (; *text; before = *text++) {
        /* A plus sign precedes a telephone number. */
        if (is_digit(*text) && !is_digit(before) && before != '+' && group_starts_number(text)) {
            return 1;
        }
    }
    return 0;
}

int pay_card_number_in_phone(const char *text)
{
    char digits[DIGITS_MAX];
    apr_size_t len = 0;

    for (; *text; text++) {
        if (!is_digit(*text)) {
            continue;
        }
        if (len == DIGITS_MAX) {
            return 0;
        }
        digits[len++] = *text;
    }
    return len > PHONE_DIGITS_MAX && is_card_number(digits, len);
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte at *url as a server reads it, and moves past it. */
static char url_byte(const char **url)
{
    const char *at = *url;
    int high, low;

    *url = at + 1;
    if (*at == '+') {
        return ' ';
    }
    high = *at == '%' ? hex_value(at[1]) : -1;
    low = high >= 0 ? hex_value(at[2]) : -1;
    if (low < 0) {
        return *at;
    }
    *url = at + 3;
    return (char)(high << 4 | low);
}

/* Like group_starts_number, for a URL that is decoded as it is read: blanks and dashes of ASCII. */
static int url_starts_number(const char *url)
{
    char digits[DIGITS_MAX];
    apr_size_t len = 0;
    char c = url_byte(&url);

    while (is_digit(c)) {
        for (; is_digit(c); c = url_byte(&url)) {
            if (len == DIGITS_MAX) {
                return 0;
            }
            digits[len++] = c;
        }
        if (len >= URL_DIGITS_MIN && is_card_number(digits, len)) {
            return 1;
        }
        while (c == ' ' || c == '-') {
            c = url_byte(&url);
        }
    }
    return 0;
}

int pay_card_number_in_url(const char *url)
{
    char before = '\0';

    while (*url) {
        const char *at = url;
        const char c = url_byte(&url);

        if (is_digit(c) && !is_digit(before) && url_starts_number(at)) {
            return 1;
        }
        before = c;
    }
    return 0;
}

const pay_card_t *pay_test_card_find(const char *number)
{
    char digits[DIGITS_MAX];
    apr_size_t len;
    apr_size_t i;

    len = digits_of(digits, number);
    for (i = 0; i < TEST_CARD_COUNT; i++) {
        if (len == strlen(test_cards[i].number) && !memcmp(digits, test_cards[i].number, len)) {
            return &test_cards[i].card;
        }
    }
    return NULL;
}

pay_test_behaviour_t pay_test_card_behaviour(const pay_card_t *card)
{
    apr_size_t i;

    for (i = 0; i < TEST_CARD_COUNT; i++) {
        if (!strcmp(card->first6, test_cards[i].card.first6)
            && !strcmp(card->last4, test_cards[i].card.last4)) {
            return test_cards[i].behaviour;
        }
    }
    return PAY_TEST_APPROVE;
}

int pay_test_token_is_reserved(const char *token)
{
    return !strncmp(token, TOKEN_RESERVED, sizeof(TOKEN_RESERVED) - 1);
}

int pay_test_token_find(const pay_card_t **card, pay_test_behaviour_t *behaviour, const char *token)
{
    apr_size_t i;

    *card = NULL;
    *behaviour = PAY_TEST_APPROVE;
    for (i = 0; i < TEST_TOKEN_COUNT; i++) {
        if (!strcmp(token, test_tokens[i].token)) {
            *card = pay_test_card_find(test_tokens[i].number);
            *behaviour = test_tokens[i].behaviour;
            return 1;
        }
    }
    return 0;
}
