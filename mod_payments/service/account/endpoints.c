/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/endpoints.h"

#include "base/crypto/keyring.h"
#include "base/net/url.h"
#include "base/text/time.h"
#include "model/email.h"
#include "model/recipients.h"
#include "service/change.h"
#include "service/webhook.h"

#include <apr_strings.h>
#include <string.h>

static const pay_problem_t *no_master_key(apr_pool_t *p)
{
    return pay_problem_makef(PAY_ERR_STORE_UNAVAILABLE, p,
                             "The server has no master key to store secrets. Its error log names "
                             "the remedy.");
}

const pay_problem_t *pay_endpoint_find(pay_endpoint_t **out, const pay_service_t *service,
                                       const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                       apr_pool_t *p)
{
    apr_status_t rv;

    rv = pay_store_endpoint_get(out, service->store, scope, kind, p);
    if (rv == APR_NOTFOUND) {
        *out = NULL;
        return NULL;
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

/* The audit's words for a change of a webhook. */
typedef struct said_t {
    pay_change_t change;
    const char *subject;
    const char *text;
} said_t;

/* `was`: as it was read, before the change. */
static const pay_problem_t *put(pay_endpoint_t **out, const pay_service_t *service,
                                const said_t *said, const pay_endpoint_t *endpoint,
                                const pay_endpoint_t *was, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    rv = pay_change_begin_in(&store, service, said->change, &endpoint->scope, said->subject,
                             said->text, p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_endpoint_put(out, store, endpoint, was, p);
    }
    if (rv == APR_EEXIST) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "Somebody else changed its secret at the same time. Nothing was "
                                 "changed here: check it and try again.");
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

/* Like put; wipes the new secret if it is not stored. */
static const pay_problem_t *put_secret(pay_endpoint_t **out, const char **secret,
                                       const pay_service_t *service, const said_t *said,
                                       const pay_endpoint_t *endpoint, const pay_endpoint_t *was,
                                       apr_pool_t *p)
{
    const pay_problem_t *problem = put(out, service, said, endpoint, was, p);

    if (problem) {
        *secret = NULL;
    }
    return problem;
}

/* Makes a new secret in endpoint->secret; its text is *text. */
static const pay_problem_t *make_secret(const char **text, pay_endpoint_t *endpoint,
                                        const pay_service_t *service, apr_pool_t *p)
{
    const char *made;
    apr_status_t rv;

    if (!service->keyring) {
        return no_master_key(p);
    }
    rv = pay_webhook_secret_make(&made, p);
    if (rv == APR_SUCCESS) {
        rv = pay_keyring_seal(&endpoint->secret, service->keyring,
                              pay_endpoint_secret_context(&endpoint->scope, p), made, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    *text = made;
    return NULL;
}

/* Whether its host may be called is judged at the call. */
static const pay_problem_t *read_url(pay_url_t **out, const char *url, pay_mode_t mode,
                                     apr_pool_t *p)
{
    pay_problem_t *problem = NULL;
    const char *fault;
    apr_status_t rv;

    if (strlen(url) > PAY_ENDPOINT_ADDRESS_MAX) {
        pay_problem_add(&problem, "/url", "must be at most 1000 bytes long", p);
        return problem;
    }
    rv = pay_url_parse(out, &fault, url, "https http", p);
    if (rv != APR_SUCCESS) {
        pay_problem_add(&problem, "/url", fault, p);
    } else if (mode == PAY_LIVE && strcmp((*out)->scheme, "https") != 0) {
        pay_problem_add(&problem, "/url", "must be https: nothing of Live Mode is sent without TLS",
                        p);
    }
    return problem;
}

const pay_problem_t *pay_webhook_url(const char **out, const char *url, pay_mode_t mode,
                                     apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_url_t *parsed;

    problem = read_url(&parsed, url, mode, p);
    if (!problem) {
        *out = parsed->text;
    }
    return problem;
}

/* The part of a URL after the host may be a secret of the receiver. */
static said_t said_of_url(const pay_url_t *url, apr_pool_t *p)
{
    said_t said = {PAY_CHANGE_WEBHOOK_OFF, "webhook", "off"};

    if (url) {
        said.change = PAY_CHANGE_WEBHOOK_SET;
        said.text = apr_psprintf(p, "%s://%s:%d", url->scheme, url->host, (int)url->port);
    }
    return said;
}

const pay_problem_t *pay_webhook_set(pay_endpoint_t **out, const char **secret,
                                     const pay_service_t *service, const pay_scope_t *scope,
                                     const char *url, apr_pool_t *p)
{
    pay_endpoint_t fresh = {
        .scope = *scope, .kind = PAY_ENDPOINT_WEBHOOK, .secret = "", .old_secret = "", .error = ""};
    pay_endpoint_t *endpoint, was;
    const pay_problem_t *problem;
    pay_url_t *parsed = NULL;
    said_t said;

    *secret = NULL;
    problem = url ? read_url(&parsed, url, scope->mode, p) : NULL;
    if (!problem) {
        problem = pay_endpoint_find(out, service, scope, PAY_ENDPOINT_WEBHOOK, p);
    }
    if (problem || (!*out && !url)) {
        return problem;
    }
    endpoint = *out ? *out : &fresh;
    was = *endpoint;
    endpoint->enabled = url != NULL;
    if (parsed) {
        endpoint->address = parsed->text;
    }
    if (url && !*endpoint->secret) {
        problem = make_secret(secret, endpoint, service, p);
        if (problem) {
            return problem;
        }
    }
    said = said_of_url(parsed, p);
    return put_secret(out, secret, service, &said, endpoint, &was, p);
}

/* A secret that does not open signs nothing: events would wait as long as it must sign. */
static const pay_problem_t *judge_old(const pay_endpoint_t *endpoint, const pay_service_t *service,
                                      apr_pool_t *p)
{
    const char *text;
    apr_status_t rv;

    if (!service->keyring) {
        return no_master_key(p);
    }
    rv = pay_keyring_open(&text, service->keyring, pay_endpoint_secret_context(&endpoint->scope, p),
                          endpoint->secret, p);
    return rv == APR_SUCCESS
               ? NULL
               : pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                   "The present secret does not open under the server's master "
                                   "key and cannot sign beside a new one: end it at once.");
}

const pay_problem_t *pay_webhook_renew(pay_endpoint_t **out, const char **secret,
                                       const pay_service_t *service, const pay_scope_t *scope,
                                       apr_interval_time_t overlap, apr_pool_t *p)
{
    const said_t said = {PAY_CHANGE_WEBHOOK_RENEW, "webhook secret",
                         overlap ? "the old one signs as well for a while" : "the old one ended"};
    pay_endpoint_t *endpoint, was;
    const pay_problem_t *problem;

    *secret = NULL;
    problem = pay_endpoint_find(out, service, scope, PAY_ENDPOINT_WEBHOOK, p);
    if (problem) {
        return problem;
    }
    endpoint = *out;
    if (!endpoint) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "There is no webhook yet: set its URL first.");
    }
    problem = overlap && *endpoint->secret ? judge_old(endpoint, service, p) : NULL;
    if (problem) {
        return problem;
    }
    was = *endpoint;
    endpoint->old_secret = overlap ? endpoint->secret : "";
    endpoint->old_secret_until = overlap ? pay_time_now() + overlap : 0;
    problem = make_secret(secret, endpoint, service, p);
    if (problem) {
        return problem;
    }
    return put_secret(out, secret, service, &said, endpoint, &was, p);
}

/* In both modes. */
static void switch_add(apr_array_header_t *switches, apr_uint32_t account, pay_endpoint_kind_t kind,
                       int enabled, const char *address)
{
    pay_endpoint_switch_t *to_be;
    int mode;

    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        to_be = apr_array_push(switches);
        to_be->recipients = NULL;
        to_be->scope = (pay_scope_t){account, (pay_mode_t)mode};
        to_be->kind = kind;
        to_be->enabled = enabled;
        to_be->address = address;
    }
}

static void set_recipients(apr_array_header_t *switches, const char *recipients)
{
    pay_endpoint_switch_t *one;
    int i;

    for (i = 0; i < switches->nelts; i++) {
        one = &APR_ARRAY_IDX(switches, i, pay_endpoint_switch_t);
        if (one->kind == PAY_ENDPOINT_RECEIPT && one->scope.mode == PAY_TEST) {
            one->recipients = recipients;
        }
    }
}

void pay_mail_settings_judge(pay_mail_settings_t *settings, pay_problem_t **problem, apr_pool_t *p)
{
    const char *text;

    text = settings->address;
    if (text && pay_email_normalize(&settings->address, text, p) != APR_SUCCESS) {
        pay_problem_add(problem, "/merchantAddress", "must be one address such as shop@example.com",
                        p);
    }
    text = settings->test_recipients;
    if (text && !pay_recipients_read(&settings->test_recipients, text, p)) {
        pay_problem_add(problem, "/testRecipients", PAY_RECIPIENTS_FAULT, p);
    }
}

/* The audit contains no address. */
static const char *said_of_mail(const pay_mail_settings_t *settings, apr_pool_t *p)
{
    const char *text = "";

    if (settings->notices >= 0) {
        text = settings->notices ? "merchant address set" : "merchant address removed";
    }
    if (settings->receipts >= 0) {
        text = apr_pstrcat(p, text, *text ? ", " : "",
                           settings->receipts ? "receipts on" : "receipts off", NULL);
    }
    if (settings->test_recipients) {
        text = apr_pstrcat(p, text, *text ? ", " : "", "test recipients set", NULL);
    }
    return text;
}

const pay_problem_t *pay_mail_set(const pay_service_t *service, apr_uint32_t account,
                                  const pay_mail_settings_t *settings, apr_pool_t *p)
{
    apr_array_header_t *switches =
        apr_array_make(p, PAY_STORE_SWITCHES_MAX, sizeof(pay_endpoint_switch_t));
    pay_store_t *store;
    apr_status_t rv;

    if (settings->notices >= 0) {
        switch_add(switches, account, PAY_ENDPOINT_NOTICE, settings->notices, settings->address);
    }
    if (settings->receipts >= 0 || settings->test_recipients) {
        switch_add(switches, account, PAY_ENDPOINT_RECEIPT, settings->receipts, NULL);
        set_recipients(switches, settings->test_recipients);
    }
    if (switches->nelts == 0) {
        return NULL;
    }
    rv = pay_change_begin(&store, service, PAY_CHANGE_MAIL_SET, account, "mail",
                          said_of_mail(settings, p), p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_endpoint_switch(store, switches, p);
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}
