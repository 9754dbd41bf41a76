/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_ENDPOINT_H
#define PAY_CTL_ENDPOINT_H

/* What commands on webhooks and mail share: finding an endpoint and showing how it does. */

#include "ctl/output.h"

/* APR_NOTFOUND is *out NULL; other faults are told. */
ctl_exit_t ctl_endpoint_get(pay_endpoint_t **out, ctl_t *ctl, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind);

/* The webhook of the first argument with --mode; that there is none is told too. */
ctl_exit_t ctl_webhook_find(pay_endpoint_t **out, pay_account_t **account, ctl_t *ctl);

/* How deliveries go: columns of a pay_endpoint_t, or one line. */
extern const ctl_column_t ctl_endpoint_columns[];
const char *ctl_endpoint_line(const pay_endpoint_t *endpoint, apr_pool_t *p);

/* "204", "no answer" and the like of a try; NULL: there was none. */
const char *ctl_answer_text(apr_time_t answered_at, int status, const char *error, apr_pool_t *p);

#endif
