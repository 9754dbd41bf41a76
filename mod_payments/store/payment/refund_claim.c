/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/account.h"
#include "store/payment/refund_record.h"
#include "store/record/epoch.h"
#include "store/record/time.h"

#include <assert.h>

typedef struct claim_t {
    const pay_scope_t *scope;
    const char *refund_reference;
    const pay_worker_t *worker;
    apr_int64_t send_before_ms, wait_until_ms;
    apr_time_t due_at;
    apr_pool_t *p;
    pay_refund_t *out; /* NULL: there is none */
    int claimed;
} claim_t;

/* 0 while its account is in Test Mode, or the store was put back and nobody confirmed it. */
static int may_send(int *out, pay_rows_txn_t *txn, const pay_scope_t *scope, apr_pool_t *p)
{
    pay_account_t *account;
    int rc, held;

    *out = scope->mode == PAY_TEST;
    if (*out) {
        return MDB_SUCCESS;
    }
    rc = pay_store_epoch_held(&held, txn);
    if (rc || held) {
        return rc;
    }
    rc = pay_store_account_by_number(&account, txn, scope->account, p);
    *out = !rc && account->mode == PAY_LIVE;
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/* From here on it may have been sent: whoever finds it asks, and does not send it again. */
static int claim_work(pay_rows_txn_t *txn, void *baton)
{
    claim_t *claim = baton;
    pay_store_refund_t *row;
    pay_refund_t *refund;
    int rc, may;

    claim->out = NULL;
    claim->claimed = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, claim->scope,
                                   claim->refund_reference, claim->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    refund = &row->refund;
    claim->out = refund;
    if (!refund->waiting || refund->state != PAY_REFUND_PENDING) {
        return MDB_SUCCESS;
    }
    rc = may_send(&may, txn, claim->scope, claim->p);
    if (rc || !may) {
        return rc;
    }
    refund->waiting = 0;
    refund->worker = *claim->worker;
    refund->send_before_ms = claim->send_before_ms;
    refund->wait_until_ms = claim->wait_until_ms;
    refund->wait_until_at = pay_worker_until(claim->wait_until_ms, pay_store_time_now());
    refund->due_at = claim->due_at;
    claim->claimed = 1;
    return pay_store_refund_put(txn, row, claim->p);
}

apr_status_t pay_store_refund_claim(pay_refund_t **out, int *claimed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *refund_reference,
                                    const pay_worker_t *worker, apr_int64_t send_before_ms,
                                    apr_int64_t wait_until_ms, apr_time_t due_at, apr_pool_t *p)
{
    claim_t claim = {.scope = scope,
                     .refund_reference = refund_reference,
                     .worker = worker,
                     .send_before_ms = send_before_ms,
                     .wait_until_ms = wait_until_ms,
                     .due_at = due_at,
                     .p = p};
    apr_status_t rv;

    *out = NULL;
    *claimed = 0;
    assert(due_at > 0);
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(scope), 0, claim_work, &claim);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!claim.out) {
        return APR_NOTFOUND;
    }
    *out = claim.out;
    *claimed = claim.claimed;
    return APR_SUCCESS;
}
