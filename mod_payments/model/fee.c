/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fee.h"

#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT_DIGITS 4     /* decimals of a percentage */
#define PERCENT_UNIT 1000000 /* parts of the whole amount */
#define WORD_MAX 40          /* bytes of any word, NUL included */

#define FAULT_FORM                                                                                 \
    "want rules such as \"NGN 1.5% + 100.00 max 2000.00; NGN bank_transfer 50.00\": a currency, "  \
    "card or bank_transfer if the rule is for that channel only, a percentage or an amount or "    \
    "both with a +, and min and max"
#define FAULT_PERCENT "want a percentage from 0 to 100 with at most 4 decimals"
#define FAULT_AMOUNT                                                                               \
    "want amounts above 0 with no more decimals than their currency has, such as 100.00"

typedef struct rule_t {
    char currency[PAY_CURRENCY_LEN + 1];
    int channel;       /* pay_channel_t, or -1: any channel */
    int has_percent;   /* it may be 0 % */
    apr_int64_t parts; /* of PERCENT_UNIT */
    apr_int64_t flat_minor;
    apr_int64_t min_minor;
    apr_int64_t max_minor; /* 0: absent, like the two above */
} rule_t;

/* Splits a text into words: runs of bytes other than blanks, "+" and ";", which are words of their
 * own. `word` is "" at the end. */
typedef struct reader_t {
    const char *at;
    char word[WORD_MAX];
    int too_long;
} reader_t;

static void next(reader_t *reader)
{
    apr_size_t len;

    reader->at += strspn(reader->at, " \t\r\n");
    len = strspn(reader->at, "+;") > 0 ? 1 : strcspn(reader->at, " \t\r\n+;");
    if (len >= sizeof(reader->word)) {
        reader->too_long = 1;
        len = 0;
    }
    memcpy(reader->word, reader->at, len);
    reader->word[len] = '\0';
    reader->at += len;
}

static int is_word(const reader_t *reader, const char *word)
{
    return strcmp(reader->word, word) == 0;
}

static int is_end(const reader_t *reader)
{
    return is_word(reader, "") || is_word(reader, ";");
}

static int is_currency(const reader_t *reader)
{
    char code[PAY_CURRENCY_LEN + 1];

    return pay_currency_normalize(code, reader->word) == APR_SUCCESS;
}

static int channel_of(const char *word)
{
    int channel;

    for (channel = 0; channel < PAY_CHANNEL_COUNT; channel++) {
        if (strcmp(pay_channel_name((pay_channel_t)channel), word) == 0) {
            return channel;
        }
    }
    return -1;
}

/* Converts "1.5%" to 15000 parts; -1: it is not a percentage. */
static apr_int64_t parts_of(const char *word)
{
    const char *point = strchr(word, '.');
    const apr_size_t len = strlen(word) - 1; /* without the sign */
    const apr_size_t whole = point ? (apr_size_t)(point - word) : len;
    apr_size_t i, decimals = point ? len - whole - 1 : 0;
    apr_int64_t parts = 0;

    if (whole == 0 || whole > 3 || (point && decimals == 0) || decimals > PERCENT_DIGITS) {
        return -1;
    }
    for (i = 0; i < len; i++) {
        if (i == whole) {
            continue;
        }
        if (word[i] < '0' || word[i] > '9') {
            return -1;
        }
        parts = parts * 10 + (word[i] - '0');
    }
    for (; decimals < PERCENT_DIGITS; decimals++) {
        parts *= 10;
    }
    return parts <= PERCENT_UNIT ? parts : -1;
}

static const char *read_amount(apr_int64_t *out, reader_t *reader, const char *currency)
{
    pay_money_t money;
    apr_status_t rv;

    rv = pay_money_parse(&money, reader->word, currency);
    if (rv != APR_SUCCESS) {
        return FAULT_AMOUNT;
    }
    *out = money.amount_minor;
    next(reader);
    return NULL;
}

/* Reads the percentage, the amount, or both. */
static const char *read_price(rule_t *rule, reader_t *reader)
{
    const apr_size_t len = strlen(reader->word);

    rule->has_percent = len > 0 && reader->word[len - 1] == '%';
    if (!rule->has_percent) {
        return read_amount(&rule->flat_minor, reader, rule->currency);
    }
    rule->parts = parts_of(reader->word);
    if (rule->parts < 0) {
        return FAULT_PERCENT;
    }
    next(reader);
    if (!is_word(reader, "+")) {
        return NULL;
    }
    next(reader);
    return read_amount(&rule->flat_minor, reader, rule->currency);
}

static const char *read_bound(apr_int64_t *out, rule_t *rule, reader_t *reader, const char *name)
{
    if (!is_word(reader, name)) {
        return NULL;
    }
    if (!rule->has_percent) {
        return FAULT_FORM; /* bounds make no sense for an amount alone */
    }
    next(reader);
    return read_amount(out, reader, rule->currency);
}

/* Reads the rule that begins with the reader's word; afterwards the word is the rule's end. */
static const char *read_rule(rule_t *rule, reader_t *reader)
{
    const char *fault;

    memset(rule, 0, sizeof(*rule));
    if (pay_currency_normalize(rule->currency, reader->word) != APR_SUCCESS) {
        return FAULT_FORM;
    }
    next(reader);
    rule->channel = channel_of(reader->word);
    if (rule->channel >= 0) {
        next(reader);
    }
    fault = is_end(reader) ? FAULT_FORM : read_price(rule, reader);
    if (!fault) {
        fault = read_bound(&rule->min_minor, rule, reader, "min");
    }
    if (!fault) {
        fault = read_bound(&rule->max_minor, rule, reader, "max");
    }
    if (fault) {
        return fault;
    }
    if (rule->max_minor != 0 && rule->min_minor > rule->max_minor) {
        return "min is above max";
    }
    return is_end(reader) || is_currency(reader) ? NULL : FAULT_FORM;
}

/* Reads the next rule; its end becomes the reader's word. *fault is NULL, or why it is not a rule.
 * Returns 0 at the end of the text. */
static int read_next(rule_t *rule, reader_t *reader, const char **fault)
{
    *fault = NULL;
    while (is_word(reader, ";")) {
        next(reader);
    }
    if (is_word(reader, "") && !reader->too_long) {
        return 0;
    }
    *fault = read_rule(rule, reader);
    if (!*fault && reader->too_long) {
        *fault = FAULT_FORM;
    }
    return 1;
}

static int is_same(const rule_t *a, const rule_t *b)
{
    return a->channel == b->channel && strcmp(a->currency, b->currency) == 0;
}

static const char *part_text(const char *before, apr_int64_t minor, const char *currency,
                             apr_pool_t *p)
{
    char text[PAY_MONEY_TEXT_MAX];

    return minor == 0 ? "" : apr_pstrcat(p, before, pay_money_format(text, minor, currency), NULL);
}

/* "1.5%": without zeros at the end. */
static const char *percent_text(const rule_t *rule, apr_pool_t *p)
{
    const int unit = PERCENT_UNIT / 100;
    char *text = apr_psprintf(p, "%d.%0*d", (int)rule->parts / unit, PERCENT_DIGITS,
                              (int)rule->parts % unit);
    char *end = text + strlen(text);

    while (end[-1] == '0') {
        *--end = '\0';
    }
    if (end[-1] == '.') {
        *--end = '\0';
    }
    return apr_pstrcat(p, text, "%", NULL);
}

static const char *rule_text(const rule_t *rule, apr_pool_t *p)
{
    const char *currency = rule->currency;

    return apr_pstrcat(p, currency, rule->channel >= 0 ? " " : "",
                       rule->channel >= 0 ? pay_channel_name((pay_channel_t)rule->channel) : "",
                       " ", rule->has_percent ? percent_text(rule, p) : "",
                       part_text(rule->has_percent ? " + " : "", rule->flat_minor, currency, p),
                       part_text(" min ", rule->min_minor, currency, p),
                       part_text(" max ", rule->max_minor, currency, p), NULL);
}

const char *pay_fee_rules_read(const char **out, const char *text, apr_pool_t *p)
{
    reader_t reader = {.at = text};
    rule_t rules[PAY_FEE_RULES_MAX + 1];
    const char *fault, *normal = "";
    int i, count = 0;

    next(&reader);
    while (read_next(&rules[count], &reader, &fault)) {
        if (fault) {
            return fault;
        }
        for (i = 0; i < count; i++) {
            if (is_same(&rules[i], &rules[count])) {
                return "two rules have the same currency and channel";
            }
        }
        normal = apr_pstrcat(p, normal, count ? "; " : "", rule_text(&rules[count], p), NULL);
        if (++count > PAY_FEE_RULES_MAX) {
            return "want at most 32 rules";
        }
    }
    *out = normal;
    return NULL;
}

/* Exact: an amount of money is below 10^16, so that no product overflows. */
static apr_int64_t percentage(apr_int64_t amount_minor, apr_int64_t parts)
{
    const apr_int64_t whole = amount_minor / PERCENT_UNIT, rest = amount_minor % PERCENT_UNIT;

    return whole * parts + (rest * parts + PERCENT_UNIT / 2) / PERCENT_UNIT;
}

static apr_int64_t fee_by(const rule_t *rule, apr_int64_t amount_minor)
{
    apr_int64_t fee = percentage(amount_minor, rule->parts) + rule->flat_minor;

    if (fee < rule->min_minor) {
        fee = rule->min_minor;
    }
    return rule->max_minor != 0 && fee > rule->max_minor ? rule->max_minor : fee;
}

static void skip_rule(reader_t *reader)
{
    reader->too_long = 0;
    while (!is_end(reader)) {
        next(reader);
    }
}

apr_int64_t pay_fee_of(const char *rules, const pay_money_t *money, pay_channel_t channel)
{
    reader_t reader = {.at = rules};
    apr_int64_t fee = 0;
    const char *fault;
    rule_t rule;

    next(&reader);
    while (read_next(&rule, &reader, &fault)) {
        if (fault) {
            skip_rule(&reader);
            continue;
        }
        if (strcmp(rule.currency, money->currency) != 0) {
            continue;
        }
        if (rule.channel == (int)channel) {
            return fee_by(&rule, money->amount_minor);
        }
        if (rule.channel < 0) {
            fee = fee_by(&rule, money->amount_minor);
        }
    }
    return fee;
}
