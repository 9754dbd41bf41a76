/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_AUDIT_H
#define PAY_HTTPD_DASHBOARD_AUDIT_H

/*
 * What the audit holds beside changes (PCI DSS 10.2.1): files that left the dashboard, and changes
 * that were refused to somebody who had signed in.
 */

#include "httpd/dashboard/dashboard.h"

/*
 * Enters that rows leave as a file (PAY_CHANGE_EXPORT_...): before the first of them, and none
 * leaves without its entry. `detail`: format and range. NULL, or why it could not be entered: 429
 * L1 if the user has had too many of this account, 503 E2 at its quota.
 */
const pay_problem_t *pay_dashboard_audit_export(request_rec *r, const pay_dashboard_t *dashboard,
                                                pay_change_t change, const char *detail);

/*
 * Enters that a change was refused because of `why`, a few words. Without dashboard->account it
 * goes to the whole store, with the path: the answer must not tell which accounts there are, its
 * time neither. At most 10 an hour of an account and burst; the log tells that there were more.
 */
void pay_dashboard_audit_refused(request_rec *r, const pay_dashboard_t *dashboard, const char *why);

#endif
