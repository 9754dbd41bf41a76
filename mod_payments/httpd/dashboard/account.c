/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/conf.h"
#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/reply.h"
#include "service/account/accounts.h"

#include <apr_strings.h>
#include <string.h>

static const pay_problem_t *find_lacks(apr_array_header_t **out, request_rec *r,
                                       const pay_dashboard_t *dashboard)
{
    return pay_account_lacks(out, dashboard->service, dashboard->account,
                             pay_conf_get(r->server)->require_tls, r->pool);
}

static void lacks_to_json(pay_writer_t *w, const apr_array_header_t *lacks)
{
    const pay_account_lack_t *row;
    int i;

    pay_writer_object_open(w, "live");
    pay_writer_bool(w, "ready", !pay_account_judge_lacks(lacks, w->pool));
    pay_writer_array_open(w, "missing");
    for (i = 0; i < lacks->nelts; i++) {
        row = &APR_ARRAY_IDX(lacks, i, const pay_account_lack_t);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "what", row->what);
        pay_writer_string(w, "how", row->how);
        pay_writer_bool(w, "essential", row->is_essential);
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

/* Values that are not given stay as they are. */
static const pay_problem_t *read_settings(pay_account_settings_t *out, request_rec *r,
                                          const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    pay_form_t shop = form;

    memset(out, 0, sizeof(*out));
    out->currency = pay_form_string(&form, "currency");
    out->timezone = pay_form_string(&form, "timezone");
    shop.body = pay_json_object(form.body, "shop", form.p);
    if (shop.body) {
        shop.within = "shop/";
        shop.problem = form.problem;
        out->shop_name = pay_form_string(&shop, "name");
        out->shop_logo = pay_form_string(&shop, "logo");
        out->shop_text = pay_form_string(&shop, "text");
        form.problem = shop.problem;
    } else if (pay_form_is_given(&form, "shop")) {
        pay_form_fault(&form, "shop", "must be an object");
    }
    pay_account_settings_judge(out, &form.problem, r->pool);
    return form.problem;
}

int pay_dashboard_account_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_account_settings_t settings;
    const pay_problem_t *problem;
    pay_account_t *account;

    problem = read_settings(&settings, r, dashboard);
    if (!problem) {
        problem = pay_account_change(&account, dashboard->service, dashboard->account, &settings,
                                     r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem)
                   : reply_account(r, dashboard, account);
}

/* For Live Mode the account's name is typed, so that nobody goes there by mistake. */
static const pay_problem_t *read_mode(pay_mode_t *out, request_rec *r,
                                      const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const pay_json_t *confirm = pay_json_object(dashboard->body, PAY_DASHBOARD_CONFIRM, r->pool);
    const char *typed = confirm ? pay_json_string(confirm, "account") : NULL;
    const char *text = pay_form_string(&form, "mode");
    const pay_problem_t *problem;
    apr_array_header_t *lacks;

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
    problem = find_lacks(&lacks, r, dashboard);
    return problem ? problem : pay_account_judge_lacks(lacks, r->pool);
}

int pay_dashboard_mode_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    const char *name = dashboard->account->name;
    const pay_dashboard_ask_t ask = {
        apr_pstrcat(r->pool, "switch ", name, " to Live Mode, where real money moves", NULL),
        apr_pstrcat(r->pool, "account mode ", name, " live", NULL),
    };
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_mode_t mode;

    problem = read_mode(&mode, r, dashboard);
    if (!problem) {
        problem = pay_dashboard_confirm(r, dashboard, mode == PAY_LIVE ? &ask : NULL);
    }
    if (!problem) {
        problem =
            pay_account_switch(&account, dashboard->service, dashboard->account, mode, r->pool);
    }
    return problem ? pay_dashboard_problem(r, dashboard, problem)
                   : reply_account(r, dashboard, account);
}
