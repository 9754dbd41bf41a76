/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_CHILD_H
#define PAY_HTTPD_PROCESS_CHILD_H

/* What each child process runs: opened stores, a service for each host, the slots of all children.
 */

#include "base/shared/slots.h"

#include <httpd.h>

/*
 * Of so many processes with so many threads each. Calls at acquirers fill at most half of all
 * threads and half of those of a process; with the calls that wait for a slot they fill three
 * quarters (docs/operations.md, "Limits").
 */
pay_slots_limits_t pay_child_limits(int daemons, int threads);

/* In the parent: the memory that all children of this generation count their work in. */
void pay_child_share_slots(server_rec *main_server, apr_pool_t *pconf);

/* Those slots, of all processes of this generation; NULL: there is no store. */
pay_slots_t *pay_child_slots(void);

void pay_child_register_hooks(apr_pool_t *p);

#endif
