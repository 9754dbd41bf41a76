/* SPDX-License-Identifier: Apache-2.0 */
#include "service/charge/charge_rules.h"

#include "base/log.h"

#include <apr_cstr.h>
#include <string.h>

static const pay_card_t card_unknown = {.issuer = "", .country = "", .type = ""};

/* The data to judge one charge request. */
typedef struct rules_t {
    const pay_service_t *service;
    const pay_caller_t *caller;
    const pay_charge_request_t *request;
    const pay_charge_look_t *look;
    apr_pool_t *pool;
} rules_t;

int pay_charge_currency_is_allowed(const pay_service_t *service, const char *currency)
{
    const pay_policy_t *policy = &service->policy;
    int i;

    if (!policy->currencies) {
        return 1;
    }
    for (i = 0; i < policy->currencies->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(policy->currencies, i, const char *), currency)) {
            return 1;
        }
    }
    return 0;
}

static void judge_test_token(pay_problem_t **faults, const pay_card_t **card, const rules_t *c)
{
    pay_test_behaviour_t behaviour;

    if (c->caller->scope.mode != PAY_TEST) {
        pay_problem_add(faults, "/token", "is a test token and cannot be charged with a live key",
                        c->pool);
        return;
    }
    if (!pay_test_token_find(card, &behaviour, c->request->token)) {
        pay_problem_add(faults, "/token",
                        "begins like a test token, but there is no test token of this name",
                        c->pool);
    }
}

/*
 * In Live Mode a token that is not in the store may be the acquirer's own: the acquirer judges it.
 */
static int may_pass_token(const rules_t *c)
{
    const pay_mode_t mode = c->caller->scope.mode;

    return mode == PAY_LIVE && pay_acquirer_keeps_tokens(c->service->acquirer[mode]);
}

static apr_status_t judge_stored_token(pay_problem_t **faults, const pay_card_t **card,
                                       const rules_t *c)
{
    const pay_token_t *token = c->look->token;
    const apr_status_t rv = c->look->token_status;

    if (rv == APR_NOTFOUND) {
        if (may_pass_token(c)) {
            *card = &card_unknown;
        } else {
            pay_problem_add(faults, "/token", "is not known in this mode", c->pool);
        }
        return APR_SUCCESS;
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (token->revoked_at) {
        pay_problem_add(faults, "/token", "was revoked", c->pool);
        return APR_SUCCESS;
    }
    if (apr_cstr_casecmp(token->email, c->request->email) != 0) {
        pay_problem_add(faults, "/email", "must be the address for which the token was issued",
                        c->pool);
    }
    *card = &token->card;
    return APR_SUCCESS;
}

const char *pay_charge_stored_token(const pay_charge_request_t *request)
{
    return pay_test_token_is_reserved(request->token) ? NULL : request->token;
}

const pay_problem_t *pay_charge_judge(const pay_card_t **card, const pay_service_t *service,
                                      const pay_caller_t *caller,
                                      const pay_charge_request_t *request,
                                      const pay_charge_look_t *look, apr_pool_t *p)
{
    const rules_t c = {service, caller, request, look, p};
    const pay_problem_t *refusal;
    pay_problem_t *faults = NULL;
    apr_status_t rv = APR_SUCCESS;

    *card = NULL;
    refusal = pay_service_judge_mode(service, caller->account, caller->scope.mode, p);
    if (refusal) {
        return refusal;
    }
    if (!pay_charge_stored_token(request)) {
        judge_test_token(&faults, card, &c);
    } else {
        rv = judge_stored_token(&faults, card, &c);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (!pay_charge_currency_is_allowed(service, request->money.currency)) {
        pay_problem_add(&faults, "/currency", "is not accepted here", p);
    }
    return faults;
}

apr_status_t pay_charge_acquirer_name(const char **out, const pay_account_t *account,
                                      pay_mode_t mode, const char *reference, apr_pool_t *p)
{
    apr_status_t rv;

    *out = "";
    if (mode != PAY_LIVE) {
        return APR_SUCCESS;
    }
    rv = pay_account_reference(out, account, mode, reference, p);
    if (rv == APR_EINVAL) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00204) "account %s was created by an earlier version, without a secret "
                                "for its references: paymentsctl account mode %s live creates one",
                account->name, account->name);
    }
    return rv;
}
