/* SPDX-License-Identifier: Apache-2.0 */
#include "model/total.h"

apr_time_t pay_total_step(apr_time_t when)
{
    apr_time_t rest = when % PAY_TOTAL_STEP;

    if (rest < 0) {
        rest += PAY_TOTAL_STEP;
    }
    /* A stored key may contain any number: the very first times have no step of their own. */
    return when < APR_INT64_MIN + rest ? APR_INT64_MIN : when - rest;
}

void pay_total_add(pay_total_t *total, const pay_total_t *more)
{
    total->charges += more->charges;
    total->failed += more->failed;
    total->refunds += more->refunds;
    pay_sum_add_sum(&total->charged, &more->charged);
    pay_sum_add_sum(&total->refunded, &more->refunded);
    pay_sum_add_sum(&total->fees, &more->fees);
}

int pay_total_is_zero(const pay_total_t *total)
{
    static const pay_sum_t zero = {0, 0};

    return total->charges == 0 && total->failed == 0 && total->refunds == 0
           && pay_sum_compare(&total->charged, &zero) == 0
           && pay_sum_compare(&total->refunded, &zero) == 0
           && pay_sum_compare(&total->fees, &zero) == 0;
}
