/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/accounts.h"

#include "base/shared/breaker.h"
#include "base/text/money.h"
#include "base/text/time.h"
#include "base/text/timezone.h"
#include "model/fee.h"
#include "model/return_hosts.h"
#include "model/shop.h"
#include "service/account/endpoints.h"
#include "service/change.h"

#include <apr_strings.h>

static const pay_problem_t *problem_of(apr_status_t rv, const char *missing, apr_pool_t *p)
{
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    return rv == APR_NOTFOUND ? pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, p, "%s", missing)
                              : pay_problem_of_store(rv, p);
}

/* ---- settings */

static void judge_currency(pay_account_settings_t *settings, pay_problem_t **problem, apr_pool_t *p)
{
    char code[PAY_CURRENCY_LEN + 1];

    if (!settings->currency) {
        return;
    }
    if (pay_currency_normalize(code, settings->currency) != APR_SUCCESS) {
        pay_problem_add(problem, "/currency", "must be an ISO 4217 currency such as NGN", p);
        return;
    }
    settings->currency = apr_pstrdup(p, code);
}

static void judge_shop(const pay_account_settings_t *settings, pay_problem_t **problem,
                       apr_pool_t *p)
{
    const struct {
        const char *field;
        const char *fault;
    } texts[] = {
        {"/shop/name", settings->shop_name ? pay_shop_name_fault(settings->shop_name) : NULL},
        {"/shop/logo", settings->shop_logo ? pay_shop_logo_fault(settings->shop_logo, p) : NULL},
        {"/shop/text", settings->shop_text ? pay_shop_text_fault(settings->shop_text) : NULL},
    };
    apr_size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].fault) {
            pay_problem_add(problem, texts[i].field, texts[i].fault, p);
        }
    }
}

void pay_account_settings_judge(pay_account_settings_t *settings, pay_problem_t **problem,
                                apr_pool_t *p)
{
    const pay_timezone_t *zone;
    const char *text, *fault;

    if (settings->key_prefix && pay_key_prefix_check(settings->key_prefix) != APR_SUCCESS) {
        pay_problem_add(
            problem, "/keyPrefix",
            "must be 1 to " APR_STRINGIFY(PAY_KEY_PREFIX_MAX) " of a-z and 0-9, first a letter", p);
    }
    judge_currency(settings, problem, p);
    if (settings->timezone && pay_timezone_load(&zone, settings->timezone, p) != APR_SUCCESS) {
        pay_problem_add(problem, "/timezone",
                        "must be an IANA time zone that the server knows, such as Africa/Lagos", p);
    }
    judge_shop(settings, problem, p);
    text = settings->return_hosts;
    if (text && !pay_return_hosts_add(&settings->return_hosts, "", text, p)) {
        pay_problem_add(problem, "/returnHosts", PAY_RETURN_HOSTS_FAULT, p);
    }
    text = settings->fees;
    fault = text ? pay_fee_rules_read(&settings->fees, text, p) : NULL;
    if (fault) {
        pay_problem_add(problem, "/fees", fault, p);
    }
}

/* No server has defaults for texts for payers, hosts and fees. */
const pay_problem_t *pay_account_open(pay_account_t **out, const pay_service_t *service,
                                      const char *name, const pay_account_settings_t *given,
                                      apr_pool_t *p)
{
    pay_account_settings_t settings = *given, *defaults;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_store_defaults_get(&defaults, service->store, name, p);
    if (rv == APR_SUCCESS) {
        settings.key_prefix = given->key_prefix ? given->key_prefix : defaults->key_prefix;
        settings.currency = given->currency ? given->currency : defaults->currency;
        settings.timezone = given->timezone ? given->timezone : defaults->timezone;
        rv = pay_change_begin(&store, service, PAY_CHANGE_ACCOUNT_CREATE, 0, name, "", p);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_store_account_create(out, store, name, &settings, p);
    }
    if (rv == APR_EEXIST) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "There is an account of this name already.");
    }
    return problem_of(rv, "", p);
}

static const pay_problem_t *set(pay_account_t **out, const pay_service_t *service,
                                pay_change_t change, const pay_account_t *account,
                                const pay_account_settings_t *given, const pay_mode_t *mode,
                                apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin(&store, service, change, account->number, account->name, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_account_set(out, store, account->name, given, mode, p);
    }
    return problem_of(rv, "This account no longer exists.", p);
}

const pay_problem_t *pay_account_change(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account,
                                        const pay_account_settings_t *given, apr_pool_t *p)
{
    return set(out, service, PAY_CHANGE_ACCOUNT_SET, account, given, NULL, p);
}

const pay_problem_t *pay_account_switch(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account, pay_mode_t mode,
                                        apr_pool_t *p)
{
    const pay_account_settings_t unchanged = {.key_prefix = NULL};

    return set(out, service, mode == PAY_LIVE ? PAY_CHANGE_ACCOUNT_LIVE : PAY_CHANGE_ACCOUNT_TEST,
               account, &unchanged, &mode, p);
}

/* ---- Live Mode */

static apr_status_t look_at_keys(pay_account_setup_t *out, const pay_service_t *service,
                                 const pay_account_t *account, pay_mode_t mode, apr_pool_t *p)
{
    const apr_time_t now = pay_time_now();
    const pay_api_key_t *key;
    apr_array_header_t *keys;
    apr_status_t rv;
    int i;

    rv = pay_store_key_list(&keys, service->store, account->name, p);
    for (i = 0; rv == APR_SUCCESS && i < keys->nelts; i++) {
        key = APR_ARRAY_IDX(keys, i, const pay_api_key_t *);
        if (key->scope.mode == mode && pay_api_key_is_valid(key, now)) {
            out->has_key = 1;
            out->has_secret_key |= key->kind == PAY_KEY_SECRET;
        }
    }
    return rv;
}

const pay_problem_t *pay_account_setup(pay_account_setup_t *out, const pay_service_t *service,
                                       const pay_account_t *account, pay_mode_t mode, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, mode};
    const pay_problem_t *problem;
    pay_endpoint_t *webhook;
    apr_status_t rv;

    *out = (pay_account_setup_t){.has_key = 0};
    rv = look_at_keys(out, service, account, mode, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    problem = pay_endpoint_find(&webhook, service, &scope, PAY_ENDPOINT_WEBHOOK, p);
    out->has_webhook = !problem && webhook && webhook->enabled;
    return problem;
}

static void lack(apr_array_header_t *list, int is_essential, const char *what, const char *how)
{
    const pay_account_lack_t row = {what, how, is_essential};

    APR_ARRAY_PUSH(list, pay_account_lack_t) = row;
}

static void judge_acquirer(apr_array_header_t *list, const pay_service_t *service,
                           const pay_account_t *account, apr_pool_t *p)
{
    const pay_acquirer_t *acquirer = service->acquirer[PAY_LIVE];

    if (!acquirer) {
        lack(list, 1, "No acquirer moves the money of this account on this host.",
             apr_psprintf(p,
                          "The server's administrator adds PaymentsAccount %s and a line "
                          "PaymentsAcquirer live ... to this virtual host (docs/live-mode.md).",
                          account->name));
    } else if (acquirer->breaker && pay_breaker_is_faulty(acquirer->breaker)) {
        lack(list, 1, "The acquirer is out of service: its key is missing or refused.",
             "The server's administrator finds the reason in the error log and fixes the "
             "PaymentsAcquirer line.");
    }
}

const pay_problem_t *pay_account_lacks(apr_array_header_t **out, const pay_service_t *service,
                                       const pay_account_t *account, int requires_tls,
                                       apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_account_setup_t setup;

    *out = apr_array_make(p, 4, sizeof(pay_account_lack_t));
    problem = pay_account_setup(&setup, service, account, PAY_LIVE, p);
    if (problem) {
        return problem;
    }
    judge_acquirer(*out, service, account, p);
    if (!setup.has_secret_key) {
        lack(*out, 1, "There is no secret key for Live Mode.",
             "Create one under Settings, API Keys, and give it to the shop's program.");
    }
    if (!service->keyring) {
        lack(*out, 1, "The server has no master key, so no webhook can be signed.",
             "The server's administrator finds the reason in the error log (PaymentsMasterKey).");
    }
    if (!setup.has_webhook) {
        lack(*out, 0,
             "There is no webhook for Live Mode: later decisions are not reported to the shop.",
             "Set its URL under Settings, Webhooks.");
    }
    if (!requires_tls) {
        lack(*out, 0,
             "Calls without TLS are served (PaymentsRequireTLS Off): keys can be read in transit.",
             "The server's administrator removes that line.");
    }
    return NULL;
}

const pay_problem_t *pay_account_judge_lacks(const apr_array_header_t *lacks, apr_pool_t *p)
{
    pay_problem_t *problem = NULL;
    const pay_account_lack_t *row;
    int i;

    for (i = 0; i < lacks->nelts; i++) {
        row = &APR_ARRAY_IDX(lacks, i, const pay_account_lack_t);
        if (!row->is_essential) {
            continue;
        }
        if (!problem) {
            problem = pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                        "The account cannot go live yet: something is missing.");
            problem->code = "G1";
        }
        pay_problem_add(&problem, "/mode", apr_pstrcat(p, row->what, " ", row->how, NULL), p);
    }
    return problem;
}

/* ---- grants */

const char *pay_grant_user_fault(const char *user)
{
    if (user && pay_grant_user_check(user) == APR_SUCCESS) {
        return NULL;
    }
    return "must be a user's name, as the site's authentication gives it: 1 to 255 bytes without "
           "control characters";
}

/* Returns why nothing was done; NULL if it was done, or was so already. */
static const pay_problem_t *problem_of_verdict(pay_grant_verdict_t verdict, apr_pool_t *p)
{
    if (verdict == PAY_GRANT_REFUSED_OWNER) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The account would have no owner: make somebody else owner "
                                 "first.");
    }
    if (verdict == PAY_GRANT_REFUSED_FULL) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The account, or the user, has the maximum number of grants: "
                                 "revoke one first.");
    }
    return NULL;
}

const pay_problem_t *pay_grant_give(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, pay_role_t role, int keep_owner,
                                    apr_pool_t *p)
{
    pay_grant_verdict_t verdict = PAY_GRANT_DONE;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin(&store, service, PAY_CHANGE_ACCOUNT_GRANT, account->number, user, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_grant_put(out, &verdict, store, account->name, host, user, role, keep_owner,
                                 p);
    }
    return rv == APR_SUCCESS ? problem_of_verdict(verdict, p)
                             : problem_of(rv, "This account no longer exists.", p);
}

const pay_problem_t *pay_grant_take(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, int keep_owner, apr_pool_t *p)
{
    pay_grant_verdict_t verdict = PAY_GRANT_DONE;
    pay_store_t *store;
    apr_status_t rv;

    rv = pay_store_grant_get(out, service->store, account->name, host, user, p);
    if (rv == APR_SUCCESS) {
        rv = pay_change_begin(&store, service, PAY_CHANGE_ACCOUNT_REVOKE, account->number, user, "",
                              p);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_store_grant_delete(&verdict, store, account->name, (*out)->host, (*out)->user,
                                    keep_owner, p);
    }
    return rv == APR_SUCCESS
               ? problem_of_verdict(verdict, p)
               : problem_of(rv, "This user has no grant for the account on this host.", p);
}

/* ---- tokens */

const pay_problem_t *pay_token_issue(pay_token_t **out, const pay_service_t *service,
                                     const pay_token_t *token, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv =
        pay_change_begin(&store, service, PAY_CHANGE_TOKEN_CREATE, token->scope.account, "", "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_token_create(out, store, token, p);
    }
    if (rv == APR_EEXIST) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "The account has this token already.");
    }
    return problem_of(rv, "", p);
}

const pay_problem_t *pay_token_revoke(pay_token_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *token, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin(&store, service, PAY_CHANGE_TOKEN_REVOKE, scope->account, "", "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_token_revoke(out, store, scope, token, p);
    }
    return problem_of(rv, "There is no such token.", p);
}
