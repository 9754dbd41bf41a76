/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_MESSAGE_H
#define PAY_CTL_MESSAGE_H

/* Notes and errors for people, on standard error. */

#include "ctl/ctl.h"

/* Prints a note: one line. */
void ctl_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "paymentsctl: ..." and a newline; returns `code`. `format` is a sentence without a full
 * stop. */
ctl_exit_t ctl_fail(ctl_exit_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a status of the store or of APR; `what` names the action that failed. */
ctl_exit_t ctl_fail_status(apr_status_t status, const char *what);

/* The same for a problem of the service; invalid fields are shown as the options they came from. */
ctl_exit_t ctl_fail_problem(const pay_problem_t *problem, apr_pool_t *p);

/* The same; `what` names the action that failed if the store or the system is the cause. */
ctl_exit_t ctl_fail_service(const pay_problem_t *problem, const char *what, apr_pool_t *p);

/* The exit code for a status other than APR_SUCCESS. */
ctl_exit_t ctl_exit_of_status(apr_status_t status);

/* Sends warnings and errors of the layers below to standard error. */
void ctl_log_start(void);

#endif
