/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/epoch.h"

#include "base/shared/moment.h"
#include "store/account/account.h"
#include "store/keys.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

typedef struct confirm_t {
    int unsynced; /* 1: allowed */
    apr_pool_t *p;
    pay_epoch_t epoch;          /* as it was */
    const pay_account_t *first; /* that was not synced; NULL: none */
} confirm_t;

/* An account that is in Test Mode now may have been in Live Mode since the copy was made, and be in
 * it again: what it has charged there may have been refunded. */
static int sync_judge(int *wanted, int *synced, apr_time_t *from, pay_rows_txn_t *txn,
                      const pay_account_t *account, const pay_epoch_t *epoch, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, PAY_LIVE};
    pay_store_scope_t last;
    int rc;

    rc = pay_store_scope_get(&last, txn, &scope);
    if (rc) {
        return rc;
    }
    *wanted = account->mode == PAY_LIVE || last.charge_seq > 0;
    return pay_store_history_synced(synced, from, txn, &scope, epoch, p);
}

apr_status_t pay_store_epoch_synced(int *wanted, int *synced, apr_time_t *from, pay_store_t *store,
                                    const pay_account_t *account, apr_pool_t *p)
{
    pay_epoch_t epoch;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *wanted = 0;
    *synced = 0;
    *from = 0;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_epoch_load(&epoch, &txn);
    if (!rc) {
        rc = sync_judge(wanted, synced, from, &txn, account, &epoch, p);
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* ---- the end of the hold */

/* confirm->first: the first account whose refunds must be fetched, and were not since. */
static int find_unsynced(confirm_t *confirm, pay_rows_txn_t *txn)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_ACCOUNT, NULL, NULL, PAY_ROWS_FROM);
    pay_account_t *account;
    apr_time_t from;
    MDB_val key, row;
    int rc, wanted, synced;

    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && !confirm->first) {
        if (key.mv_size != sizeof(apr_uint32_t)) {
            rc = pay_rows_bad(PAY_TABLE_ACCOUNT, &key);
            break;
        }
        rc =
            pay_store_account_by_number(&account, txn, pay_store_read_u32(key.mv_data), confirm->p);
        if (!rc) {
            rc = sync_judge(&wanted, &synced, &from, txn, account, &confirm->epoch, confirm->p);
            confirm->first = !rc && wanted && !synced ? account : NULL;
        }
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    return pay_rows_scan_end(&scan, rc);
}

static int confirm_work(pay_rows_txn_t *txn, void *baton)
{
    confirm_t *confirm = baton;
    pay_epoch_t epoch;
    int rc;

    confirm->first = NULL;
    rc = pay_store_epoch_load(&confirm->epoch, txn);
    if (rc || !confirm->epoch.held) {
        return rc ? rc : PAY_ROWS_SILENT;
    }
    if (!confirm->unsynced) {
        rc = find_unsynced(confirm, txn);
        if (rc || confirm->first) {
            return rc ? rc : PAY_ROWS_SILENT;
        }
    }
    epoch = confirm->epoch;
    epoch.held = 0;
    epoch.confirmed_at = pay_store_time_now();
    epoch.confirmed = pay_moment_now();
    return pay_store_epoch_store(txn, &epoch);
}

apr_status_t pay_store_epoch_confirm(int *was_held, const pay_account_t **unsynced,
                                     pay_store_t *store, int allow_unsynced, apr_pool_t *p)
{
    confirm_t confirm = {.unsynced = allow_unsynced, .p = p};
    apr_status_t rv;

    *was_held = 0;
    *unsynced = NULL;
    rv = pay_rows_commit(store, pay_turn_store(), 0, confirm_work, &confirm);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *was_held = confirm.epoch.held;
    *unsynced = confirm.first;
    return APR_SUCCESS;
}
