/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/time.h"

#include "base/text/time.h"

apr_time_t pay_store_time_cut(apr_time_t when)
{
    const apr_time_t step = apr_time_from_msec(1);
    apr_time_t rest = when % step;

    if (rest < 0) {
        rest += step;
    }
    return when - rest;
}

apr_time_t pay_store_time_now(void)
{
    return pay_store_time_cut(pay_time_now());
}

apr_time_t pay_store_time_not_before(apr_time_t earliest)
{
    apr_time_t now = pay_store_time_now();

    return now < earliest ? earliest : now;
}
