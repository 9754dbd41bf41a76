/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/shutdown.h"

#include "base/text/time.h"

#include <ap_mpm.h>

#define POLL apr_time_from_msec(5)

/* When this process began its shutdown (boot clock); 0: it has not. */
static _Atomic apr_int64_t ending_ms;

int pay_shutdown_has_begun(void)
{
    int mpm_state = AP_MPMQ_RUNNING;

    return ap_mpm_query(AP_MPMQ_MPM_STATE, &mpm_state) == APR_SUCCESS
           && mpm_state == AP_MPMQ_STOPPING;
}

apr_interval_time_t pay_shutdown_time(apr_int64_t ms)
{
    apr_int64_t none = 0;
    apr_int64_t left_ms;

    (void)atomic_compare_exchange_strong(&ending_ms, &none, pay_time_boot_ms());
    left_ms = atomic_load(&ending_ms) + ms - pay_time_boot_ms();
    return left_ms > 0 ? apr_time_from_msec(left_ms) : 0;
}

void pay_shutdown_wait(const atomic_int *busy, const atomic_int *owed)
{
    while ((atomic_load(busy) || (owed && atomic_load(owed)))
           && pay_shutdown_time(PAY_SHUTDOWN_MS) > 0) {
        apr_sleep(POLL);
    }
}
