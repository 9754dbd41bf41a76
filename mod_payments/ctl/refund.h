/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_REFUND_H
#define PAY_CTL_REFUND_H

/* Refunds, for the commands that create, list, show and decide them. */

#include "ctl/output.h"

/* Of pay_refund_t. Members of JSON are what the API's records lack. */
extern const ctl_column_t ctl_refund_columns[];

/* Finds the refund that the first two arguments and --mode name; prints errors. */
ctl_exit_t ctl_refund_find(pay_refund_t **out, ctl_t *ctl);

/* As shown by `refund show`. */
void ctl_refund_print(const ctl_t *ctl, const pay_refund_t *refund);

#endif
