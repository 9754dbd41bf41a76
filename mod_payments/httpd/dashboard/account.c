/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/keyring.h"
#include "httpd/call/zones.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/query.h"
#include "httpd/dashboard/reply.h"
#include "model/shop.h"
#include "service/account/endpoints.h"

#include <apr_strings.h>
#include <string.h>

/* What Live Mode lacks. */
typedef struct lack_t {
    const char *what;
    const char *how;
    int essential; /* 0: advice */
} lack_t;

static void lack(apr_array_header_t *list, int essential, const char *what, const char *how)
{
    const lack_t row = {what, how, essential};

    APR_ARRAY_PUSH(list, lack_t) = row;
}

static void judge_acquirer(apr_array_header_t *list, const pay_dashboard_t *dashboard,
                           apr_pool_t *p)
{
    const pay_acquirer_t *acquirer = dashboard->service->acquirer[PAY_LIVE];

    if (!acquirer) {
        lack(list, 1, "No acquirer moves the money of this account on this host.",
             apr_psprintf(p,
                          "The server's administrator adds PaymentsAccount %s and a line "
                          "PaymentsAcquirer live ... to this virtual host (docs/live-mode.md).",
                          dashboard->account->name));
    } else if (acquirer->breaker && pay_breaker_is_faulty(acquirer->breaker)) {
        lack(list, 1, "The acquirer is out of service: its key is missing or refused.",
             "The server's administrator finds the reason in the error log and mends the "
             "PaymentsAcquirer line.");
    }
}

static apr_status_t judge_keys(apr_array_header_t *list, const pay_dashboard_t *dashboard,
                               apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    const apr_time_t now = pay_time_now();
    const pay_api_key_t *key;
    apr_array_header_t *keys;
    apr_status_t rv;
    int i;

    rv = pay_store_key_list(&keys, store, dashboard->account->name, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < keys->nelts; i++) {
        key = APR_ARRAY_IDX(keys, i, const pay_api_key_t *);
        if (key->scope.mode == PAY_LIVE && key->kind == PAY_KEY_SECRET
            && pay_api_key_is_valid(key, now)) {
            return APR_SUCCESS;
        }
    }
    lack(list, 1, "There is no secret key for Live Mode.",
         "Create one under Settings, API Keys, and give it to the shop's program.");
    return APR_SUCCESS;
}

static const pay_problem_t *find_lacks(apr_array_header_t **out, request_rec *r,
                                       const pay_dashboard_t *dashboard)
{
    const pay_scope_t live = {dashboard->scope.account, PAY_LIVE};
    const pay_problem_t *problem;
    pay_endpoint_t *webhook;
    apr_status_t rv;

    *out = apr_array_make(r->pool, 4, sizeof(lack_t));
    judge_acquirer(*out, dashboard, r->pool);
    rv = judge_keys(*out, dashboard, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, r->pool);
    }
    if (!dashboard->service->keyring) {
        lack(*out, 1, "The server has no master key, so that no webhook can be signed.",
             "The server's administrator finds the reason in the error log (PaymentsMasterKey).");
    }
    problem = pay_endpoint_find(&webhook, dashboard->service, &live, PAY_ENDPOINT_WEBHOOK, r->pool);
    if (problem) {
        return problem;
    }
    if (!webhook || !webhook->enabled) {
        lack(*out, 0,
             "There is no webhook for Live Mode: the shop is not told of what is decided "
             "later.",
             "Set its URL under Settings, Webhooks.");
    }
    if (!pay_conf_get(r->server)->require_tls) {
        lack(*out, 0,
             "Calls without TLS are served (PaymentsRequireTLS Off): keys can be read on "
             "their way.",
             "The server's administrator removes that line.");
    }
    return NULL;
}

static int is_ready(const apr_array_header_t *lacks)
{
    int i;

    for (i = 0; i < lacks->nelts; i++) {
        if (APR_ARRAY_IDX(lacks, i, const lack_t).essential) {
            return 0;
        }
    }
    return 1;
}

static void lacks_to_json(pay_writer_t *w, const apr_array_header_t *lacks)
{
    const lack_t *row;
    int i;

    pay_writer_object_open(w, "live");
    pay_writer_bool(w, "ready", is_ready(lacks));
    pay_writer_array_open(w, "missing");
    for (i = 0; i < lacks->nelts; i++) {
        row = &APR_ARRAY_IDX(lacks, i, const lack_t);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "what", row->what);
        pay_writer_string(w, "how", row->how);
        pay_writer_bool(w, "essential", row->essential);
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
    pay_writer_object_close(w);
}

static int reply_account(request_rec *r, const pay_dashboard_t *dashboard,
                         const pay_account_t *account)
{
    const pay_account_settings_t *settings = &account->settings;
    const pay_problem_t *problem;
    apr_array_header_t *lacks;
    pay_writer_t *w;

    problem = find_lacks(&lacks, r, dashboard);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    pay_writer_string(w, "name", account->name);
    pay_writer_string(w, "mode", pay_mode_name(account->mode));
    pay_writer_string(w, "currency", settings->currency);
    pay_writer_string(w, "timezone", settings->timezone);
    pay_writer_string(w, "keyPrefix", settings->key_prefix);
    pay_writer_time(w, "createdAt", account->created_at);
    pay_writer_object_open(w, "shop");
    pay_writer_string(w, "name", settings->shop_name);
    pay_writer_string(w, "logo", settings->shop_logo);
    pay_writer_string(w, "text", settings->shop_text);
    pay_writer_object_close(w);
    lacks_to_json(w, lacks);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_account_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    return reply_account(r, dashboard, dashboard->account);
}

/* NULL: it stays as it is. */
static const char *read_text(pay_form_t *form, const char *name, const char *field,
                             const char *(*fault)(const char *text))
{
    const char *text = pay_form_string(form, name);
    const char *reason = text ? fault(text) : NULL;

    if (reason) {
        pay_form_fault(form, field, reason);
    }
    return text;
}

static void read_shop(pay_account_settings_t *out, pay_form_t *form)
{
    pay_form_t shop = *form;
    const char *reason;

    shop.body = pay_json_object(form->body, "shop", form->p);
    if (!shop.body) {
        if (pay_form_is_given(form, "shop")) {
            pay_form_fault(form, "shop", "must be an object");
        }
        return;
    }
    out->shop_name = read_text(&shop, "name", "shop/name", pay_shop_name_fault);
    out->shop_text = read_text(&shop, "text", "shop/text", pay_shop_text_fault);
    out->shop_logo = pay_form_string(&shop, "logo");
    reason = out->shop_logo ? pay_shop_logo_fault(out->shop_logo, form->p) : NULL;
    if (reason) {
        pay_form_fault(&shop, "shop/logo", reason);
    }
    form->problem = shop.problem;
}

static const pay_problem_t *read_settings(pay_account_settings_t *out, request_rec *r,
                                          const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *currency = pay_form_string(&form, "currency");
    char code[PAY_CURRENCY_LEN + 1];
    const pay_timezone_t *zone;

    memset(out, 0, sizeof(*out));
    out->timezone = pay_form_string(&form, "timezone");
    if (currency && pay_currency_normalize(code, currency) != APR_SUCCESS) {
        pay_form_fault(&form, "currency", "must be an ISO 4217 currency such as NGN");
    } else if (currency) {
        out->currency = apr_pstrdup(r->pool, code);
    }
    if (out->timezone && pay_zones_get(&zone, out->timezone, r->pool) != APR_SUCCESS) {
        pay_form_fault(&form, "timezone",
                       "must be an IANA time zone that the server knows, such as Africa/Lagos");
    }
    read_shop(out, &form);
    return form.problem;
}

int pay_dashboard_account_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    const char *name = dashboard->account->name;
    pay_account_settings_t settings;
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_service_t service;
    apr_status_t rv;

    problem = read_settings(&settings, r, dashboard);
    if (!problem) {
        problem = pay_dashboard_change(&service, r, dashboard, "account set", name, NULL);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_account_set(&account, service.store, name, &settings, NULL, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, "There is no such account any more.");
    }
    return reply_account(r, dashboard, account);
}

/* 409 with what is missing, each with how to mend it. */
static const pay_problem_t *judge_live(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *found;
    pay_problem_t *problem;
    apr_array_header_t *lacks;
    const lack_t *row;
    int i;

    found = find_lacks(&lacks, r, dashboard);
    if (found || is_ready(lacks)) {
        return found;
    }
    problem = pay_problem_makef(PAY_ERR_REFERENCE_REUSED, r->pool,
                                "The account cannot go live yet: something is missing.");
    problem->code = "G1";
    for (i = 0; i < lacks->nelts; i++) {
        row = &APR_ARRAY_IDX(lacks, i, const lack_t);
        if (row->essential) {
            pay_problem_add(&problem, "/mode", apr_pstrcat(r->pool, row->what, " ", row->how, NULL),
                            r->pool);
        }
    }
    return problem;
}

/* For Live Mode the account's name is typed, so that nobody goes there by mistake. */
static const pay_problem_t *read_mode(pay_mode_t *out, request_rec *r,
                                      const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const pay_json_t *confirm = pay_json_object(dashboard->body, PAY_DASHBOARD_CONFIRM, r->pool);
    const char *typed = confirm ? pay_json_string(confirm, "account") : NULL;
    const char *text = pay_form_string(&form, "mode");

    *out = PAY_TEST;
    if (!text || pay_mode_parse(out, text) != APR_SUCCESS) {
        pay_form_fault(&form, "mode", "must be test or live");
    } else if (*out == PAY_LIVE && (!typed || strcmp(typed, dashboard->account->name) != 0)) {
        pay_form_fault(&form, PAY_DASHBOARD_CONFIRM "/account",
                       "must be the account's name: real money will move");
    }
    if (form.problem || *out == PAY_TEST) {
        return form.problem;
    }
    return judge_live(r, dashboard);
}

int pay_dashboard_mode_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    const char *name = dashboard->account->name;
    const pay_account_settings_t unchanged = {.key_prefix = NULL};
    const pay_dashboard_ask_t ask = {
        apr_pstrcat(r->pool, "switch ", name, " to Live Mode, where real money moves", NULL),
        apr_pstrcat(r->pool, "account mode ", name, " live", NULL),
    };
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_service_t service;
    pay_mode_t mode;
    apr_status_t rv;

    problem = read_mode(&mode, r, dashboard);
    if (!problem) {
        problem = pay_dashboard_change_confirmed(
            &service, r, dashboard, "account mode", name,
            apr_pstrcat(r->pool, pay_mode_name(dashboard->account->mode), " -> ",
                        pay_mode_name(mode), NULL),
            mode == PAY_LIVE ? &ask : NULL);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    rv = pay_store_account_set(&account, service.store, name, &unchanged, &mode, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, "There is no such account any more.");
    }
    return reply_account(r, dashboard, account);
}
