/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/reply.h"
#include "service/account/keys.h"

#include <apr_strings.h>

#define NO_KEY "There is no such key."
#define SIZE_HINT 4096

static const char *state_of(const pay_api_key_t *key)
{
    if (!pay_api_key_is_valid(key, pay_time_now())) {
        return "revoked";
    }
    return key->valid_until ? "ending" : "valid";
}

static void key_to_json(pay_writer_t *w, const char *name, const pay_api_key_t *key)
{
    pay_writer_object_open(w, name);
    pay_writer_string(w, "id", key->id);
    pay_writer_string(w, "kind", pay_key_kind_name(key->kind));
    pay_writer_string(w, "mode", pay_mode_name(key->scope.mode));
    pay_writer_time(w, "createdAt", key->created_at);
    pay_writer_time(w, "lastUsedAt", key->last_used_at);
    pay_writer_time(w, "endsAt", key->revoked_at ? 0 : key->valid_until);
    pay_writer_time(w, "revokedAt", key->revoked_at);
    pay_writer_string(w, "state", state_of(key));
    pay_writer_object_close(w);
}

int pay_dashboard_keys_list(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_writer_t *w = pay_writer_make(SIZE_HINT, r->pool);
    pay_store_t *store = dashboard->service->store;
    apr_array_header_t *keys;
    apr_status_t rv;
    int i;

    rv = pay_store_key_list(&keys, store, dashboard->account->name, r->pool);
    if (rv != APR_SUCCESS) {
        return pay_dashboard_failed(r, dashboard, rv, NO_KEY);
    }
    pay_dashboard_items_open(w);
    for (i = keys->nelts - 1; i >= 0; i--) {
        key_to_json(w, NULL, APR_ARRAY_IDX(keys, i, const pay_api_key_t *));
    }
    return pay_dashboard_items(r, w, NULL);
}

/* Only a holder of one can move money; NULL: it is of another kind. */
static const pay_dashboard_ask_t *ask_live_secret(const pay_dashboard_t *dashboard, pay_mode_t mode,
                                                  pay_key_kind_t kind, apr_pool_t *p)
{
    pay_dashboard_ask_t *ask = apr_palloc(p, sizeof(*ask));
    const char *name = dashboard->account->name;

    if (mode != PAY_LIVE || kind != PAY_KEY_SECRET) {
        return NULL;
    }
    ask->change = apr_pstrcat(p, "create a live secret key of ", name, NULL);
    ask->command = apr_pstrcat(p, "key create ", name, " --mode live --kind secret", NULL);
    return ask;
}

int pay_dashboard_key_create(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const char *kind_name = pay_form_string(&form, "kind");
    const char *mode_name = pay_form_string(&form, "mode");
    const pay_problem_t *problem;
    pay_key_kind_t kind = PAY_KEY_SECRET;
    pay_mode_t mode = PAY_TEST;
    pay_api_key_t *key;
    const char *text;
    pay_writer_t *w;

    if (!kind_name || pay_key_kind_parse(&kind, kind_name) != APR_SUCCESS) {
        pay_form_fault(&form, "kind", "must be secret or public");
    }
    if (!mode_name || pay_mode_parse(&mode, mode_name) != APR_SUCCESS) {
        pay_form_fault(&form, "mode", "must be test or live");
    }
    problem = form.problem;
    if (!problem) {
        problem =
            pay_dashboard_confirm(r, dashboard, ask_live_secret(dashboard, mode, kind, r->pool));
    }
    if (!problem) {
        problem =
            pay_key_issue(&key, &text, dashboard->service, dashboard->account, mode, kind, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    key_to_json(w, "key", key);
    pay_writer_string(w, "secret", text);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_key_rotate(request_rec *r, const pay_dashboard_t *dashboard)
{
    pay_form_t form = pay_dashboard_form(r, dashboard);
    const pay_problem_t *problem;
    apr_interval_time_t overlap;
    pay_api_key_t *old, *key;
    const char *text;
    pay_writer_t *w;

    problem =
        pay_key_find(&old, dashboard->service, dashboard->account, dashboard->segment[0], r->pool);
    if (!problem) {
        pay_dashboard_overlap(&overlap, &form, "overlap", 0);
        problem = form.problem;
    }
    if (!problem) {
        problem = pay_dashboard_confirm(
            r, dashboard, ask_live_secret(dashboard, old->scope.mode, old->kind, r->pool));
    }
    if (!problem) {
        problem = pay_key_rotate(&key, &old, &text, dashboard->service, dashboard->account, old->id,
                                 overlap, r->pool);
    }
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    key_to_json(w, "old", old);
    key_to_json(w, "key", key);
    pay_writer_string(w, "secret", text);
    return pay_dashboard_answer(r, w);
}

int pay_dashboard_key_revoke(request_rec *r, const pay_dashboard_t *dashboard)
{
    const pay_problem_t *problem;
    pay_api_key_t *key;
    pay_writer_t *w;

    problem = pay_key_revoke(&key, dashboard->service, dashboard->account, dashboard->segment[0],
                             r->pool);
    if (problem) {
        return pay_dashboard_problem(r, dashboard, problem);
    }
    w = pay_dashboard_answer_open(r);
    key_to_json(w, "key", key);
    return pay_dashboard_answer(r, w);
}
