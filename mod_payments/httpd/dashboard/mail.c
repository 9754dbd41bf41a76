/* SPDX-License-Identifier: Apache-2.0 */

/* E-mails to payers and to the merchant, which are set for both modes at once. */

#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/events.h"
#include "httpd/dashboard/reply.h"
#include "service/account/endpoints.h"

#include <apr_strings.h>
#include <string.h>

static const pay_endpoint_kind_t kinds[] = {PAY_ENDPOINT_NOTICE, PAY_ENDPOINT_RECEIPT};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

typedef struct mail_t {
    pay_endpoint_t *endpoint[KINDS][PAY_MODE_COUNT]; /* NULL: never set */
    pay_delivery_t *delivery;                        /* NULL: no server has stored it yet */
} mail_t;

static const pay_problem_t *read_mail(mail_t *out, const pay_dashboard_t *dashboard, apr_pool_t *p)
{
    pay_store_t *store = dashboard->service->store;
    pay_scope_t scope = dashboard->scope;
    const pay_problem_t *problem;
    apr_status_t rv;
    int kind, mode;

    for (kind = 0; kind < KINDS; kind++) {
        for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
            scope.mode = (pay_mode_t)mode;
            problem = pay_endpoint_find(&out->endpoint[kind][mode], dashboard->service, &scope,
                                        kinds[kind], p);
            if (problem) {
                return problem;
            }
        }
    }
    rv = pay_store_delivery_get(&out->delivery, store, p);
    if (rv == APR_NOTFOUND) {
        out->delivery = NULL;
        rv = APR_SUCCESS;
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

static void deliveries_to_json(pay_writer_t *w, const mail_t *mail)
{
    int kind, mode;

    pay_writer_array_open(w, "deliveries");
    for (kind = 0; kind < KINDS; kind++) {
        for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
            if (mail->endpoint[kind][mode]) {
                pay_writer_object_open(w, NULL);
                pay_writer_string(w, "kind", pay_endpoint_kind_name(kinds[kind]));
                pay_writer_string(w, "mode", pay_mode_name((pay_mode_t)mode));
                pay_dashboard_endpoint_members(w, mail->endpoint[kind][mode]);
                pay_writer_object_close(w);
            }
        }
    }
    pay_writer_array_close(w);
}

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

int pay_dashboard_mail_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_endpoint_t *notice, *receipt;
    const pay_problem_t *problem;
    mail_t mail = {.delivery = NULL};
    pay_writer_t *w;

    problem = read_mail(&mail, dashboard, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    notice = mail.endpoint[0][PAY_TEST];
    receipt = mail.endpoint[1][PAY_TEST];
    w = pay_dashboard_answer_open(r);
    pay_writer_string(w, "merchantAddress", notice && notice->enabled ? notice->address : NULL);
    pay_writer_bool(w, "receipts", receipt && receipt->enabled);
    pay_writer_words(w, "testRecipients", receipt ? receipt->recipients : "");
    pay_writer_string(w, "relay", mail.delivery ? text_or_null(mail.delivery->mail_relay) : NULL);
    pay_writer_string(w, "sender", mail.delivery ? text_or_null(mail.delivery->mail_from) : NULL);
    deliveries_to_json(w, &mail);
    return pay_dashboard_answer(r, w);
}

/*
 * Notices name payers, and codes that confirm changes are sent there. *out is NULL if the address
 * stays, or if nobody gets them.
 */
static const pay_problem_t *ask_address(const pay_dashboard_ask_t **out,
                                        const pay_dashboard_t *dashboard, const char *address,
                                        apr_pool_t *p)
{
    pay_dashboard_ask_t *ask = apr_palloc(p, sizeof(*ask));
    const char *name = dashboard->account->name;
    const pay_problem_t *problem;
    pay_endpoint_t *notice;

    *out = NULL;
    if (!address) {
        return NULL;
    }
    problem =
        pay_endpoint_find(&notice, dashboard->service, &dashboard->scope, PAY_ENDPOINT_NOTICE, p);
    if (problem || (notice && notice->enabled && !strcmp(notice->address, address))) {
        return problem;
    }
    ask->change = apr_pstrcat(p, "send the notices of ", name, " to ", address, NULL);
    ask->command = apr_pstrcat(p, "mail set ", name, " --merchant-address ADDRESS", NULL);
    *out = ask;
    return NULL;
}

/* Values that are not given stay as they are; merchantAddress null switches notices off. */
int pay_dashboard_mail_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *text = pay_form_string(&form, "merchantAddress");
    pay_mail_settings_t settings = {.notices = -1, .address = text && *text ? text : NULL};
    const pay_dashboard_ask_t *ask;
    const pay_problem_t *problem;

    pay_mail_settings_judge(&settings, &form.problem, r->pool);
    if (pay_json_type(dashboard->body, "merchantAddress") != PAY_JSON_ABSENT) {
        settings.notices = settings.address != NULL;
    }
    settings.receipts = pay_form_bool(&form, "receipts");
    problem = form.problem;
    if (!problem) {
        problem = ask_address(&ask, dashboard, settings.address, r->pool);
    }
    if (!problem) {
        problem = pay_dashboard_confirm(r, dashboard, ask);
    }
    if (!problem) {
        problem = pay_mail_set(dashboard->service, dashboard->account->number, &settings, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    return pay_dashboard_mail_get(r, dashboard);
}

int pay_dashboard_mail_test(request_rec *r, const pay_dashboard_t *dashboard)
{
    return pay_dashboard_send_test(r, dashboard, PAY_ENDPOINT_NOTICE);
}
