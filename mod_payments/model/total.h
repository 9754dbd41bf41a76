/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_TOTAL_H
#define PAY_MODEL_TOTAL_H

/*
 * The charges and refunds in one currency within a step of time. A day or month of any time zone
 * consists of whole steps: every zone's offset is a multiple of a quarter of an hour. Pure.
 */

#include "base/text/money.h"
#include "base/text/sum.h"

#include <apr_time.h>

#define PAY_TOTAL_STEP apr_time_from_sec(15 * 60)

typedef struct pay_total_t {
    apr_time_t from; /* of a step: a multiple of PAY_TOTAL_STEP */
    char currency[PAY_CURRENCY_LEN + 1];
    apr_uint64_t charges; /* successful ones by createdAt, including those reversed since */
    pay_sum_t charged;    /* their amounts */
    apr_uint64_t failed;  /* charges that the acquirer declined */
    apr_uint64_t refunds; /* processed ones by createdAt */
    pay_sum_t refunded;   /* their amounts */
    pay_sum_t fees;       /* of `charges` */
} pay_total_t;

/* Returns the start of the step that contains `when`. */
apr_time_t pay_total_step(apr_time_t when);

/* Adds counts and sums; `from` and `currency` of `total` stay. */
void pay_total_add(pay_total_t *total, const pay_total_t *more);

/* Returns 1 if all counts are zero. */
int pay_total_is_zero(const pay_total_t *total);

#endif
