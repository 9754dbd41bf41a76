/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_EVENT_H
#define PAY_CTL_EVENT_H

/* Events as rows, for the commands that print them. */

#include "ctl/output.h"

/* "transaction successful" */
const char *ctl_event_title(const pay_event_t *event, apr_pool_t *p);

/* One row, as `event list` has it. */
void ctl_event_print(const ctl_t *ctl, const pay_event_t *event);

/*
 * Undelivered events of the scope, the parked ones only when `parked` is 1, one by one, each
 * gone after its call. Ends at the first status other than APR_SUCCESS; APR_EOF of `work` ends it
 * too, and is none.
 */
apr_status_t ctl_event_each(ctl_t *ctl, const pay_scope_t *scope, int parked,
                            apr_status_t (*work)(void *baton, const pay_event_t *event,
                                                 apr_pool_t *p),
                            void *baton);

#endif
