/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_MESSAGE_H
#define PAY_CTL_MESSAGE_H

/* What people read on standard error: notes and errors. */

#include "ctl/ctl.h"

/* A note: a line. */
void ctl_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "paymentsctl: ..." and a line's end; returns `code`. `format` is a sentence without full stop. */
ctl_exit_t ctl_fail(ctl_exit_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a status of the store or of APR; `what` is what could not be done. */
ctl_exit_t ctl_fail_status(apr_status_t status, const char *what);

/* The same for a problem of the service, with the fields at fault as the options they came from. */
ctl_exit_t ctl_fail_problem(const pay_problem_t *problem, apr_pool_t *p);

/* The same where `what` says what could not be done if it was for the store or the system. */
ctl_exit_t ctl_fail_service(const pay_problem_t *problem, const char *what, apr_pool_t *p);

/* The exit code that stands for a status other than APR_SUCCESS. */
ctl_exit_t ctl_exit_of_status(apr_status_t status);

/* Sends warnings and worse of the floors below to standard error. */
void ctl_log_start(void);

#endif
