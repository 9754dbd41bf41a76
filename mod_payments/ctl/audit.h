/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_AUDIT_H
#define PAY_CTL_AUDIT_H

/* Who changes something with paymentsctl, as the audit says it. */

#include "ctl/ctl.h"

/* From now on changes through ctl->service are the caller's, and leave an entry in the audit
 * (service/change.h). */
void ctl_audit_begin(ctl_t *ctl);

#endif
