/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/moment.h"

#include "base/shared/worker.h"
#include "base/text/time.h"

static pay_moment_t (*moment_source)(void);

pay_moment_t pay_moment_now(void)
{
    if (moment_source) {
        return moment_source();
    }
    return (pay_moment_t){pay_worker_self().boot_id, pay_time_boot_ms()};
}

void pay_moment_set_source(pay_moment_t (*source)(void))
{
    moment_source = source;
}

int pay_moment_age(apr_interval_time_t *age, const pay_moment_t *moment)
{
    const pay_moment_t now = pay_moment_now();

    *age = 0;
    if (moment->boot_id == 0 || moment->boot_id != now.boot_id || moment->ms > now.ms) {
        return 0;
    }
    *age = apr_time_from_msec(now.ms - moment->ms);
    return 1;
}

apr_time_t pay_moment_wall(const pay_moment_t *moment, apr_time_t noted)
{
    apr_interval_time_t age;

    return pay_moment_age(&age, moment) ? pay_time_now() - age : noted;
}
