/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_INSPECTOR_H
#define PAY_HTTPD_PROCESS_INSPECTOR_H

/*
 * Stores in which a process died. Their marks are in shared memory; for each marked store the
 * parent has a process of the server's user, the inspector, which checks it again and again in a
 * process of its own, and clears the mark after a check passed.
 */

#include <httpd.h>

/* Starts the inspectors that are due; later the parent looks at its stores when a child died, and
 * every few seconds. Inspectors end with `pconf`. */
void pay_inspector_start(server_rec *main_server, apr_pool_t *pconf);

void pay_inspector_register_hooks(apr_pool_t *p);

#endif
