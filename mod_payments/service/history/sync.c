/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/sync.h"

#include "base/text/time.h"
#include "service/history/parts.h"

#include <string.h>

#define LONGEST_WAIT                                                                               \
    apr_time_from_sec(15 * 60) /* longer ones come from a clock that was set back */

struct pay_history_sync_t {
    pay_store_t *store;
    apr_array_header_t *accounts; /* of pay_history_account_t */
    int next;                     /* the next one */
};

static const pay_acquirer_t *find_acquirer(const pay_service_t *service)
{
    const pay_acquirer_t *acquirer;
    int i;

    for (i = 0; service->acquirers && i < service->acquirers->nelts; i++) {
        acquirer = APR_ARRAY_IDX(service->acquirers, i, const pay_acquirer_t *);
        if (pay_acquirer_has_refund_list(acquirer)) {
            return acquirer;
        }
    }
    return NULL;
}

static int is_known(const pay_history_sync_t *sync, const char *name)
{
    int i;

    for (i = 0; i < sync->accounts->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(sync->accounts, i, pay_history_account_t).service->account_name,
                    name)) {
            return 1;
        }
    }
    return 0;
}

pay_history_sync_t *pay_history_sync_create(pay_store_t *store, const apr_array_header_t *services,
                                            apr_pool_t *p)
{
    pay_history_sync_t *sync = apr_pcalloc(p, sizeof(*sync));
    const pay_service_t *service;
    const pay_acquirer_t *acquirer;
    pay_history_account_t *account;
    int i;

    sync->store = store;
    sync->accounts = apr_array_make(p, services->nelts, sizeof(pay_history_account_t));
    for (i = 0; i < services->nelts; i++) {
        service = APR_ARRAY_IDX(services, i, const pay_service_t *);
        acquirer = find_acquirer(service);
        if (acquirer && service->account_name && !is_known(sync, service->account_name)) {
            account = apr_array_push(sync->accounts);
            memset(account, 0, sizeof(*account));
            account->service = service;
            account->acquirer = acquirer;
        }
    }
    return sync;
}

static apr_status_t account_step(int *worked, pay_history_sync_t *sync,
                                 pay_history_account_t *account, apr_time_t now, apr_pool_t *p)
{
    const apr_interval_time_t interval = account->service->policy.refund_sync;
    pay_history_visit_t visit = {.store = sync->store, .account = account, .now = now, .p = p};
    pay_account_t *row;
    pay_scope_t scope = {.mode = PAY_LIVE};
    apr_status_t rv;
    int asked, due, far;

    if (!pay_time_is_over(account->not_before, now, LONGEST_WAIT)) {
        return APR_SUCCESS;
    }
    account->not_before = 0;
    rv = pay_store_account_get(&row, sync->store, account->service->account_name, p);
    if (rv == APR_NOTFOUND) { /* it may still be made */
        return APR_SUCCESS;
    }
    if (rv == APR_SUCCESS) {
        scope.account = row->number;
        rv = pay_store_history_get(&visit.history, sync->store, &scope, p);
    }
    if (rv != APR_SUCCESS) {
        account->not_before = now + PAY_HISTORY_STORE_AGAIN;
        return rv;
    }
    asked = visit.history->asked != visit.history->answered;
    due = interval > 0 && pay_time_is_over(visit.history->due_at, now, interval);
    far = interval > 0 && pay_time_is_over(visit.history->far_at, now, PAY_HISTORY_FAR_EVERY);
    if (account->acquirer->key_is_shared) {
        due = far = 0;
    }
    if (!asked && !due && !far) {
        return APR_SUCCESS;
    }
    *worked = 1;
    if (account->acquirer->key_is_shared) {
        return pay_history_visit_refuse(&visit);
    }
    if (!due && far && (!asked || account->was_request)) {
        return pay_history_visit_far(&visit);
    }
    return asked && !(due && account->was_request) ? pay_history_visit_request(&visit)
                                                   : pay_history_visit_round(&visit);
}

apr_status_t pay_history_sync_step(int *worked, pay_history_sync_t *sync, apr_time_t now,
                                   apr_pool_t *p)
{
    apr_status_t rv, first = APR_SUCCESS;
    int i;

    *worked = 0;
    for (i = 0; i < sync->accounts->nelts && !*worked; i++) {
        sync->next %= sync->accounts->nelts;
        rv =
            account_step(worked, sync,
                         &APR_ARRAY_IDX(sync->accounts, sync->next, pay_history_account_t), now, p);
        sync->next++;
        if (first == APR_SUCCESS) {
            first = rv;
        }
    }
    return first;
}
