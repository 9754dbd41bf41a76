/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_HTTPD_LOG_H
#define PAY_HTTPD_CALL_HTTPD_LOG_H

#include <httpd.h>

/*
 * Returns a sentence for a line of httpd's own log if the status is one of ours, which httpd cannot
 * name (and sets *status to APR_SUCCESS), else `otherwise`.
 */
const char *pay_httpd_log_cause(apr_status_t *status, const char *otherwise);

/* Sends the log lines of the floors below httpd to the main server's error log. */
void pay_httpd_log_start(server_rec *main_server);

#endif
