/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_RANGE_H
#define PAY_CTL_RANGE_H

/* --from and --to of commands that list by time. */

#include "base/text/timezone.h"
#include "ctl/ctl.h"

/* The account's time zone. */
ctl_exit_t ctl_zone_load(const pay_timezone_t **out, const ctl_t *ctl,
                         const pay_account_t *account);

/* Both ends are inclusive; an end that is not given is open. Bare dates are days in the account's
 * time zone. */
ctl_exit_t ctl_range_read(pay_time_range_t *out, const ctl_t *ctl, const pay_account_t *account);

#endif
