/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_EVENT_H
#define PAY_CTL_EVENT_H

/* Events as rows, for the commands that print them. */

#include "ctl/output.h"

/* "transaction successful" */
const char *ctl_event_title(const pay_event_t *event, apr_pool_t *p);

/* One row, as `event list` has it. */
void ctl_event_print(const ctl_t *ctl, const pay_event_t *event);

#endif
