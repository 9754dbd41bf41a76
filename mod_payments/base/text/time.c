/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/time.h"

#include <string.h>
#include <time.h>

#define SECONDS_PER_DAY 86400
#define MILLISECONDS_PER_DAY (SECONDS_PER_DAY * APR_INT64_C(1000))
#define YEAR_MAX 9999
#define FRACTION_DIGITS 6 /* apr_time_t counts microseconds */

static apr_time_t (*clock_source)(void);
static apr_int64_t (*boot_source)(void);

apr_time_t pay_time_now(void)
{
    if (clock_source) {
        return clock_source();
    }
    return apr_time_now();
}

void pay_time_set_source(apr_time_t (*source)(void))
{
    clock_source = source;
}

int pay_time_is_over(apr_time_t when, apr_time_t now, apr_interval_time_t longest)
{
    return when <= now || when > now + longest;
}

apr_int64_t pay_time_boot_ms(void)
{
    struct timespec now = {0, 0};

    if (boot_source) {
        return boot_source();
    }
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (apr_int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pay_time_set_boot_source(apr_int64_t (*source)(void))
{
    boot_source = source;
}

/* Counts days as if the year began in March: the leap day is then the last one of its year. */
apr_int64_t pay_date_days(pay_date_t date)
{
    apr_int64_t year = date.year - (date.month <= 2);
    apr_int64_t era = (year >= 0 ? year : year - 399) / 400;
    apr_int64_t year_of_era = year - era * 400;
    apr_int64_t month = date.month > 2 ? date.month - 3 : date.month + 9;
    apr_int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
           - 719468;
}

pay_date_t pay_date_of_days(apr_int64_t days)
{
    pay_date_t date;
    apr_int64_t shifted = days + 719468;
    apr_int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    apr_int64_t day_of_era = shifted - era * 146097;
    apr_int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    apr_int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    apr_int64_t month = (5 * day_of_year + 2) / 153;

    date.day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    date.month = (int)(month < 10 ? month + 3 : month - 9);
    date.year = (int)(year_of_era + era * 400 + (date.month <= 2));
    return date;
}

pay_date_t pay_date_next(pay_date_t date)
{
    return pay_date_of_days(pay_date_days(date) + 1);
}

static int date_exists(pay_date_t date)
{
    pay_date_t back;

    if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31) {
        return 0;
    }
    back = pay_date_of_days(pay_date_days(date));
    return back.month == date.month && back.day == date.day;
}

static void put_digits(char *at, int count, apr_int64_t value)
{
    while (count-- > 0) {
        at[count] = (char)('0' + value % 10);
        value /= 10;
    }
}

const char *pay_time_format(char out[PAY_TIME_TEXT_LEN + 1], apr_time_t when)
{
    static const pay_date_t first = {0, 1, 1};
    static const pay_date_t last = {YEAR_MAX, 12, 31};
    apr_int64_t ms, days, of_day;
    pay_date_t date;

    ms = when / 1000 - (when % 1000 < 0); /* rounds down before 1970 too */
    if (ms < pay_date_days(first) * MILLISECONDS_PER_DAY) {
        ms = pay_date_days(first) * MILLISECONDS_PER_DAY;
    }
    if (ms >= (pay_date_days(last) + 1) * MILLISECONDS_PER_DAY) {
        ms = (pay_date_days(last) + 1) * MILLISECONDS_PER_DAY - 1;
    }
    days = ms / MILLISECONDS_PER_DAY - (ms % MILLISECONDS_PER_DAY < 0);
    of_day = ms - days * MILLISECONDS_PER_DAY;
    date = pay_date_of_days(days);

    memcpy(out, "0000-00-00T00:00:00.000Z", PAY_TIME_TEXT_LEN + 1);
    put_digits(out, 4, date.year);
    put_digits(out + 5, 2, date.month);
    put_digits(out + 8, 2, date.day);
    put_digits(out + 11, 2, of_day / 3600000);
    put_digits(out + 14, 2, of_day / 60000 % 60);
    put_digits(out + 17, 2, of_day / 1000 % 60);
    put_digits(out + 20, 3, of_day % 1000);
    return out;
}

/* Returns 1 if there are exactly `count` digits at `*text`, and moves it to their end. */
static int take_digits(int *value, const char **text, int count)
{
    *value = 0;
    while (count-- > 0) {
        if (**text < '0' || **text > '9') {
            return 0;
        }
        *value = *value * 10 + (**text - '0');
        (*text)++;
    }
    return 1;
}

/* Returns 1 if `*text` is at one of `wanted`, and moves past it. */
static int take_char(const char **text, const char *wanted)
{
    if (!**text || !strchr(wanted, **text)) {
        return 0;
    }
    (*text)++;
    return 1;
}

static int take_date(pay_date_t *date, const char **text)
{
    return take_digits(&date->year, text, 4) && take_char(text, "-")
           && take_digits(&date->month, text, 2) && take_char(text, "-")
           && take_digits(&date->day, text, 2) && date_exists(*date);
}

/* Returns 1 if there is no fraction or a complete one. */
static int take_fraction(int *microseconds, const char **text)
{
    int digits = 0;

    *microseconds = 0;
    if (!take_char(text, ".")) {
        return 1;
    }
    for (; **text >= '0' && **text <= '9'; (*text)++, digits++) {
        if (digits < FRACTION_DIGITS) {
            *microseconds = *microseconds * 10 + (**text - '0');
        }
    }
    if (!digits) {
        return 0;
    }
    for (; digits < FRACTION_DIGITS; digits++) {
        *microseconds *= 10;
    }
    return 1;
}

static int take_offset(int *seconds, const char **text)
{
    int negative = **text == '-';
    int hours, minutes;

    *seconds = 0;
    if (take_char(text, "Zz")) {
        return 1;
    }
    if (!take_char(text, "+-") || !take_digits(&hours, text, 2) || !take_char(text, ":")
        || !take_digits(&minutes, text, 2) || hours > 23 || minutes > 59) {
        return 0;
    }
    *seconds = (hours * 60 + minutes) * 60;
    if (negative) {
        *seconds = -*seconds;
    }
    return 1;
}

apr_status_t pay_time_parse(apr_time_t *out, const char *text)
{
    pay_date_t date;
    int hour, minute, second, microseconds, offset;
    apr_int64_t seconds;

    *out = 0;
    if (!take_date(&date, &text) || !take_char(&text, "Tt") || !take_digits(&hour, &text, 2)
        || !take_char(&text, ":") || !take_digits(&minute, &text, 2) || !take_char(&text, ":")
        || !take_digits(&second, &text, 2) || !take_fraction(&microseconds, &text)
        || !take_offset(&offset, &text) || *text) {
        return APR_EINVAL;
    }
    if (hour > 23 || minute > 59 || second > 60) {
        return APR_EINVAL;
    }
    seconds = pay_date_days(date) * SECONDS_PER_DAY + (hour * 60 + minute) * 60 + second - offset;
    if (second == 60) {
        microseconds = 0;
        if (seconds % SECONDS_PER_DAY != 0) {
            return APR_EINVAL; /* leap seconds are only inserted at the end of a UTC day */
        }
    }
    *out = seconds * APR_USEC_PER_SEC + microseconds;
    return APR_SUCCESS;
}

apr_status_t pay_date_parse(pay_date_t *out, const char *text)
{
    pay_date_t date;

    memset(out, 0, sizeof(*out));
    if (!take_date(&date, &text) || *text || date.year < 1) {
        return APR_EINVAL;
    }
    *out = date;
    return APR_SUCCESS;
}
