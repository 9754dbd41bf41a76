/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/routes.h"

#include <apr_strings.h>
#include <string.h>

#define ACCOUNTS "accounts/"

#define USER PAY_DASHBOARD_USER
#define SCOPE PAY_DASHBOARD_SCOPE
#define ACCOUNT PAY_DASHBOARD_ACCOUNT
#define VIEWER PAY_ROLE_VIEWER
#define OPERATOR PAY_ROLE_OPERATOR
#define OWNER PAY_ROLE_OWNER

/* No path matches two rows of one method, so their order means nothing. */
static const pay_dashboard_route_t routes[] = {
    {USER, "session", M_GET, VIEWER, pay_dashboard_session_get},
    {SCOPE, "overview", M_GET, VIEWER, pay_dashboard_overview_get},
    {SCOPE, "charges", M_GET, VIEWER, pay_dashboard_charges_list},
    {SCOPE, "charges/*", M_GET, VIEWER, pay_dashboard_charge_get},
    {SCOPE, "refunds", M_GET, VIEWER, pay_dashboard_refunds_list},
    {SCOPE, "export/charges.csv", M_GET, VIEWER, pay_dashboard_charges_export_csv},
    {SCOPE, "export/charges.json", M_GET, VIEWER, pay_dashboard_charges_export_json},
    {SCOPE, "export/refunds.csv", M_GET, VIEWER, pay_dashboard_refunds_export_csv},
    {SCOPE, "export/refunds.json", M_GET, VIEWER, pay_dashboard_refunds_export_json},
    {SCOPE, "events", M_GET, VIEWER, pay_dashboard_events_list},
    {SCOPE, "events/*", M_GET, VIEWER, pay_dashboard_event_get},
    {SCOPE, "held", M_GET, VIEWER, pay_dashboard_held_list},
    {SCOPE, "blocked", M_GET, VIEWER, pay_dashboard_blocked_list},
    {SCOPE, "blocked/*/lift", M_POST, OPERATOR, pay_dashboard_blocked_lift},
    {SCOPE, "charges/*/refund", M_POST, OPERATOR, pay_dashboard_charge_refund},
    {SCOPE, "charges/*/resolve", M_POST, OPERATOR, pay_dashboard_charge_resolve},
    {SCOPE, "refunds/*/resolve", M_POST, OPERATOR, pay_dashboard_refund_resolve},
    {SCOPE, "events/*/retry", M_POST, OPERATOR, pay_dashboard_event_retry},
    {SCOPE, "events/*/drop", M_POST, OPERATOR, pay_dashboard_event_drop},
    {SCOPE, "webhook", M_GET, VIEWER, pay_dashboard_webhook_get},
    {SCOPE, "webhook", M_POST, OWNER, pay_dashboard_webhook_set},
    {SCOPE, "webhook/secret", M_POST, OWNER, pay_dashboard_webhook_renew},
    {SCOPE, "webhook/test", M_POST, OPERATOR, pay_dashboard_webhook_test},
    {SCOPE, "mail", M_GET, VIEWER, pay_dashboard_mail_get},
    {SCOPE, "mail", M_POST, OWNER, pay_dashboard_mail_set},
    {SCOPE, "mail/test", M_POST, OPERATOR, pay_dashboard_mail_test},
    {SCOPE, "encryption-key", M_GET, VIEWER, pay_dashboard_encryption_get},
    {SCOPE, "encryption-key", M_POST, OWNER, pay_dashboard_encryption_make},
    {SCOPE, "links", M_GET, VIEWER, pay_dashboard_links_list},
    {SCOPE, "links", M_POST, OPERATOR, pay_dashboard_link_create},
    {SCOPE, "links/*/disable", M_POST, OPERATOR, pay_dashboard_link_disable},
    {ACCOUNT, "keys", M_GET, VIEWER, pay_dashboard_keys_list},
    {ACCOUNT, "keys", M_POST, OWNER, pay_dashboard_key_create},
    {ACCOUNT, "keys/*/rotate", M_POST, OWNER, pay_dashboard_key_rotate},
    {ACCOUNT, "keys/*/revoke", M_POST, OWNER, pay_dashboard_key_revoke},
    {ACCOUNT, "team", M_GET, VIEWER, pay_dashboard_team_get},
    {ACCOUNT, "team", M_POST, OWNER, pay_dashboard_team_grant},
    {ACCOUNT, "team/revoke", M_POST, OWNER, pay_dashboard_team_revoke},
    {ACCOUNT, "account", M_GET, VIEWER, pay_dashboard_account_get},
    {ACCOUNT, "account", M_POST, OWNER, pay_dashboard_account_set},
    {ACCOUNT, "mode", M_POST, OWNER, pay_dashboard_mode_set},
    {ACCOUNT, "audit", M_GET, VIEWER, pay_dashboard_audit_list},
};
#define ROUTES (sizeof(routes) / sizeof(routes[0]))

/* Removes and returns the segment at *path; NULL: it is empty, or the last one. */
static const char *take(const char **path, apr_pool_t *p)
{
    apr_size_t len = strcspn(*path, "/");
    const char *segment;

    if (len == 0 || (*path)[len] != '/') {
        return NULL;
    }
    segment = apr_pstrmemdup(p, *path, len);
    *path += len + 1;
    return segment;
}

/* Removes the place from *path, and returns it. */
static pay_dashboard_place_t place_of(pay_dashboard_way_t *out, const char **path, apr_pool_t *p)
{
    const char *rest;
    const char *mode;

    if (strncmp(*path, ACCOUNTS, sizeof(ACCOUNTS) - 1) != 0) {
        return PAY_DASHBOARD_USER;
    }
    *path += sizeof(ACCOUNTS) - 1;
    out->account = take(path, p);
    rest = *path;
    mode = take(&rest, p);
    if (!mode || pay_mode_parse(&out->mode, mode) != APR_SUCCESS) {
        return PAY_DASHBOARD_ACCOUNT;
    }
    *path = rest;
    return PAY_DASHBOARD_SCOPE;
}

void pay_dashboard_route_find(pay_dashboard_way_t *out, const char *path, int method, apr_pool_t *p)
{
    const char *tried[PAY_PATH_SEGMENTS_MAX];
    pay_dashboard_place_t place;
    const char *list = "";
    apr_size_t i;

    memset(out, 0, sizeof(*out));
    place = place_of(out, &path, p);
    if (place != PAY_DASHBOARD_USER && !out->account) {
        return;
    }
    for (i = 0; i < ROUTES; i++) {
        if (routes[i].place != place || !pay_path_matches(tried, routes[i].path, path, p)) {
            continue;
        }
        list = apr_pstrcat(p, list, *list ? ", " : "",
                           routes[i].method == M_GET ? "GET, HEAD" : "POST", NULL);
        if (routes[i].method == method) {
            out->route = &routes[i];
            memcpy(out->segment, tried, sizeof(tried));
        }
    }
    out->allow = *list ? list : NULL;
}
