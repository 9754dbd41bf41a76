/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pay_reconcile.h"

#include "base/pay_log.h"
#include "base/pay_meter.h"
#include "base/pay_time.h"

#include <string.h>

#define LEASE apr_time_from_sec(60)
#define FIRST_WAIT apr_time_from_sec(1)
#define LONGEST_FIRST_WAIT apr_time_from_sec(60)
#define DOUBLINGS_MAX 6 /* 1 s doubled six times is above the longest first wait */
#define HOUR apr_time_from_sec(3600)
#define DAY (24 * HOUR)
#define DAILY_AFTER (90 * DAY)

typedef struct step_t {
    pay_store_t *store;
    const apr_array_header_t *services;
    apr_pool_t *pool;
} step_t;

apr_time_t pay_reconcile_next(apr_time_t now, apr_time_t created_at, apr_uint32_t attempts)
{
    apr_interval_time_t age = now - created_at;
    apr_interval_time_t wait;

    if (age >= DAILY_AFTER) {
        return now + DAY;
    }
    if (age >= HOUR) {
        return now + HOUR;
    }
    if (attempts > DOUBLINGS_MAX) {
        return now + LONGEST_FIRST_WAIT;
    }
    wait = FIRST_WAIT << (attempts ? attempts - 1 : 0);
    return now + (wait < LONGEST_FIRST_WAIT ? wait : LONGEST_FIRST_WAIT);
}

/* The first service whose acquirer for the mode is the one that a row was sent through. */
static const pay_service_t *find_service(const step_t *step, pay_mode_t mode, const char *acquirer)
{
    const pay_service_t *service;
    int i;

    for (i = 0; i < step->services->nelts; i++) {
        service = APR_ARRAY_IDX(step->services, i, const pay_service_t *);
        if (service->acquirer[mode] && !strcmp(service->acquirer[mode]->name, acquirer)) {
            return service;
        }
    }
    return NULL;
}

static int charge_reconcile(const pay_charge_t *charge, const step_t *step)
{
    const pay_service_t *service = find_service(step, charge->scope.mode, charge->acquirer);
    pay_outcome_t outcome = {PAY_OUTCOME_UNKNOWN, "", "", ""};
    pay_mode_t mode = charge->scope.mode;
    pay_charge_t *resolved = NULL;
    apr_time_t due_at = 0;
    apr_time_t began;
    apr_status_t rv;
    int changed = 0;

    if (service) {
        began = pay_meter_now();
        rv =
            service->acquirer[mode]->charge_query(&outcome, service->acquirer_context[mode], charge,
                                                  service->policy.acquirer_timeout, step->pool);
        pay_service_time(service->acquirer[mode], began);
        pay_outcome_tidy(&outcome, rv);
    } else {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00230) "charge %s stays pending: its acquirer %s is not configured",
                charge->reference, charge->acquirer);
    }
    if (outcome.kind == PAY_OUTCOME_UNKNOWN) {
        due_at = pay_reconcile_next(pay_time_now(), charge->created_at, charge->attempts);
    }
    rv = step->store->ops->charge_resolve(&resolved, &changed, step->store, &charge->scope,
                                          charge->seq, &outcome, due_at, step->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00231) "the outcome of charge %s could not be stored",
                charge->reference);
        return 0;
    }
    if (!changed || outcome.kind == PAY_OUTCOME_UNKNOWN) {
        return 0;
    }
    pay_service_count(resolved);
    pay_log(PAY_LOG_INFO, APR_SUCCESS, PAYLOGNO(00232) "charge %s is %s after %u questions",
            charge->reference, pay_charge_state_name(resolved->state),
            (unsigned int)charge->attempts);
    return 1;
}

static int refund_reconcile(const pay_refund_t *refund, const pay_charge_t *charge,
                            const step_t *step)
{
    const pay_service_t *service = find_service(step, refund->scope.mode, refund->acquirer);
    pay_outcome_t outcome = {PAY_OUTCOME_UNKNOWN, "", "", ""};
    pay_mode_t mode = refund->scope.mode;
    pay_refund_t *resolved = NULL;
    apr_time_t due_at = 0;
    apr_time_t began;
    apr_status_t rv;
    int changed = 0;

    if (service && charge) {
        began = pay_meter_now();
        rv = service->acquirer[mode]->refund_query(&outcome, service->acquirer_context[mode],
                                                   refund, charge, service->policy.acquirer_timeout,
                                                   step->pool);
        pay_service_time(service->acquirer[mode], began);
        pay_outcome_tidy(&outcome, rv);
    } else {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00233) "refund %s stays pending: its %s is not %s",
                refund->refund_reference, charge ? "acquirer" : "charge",
                charge ? "configured" : "known");
    }
    if (outcome.kind == PAY_OUTCOME_UNKNOWN) {
        due_at = pay_reconcile_next(pay_time_now(), refund->created_at, refund->attempts);
    }
    rv = step->store->ops->refund_resolve(&resolved, &changed, step->store, &refund->scope,
                                          refund->refund_reference, &outcome, due_at, step->pool);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv, PAYLOGNO(00234) "the outcome of refund %s could not be stored",
                refund->refund_reference);
        return 0;
    }
    if (!changed || outcome.kind == PAY_OUTCOME_UNKNOWN) {
        return 0;
    }
    pay_log(PAY_LOG_INFO, APR_SUCCESS, PAYLOGNO(00235) "refund %s is %s after %u questions",
            refund->refund_reference, pay_refund_state_name(resolved->state),
            (unsigned int)refund->attempts);
    return 1;
}

apr_status_t pay_reconcile_step(int *settled, pay_store_t *store,
                                const apr_array_header_t *services, apr_pool_t *p)
{
    const step_t step = {store, services, p};
    apr_time_t lease_end = pay_time_now() + LEASE;
    apr_array_header_t *rows = NULL;
    const pay_due_t *due;
    apr_status_t rv;
    int i;

    *settled = 0;
    rv = store->ops->due_take(&rows, store, lease_end - LEASE, LEASE, PAY_RECONCILE_BATCH_MAX, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < rows->nelts; i++) {
        /* Past the lease another process may ask for the rows that are left: they are its own. */
        if (pay_time_now() >= lease_end) {
            break;
        }
        due = &APR_ARRAY_IDX(rows, i, pay_due_t);
        *settled += due->refund ? refund_reconcile(due->refund, due->charge, &step)
                                : charge_reconcile(due->charge, &step);
    }
    return APR_SUCCESS;
}
