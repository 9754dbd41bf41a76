/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/sum.h"

#include "base/text/money.h"

#include <string.h>

#define LOW_DIGITS 18

/* `low` may be up to one PAY_SUM_LOW_END beyond either end. */
static void carry(pay_sum_t *sum)
{
    if (sum->low >= PAY_SUM_LOW_END) {
        sum->low -= PAY_SUM_LOW_END;
        sum->high++;
    } else if (sum->low < 0) {
        sum->low += PAY_SUM_LOW_END;
        sum->high--;
    }
}

void pay_sum_add(pay_sum_t *sum, apr_int64_t amount_minor)
{
    sum->high += amount_minor / PAY_SUM_LOW_END;
    sum->low += amount_minor % PAY_SUM_LOW_END; /* has the amount's sign */
    carry(sum);
}

void pay_sum_add_sum(pay_sum_t *sum, const pay_sum_t *more)
{
    sum->high += more->high;
    sum->low += more->low;
    carry(sum);
}

void pay_sum_subtract_sum(pay_sum_t *sum, const pay_sum_t *less)
{
    sum->high -= less->high;
    sum->low -= less->low;
    carry(sum);
}

int pay_sum_compare(const pay_sum_t *a, const pay_sum_t *b)
{
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return (a->low > b->low) - (a->low < b->low);
}

const char *pay_sum_format(char out[PAY_SUM_TEXT_MAX], const pay_sum_t *sum, const char *currency)
{
    int digits = pay_currency_digits(currency);
    int negative = sum->high < 0;
    apr_uint64_t high = (apr_uint64_t)sum->high;
    apr_uint64_t low = (apr_uint64_t)sum->low;
    char *start = out + PAY_SUM_TEXT_MAX - 1;
    int written = 0;

    if (digits < 0) {
        digits = 0; /* like pay_money_format */
    }
    if (negative) { /* -(high + low) is (-high - 1) + (1 - low), or -high if low is 0 */
        high = 0 - high - (low != 0);
        low = low ? (apr_uint64_t)PAY_SUM_LOW_END - low : 0;
    }
    *start = '\0';
    do {
        apr_uint64_t *part = written < LOW_DIGITS ? &low : &high;

        if (written && written == digits) {
            *--start = '.';
        }
        *--start = (char)('0' + *part % 10);
        *part /= 10;
        written++;
    } while (low || high || written <= digits);
    if (negative) {
        *--start = '-';
    }
    memmove(out, start, (size_t)(out + PAY_SUM_TEXT_MAX - start));
    return out;
}
