/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_SERVER_SLOTS_H
#define PAY_HTTPD_PROCESS_SERVER_SLOTS_H

/* The slots of calls to acquirers, which all child processes of a generation share. */

#include "base/shared/slots.h"

#include <httpd.h>

/*
 * Returns the limits for so many processes with so many threads each. Calls to acquirers fill at
 * most half of all threads and half of those of a process; together with the calls that wait for a
 * slot they fill three quarters (docs/operations.md, "Limits").
 */
pay_slots_limits_t pay_server_slots_limits(int daemons, int threads);

/* In the parent: makes the memory that all children of this generation count their work in. */
void pay_server_slots_share(server_rec *main_server, apr_pool_t *pconf);

/* Returns those slots; NULL if there is no store. */
pay_slots_t *pay_server_slots(void);

#endif
