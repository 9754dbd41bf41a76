/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/tzrule.h"

#include "base/text/time.h"

#include <string.h>

#define HOUR 3600
#define SECONDS_PER_DAY 86400
#define OFFSET_HOURS_MAX 24
#define TIME_HOURS_MAX 167
#define NAME_LEN_MIN 3
#define TIME_DEFAULT (2 * HOUR)

/* Reads a number of at most three digits within bounds, and moves `*text` to its end. */
static int take_number(int *value, const char **text, int min, int max)
{
    int digits;

    *value = 0;
    for (digits = 0; digits < 3 && **text >= '0' && **text <= '9'; digits++) {
        *value = *value * 10 + (*(*text)++ - '0');
    }
    return digits && *value >= min && *value <= max;
}

/* Returns 1 if `*text` is at `c`, and moves past it. */
static int take(const char **text, char c)
{
    if (**text != c) {
        return 0;
    }
    (*text)++;
    return 1;
}

/* Reads an abbreviation: letters, or anything of its alphabet in angle brackets. */
static int take_name(const char **text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static const char quoted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    int in_brackets = take(text, '<');
    size_t len = strspn(*text, in_brackets ? quoted : letters);

    *text += len;
    if (len < NAME_LEN_MIN) {
        return 0;
    }
    return !in_brackets || take(text, '>');
}

/* [+-]hh[:mm[:ss]] */
static int take_time(apr_int64_t *seconds, const char **text, int hours_max)
{
    int negative = **text == '-';
    int hours, minutes = 0, rest = 0;

    *seconds = 0;
    if (**text == '-' || **text == '+') {
        (*text)++;
    }
    if (!take_number(&hours, text, 0, hours_max)) {
        return 0;
    }
    if (take(text, ':')) {
        if (!take_number(&minutes, text, 0, 59)) {
            return 0;
        }
        if (take(text, ':') && !take_number(&rest, text, 0, 59)) {
            return 0;
        }
    }
    *seconds = (apr_int64_t)hours * HOUR + minutes * 60 + rest;
    if (negative) {
        *seconds = -*seconds;
    }
    return 1;
}

static int take_date(pay_tzrule_date_t *date, const char **text)
{
    int ok;

    if (take(text, 'M')) {
        date->kind = PAY_TZRULE_WEEKDAY;
        ok = take_number(&date->month, text, 1, 12) && take(text, '.')
             && take_number(&date->week, text, 1, 5) && take(text, '.')
             && take_number(&date->day, text, 0, 6);
    } else if (take(text, 'J')) {
        date->kind = PAY_TZRULE_JULIAN;
        ok = take_number(&date->day, text, 1, 365);
    } else {
        date->kind = PAY_TZRULE_ORDINAL;
        ok = take_number(&date->day, text, 0, 365);
    }
    if (!ok) {
        return 0;
    }
    date->time = TIME_DEFAULT;
    return !take(text, '/') || take_time(&date->time, text, TIME_HOURS_MAX);
}

static int take_summer(pay_tzrule_t *rule, const char **text)
{
    if (!take_name(text)) {
        return 0;
    }
    rule->has_summer = 1;
    rule->summer_offset = rule->offset + HOUR;
    if (**text != ',') {
        if (!take_time(&rule->summer_offset, text, OFFSET_HOURS_MAX)) {
            return 0;
        }
        rule->summer_offset = -rule->summer_offset;
    }
    return take(text, ',') && take_date(&rule->summer_start, text) && take(text, ',')
           && take_date(&rule->summer_end, text);
}

apr_status_t pay_tzrule_parse(pay_tzrule_t *out, const char *text)
{
    pay_tzrule_t rule;

    memset(out, 0, sizeof(*out));
    memset(&rule, 0, sizeof(rule));
    if (!take_name(&text) || !take_time(&rule.offset, &text, OFFSET_HOURS_MAX)) {
        return APR_EINVAL;
    }
    rule.offset = -rule.offset; /* POSIX counts west of Greenwich */
    if (*text && !take_summer(&rule, &text)) {
        return APR_EINVAL;
    }
    if (*text) {
        return APR_EINVAL;
    }
    *out = rule;
    return APR_SUCCESS;
}

static int is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Returns the day that `date` means in `year`, counted from 1970-01-01. */
static apr_int64_t day_of(const pay_tzrule_date_t *date, int year)
{
    const pay_date_t new_year = {year, 1, 1};
    const pay_date_t first = {year, date->month, 1};
    const pay_date_t next_first = {year + date->month / 12, date->month % 12 + 1, 1};
    apr_int64_t day;

    switch (date->kind) {
    case PAY_TZRULE_JULIAN:
        return pay_date_days(new_year) + date->day - 1 + (is_leap(year) && date->day > 59);
    case PAY_TZRULE_ORDINAL:
        return pay_date_days(new_year) + date->day;
    case PAY_TZRULE_WEEKDAY:
    default:
        day = pay_date_days(first);
        /* 1970-01-01 was a Thursday, day 4 of its week; the 7,000 weeks keep the sum positive. */
        day += (date->day - (day + 4) % 7 + 14) % 7 + (date->week - 1) * 7;
        return day < pay_date_days(next_first) ? day : day - 7;
    }
}

void pay_tzrule_year(pay_tzrule_change_t out[2], const pay_tzrule_t *rule, int year)
{
    const pay_tzrule_change_t start = {day_of(&rule->summer_start, year) * SECONDS_PER_DAY
                                           + rule->summer_start.time - rule->offset,
                                       rule->summer_offset};
    const pay_tzrule_change_t end = {day_of(&rule->summer_end, year) * SECONDS_PER_DAY
                                         + rule->summer_end.time - rule->summer_offset,
                                     rule->offset};

    out[0] = start.at <= end.at ? start : end;
    out[1] = start.at <= end.at ? end : start;
}
