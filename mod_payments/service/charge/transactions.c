/* SPDX-License-Identifier: Apache-2.0 */
#include "service/charge/transactions.h"

#include "base/log.h"
#include "base/text/writer.h"
#include "model/form.h"

#include <string.h>

#define ANSWER_SIZE_HINT 2048

/* Answers with the stored text, which alone is a replay; a refusal of the key is not. */
static const pay_problem_t *answer_recorded(const char **text, int *replayed,
                                            const pay_idempotency_record_t *record,
                                            const char *reference, apr_pool_t *p)
{
    if (!record->same_request) {
        return pay_problem_of_key(p);
    }
    if (!record->text) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00243) "the idempotency record of a request about transaction %s holds "
                                "no answer",
                reference);
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, APR_SUCCESS, p);
    }
    *text = record->text;
    *replayed = 1;
    return NULL;
}

const pay_problem_t *pay_transaction_get(pay_transaction_t *out, pay_service_t *service,
                                         const pay_scope_t *scope, const char *reference,
                                         apr_pool_t *p)
{
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    rv = pay_reference_check(reference);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_reference(reference, p);
    }
    rv = pay_store_transaction_find(out, service->store, scope, reference, p);
    if (rv == APR_NOTFOUND) {
        return pay_problem_of_reference(reference, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    return NULL;
}

const pay_problem_t *pay_transactions_scan(apr_array_header_t **out, pay_service_t *service,
                                           const pay_scope_t *scope, const pay_time_range_t *range,
                                           const pay_charge_t *after, int limit, apr_pool_t *p)
{
    pay_store_t *store = service->store;
    apr_status_t rv = pay_store_charge_list(out, store, scope, range, after, limit, p);

    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

const pay_problem_t *pay_transactions_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                             pay_service_t *service, const pay_scope_t *scope,
                                             const pay_charge_filter_t *filter, int limit,
                                             apr_pool_t *p)
{
    pay_store_t *store = service->store;
    apr_status_t rv = pay_store_charge_search(out, cursor, store, scope, filter, limit, p);

    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}

/* The requested amount must be the transaction's, in any notation. */
static const pay_problem_t *judge_amount(const char *amount, const pay_charge_t *charge,
                                         apr_pool_t *p)
{
    pay_problem_t *faults = NULL;
    pay_money_t money;
    const char *fault;

    if (!amount) {
        return NULL;
    }
    fault = pay_amount_fault(&money, amount, charge->money.currency, p);
    if (fault) {
        pay_problem_add(&faults, "/amount", fault, p);
        return faults;
    }
    if (money.amount_minor != charge->money.amount_minor) {
        return pay_problem_make(PAY_ERR_AMOUNT_DIFFERS, "/amount", APR_SUCCESS, p);
    }
    return NULL;
}

const pay_problem_t *pay_transaction_verify(const char **text, pay_service_t *service,
                                            const pay_scope_t *scope,
                                            const pay_verify_request_t *request, apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_transaction_t transaction;
    pay_writer_t *w;

    *text = NULL;
    problem = pay_transaction_get(&transaction, service, scope, request->reference, p);
    if (!problem) {
        problem = judge_amount(request->amount, transaction.charge, p);
    }
    if (problem) {
        return problem;
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, p);
    pay_verify_answer_to_json(w, &transaction, PAY_VIEW_SECRET, NULL);
    *text = w->text;
    return NULL;
}

/*
 * Answers cases that need no writer lock: NULL for a checkout, about which the transaction decides.
 */
static const pay_problem_t *judge_kind(const pay_service_t *service, const pay_scope_t *scope,
                                       const char *reference, apr_pool_t *p)
{
    pay_charge_t *charge;
    apr_status_t rv;

    rv = pay_store_charge_find(&charge, service->store, scope, reference, p);
    if (rv == APR_NOTFOUND) {
        return pay_problem_of_reference(reference, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (charge->kind != PAY_CHARGE_CHECKOUT) {
        return pay_problem_make(PAY_ERR_NOT_VOIDABLE, NULL, APR_SUCCESS, p);
    }
    return NULL;
}

const pay_problem_t *pay_transaction_void(const char **text, int *replayed, pay_service_t *service,
                                          const pay_caller_t *caller, const char *reference,
                                          apr_pool_t *p)
{
    const pay_idempotency_t *use;
    const pay_problem_t *problem;
    pay_idempotency_record_t *record = NULL;
    pay_charge_t *charge = NULL;
    pay_store_t *store = service->store;
    pay_writer_t *w;
    apr_status_t rv;
    int voided = 0;

    *text = NULL;
    *replayed = 0;
    rv = pay_reference_check(reference);
    if (rv != APR_SUCCESS) {
        return pay_problem_of_reference(reference, p);
    }
    problem = pay_caller_use(&use, caller, PAY_OPERATION_VOID, &reference, 1, p);
    if (problem) {
        return problem;
    }
    problem = pay_service_recall(&record, service, &caller->scope, use, p);
    if (problem) {
        return problem;
    }
    if (record) {
        return answer_recorded(text, replayed, record, reference, p);
    }
    problem = judge_kind(service, &caller->scope, reference, p);
    if (problem) {
        return problem;
    }
    rv = pay_store_charge_void(&charge, &voided, &record, store, &caller->scope, reference, use, p);
    if (rv == APR_NOTFOUND) {
        return pay_problem_of_reference(reference, p);
    }
    if (rv != APR_SUCCESS) {
        return pay_problem_of_store(rv, p);
    }
    if (record) { /* another request with the key was faster */
        return answer_recorded(text, replayed, record, reference, p);
    }
    if (!voided) {
        return pay_problem_make(PAY_ERR_NOT_VOIDABLE, NULL, APR_SUCCESS, p);
    }
    w = pay_writer_make(ANSWER_SIZE_HINT, p);
    pay_void_answer_to_json(w, charge);
    *text = w->text;
    return NULL;
}
