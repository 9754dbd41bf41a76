/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"

#include "base/text/money.h"
#include "base/text/time.h"

#include <apr_strings.h>
#include <string.h>

/* The last one makes its removal exact. */
static const char *const guarded_starts[] = {
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "'",
    "\xef\xbc\x9d", /* U+FF1D, full-width = */
    "\xef\xbc\x8b", /* U+FF0B, full-width + */
    "\xef\xbc\x8d", /* U+FF0D, full-width - */
    "\xef\xbc\xa0", /* U+FF20, full-width @ */
};
#define STARTS (sizeof(guarded_starts) / sizeof(guarded_starts[0]))

#define SPLITS ';' /* where spreadsheets of much of Europe begin another cell */
#define NEED_QUOTES ",\"\r\n"
#define NUMBER_LEN_MAX 24

static void put(const pay_csv_t *csv, const char *text, apr_size_t len)
{
    if (len > 0) {
        csv->sink(csv->baton, text, len);
    }
}

static void cell_end(pay_csv_t *csv)
{
    csv->cell++;
    if (csv->cell == csv->columns) {
        put(csv, "\r\n", 2);
        csv->cell = 0;
    } else {
        put(csv, ",", 1);
    }
}

void pay_csv_open(pay_csv_t *csv, pay_csv_sink_t sink, void *baton, const char *const *titles)
{
    csv->sink = sink;
    csv->baton = baton;
    csv->cell = 0;
    csv->columns = 0;
    while (titles[csv->columns]) {
        csv->columns++;
    }
    for (; *titles; titles++) {
        pay_csv_text(csv, *titles);
    }
}

/*
 * Returns the bytes of the blank or invisible character at `s`, which a spreadsheet may ignore; 0
 * if none exists.
 */
static apr_size_t blank_len(const char *s)
{
    const unsigned char third = *s && s[1] ? (unsigned char)s[2] : 0;

    if (*s == ' ') {
        return 1;
    }
    if (!strncmp(s, "\xc2\xa0", 2)) { /* U+00A0 */
        return 2;
    }
    if (!strncmp(s, "\xe2\x80", 2)) { /* U+2000 to U+200F, U+2028 to U+202F */
        return (third >= 0x80 && third <= 0x8f) || (third >= 0xa8 && third <= 0xaf) ? 3 : 0;
    }
    if (!strncmp(s, "\xe2\x81", 2)) { /* U+205F to U+206F */
        return third >= 0x9f && third <= 0xaf ? 3 : 0;
    }
    /* U+3000, U+FEFF */
    return !strncmp(s, "\xe3\x80\x80", 3) || !strncmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Returns 1 if a cell with this start would be taken for a formula. */
static int is_guarded(const char *text)
{
    apr_size_t i;

    if (*text == '\'') {
        return 1;
    }
    while (blank_len(text)) {
        text += blank_len(text);
    }
    for (i = 0; i < STARTS; i++) {
        if (!strncmp(text, guarded_starts[i], strlen(guarded_starts[i]))) {
            return 1;
        }
    }
    return 0;
}

/* Doubles quotes; puts an apostrophe before each start of a formula. */
static void put_guarded(const pay_csv_t *csv, const char *text)
{
    const char *from = text;
    const char *at;

    if (is_guarded(text)) {
        put(csv, "'", 1);
    }
    for (at = text; *at; at++) {
        if (*at == '"') {
            put(csv, from, (apr_size_t)(at - from) + 1);
            from = at;
        } else if (*at == SPLITS && is_guarded(at + 1)) {
            put(csv, from, (apr_size_t)(at - from) + 1);
            put(csv, "'", 1);
            from = at + 1;
        }
    }
    put(csv, from, strlen(from));
}

void pay_csv_text(pay_csv_t *csv, const char *text)
{
    int quoted;

    text = text ? text : "";
    quoted = strpbrk(text, NEED_QUOTES) != NULL;
    if (quoted) {
        put(csv, "\"", 1);
    }
    put_guarded(csv, text);
    if (quoted) {
        put(csv, "\"", 1);
    }
    cell_end(csv);
}

void pay_csv_decimal(pay_csv_t *csv, const char *text)
{
    put(csv, text, strlen(text));
    cell_end(csv);
}

void pay_csv_number(pay_csv_t *csv, apr_uint64_t number)
{
    char text[NUMBER_LEN_MAX];

    apr_snprintf(text, sizeof(text), "%" APR_UINT64_T_FMT, number);
    pay_csv_decimal(csv, text);
}

void pay_csv_time(pay_csv_t *csv, apr_time_t when)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    pay_csv_decimal(csv, when ? pay_time_format(text, when) : "");
}

void pay_csv_amount(pay_csv_t *csv, apr_int64_t amount_minor, const char *currency)
{
    char text[PAY_MONEY_TEXT_MAX];

    pay_csv_decimal(csv, pay_money_format(text, amount_minor, currency));
}
