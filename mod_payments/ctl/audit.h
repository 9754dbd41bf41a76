/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_AUDIT_H
#define PAY_CTL_AUDIT_H

/*
 * The audit of what paymentsctl changes: a command that is marked as changing works with a store
 * whose first change leaves an entry. Account, mode and what the store itself knows of the change
 * are in it without further ado.
 */

#include "ctl/ctl.h"

/* Puts such a handle in place of ctl->store. Who calls is read here. */
ctl_exit_t ctl_audit_begin(ctl_t *ctl);

/* What the entry says of the change; texts that live as long as ctl->pool. NULL: as it is. */
void ctl_audit_say(ctl_t *ctl, const char *subject, const char *detail);

/* The change that follows leaves an entry of its own. The handle lives as long as `p`. */
apr_status_t ctl_audit_next(pay_store_t **out, const ctl_t *ctl, pay_audit_t *entry, apr_pool_t *p);

/* The entry of a change that other transactions made, or none that the store knows of. */
ctl_exit_t ctl_audit_note(ctl_t *ctl);

#endif
