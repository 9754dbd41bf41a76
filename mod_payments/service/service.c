/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service.h"

#include "base/log.h"
#include "base/shared/meter.h"
#include "base/text/time.h"
#include "model/card.h"

#include <apr_strings.h>

const pay_charge_t *pay_service_asked(pay_store_t *store, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_charge_t *asked;
    pay_epoch_t epoch;

    if (!charge || charge->scope.mode != PAY_LIVE
        || pay_store_epoch_find(&epoch, store) != APR_SUCCESS || epoch.number == 0) {
        return charge;
    }
    asked = apr_pmemdup(p, charge, sizeof(*charge));
    asked->opened = (pay_moment_t){0, 0};
    asked->created_at = 0;
    return asked;
}

void pay_service_count(const pay_charge_t *charge)
{
    pay_meter_counter_t counter = PAY_METER_CHARGE_PENDING;

    if (pay_charge_was_approved(charge)) {
        counter = PAY_METER_CHARGE_SUCCESSFUL;
    } else if (charge->decided_state == PAY_CHARGE_FAILED) {
        counter = PAY_METER_CHARGE_FAILED;
    }
    pay_meter_add(charge->scope.mode == PAY_LIVE ? counter + 1 : counter, 1);
}

const pay_problem_t *pay_problem_of_store(apr_status_t status, apr_pool_t *p)
{
    pay_error_t error;

    switch (status) {
    case PAY_STORE_EDOWN:
    case PAY_STORE_ESCHEMA:
    case PAY_STORE_EFULL:
    case PAY_STORE_EBUSY:
    case PAY_STORE_EUNKNOWN:
        error = PAY_ERR_STORE_UNAVAILABLE;
        break;
    default:
        error = PAY_ERR_INTERNAL;
        break;
    }
    return pay_problem_make(error, NULL, status, p);
}

const pay_problem_t *pay_problem_of_key(apr_pool_t *p)
{
    return pay_problem_makef(PAY_ERR_REFERENCE_REUSED, p,
                             "The Idempotency-Key was already used for a different request.");
}

const pay_problem_t *pay_problem_of_reference(const char *reference, apr_pool_t *p)
{
    apr_status_t rv = pay_reference_check(reference);

    if (rv != APR_SUCCESS || pay_card_number_is(reference)) {
        return pay_problem_make(PAY_ERR_REFERENCE_UNKNOWN, NULL, APR_SUCCESS, p);
    }
    return pay_problem_makef(PAY_ERR_REFERENCE_UNKNOWN, p,
                             "no record found for transaction with reference %s", reference);
}

const pay_problem_t *pay_service_judge_mode(const pay_service_t *service,
                                            const pay_account_t *account, pay_mode_t mode,
                                            apr_pool_t *p)
{
    if (mode == PAY_LIVE && account->mode == PAY_TEST) {
        pay_log(PAY_LOG_INFO, APR_SUCCESS,
                PAYLOGNO(00244) "account %s is in Test Mode: its live keys start nothing until "
                                "paymentsctl account mode %s live",
                account->name, account->name);
        return pay_problem_make(PAY_ERR_FORBIDDEN, NULL, APR_SUCCESS, p);
    }
    if (!service->acquirer[mode] && !service->deferred) {
        return pay_problem_makef(PAY_ERR_FORBIDDEN, p,
                                 "No %s acquirer is configured for this service.",
                                 pay_mode_name(mode));
    }
    return NULL;
}

pay_caller_t pay_caller_of_key(const pay_api_key_t *key, const char *idempotency_key)
{
    const pay_caller_t caller = {key->account, key->scope, key->kind, key->id, idempotency_key};

    return caller;
}

const pay_problem_t *pay_caller_use(const pay_idempotency_t **out, const pay_caller_t *caller,
                                    pay_operation_t operation, const char *const *values,
                                    apr_size_t count, apr_pool_t *p)
{
    pay_idempotency_t *use;
    apr_status_t rv;

    *out = NULL;
    if (!caller->idempotency_key) {
        return NULL;
    }
    use = apr_pcalloc(p, sizeof(*use));
    use->operation = operation;
    use->key_kind = caller->key_kind;
    use->key = caller->idempotency_key;
    rv = pay_idempotency_digest(use->digest, values, count);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    *out = use;
    return NULL;
}

const pay_problem_t *pay_service_recall(pay_idempotency_record_t **out,
                                        const pay_service_t *service, const pay_scope_t *scope,
                                        const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_idempotency_record_t *record = NULL;
    apr_status_t rv;

    *out = NULL;
    if (!use) {
        return NULL;
    }
    rv = pay_store_idempotency_find(&record, service->store, scope, use, p);
    if (rv == APR_NOTFOUND) {
        return NULL;
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (!record->same_request) {
        return pay_problem_of_key(p);
    }
    *out = record;
    return NULL;
}

pay_deadline_t pay_deadline_make(const pay_acquirer_t *acquirer)
{
    apr_int64_t timeout_ms =
        apr_time_as_msec(acquirer ? acquirer->timeout : PAY_ACQUIRER_TIMEOUT_DEFAULT);
    pay_deadline_t deadline;

    deadline.worker = pay_worker_self();
    deadline.send_before_ms = pay_time_boot_ms() + PAY_SEND_BEFORE_MS;
    deadline.wait_until_ms = deadline.send_before_ms + timeout_ms;
    deadline.due_at =
        pay_time_now()
        + apr_time_from_msec(PAY_SEND_BEFORE_MS + timeout_ms + PAY_RECONCILE_AFTER_MS);
    return deadline;
}
