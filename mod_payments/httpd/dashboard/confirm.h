/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_CONFIRM_H
#define PAY_HTTPD_DASHBOARD_CONFIRM_H

/*
 * Changes that a script in the dashboard's origin cannot make by itself (docs/dashboard.md,
 * "Confirmed changes"): the request contains the person's password, or a code that was sent to the
 * merchant's address, for this one change.
 */

#include "httpd/dashboard/change.h"

#define PAY_DASHBOARD_CONFIRM "confirm" /* the body's member with it */
#define PAY_DASHBOARD_PASSWORD_MAX 1024 /* bytes */

typedef struct pay_dashboard_ask_t {
    const char *change;  /* in the infinitive, for people: "create a live secret key of shop" */
    const char *command; /* of paymentsctl, with the same effect; contains nothing that a client
                          * sent */
} pay_dashboard_ask_t;

/* Called in the parent: makes the secret of the codes of all children of this generation. */
void pay_dashboard_confirm_share(server_rec *main_server, apr_pool_t *pconf);

/*
 * Returns NULL if the change is confirmed, and the audit will say how; else 403, and nothing may be
 * changed. `ask` NULL: this change needs no confirmation.
 */
const pay_problem_t *pay_dashboard_confirm(request_rec *r, const pay_dashboard_t *dashboard,
                                           const pay_dashboard_ask_t *ask);

#endif
