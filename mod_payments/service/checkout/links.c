/* SPDX-License-Identifier: Apache-2.0 */
#include "service/checkout/links.h"

#include "base/text/id.h"
#include "base/text/time.h"
#include "service/change.h"

#include <apr_strings.h>
#include <string.h>

#define REFERENCE_PREFIX "lnk_"

static const pay_problem_t *problem_of(apr_status_t rv, const char *reference, apr_pool_t *p)
{
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    return rv == APR_NOTFOUND ? pay_problem_of_reference(reference, p)
                              : pay_problem_of_store(rv, p);
}

const pay_problem_t *pay_link_make(const pay_link_t **out, const pay_service_t *service,
                                   const pay_account_t *account, pay_mode_t mode,
                                   const pay_link_form_t *form, apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_link_t *proposal, *link;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    problem = pay_link_read(&proposal, form, account->settings.currency, pay_time_now(), p);
    if (problem) {
        return problem;
    }
    proposal->scope.account = account->number;
    proposal->scope.mode = mode;
    rv = pay_id_make(&proposal->page_id, "", PAY_PAGE_ID_BITS, p);
    if (rv == APR_SUCCESS && !*proposal->reference) {
        rv = pay_id_make(&proposal->reference, REFERENCE_PREFIX, PAY_ID_BITS, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_LINK_CREATE, &proposal->scope,
                             proposal->reference, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_link_create(&link, store, proposal, p);
    }
    if (rv == APR_EEXIST) {
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "There already is a payment link with this reference.");
    }
    if (rv != APR_SUCCESS) {
        return problem_of(rv, proposal->reference, p);
    }
    *out = link;
    return NULL;
}

const pay_problem_t *pay_link_find(const pay_link_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const char *reference, apr_pool_t *p)
{
    pay_link_t *link;
    apr_status_t rv;

    rv = pay_store_link_get(&link, store, scope, reference, p);
    *out = link;
    return problem_of(rv, reference, p);
}

const pay_problem_t *pay_link_disable(const pay_link_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *reference,
                                      apr_pool_t *p)
{
    pay_link_t *link = NULL;
    pay_store_t *store;
    apr_status_t rv;
    int changed;

    rv = pay_change_begin_in(&store, service, PAY_CHANGE_LINK_DISABLE, scope, reference, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_link_disable(&link, &changed, store, scope, reference, p);
    }
    *out = link;
    return problem_of(rv, reference, p);
}

/* ---- the rules of a link for a checkout */

static const char *either(const char *one, const char *other)
{
    return *one ? one : other;
}

const pay_problem_t *pay_link_apply(const pay_checkout_request_t **out, pay_store_t *store,
                                    const pay_scope_t *scope, const pay_checkout_request_t *request,
                                    apr_pool_t *p)
{
    pay_checkout_request_t *applied = apr_pmemdup(p, request, sizeof(*request));
    const pay_problem_t *problem;
    pay_problem_t *faults = NULL;
    const pay_link_t *link;

    *out = NULL;
    problem = pay_link_find(&link, store, scope, request->link, p);
    if (problem) {
        return problem;
    }
    if (request->currency_defaulted
        && pay_checkout_request_rebase(&applied, request, link->money.currency, p) != APR_SUCCESS) {
        pay_problem_add(&faults, "/amount", "must be an amount in the payment link's currency", p);
        return faults;
    }
    *out = applied;
    if (strcmp(applied->money.currency, link->money.currency) != 0) {
        pay_problem_add(&faults, "/currency", "must be the payment link's currency", p);
    } else if (link->money.amount_minor > 0
               && applied->money.amount_minor != link->money.amount_minor) {
        pay_problem_add(&faults, "/amount", "must be the payment link's amount", p);
    }
    applied->redirect_url = either(request->redirect_url, link->redirect_url);
    applied->title = either(request->title, link->title);
    applied->description = either(request->description, link->description);
    return faults;
}

const pay_problem_t *pay_problem_of_link(pay_claim_t claim, const char *reference, apr_pool_t *p)
{
    const char *message;

    switch (claim) {
    case PAY_CLAIM_LINK_BUSY:
        message = "The payment link is being paid by another payer. Try again later.";
        break;
    case PAY_CLAIM_LINK_USED:
        message = "The payment link was paid already. Ask the shop for another one.";
        break;
    case PAY_CLAIM_LINK_EXPIRED:
        message = "The payment link has expired. Ask the shop for another one.";
        break;
    case PAY_CLAIM_LINK_DISABLED:
        message = "The payment link is disabled. Ask the shop for another one.";
        break;
    default:
        return pay_problem_of_reference(reference, p);
    }
    return pay_problem_makef(PAY_ERR_NOT_VOIDABLE, p, "%s", message);
}
