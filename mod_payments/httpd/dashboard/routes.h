/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_ROUTES_H
#define PAY_HTTPD_DASHBOARD_ROUTES_H

/* The table of requests that the dashboard's pages may send. */

#include "httpd/dashboard/dashboard.h"

/* The subject of a path: its first segments. */
typedef enum pay_dashboard_place_t {
    PAY_DASHBOARD_USER,    /* api/ */
    PAY_DASHBOARD_ACCOUNT, /* api/accounts/NAME/ */
    PAY_DASHBOARD_SCOPE    /* api/accounts/NAME/test/ or live/ */
} pay_dashboard_place_t;

typedef struct pay_dashboard_route_t {
    pay_dashboard_place_t place;
    const char *path; /* after the place; "*" stands for one segment that is not empty */
    int method;       /* M_GET (also serves HEAD) or M_POST */
    pay_role_t role;  /* that the user needs at least; for PAY_DASHBOARD_USER: any */
    pay_dashboard_handle_t *handle;
} pay_dashboard_route_t;

/* The result for a path. */
typedef struct pay_dashboard_way_t {
    const pay_dashboard_route_t *route; /* NULL: none for the method */
    const char *allow;                  /* NULL: no route has the path */
    const char *account;                /* NULL for PAY_DASHBOARD_USER */
    pay_mode_t mode;
    const char *segment[PAY_PATH_SEGMENTS_MAX];
} pay_dashboard_way_t;

/* `path` is the part after PAY_DASHBOARD_API. */
void pay_dashboard_route_find(pay_dashboard_way_t *out, const char *path, int method,
                              apr_pool_t *p);

#endif
