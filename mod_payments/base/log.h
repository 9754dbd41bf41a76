/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_LOG_H
#define PAY_BASE_LOG_H

/*
 * Log lines of the floors below httpd. Each has a number of its own: PAYLOGNO(00042) "text". Never
 * log a key, token, e-mail address or body; log key ids, references, last four digits.
 */

#include <apr_errno.h>

#define PAYLOGNO(n) "PAY" #n ": "

/* The same values as syslog(3) and APLOG_*. */
typedef enum pay_log_level_t {
    PAY_LOG_EMERG = 0,
    PAY_LOG_ALERT = 1,
    PAY_LOG_CRIT = 2,
    PAY_LOG_ERR = 3,
    PAY_LOG_WARNING = 4,
    PAY_LOG_NOTICE = 5,
    PAY_LOG_INFO = 6,
    PAY_LOG_DEBUG = 7
} pay_log_level_t;

/*
 * `text` begins with its PAYLOGNO; `status` is APR_SUCCESS if there is no error to log.
 * Thread-safe.
 */
typedef void (*pay_log_sink_t)(void *baton, pay_log_level_t level, apr_status_t status,
                               const char *text);

/* Sets where lines go; NULL drops them. Called once per process while single-threaded. */
void pay_log_set_sink(pay_log_sink_t sink, void *baton);

/* Writes one line of at most 1,000 bytes. `format` begins with PAYLOGNO(...). */
void pay_log(pay_log_level_t level, apr_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
