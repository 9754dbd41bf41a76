/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/refund_record.h"
#include "store/payment/sweep.h"
#include "store/record/audit.h"
#include "store/record/scope.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <string.h>

#define CLOCKS_APART_MAX apr_time_from_sec(5 * 60) /* an acquirer's and ours */

typedef struct abort_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int over; /* it is not this process's any more */
} abort_t;

/* 1 when this process has closed it before, but is not through with removing it. */
static int is_left(const pay_store_scope_t *last, apr_uint32_t number)
{
    return last->import_left == number && pay_store_scope_is_worker(last);
}

/* From here on nobody adds to it, and the scope stays this process's while it is swept. */
static int close_work(pay_rows_txn_t *txn, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_store_scope_t last;
    int rc;

    work->over = 0;
    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_store_scope_runs_import(&last, import->number)) {
        work->over = !is_left(&last, import->number);
        return MDB_SUCCESS;
    }
    last.import_left = import->number;
    last.import_open = 0;
    pay_store_scope_hold(&last);
    return pay_store_scope_put(txn, &import->scope, &last, work->p);
}

/* Nothing of it is left. Another thread may have begun one meanwhile: then the scope is that's. */
static int release_work(pay_rows_txn_t *txn, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_store_scope_t last;
    int rc;

    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc || !is_left(&last, import->number)) {
        return rc;
    }
    last.import_left = 0;
    pay_store_scope_let_go(&last);
    return pay_store_scope_put(txn, &import->scope, &last, work->p);
}

apr_status_t pay_store_import_abort(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    abort_t work = {.import = import, .p = p};
    pay_store_t *db = pay_rows_base(store);
    apr_status_t rv;

    rv = pay_rows_commit(db, pay_turn_scope(&import->scope), 0, close_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (work.over) {
        return APR_EBUSY;
    }
    rv = pay_store_sweep(db, &import->scope, import->number, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return pay_rows_commit(db, pay_turn_scope(&import->scope), 0, release_work, &work);
}

/* ---- the other end: all of it becomes visible at once */

typedef struct finish_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int busy;
} finish_t;

/* What is told of one charge: that it became reversed once, behind its refunds. */
typedef struct group_t {
    int turned;
    int last; /* which of those told is the last of it; -1: none */
} group_t;

/* One that is left out by what is damaged is told by `store check`. *refund NULL: it is not told,
 * because its charge was made after it. The acquirer's clock may be another than ours. */
static int load_told(const pay_refund_t **refund, const finish_t *finish, pay_rows_txn_t *txn,
                     const char *refund_reference)
{
    pay_store_refund_t *row;
    pay_charge_t *charge;
    int rc;

    *refund = NULL;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, &finish->import->scope,
                                   refund_reference, finish->p);
    if (!rc) {
        rc = pay_store_charge_get(&charge, txn, &finish->import->scope, row->refund.charge_seq,
                                  finish->p);
    }
    if (rc) {
        return rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
    }
    if (charge->created_at <= row->refund.created_at + CLOCKS_APART_MAX) {
        *refund = &row->refund;
    }
    return MDB_SUCCESS;
}

static group_t *group_of(apr_hash_t *groups, const pay_store_told_t *told, apr_pool_t *p)
{
    group_t *group = apr_hash_get(groups, &told->charge_seq, sizeof(told->charge_seq));

    if (!group) {
        group = apr_palloc(p, sizeof(*group));
        *group = (group_t){0, -1};
        apr_hash_set(groups, &told->charge_seq, sizeof(told->charge_seq), group);
    }
    return group;
}

static int tell_news(const finish_t *finish, pay_rows_txn_t *txn)
{
    const apr_array_header_t *all = finish->import->told;
    const pay_store_told_t *told = (const pay_store_told_t *)all->elts;
    const pay_refund_t **refunds =
        apr_pcalloc(finish->p, sizeof(*refunds) * (apr_size_t)(all->nelts + 1));
    apr_hash_t *groups = apr_hash_make(finish->p); /* by the charge's number */
    group_t *group;
    int i, rc = MDB_SUCCESS;

    for (i = 0; !rc && i < all->nelts; i++) {
        if (told[i].is_news) {
            rc = load_told(&refunds[i], finish, txn, told[i].refund_reference);
        }
        group = group_of(groups, &told[i], finish->p);
        group->turned |= told[i].turned;
        group->last = refunds[i] ? i : group->last;
    }
    for (i = 0; !rc && i < all->nelts; i++) {
        if (refunds[i]) {
            group = group_of(groups, &told[i], finish->p);
            rc = pay_store_refund_announce(txn, refunds[i], group->turned && group->last == i,
                                           finish->p);
        }
    }
    return rc;
}

static int finish_work(pay_rows_txn_t *txn, void *baton)
{
    finish_t *finish = baton;
    const pay_import_t *import = finish->import;
    pay_store_scope_t last;
    int rc;

    finish->busy = 0;
    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_store_scope_runs_import(&last, import->number)) {
        finish->busy = 1;
        return PAY_ROWS_SILENT;
    }
    pay_store_audit_tell(txn->store, import->scope.account, NULL,
                         apr_psprintf(finish->p, "%s: %" APR_UINT64_T_FMT " records",
                                      pay_mode_name(import->scope.mode), import->written));
    last.import_done = import->number;
    last.import_open = 0;
    pay_store_scope_let_go(&last);
    rc = pay_store_scope_put(txn, &import->scope, &last, finish->p);
    return rc || !import->told ? rc : tell_news(finish, txn);
}

apr_status_t pay_store_import_finish(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    finish_t finish = {.import = import, .p = p};
    apr_status_t rv;

    rv = pay_rows_commit(store, pay_turn_scope(&import->scope), 0, finish_work, &finish);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return finish.busy ? APR_EBUSY : APR_SUCCESS;
}
