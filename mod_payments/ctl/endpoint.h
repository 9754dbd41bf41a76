/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_ENDPOINT_H
#define PAY_CTL_ENDPOINT_H

/* Shared by commands for webhooks and mail: finding an endpoint and showing its state. */

#include "ctl/output.h"

/* Sets *out to NULL on APR_NOTFOUND; prints other errors. */
ctl_exit_t ctl_endpoint_get(pay_endpoint_t **out, ctl_t *ctl, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind);

/* Finds the webhook that the first argument and --mode name; prints an error if it is missing, too.
 */
ctl_exit_t ctl_webhook_find(pay_endpoint_t **out, pay_account_t **account, ctl_t *ctl);

/* How deliveries go: columns of a pay_endpoint_t, or one line. */
extern const ctl_column_t ctl_endpoint_columns[];
const char *ctl_endpoint_line(const pay_endpoint_t *endpoint, apr_pool_t *p);

/* The result of an attempt, such as "204" or "no answer"; NULL without an attempt. */
const char *ctl_answer_text(apr_time_t answered_at, int status, const char *error, apr_pool_t *p);

#endif
