/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/range.h"

#include "ctl/message.h"

#define FIRST_TIME "0000-01-01T00:00:00Z"
#define LAST_TIME "9999-12-31T23:59:59.999Z"

ctl_exit_t ctl_zone_load(const pay_timezone_t **out, const ctl_t *ctl, const pay_account_t *account)
{
    apr_status_t rv;

    rv = pay_timezone_load(out, account->settings.timezone, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ACCESS,
                        "this system does not know the account's time zone %s; "
                        "install tzdata, or use 'paymentsctl account set'",
                        account->settings.timezone);
    }
    return CTL_OK;
}

ctl_exit_t ctl_range_read(pay_time_range_t *out, const ctl_t *ctl, const pay_account_t *account)
{
    const char *from = ctl->option[CTL_OPTION_FROM];
    const char *to = ctl->option[CTL_OPTION_TO];
    const pay_timezone_t *zone;
    const pay_problem_t *problem;
    ctl_exit_t failed;

    failed = ctl_zone_load(&zone, ctl, account);
    if (failed) {
        return failed;
    }
    problem = pay_refund_range_parse(out, from ? from : FIRST_TIME, to ? to : LAST_TIME, zone, 0,
                                     ctl->pool);
    if (problem) {
        return ctl_fail_problem(problem, ctl->pool);
    }
    return CTL_OK;
}
