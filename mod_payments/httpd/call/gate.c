/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/gate.h"

#include "base/log.h"
#include "httpd/call/forwarded.h"
#include "httpd/call/gate_require.h"
#include "httpd/call/rates.h"
#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"
#include "service/account/keys.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <http_ssl.h>

APLOG_USE_MODULE(payments);

#define AUTH_TYPE "Payments"

static int is_trusted_proxy(const pay_conf_t *conf, apr_sockaddr_t *address)
{
    int i;

    for (i = 0; conf->tls_proxy && i < conf->tls_proxy->nelts; i++) {
        if (apr_ipsubnet_test(APR_ARRAY_IDX(conf->tls_proxy, i, apr_ipsubnet_t *), address)) {
            return 1;
        }
    }
    return 0;
}

/* Returns the client's scheme as a trusted proxy reports it; NULL if it reports none. Judged by the
 * connection's own address, with or without mod_remoteip: headers can claim any other. */
static const char *scheme_told(const request_rec *r)
{
    const char *proto = apr_table_get(r->headers_in, "X-Forwarded-Proto");

    return proto && is_trusted_proxy(pay_conf_get(r->server), r->connection->client_addr) ? proto
                                                                                          : NULL;
}

int pay_gate_is_behind_tls(const request_rec *r)
{
    const char *proto = scheme_told(r);

    return proto && !strcasecmp(proto, "https");
}

static int is_secure(request_rec *r, const pay_conf_t *conf)
{
    apr_sockaddr_t *address = r->connection->client_addr;
    const char *proto;

    if (!conf->require_tls || ap_ssl_conn_is_ssl(r->connection)) {
        return 1;
    }
    proto = scheme_told(r);
    if (proto) {
        return !strcasecmp(proto, "https");
    }
    /* A request that a proxy on this machine passes on may have come from anywhere, without TLS. */
    return pay_forwarded_is_loopback(address)
           && (!pay_forwarded_is(r) || is_trusted_proxy(conf, address));
}

static int count_value(void *baton, const char *name, const char *value)
{
    (void)name;
    (void)value;
    ++*(int *)baton;
    return 1;
}

/* Returns the header's value; for two headers a value that no key can have. */
static const char *value_of(const request_rec *r, const char *header)
{
    int count = 0;

    apr_table_do(count_value, &count, r->headers_in, header, NULL);
    return count > 1 ? "," : apr_table_get(r->headers_in, header);
}

/* Clients of orders send their key so, some beside an Authorization with another meaning. */
static const char *credentials(const request_rec *r, const pay_call_t *call)
{
    const char *key = NULL;

    if (call->path && pay_own_path_is_order(call->path)) {
        key = value_of(r, PAY_GATE_ORDER_KEY);
    }
    return key ? key : value_of(r, "Authorization");
}

const pay_problem_t *pay_gate_judge_transport(request_rec *r)
{
    if (is_secure(r, pay_conf_get(r->server))) {
        return NULL;
    }
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r,
                  PAYLOGNO(00311) "refused: PaymentsRequireTLS is On and this call came without "
                                  "TLS");
    return pay_problem_make(PAY_ERR_FORBIDDEN, NULL, APR_SUCCESS, r->pool);
}

/* The client that sends a key in a URL must learn of it, and so must the readers of the log. */
static const pay_problem_t *url_key_problem(request_rec *r, const pay_call_t *call)
{
    const pay_api_key_t *key;
    int given;

    if (!pay_key_authenticate(&key, &given, call->service, call->url_key, r->pool)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      PAYLOGNO(00780) "key %s of account %s was sent in a URL, which proxies and "
                                      "logs record: revoke it with paymentsctl key revoke %s",
                      key->id, key->account->name, key->id);
    }
    return pay_problem_makef(PAY_ERR_UNAUTHORIZED, r->pool,
                             "Invalid Merchant Authorization. The URL holds a secret key, and "
                             "proxies and logs keep URLs: revoke that key, and send another one "
                             "in the header Authorization.");
}

static const pay_problem_t *judge(request_rec *r, pay_call_t *call)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    const char *given = credentials(r, call);
    const pay_problem_t *problem, *too_many;

    if (!conf->engine) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      PAYLOGNO(00310) "AuthType Payments needs PaymentsEngine On in this virtual "
                                      "host: %s is closed",
                      r->uri);
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_SUCCESS, r->pool);
    }
    problem = pay_gate_judge_transport(r);
    if (problem) {
        return problem;
    }
    call->service = conf->service;
    if (!call->service) {
        return pay_problem_make(PAY_ERR_STORE_UNAVAILABLE, NULL, APR_SUCCESS, r->pool);
    }
    problem = pay_key_authenticate(&call->key, &call->given, call->service, given, r->pool);
    if (!problem) {
        call->public_key =
            call->key->kind == PAY_KEY_PUBLIC ? pay_api_key_from_header(given, r->pool) : "";
        return NULL;
    }
    call->key = NULL;
    if (!call->given && call->url_key) {
        return url_key_problem(r, call);
    }
    if (call->given && problem->status == HTTP_UNAUTHORIZED) {
        /* Judged after the key: a valid key is served whatever other clients do from its
         * address. */
        too_many = pay_rates_judge_failure(r);
        problem = too_many ? too_many : problem;
    }
    return problem;
}

static void tell(request_rec *r, const pay_api_key_t *key)
{
    const char *mode = pay_mode_name(key->scope.mode);

    r->user = apr_pstrcat(r->pool, key->account->name, "/", mode, "/", key->id, NULL);
    r->ap_auth_type = (char *)"Bearer";
    apr_table_setn(r->subprocess_env, "PAYMENTS_ACCOUNT", key->account->name);
    apr_table_setn(r->subprocess_env, "PAYMENTS_MODE", mode);
    apr_table_setn(r->subprocess_env, "PAYMENTS_KEY_ID", key->id);
}

const pay_problem_t *pay_gate_judge(request_rec *r)
{
    pay_call_t *call = pay_call_make(r);

    if (!call->judged) {
        call->problem = judge(r, call);
        call->judged = 1;
        apr_table_unset(r->headers_in, "Authorization");
        if (call->path) {
            apr_table_unset(r->headers_in, PAY_GATE_ORDER_KEY);
        }
        if (call->key) {
            tell(r, call->key);
        }
    }
    return call->problem;
}

void pay_gate_challenge(request_rec *r, int status)
{
    const pay_call_t *call = pay_call_get(r);
    const char *value = "Bearer realm=\"payments\"";

    if (status == HTTP_FORBIDDEN) {
        value = "Bearer realm=\"payments\", error=\"insufficient_scope\"";
    } else if (call && call->given && !call->key) {
        value = "Bearer realm=\"payments\", error=\"invalid_token\"";
    }
    apr_table_setn(r->err_headers_out, "WWW-Authenticate", value);
}

/* Runs if a Require of the administrator needs a user. */
static int check_authn(request_rec *r)
{
    const char *auth_type = ap_auth_type(r);
    const pay_call_t *call = pay_call_get(r);
    const pay_problem_t *problem;

    if (auth_type ? strcasecmp(auth_type, AUTH_TYPE) != 0 : !pay_call_is_claimed(r)) {
        return DECLINED;
    }
    if (call && call->is_page && !auth_type) {
        return DECLINED; /* payers have no key */
    }
    problem = pay_gate_judge(r);
    if (!problem) {
        return OK;
    }
    if (problem->status == HTTP_UNAUTHORIZED || problem->status == HTTP_FORBIDDEN) {
        pay_gate_challenge(r, problem->status);
    }
    if (problem->status == HTTP_TOO_MANY_REQUESTS && !pay_call_is_claimed(r)) {
        /* A page of the site with AuthType Payments: httpd sends the answer. */
        apr_table_setn(r->err_headers_out, "Retry-After", apr_itoa(r->pool, problem->retry_after));
    }
    return problem->status;
}

static int note_auth_failure(request_rec *r, const char *auth_type)
{
    if (strcasecmp(auth_type, AUTH_TYPE) != 0) {
        return DECLINED;
    }
    pay_gate_challenge(r, HTTP_UNAUTHORIZED);
    return OK;
}

void pay_gate_register_hooks(apr_pool_t *p)
{
    ap_hook_check_authn(check_authn, NULL, NULL, APR_HOOK_MIDDLE, AP_AUTH_INTERNAL_PER_CONF);
    ap_hook_note_auth_failure(note_auth_failure, NULL, NULL, APR_HOOK_MIDDLE);
    pay_gate_require_register(p);
}
