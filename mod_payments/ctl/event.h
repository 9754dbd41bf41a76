/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_EVENT_H
#define PAY_CTL_EVENT_H

/* Events as rows, for the commands that print them. */

#include "ctl/output.h"

/* One row, as `event list` has it. */
void ctl_event_print(const ctl_t *ctl, const pay_event_t *event);

/* As `event show` has it. */
void ctl_event_details(const ctl_t *ctl, const pay_event_t *event);

#endif
