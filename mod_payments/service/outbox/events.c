/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/events.h"

#include "service/change.h"

#include <string.h>

static const pay_problem_t *problem_of(apr_status_t rv, apr_pool_t *p)
{
    switch (rv) {
    case APR_SUCCESS:
        return NULL;
    case APR_NOTFOUND:
        return pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, p,
                                 "This notification no longer exists: it was delivered or "
                                 "dropped.");
    case APR_EBUSY:
        return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                                 "An earlier notification of the transaction goes first: retry or "
                                 "drop that one.");
    default:
        return pay_problem_of_store(rv, p);
    }
}

const pay_problem_t *pay_event_find(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, const char *id, apr_pool_t *p)
{
    pay_event_t place;
    apr_status_t rv;

    *out = NULL;
    rv = pay_event_id_parse(&place, id);
    if (rv != APR_SUCCESS) {
        return problem_of(APR_NOTFOUND, p);
    }
    rv = pay_store_event_get(out, service->store, scope, &place, p);
    if (rv == APR_SUCCESS && strcmp(pay_event_id(*out, p), id) != 0) {
        *out = NULL; /* of another store, or of an earlier one */
        rv = APR_NOTFOUND;
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_event_retry(pay_event_t **out, const pay_service_t *service,
                                     const pay_event_t *event, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_EVENT_RETRY, &event->scope,
                             pay_event_id(event, p), "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_event_retry(out, store, &event->scope, event, p);
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_event_drop(pay_event_t **out, const pay_service_t *service,
                                    const pay_event_t *event, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_EVENT_DROP, &event->scope,
                             pay_event_id(event, p), "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_event_drop(out, store, &event->scope, event, p);
    }
    return problem_of(rv, p);
}

const pay_problem_t *pay_event_test(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                    apr_pool_t *p)
{
    const int is_webhook = kind == PAY_ENDPOINT_WEBHOOK;
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service,
                             is_webhook ? PAY_CHANGE_WEBHOOK_TEST : PAY_CHANGE_MAIL_TEST, scope,
                             is_webhook ? "webhook" : "mail", "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_event_test(out, store, scope, kind, p);
    }
    if (rv == APR_NOTFOUND) {
        return pay_problem_makef(
            PAY_ERR_REFERENCE_REUSED, p,
            is_webhook ? "There is no webhook yet, or it is off: set its URL first."
                       : "Nobody gets notices yet: set the merchant's address first.");
    }
    return problem_of(rv, p);
}
