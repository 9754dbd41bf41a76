/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl_csv.h"

#include "base/pay_money.h"
#include "base/pay_time.h"

#include <stdio.h>
#include <string.h>

#define GUARDED_STARTS "=+-@\t\r\n'" /* the last one, so that taking it off is exact */
#define NEED_QUOTES ",\"\r\n"

static void cell_end(ctl_csv_t *csv)
{
    csv->cell++;
    if (csv->cell == csv->columns) {
        fputs("\r\n", stdout);
        csv->cell = 0;
    } else {
        putchar(',');
    }
}

void ctl_csv_open(ctl_csv_t *csv, const char *const *titles)
{
    csv->cell = 0;
    csv->columns = 0;
    while (titles[csv->columns]) {
        csv->columns++;
    }
    for (; *titles; titles++) {
        ctl_csv_text(csv, *titles);
    }
}

void ctl_csv_text(ctl_csv_t *csv, const char *text)
{
    int quoted;

    text = text ? text : "";
    quoted = strpbrk(text, NEED_QUOTES) != NULL;
    if (quoted) {
        putchar('"');
    }
    if (*text && strchr(GUARDED_STARTS, *text)) {
        putchar('\'');
    }
    for (; *text; text++) {
        if (*text == '"') {
            putchar('"');
        }
        putchar(*text);
    }
    if (quoted) {
        putchar('"');
    }
    cell_end(csv);
}

void ctl_csv_number(ctl_csv_t *csv, apr_uint64_t number)
{
    printf("%" APR_UINT64_T_FMT, number);
    cell_end(csv);
}

void ctl_csv_decimal(ctl_csv_t *csv, const char *text)
{
    fputs(text, stdout);
    cell_end(csv);
}

void ctl_csv_time(ctl_csv_t *csv, apr_time_t when)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    ctl_csv_decimal(csv, when ? pay_time_format(text, when) : "");
}

void ctl_csv_amount(ctl_csv_t *csv, apr_int64_t amount_minor, const char *currency)
{
    char text[PAY_MONEY_TEXT_MAX];

    ctl_csv_decimal(csv, pay_money_format(text, amount_minor, currency));
}
