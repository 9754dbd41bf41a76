/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_audit.h"
#include "store/pay_lmdb_scope.h"
#include "store/pay_lmdb_sweep.h"

#include <apr_strings.h>
#include <string.h>

typedef struct abort_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int over; /* it is not this process's any more */
} abort_t;

/* 1 when this process has closed it before, but is not through with removing it. */
static int is_left(const pay_lmdb_scope_t *last, apr_uint32_t number)
{
    return last->import_left == number && pay_lmdb_scope_is_worker(last);
}

/* From here on nobody adds to it, and the scope stays this process's while it is swept. */
static int close_work(MDB_txn *txn, pay_lmdb_t *db, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_lmdb_scope_t last;
    int rc;

    work->over = 0;
    rc = pay_lmdb_scope_get(&last, txn, db, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_lmdb_scope_runs_import(&last, import->number)) {
        work->over = !is_left(&last, import->number);
        return MDB_SUCCESS;
    }
    last.import_left = import->number;
    last.import_open = 0;
    return pay_lmdb_scope_put(txn, db, &import->scope, &last, work->p);
}

/* Nothing of it is left. Another thread may have begun one meanwhile: then the scope is that's. */
static int release_work(MDB_txn *txn, pay_lmdb_t *db, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_lmdb_scope_t last;
    int rc;

    rc = pay_lmdb_scope_get(&last, txn, db, &import->scope);
    if (rc || !is_left(&last, import->number)) {
        return rc;
    }
    last.import_left = 0;
    memset(&last.import_worker, 0, sizeof(last.import_worker));
    return pay_lmdb_scope_put(txn, db, &import->scope, &last, work->p);
}

apr_status_t pay_lmdb_import_abort(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    abort_t work = {.import = import, .p = p};
    pay_lmdb_t *db = pay_lmdb_base((pay_lmdb_t *)store);
    apr_status_t rv;

    rv = pay_lmdb_commit(db, 0, close_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (work.over) {
        return APR_EBUSY;
    }
    rv = pay_lmdb_sweep(db, &import->scope, import->number, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return pay_lmdb_commit(db, 0, release_work, &work);
}

/* ---- the other end: all of it becomes visible at once */

typedef struct finish_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int busy;
} finish_t;

static int finish_work(MDB_txn *txn, pay_lmdb_t *db, void *baton)
{
    finish_t *finish = baton;
    const pay_import_t *import = finish->import;
    pay_lmdb_scope_t last;
    int rc;

    finish->busy = 0;
    rc = pay_lmdb_scope_get(&last, txn, db, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_lmdb_scope_runs_import(&last, import->number)) {
        finish->busy = 1;
        return PAY_LMDB_SILENT;
    }
    pay_lmdb_audit_tell(db, import->scope.account, NULL,
                        apr_psprintf(finish->p, "%s: %" APR_UINT64_T_FMT " records",
                                     pay_mode_name(import->scope.mode), import->written));
    last.import_done = import->number;
    last.import_open = 0;
    memset(&last.import_worker, 0, sizeof(last.import_worker));
    return pay_lmdb_scope_put(txn, db, &import->scope, &last, finish->p);
}

apr_status_t pay_lmdb_import_finish(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    finish_t finish = {.import = import, .p = p};
    apr_status_t rv;

    rv = pay_lmdb_commit((pay_lmdb_t *)store, 0, finish_work, &finish);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return finish.busy ? APR_EBUSY : APR_SUCCESS;
}
