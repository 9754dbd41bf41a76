/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/time.h"
#include "service/reconcile/parts.h"

#include <string.h>

#define LEASE apr_time_from_sec(60)

#define ANY_ACCOUNT 0
#define NO_ACCOUNT 0xffffffffu

apr_status_t pay_reconcile_accounts(apr_uint32_t **out, pay_store_t *store,
                                    const apr_array_header_t *services, apr_pool_t *p)
{
    const pay_service_t *service;
    pay_account_t *account;
    apr_status_t rv;
    int i;

    *out = apr_pcalloc(p, sizeof(**out) * ((apr_size_t)services->nelts + 1));
    for (i = 0; i < services->nelts; i++) {
        service = APR_ARRAY_IDX(services, i, const pay_service_t *);
        if (!service->account_name) {
            (*out)[i] = ANY_ACCOUNT;
            continue;
        }
        rv = pay_store_account_get(&account, store, service->account_name, p);
        if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
            return rv; /* an unknown account does not mean a missing acquirer */
        }
        (*out)[i] = rv == APR_SUCCESS ? account->number : NO_ACCOUNT;
    }
    return APR_SUCCESS;
}

/* Live acquirers belong to one account; Test Mode's may be queried by any service that has them. */
static const pay_acquirer_t *acquirer_of(const pay_service_t *service, apr_uint32_t account,
                                         const pay_scope_t *scope, const char *name)
{
    if (scope->mode == PAY_LIVE && account != scope->account) {
        return NULL;
    }
    return pay_acquiring_find(service, scope->mode, name);
}

void pay_reconcile_place(pay_reconcile_row_t *row, const apr_array_header_t *services,
                         const apr_uint32_t *accounts, apr_time_t lease_end)
{
    const pay_scope_t *scope = row->refund ? &row->refund->scope : &row->charge->scope;
    const char *name = row->refund ? row->refund->acquirer : row->charge->acquirer;
    const pay_acquirer_t *acquirer;
    const pay_service_t *service;
    int i;

    row->service = NULL;
    row->acquirer = NULL;
    row->begin_before = lease_end;
    for (i = 0; i < services->nelts; i++) {
        service = APR_ARRAY_IDX(services, i, const pay_service_t *);
        acquirer = acquirer_of(service, accounts[i], scope, name);
        if (acquirer) {
            row->service = service;
            row->acquirer = acquirer;
            row->begin_before -= acquirer->timeout;
            return;
        }
    }
}

static apr_interval_time_t longer(apr_interval_time_t lease, const pay_acquirer_t *acquirer)
{
    return acquirer && 2 * acquirer->timeout > lease ? 2 * acquirer->timeout : lease;
}

apr_interval_time_t pay_reconcile_lease(const apr_array_header_t *services)
{
    apr_interval_time_t lease = LEASE;
    const pay_service_t *service;
    int i, k;

    for (i = 0; i < services->nelts; i++) {
        service = APR_ARRAY_IDX(services, i, const pay_service_t *);
        lease = longer(lease, service->acquirer[PAY_TEST]);
        for (k = 0; service->acquirers && k < service->acquirers->nelts; k++) {
            lease = longer(lease, APR_ARRAY_IDX(service->acquirers, k, const pay_acquirer_t *));
        }
    }
    return lease;
}

int pay_reconcile_in_order(const pay_acquirer_t *acquirer)
{
    return !acquirer || !acquirer->breaker
           || (pay_breaker_state(acquirer->breaker) == PAY_BREAKER_CLOSED
               && !pay_breaker_is_faulty(acquirer->breaker));
}

int pay_reconcile_is_put_back(const pay_reconcile_row_t *row)
{
    pay_epoch_t epoch;
    apr_status_t rv;

    rv = pay_store_epoch_find(&epoch, row->store);
    return rv != APR_SUCCESS || epoch.held;
}

int pay_reconcile_is_off(const pay_reconcile_row_t *row, pay_mode_t mode)
{
    pay_account_t *account;
    apr_status_t rv;

    if (mode == PAY_TEST) {
        return 0;
    }
    rv = pay_store_account_get(&account, row->store, row->service->account_name, row->pool);
    return rv != APR_SUCCESS || account->mode != PAY_LIVE;
}

int pay_reconcile_row(const pay_reconcile_row_t *row)
{
    if (row->refund && row->refund->state == PAY_REFUND_FAILED) {
        return pay_reconcile_refund_late(row);
    }
    if (row->refund) {
        return row->refund->waiting ? pay_reconcile_refund_send(row) : pay_reconcile_refund(row);
    }
    if (row->charge->state == PAY_CHARGE_FAILED) {
        return pay_reconcile_charge_late(row);
    }
    if (pay_reconcile_is_checkout(row->charge)) {
        return pay_reconcile_checkout(row);
    }
    return pay_reconcile_charge(row);
}

/* The result of a step for an acquirer. */
typedef struct asked_t {
    const pay_acquirer_t *acquirer;
    pay_reconcile_answer_t answer; /* the last one */
} asked_t;

static asked_t *asked_of(apr_array_header_t *asked, const pay_acquirer_t *acquirer)
{
    asked_t *one;
    int i;

    for (i = 0; i < asked->nelts; i++) {
        if (APR_ARRAY_IDX(asked, i, asked_t).acquirer == acquirer) {
            return &APR_ARRAY_IDX(asked, i, asked_t);
        }
    }
    one = apr_array_push(asked);
    one->acquirer = acquirer;
    one->answer = (pay_reconcile_answer_t){0, 0};
    return one;
}

/* After its lease another process may query a row: it counts by itself. An acquirer that is out of
 * order is queried again only after it answered, and one that asked us to wait in another step. */
static int may_begin(const pay_reconcile_row_t *row)
{
    return pay_time_now() < row->begin_before && row->answer->patience == 0
           && (row->answer->answered >= 0 || pay_reconcile_in_order(row->acquirer));
}

apr_status_t pay_reconcile_step(int *settled, pay_store_t *store,
                                const apr_array_header_t *services, apr_pool_t *p)
{
    apr_array_header_t *asked = apr_array_make(p, PAY_RECONCILE_BATCH_MAX, sizeof(asked_t));
    const apr_interval_time_t lease = pay_reconcile_lease(services);
    const apr_time_t now = pay_time_now();
    pay_reconcile_row_t row = {.store = store, .pool = p};
    apr_array_header_t *rows = NULL;
    apr_uint32_t *accounts;
    apr_status_t rv;
    int i;

    *settled = 0;
    rv = pay_store_due_take(&rows, store, now, lease, PAY_RECONCILE_BATCH_MAX, p);
    if (rv != APR_SUCCESS || rows->nelts == 0) {
        return rv;
    }
    rv = pay_reconcile_accounts(&accounts, store, services, p);
    for (i = 0; rv == APR_SUCCESS && i < rows->nelts; i++) {
        row.charge = APR_ARRAY_IDX(rows, i, pay_due_t).charge;
        row.refund = APR_ARRAY_IDX(rows, i, pay_due_t).refund;
        pay_reconcile_place(&row, services, accounts, now + lease);
        row.answer = &asked_of(asked, row.acquirer)->answer;
        if (may_begin(&row)) {
            *settled += pay_reconcile_row(&row);
        }
    }
    return rv;
}
