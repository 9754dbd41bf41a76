/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/guard.h"

#include "base/crypto/crypto.h"
#include "base/log.h"
#include "base/shared/meter.h"
#include "httpd/conf/conf.h"
#include "model/grant.h"
#include "model/idempotency.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <http_ssl.h>
#include <stdatomic.h>

APLOG_USE_MODULE(payments);

#define TOKEN_HEADER "X-CSRF-Token"
#define SECRET_NAME "mod_payments dashboard"
#define SECRET_LEN 32
#define TELL_EVERY apr_time_from_sec(60)

/* Why nobody is let in. */
typedef enum cause_t { NO_USER, API_KEY, UNVERIFIED, BAD_NAME, CAUSE_COUNT } cause_t;

static const char *const causes[] = {
    [NO_USER] = "nobody was authenticated",
    [API_KEY] = "it is behind AuthType Payments, and an API key is not a person",
    [UNVERIFIED] = "a client certificate that is not verified names nobody",
    [BAD_NAME] = "the user's name is longer than 255 bytes or is not plain UTF-8 text",
};
_Static_assert(sizeof(causes) / sizeof(causes[0]) == CAUSE_COUNT, "a text each");

static const unsigned char *secret; /* NULL: it could not be made, and every change is refused */

void pay_dashboard_guard_share(server_rec *main_server)
{
    unsigned char *made = ap_retained_data_get(SECRET_NAME);
    apr_status_t rv;

    if (!made) {
        made = ap_retained_data_create(SECRET_NAME, SECRET_LEN + 1);
    }
    if (!made[SECRET_LEN]) { /* the last byte: it was made */
        rv = pay_random_bytes(made, SECRET_LEN);
        if (rv != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, rv, main_server,
                         PAYLOGNO(00542) "PaymentsDashboard: no random numbers: the dashboard "
                                         "refuses every change until the next start");
            return;
        }
        made[SECRET_LEN] = 1;
    }
    secret = made;
}

/* Logs at most one line a minute and cause of this process: clients must not fill the log. */
static void tell(request_rec *r, cause_t cause)
{
    static _Atomic apr_time_t told[CAUSE_COUNT];
    const apr_time_t now = pay_meter_now();
    const char *path = pay_conf_get(r->server)->dashboard_path;
    apr_time_t last = atomic_load(&told[cause]);

    if ((last && now - last < TELL_EVERY)
        || !atomic_compare_exchange_strong(&told[cause], &last, now)) {
        return;
    }
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  PAYLOGNO(00543) "PaymentsDashboard %s is refused: %s. Name who may sign in: "
                                  "<Location \"%s\"> AuthType Basic, AuthName \"Payments\", "
                                  "AuthUserFile \"/etc/apache2/payments.htpasswd\", Require "
                                  "valid-user </Location>, or use the site's own authentication",
                  path, causes[cause], path);
}

/*
 * mod_ssl takes names (SSLUserName, FakeBasicAuth) also from certificates that nobody has verified,
 * and newer versions call that a type of authentication.
 */
static int is_authenticated(request_rec *r)
{
    const char *type = r->ap_auth_type ? r->ap_auth_type : ap_auth_type(r);
    const char *verified =
        ap_ssl_var_lookup(r->pool, r->server, r->connection, r, "SSL_CLIENT_VERIFY");

    if (verified && *verified && strcmp(verified, "NONE") != 0) { /* a certificate was shown */
        return !strcmp(verified, "SUCCESS");
    }
    return type && strcasecmp(type, "None") != 0 && strcasecmp(type, "ClientCert") != 0;
}

static cause_t judge(request_rec *r)
{
    const pay_call_t *call = pay_call_get(r);

    if (!r->user || !*r->user) {
        return NO_USER;
    }
    if (call && call->judged) {
        return API_KEY;
    }
    if (!is_authenticated(r)) {
        return UNVERIFIED;
    }
    if (pay_grant_user_check(r->user) != APR_SUCCESS) {
        return BAD_NAME;
    }
    return CAUSE_COUNT;
}

const pay_problem_t *pay_dashboard_judge_user(request_rec *r, pay_dashboard_t *dashboard)
{
    const char *name = r->server->server_hostname;
    cause_t cause = judge(r);
    apr_status_t rv;

    if (cause != CAUSE_COUNT) {
        tell(r, cause);
        return pay_problem_makef(PAY_ERR_FORBIDDEN, r->pool,
                                 "The dashboard is closed, because %s. The server's error log "
                                 "names the lines to add to the configuration.",
                                 causes[cause]);
    }
    rv = pay_grant_host(&dashboard->host, name ? name : "", r->pool);
    if (rv != APR_SUCCESS) {
        return pay_problem_makef(PAY_ERR_FORBIDDEN, r->pool,
                                 "The dashboard is closed, because this virtual host has no "
                                 "name. The server's administrator can set ServerName.");
    }
    dashboard->user = r->user;
    return NULL;
}

const pay_problem_t *pay_dashboard_token(const char **out, const pay_dashboard_t *dashboard,
                                         apr_pool_t *p)
{
    const char *values[] = {dashboard->user, dashboard->host};
    unsigned char digest[PAY_SHA256_LEN], mac[PAY_SHA256_LEN];
    apr_status_t rv = APR_EGENERAL;

    *out = NULL;
    if (secret) {
        rv = pay_idempotency_digest(digest, values, 2); /* which keeps neighbours apart */
    }
    if (rv == APR_SUCCESS) {
        rv = pay_hmac_sha256(mac, secret, SECRET_LEN, digest, sizeof(digest));
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    *out = pay_hex(mac, sizeof(mac), p);
    return NULL;
}

static const pay_problem_t *refuse(const char *code, const char *message, apr_pool_t *p)
{
    pay_problem_t *problem = pay_problem_makef(PAY_ERR_FORBIDDEN, p, "%s", message);

    problem->code = code;
    return problem;
}

const pay_problem_t *pay_dashboard_judge_site(const request_rec *r)
{
    const char *site = apr_table_get(r->headers_in, "Sec-Fetch-Site");

    /* "none": the person's own action, by the address bar or a bookmark. */
    if (!site || !strcasecmp(site, "same-origin")
        || (!strcasecmp(site, "none") && r->method_number == M_GET)) {
        return NULL;
    }
    return refuse("C2", "Only the dashboard's own pages may read this.", r->pool);
}

/* Returns the authority of an http or https origin; NULL if this connection cannot have it. */
static const char *authority(const request_rec *r, const char *origin)
{
    if (!strncasecmp(origin, "https://", 8)) {
        return origin + 8;
    }
    if (!strncasecmp(origin, "http://", 7) && !ap_ssl_conn_is_ssl(r->connection)) {
        return origin + 7;
    }
    return NULL;
}

/* `Host` may name the scheme's own port, an origin never does. */
static int is_this_host(const request_rec *r, const char *origin)
{
    const char *given = apr_table_get(r->headers_in, "Host");
    const char *want = authority(r, origin);
    apr_size_t len;

    if (!given || !want || !*want) {
        return 0;
    }
    len = strlen(want);
    if (strncasecmp(given, want, len) != 0) {
        return 0;
    }
    given += len;
    return !*given || !strcmp(given, want == origin + 8 ? ":443" : ":80");
}

const pay_problem_t *pay_dashboard_judge_change(request_rec *r, const pay_dashboard_t *dashboard)
{
    const char *origin = apr_table_get(r->headers_in, "Origin");
    const char *given = apr_table_get(r->headers_in, TOKEN_HEADER);
    const pay_problem_t *problem;
    const char *want;

    problem = pay_dashboard_judge_site(r);
    if (problem) {
        return problem;
    }
    if (origin ? !is_this_host(r, origin) : !apr_table_get(r->headers_in, "Sec-Fetch-Site")) {
        return refuse("C2",
                      "Only the dashboard's own pages may change anything: the Origin header must "
                      "name this host.",
                      r->pool);
    }
    problem = pay_dashboard_token(&want, dashboard, r->pool);
    if (problem) {
        return problem;
    }
    if (!given || strlen(given) != strlen(want) || !pay_bytes_equal(given, want, strlen(want))) {
        return refuse("C1", "The page is out of date: load it again.", r->pool);
    }
    return NULL;
}
