/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_SUM_H
#define PAY_BASE_TEXT_SUM_H

/*
 * A sum of amounts in minor units that cannot overflow, however many are added: high times 10^18
 * plus low, 0 <= low < 10^18. Sums below zero have a negative high. Pure.
 */

#include <apr.h>

#define PAY_SUM_TEXT_MAX 48 /* bytes that any formatted sum needs, NUL included */
#define PAY_SUM_LOW_END APR_INT64_C(1000000000000000000)

typedef struct pay_sum_t {
    apr_int64_t high;
    apr_int64_t low; /* from 0, below PAY_SUM_LOW_END */
} pay_sum_t;

/* `amount_minor` may be negative. */
void pay_sum_add(pay_sum_t *sum, apr_int64_t amount_minor);
void pay_sum_add_sum(pay_sum_t *sum, const pay_sum_t *more);
void pay_sum_subtract_sum(pay_sum_t *sum, const pay_sum_t *less);

/*
 * Returns less than, equal to or greater than 0 if `a` is less than, equal to or greater than `b`.
 */
int pay_sum_compare(const pay_sum_t *a, const pay_sum_t *b);

/*
 * Writes major units with all of the currency's decimals, "-" before sums below zero. Returns
 * `out`.
 */
const char *pay_sum_format(char out[PAY_SUM_TEXT_MAX], const pay_sum_t *sum, const char *currency);

#endif
