/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_FAILURE_SHARE_H
#define PAY_HTTPD_PROCESS_FAILURE_SHARE_H

/* The memory in which all child processes count failed payments. It outlives restarts. */

#include "service/service.h"

#include <httpd.h>

/* Called in the parent. Without shared memory nothing is counted, which is logged. */
void pay_failure_share(server_rec *main_server);

/* Gives the memory to a service of the store `url`. */
void pay_failure_serve(pay_service_t *service, const char *url);

#endif
