/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTL_REFUND_H
#define CTL_REFUND_H

/* How a refund is shown to people, shared by ctl_refund.c and ctl_refund_list.c. */

#include "ctl/ctl_output.h"

extern const char *const ctl_refund_titles[];

/* One cell a title. */
void ctl_refund_cells(ctl_table_t *table, const pay_refund_t *refund);

#endif
