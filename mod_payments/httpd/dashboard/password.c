/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/password.h"

#include "base/crypto/crypto.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_request.h>
#include <http_ssl.h>
#include <stdint.h>

#define RANDOM_LEN 16

/* A denial that no client received must not be logged as one. */
static const struct ap_logconf silent = {NULL, APLOG_EMERG};

static int is_basic(request_rec *r)
{
    const char *configured = ap_auth_type(r);

    return configured && !strcasecmp(configured, "Basic") && r->ap_auth_type
           && !strcasecmp(r->ap_auth_type, "Basic") && r->user
           && !strchr(r->user, ':'); /* which ends the user's name in Basic */
}

/* Makes "Basic " and the credentials; *len is its length, for wiping. */
static char *header_of(apr_size_t *len, const request_rec *r, const char *password)
{
    const apr_size_t size = strlen(r->user) + 1 + strlen(password);
    char *plain = apr_pstrcat(r->pool, r->user, ":", password, NULL);
    const char *encoded = pay_base64(plain, size, r->pool);
    char *header = apr_pstrcat(r->pool, "Basic ", encoded, NULL);

    pay_wipe(plain, size);
    pay_wipe((void *)(uintptr_t)encoded, strlen(encoded));
    *len = strlen(header);
    return header;
}

/*
 * Calls the hooks that authenticated `r` once more, with this password and no other: credentials
 * that the browser sent by itself do not count. `log` NULL: the request's own.
 */
static int passes(request_rec *r, const char *password, const struct ap_logconf *log)
{
    request_rec *asked = apr_pmemdup(r->pool, r, sizeof(*r));
    apr_size_t len;
    char *header = header_of(&len, r, password);
    int passed;

    asked->user = NULL;
    asked->ap_auth_type = NULL;
    asked->headers_in = apr_table_copy(r->pool, r->headers_in);
    asked->headers_out = apr_table_make(r->pool, 1);
    asked->err_headers_out = apr_table_make(r->pool, 1);
    asked->subprocess_env = apr_table_copy(r->pool, r->subprocess_env);
    asked->notes = apr_table_make(r->pool, 1);
    if (log) {
        asked->log = log;
    }
    apr_table_setn(asked->headers_in, "Authorization", header);
    passed = ap_run_check_user_id(asked) == OK && asked->user && !strcmp(asked->user, r->user);
    pay_wipe(header, len);
    return passed;
}

/* Returns 1 if a password that nobody has is accepted: the site judges something else. */
static int any_passes(request_rec *r)
{
    unsigned char bytes[RANDOM_LEN];

    if (pay_random_bytes(bytes, sizeof(bytes)) != APR_SUCCESS) {
        return 1;
    }
    return passes(r, pay_hex(bytes, sizeof(bytes), r->pool), &silent);
}

static int has_certificate(request_rec *r)
{
    const char *verified =
        ap_ssl_var_lookup(r->pool, r->server, r->connection, r, "SSL_CLIENT_VERIFY");

    return verified && !strcmp(verified, "SUCCESS");
}

int pay_dashboard_has_password(request_rec *r)
{
    return is_basic(r) && !(has_certificate(r) && any_passes(r));
}

pay_dashboard_password_verdict_t pay_dashboard_judge_password(request_rec *r, const char *typed)
{
    if (!passes(r, typed, NULL)) {
        return PAY_PASSWORD_WRONG;
    }
    return any_passes(r) ? PAY_PASSWORD_UNJUDGED : PAY_PASSWORD_RIGHT;
}
