/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_DASHBOARD_H
#define PAY_DASHBOARD_H

/*
 * One request to the dashboard (docs/dashboard.md): what its stages tell each other. Lives in the
 * request's pool and belongs to the thread that handles the request.
 */

#include "httpd/pay_call.h"

#define PAY_DASHBOARD_API "/api/" /* below the directive's path: what is answered as JSON */

typedef struct pay_dashboard_t {
    const char *path; /* below the directive's path, decoded: "", "/", "/api/session" */

    /* pay_dashboard_guard: set once the site has authenticated somebody */
    const char *user;
    const char *host; /* the virtual host's name, lower case: grants hold it */
} pay_dashboard_t;

/* Judges and answers a request that was claimed; returns what a handler returns. */
int pay_dashboard_serve(request_rec *r, pay_dashboard_t *dashboard);

#endif
