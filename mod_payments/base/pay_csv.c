/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_csv.h"

#include "base/pay_money.h"
#include "base/pay_time.h"

#include <apr_strings.h>
#include <string.h>

#define GUARDED_STARTS "=+-@\t\r\n'" /* the last one, so that taking it off is exact */
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

/* Up to each quote and with it, which is then written again. */
static void put_doubled(const pay_csv_t *csv, const char *text)
{
    const char *quote;

    for (quote = strchr(text, '"'); quote; quote = strchr(text, '"')) {
        put(csv, text, (apr_size_t)(quote - text) + 1);
        put(csv, "\"", 1);
        text = quote + 1;
    }
    put(csv, text, strlen(text));
}

void pay_csv_text(pay_csv_t *csv, const char *text)
{
    int quoted;

    text = text ? text : "";
    quoted = strpbrk(text, NEED_QUOTES) != NULL;
    if (quoted) {
        put(csv, "\"", 1);
    }
    if (*text && strchr(GUARDED_STARTS, *text)) {
        put(csv, "'", 1);
    }
    put_doubled(csv, text);
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
