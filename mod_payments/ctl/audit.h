/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_AUDIT_H
#define PAY_CTL_AUDIT_H

/* The user who changes something with paymentsctl, as recorded in the audit. */

#include "ctl/ctl.h"

/* From now on changes through ctl->service are made in the caller's name and leave an entry in the
 * audit (service/change.h). */
void ctl_audit_begin(ctl_t *ctl);

#endif
