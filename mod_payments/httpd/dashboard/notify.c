/* SPDX-License-Identifier: Apache-2.0 */

/* The destinations of notifications, and undelivered ones. */

#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/events.h"
#include "httpd/dashboard/reply.h"
#include "service/account/endpoints.h"
#include "service/outbox/events.h"

#include <apr_strings.h>

/* ---- one notification */

int pay_dashboard_event_retry(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_event_t *event, *moved;
    pay_writer_t *w;

    problem = pay_event_find(&event, dashboard->service, &dashboard->scope, dashboard->segment[0],
                             r->pool);
    if (!problem) {
        problem = pay_event_retry(&moved, dashboard->service, event, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    moved->charge = event->charge;
    moved->refund = event->refund;
    moved->parked = event->parked;
    w = pay_dashboard_answer_open(r);
    pay_writer_object_open(w, "event");
    pay_dashboard_event_members(w, moved);
    pay_writer_object_close(w);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_event_drop(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_event_t *event, *gone;
    pay_writer_t *w;

    problem = pay_event_find(&event, dashboard->service, &dashboard->scope, dashboard->segment[0],
                             r->pool);
    if (!problem) {
        problem = pay_event_drop(&gone, dashboard->service, event, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    pay_writer_bool(w, "dropped", 1);
    return pay_dashboard_answer(r, w);
}

/* ---- the webhook */

/* `endpoint` NULL: it was never set. */
static void webhook_members(pay_writer_t *w, const pay_endpoint_t *endpoint)
{
    static const pay_endpoint_t none = {.error = "", .secret = ""};
    const pay_endpoint_t *shown = endpoint ? endpoint : &none;

    pay_writer_string(w, "url", endpoint ? endpoint->address : NULL);
    pay_writer_bool(w, "secretSet", *shown->secret != '\0');
    pay_writer_time(w, "oldSecretUntil", shown->old_secret_until);
    pay_dashboard_endpoint_members(w, shown);
}

int pay_dashboard_webhook_get(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_endpoint_t *endpoint;
    const pay_problem_t *problem;
    pay_writer_t *w;

    problem = pay_endpoint_find(&endpoint, dashboard->service, &dashboard->scope,
                                PAY_ENDPOINT_WEBHOOK, r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    webhook_members(w, endpoint);
    return pay_dashboard_answer(r, w);
}

static int reply_webhook(request_rec *r, const pay_endpoint_t *endpoint, const char *secret)
{
    pay_writer_t *w = pay_dashboard_answer_open(r);

    pay_writer_object_open(w, "webhook");
    webhook_members(w, endpoint);
    pay_writer_object_close(w);
    if (secret) {
        pay_writer_string(w, "secret", secret);
    }
    return pay_dashboard_answer(r, w);
}

/* NULL: it is switched off, which sends nothing anywhere. */
static const pay_dashboard_ask_t *ask_url(const pay_dashboard_t *dashboard, const char *url,
                                          apr_pool_t *p)
{
    pay_dashboard_ask_t *ask = apr_palloc(p, sizeof(*ask));
    const char *name = dashboard->account->name;
    const char *mode = pay_mode_name(dashboard->scope.mode);

    if (!url) {
        return NULL;
    }
    ask->change = apr_pstrcat(p, "send the ", mode, " webhooks of ", name, " to ", url, NULL);
    ask->command = apr_pstrcat(p, "webhook set ", name, " URL --mode ", mode, NULL);
    return ask;
}

int pay_dashboard_webhook_set(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *url = pay_form_string(&form, "url");
    const char *wanted = url && *url ? url : NULL;
    pay_endpoint_t *endpoint = NULL;
    const pay_problem_t *problem;
    const char *secret;

    if (pay_json_type(dashboard->body, "url") == PAY_JSON_ABSENT) {
        pay_form_fault(&form, "url", "must be given: null switches the webhook off");
    }
    problem = form.problem;
    if (!problem && wanted) {
        problem = pay_webhook_url(&wanted, wanted, dashboard->scope.mode, r->pool);
    }
    if (!problem) {
        problem = pay_dashboard_confirm(r, dashboard, ask_url(dashboard, wanted, r->pool));
    }
    if (!problem) {
        problem = pay_webhook_set(&endpoint, &secret, dashboard->service, &dashboard->scope, wanted,
                                  r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    return reply_webhook(r, endpoint, secret);
}

int pay_dashboard_webhook_renew(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    pay_endpoint_t *endpoint = NULL;
    apr_interval_time_t overlap;
    const char *name = dashboard->account->name;
    const char *mode = pay_mode_name(dashboard->scope.mode);
    const pay_dashboard_ask_t ask = {
        apr_pstrcat(r->pool, "create a new secret of the ", mode, " webhooks of ", name, NULL),
        apr_pstrcat(r->pool, "webhook secret rotate ", name, " --mode ", mode, NULL),
    };
    const pay_problem_t *problem;
    const char *secret;

    pay_dashboard_overlap(&overlap, &form, "overlap", PAY_WEBHOOK_OVERLAP_DEFAULT);
    problem = form.problem;
    if (!problem) {
        problem = pay_dashboard_confirm(r, dashboard, &ask);
    }
    if (!problem) {
        problem = pay_webhook_renew(&endpoint, &secret, dashboard->service, &dashboard->scope,
                                    overlap, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    return reply_webhook(r, endpoint, secret);
}

int pay_dashboard_webhook_test(request_rec *r, const pay_dashboard_t *dashboard)
{
    return pay_dashboard_send_test(r, dashboard, PAY_ENDPOINT_WEBHOOK);
}
