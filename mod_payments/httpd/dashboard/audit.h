/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_AUDIT_H
#define PAY_HTTPD_DASHBOARD_AUDIT_H

/*
 * Entries of the audit other than changes (PCI DSS 10.2.1): exported files, and changes that were
 * refused to a signed-in user.
 */

#include "httpd/dashboard/dashboard.h"

/*
 * Writes that rows leave as a file (PAY_CHANGE_EXPORT_...), before the first of them; no row leaves
 * without its entry. `detail`: format and range. Returns NULL, or why it could not be written: 429
 * L1 if the user has had too many of this account, 503 E2 at its quota.
 */
const pay_problem_t *pay_dashboard_audit_export(request_rec *r, const pay_dashboard_t *dashboard,
                                                pay_change_t change, const char *detail);

/*
 * Writes that a change was refused because of `why`, a few words. Without dashboard->account the
 * entry belongs to the whole store, with the path: neither the answer nor its time may reveal which
 * accounts exist. At most 10 an hour and burst for an account; further ones are only logged.
 */
void pay_dashboard_audit_refused(request_rec *r, const pay_dashboard_t *dashboard, const char *why);

#endif
