/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_DASHBOARD_H
#define PAY_HTTPD_DASHBOARD_DASHBOARD_H

/*
 * One request to the dashboard (docs/dashboard.md): the data that its stages hand on. Lives in the
 * request's pool and belongs to the thread that handles the request.
 */

#include "httpd/call/call.h"
#include "service/change.h"

#define PAY_DASHBOARD_API "/api/" /* below the directive's path: answered as JSON */

typedef struct pay_dashboard_t {
    const char *path; /* below the directive's path, decoded: "", "/", "/api/session" */

    /* pay_dashboard_claim */
    int is_early; /* the URL is not decoded yet, and may turn out not to be ours */
    int signs_in; /* its credentials count as refused until they turn out to be right */

    /* pay_dashboard_guard: set once the site has authenticated a user */
    const char *user;
    const char *host; /* the virtual host's name, as pay_grant_host makes it */

    /* pay_dashboard_door: for requests that are answered as JSON */
    pay_actor_t *actor;     /* the person who makes changes, for the audit */
    pay_service_t *service; /* a copy of the host's; its changes are those of `actor` */
    const char *segment[PAY_PATH_SEGMENTS_MAX]; /* the variable ones of the route */
    const apr_table_t *query;                   /* decoded, each name once */
    const struct pay_json_t *body;              /* POST: never NULL */
    const pay_account_t *account;               /* NULL: no account */
    pay_role_t role;                            /* of the user for that account */
    pay_scope_t scope;                          /* the mode counts if the path has one */
} pay_dashboard_t;

/* Judges and answers a claimed request; returns what a handler returns. */
int pay_dashboard_serve(request_rec *r, pay_dashboard_t *dashboard);

/* Below: one function for each route, called once all of the above is set. */
typedef int pay_dashboard_handle_t(request_rec *r, const pay_dashboard_t *dashboard);

pay_dashboard_handle_t pay_dashboard_session_get;
pay_dashboard_handle_t pay_dashboard_overview_get;
pay_dashboard_handle_t pay_dashboard_charges_list;
pay_dashboard_handle_t pay_dashboard_charge_get;
pay_dashboard_handle_t pay_dashboard_refunds_list;
pay_dashboard_handle_t pay_dashboard_charges_export_csv;
pay_dashboard_handle_t pay_dashboard_charges_export_json;
pay_dashboard_handle_t pay_dashboard_refunds_export_csv;
pay_dashboard_handle_t pay_dashboard_refunds_export_json;
pay_dashboard_handle_t pay_dashboard_events_list;
pay_dashboard_handle_t pay_dashboard_event_get;
pay_dashboard_handle_t pay_dashboard_held_list;
pay_dashboard_handle_t pay_dashboard_blocked_list;
pay_dashboard_handle_t pay_dashboard_blocked_lift;
pay_dashboard_handle_t pay_dashboard_charge_refund;
pay_dashboard_handle_t pay_dashboard_charge_resolve;
pay_dashboard_handle_t pay_dashboard_refund_resolve;
pay_dashboard_handle_t pay_dashboard_event_retry;
pay_dashboard_handle_t pay_dashboard_event_drop;
pay_dashboard_handle_t pay_dashboard_links_list;
pay_dashboard_handle_t pay_dashboard_link_create;
pay_dashboard_handle_t pay_dashboard_link_disable;
pay_dashboard_handle_t pay_dashboard_keys_list;
pay_dashboard_handle_t pay_dashboard_key_create;
pay_dashboard_handle_t pay_dashboard_key_rotate;
pay_dashboard_handle_t pay_dashboard_key_revoke;
pay_dashboard_handle_t pay_dashboard_webhook_get;
pay_dashboard_handle_t pay_dashboard_webhook_set;
pay_dashboard_handle_t pay_dashboard_webhook_renew;
pay_dashboard_handle_t pay_dashboard_webhook_test;
pay_dashboard_handle_t pay_dashboard_mail_get;
pay_dashboard_handle_t pay_dashboard_mail_test;
pay_dashboard_handle_t pay_dashboard_mail_set;
pay_dashboard_handle_t pay_dashboard_encryption_get;
pay_dashboard_handle_t pay_dashboard_encryption_make;
pay_dashboard_handle_t pay_dashboard_team_get;
pay_dashboard_handle_t pay_dashboard_team_grant;
pay_dashboard_handle_t pay_dashboard_team_revoke;
pay_dashboard_handle_t pay_dashboard_account_get;
pay_dashboard_handle_t pay_dashboard_account_set;
pay_dashboard_handle_t pay_dashboard_mode_set;
pay_dashboard_handle_t pay_dashboard_audit_list;

#endif
