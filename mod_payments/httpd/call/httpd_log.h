/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_HTTPD_LOG_H
#define PAY_HTTPD_CALL_HTTPD_LOG_H

#include <httpd.h>

/*
 * For a line of httpd's own log: a sentence on statuses of ours, which httpd cannot name
 * (*status is then APR_SUCCESS), else `otherwise`.
 */
const char *pay_httpd_log_cause(apr_status_t *status, const char *otherwise);

/* Sends the log lines of the floors below httpd to the main server's error log. */
void pay_httpd_log_start(server_rec *main_server);

#endif
