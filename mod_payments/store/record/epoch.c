/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/epoch.h"

#include "store/account/account.h"
#include "store/check/check.h"
#include "store/lmdb/env.h"
#include "store/keys.h"
#include "store/row.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <string.h>

/* A sequence has the number in its first 20 bits, so that 4,096 events of a transaction have room
 * in each epoch. More go on into the room of the next. */
#define SEQUENCE_BITS 12
#define NUMBER_MAX ((1u << (32 - SEQUENCE_BITS)) - 1)

static const char epoch_name[] = "epoch";

/* New fields go to the end. */
static const pay_row_field_t epoch_fields[] = {
    PAY_ROW_MAX(pay_epoch_t, number, NUMBER_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, copied_at),
    PAY_ROW_MAX(pay_epoch_t, began_at, APR_INT64_MAX),
    PAY_ROW_MAX(pay_epoch_t, held, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, inode),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, born_us),
    PAY_ROW_MAX(pay_epoch_t, is_backup, 1),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, began.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, began.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, confirmed.ms),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_epoch_t, copied_after),
};
#define EPOCH_FIELDS (sizeof(epoch_fields) / sizeof(epoch_fields[0]))

typedef struct confirm_t {
    int unsynced; /* 1: allowed */
    apr_pool_t *p;
    pay_epoch_t epoch;          /* as it was */
    const pay_account_t *first; /* that was not synced; NULL: none */
} confirm_t;

static MDB_val epoch_key(void)
{
    return (MDB_val){sizeof(epoch_name) - 1, (void *)epoch_name};
}

/* MDB_NOTFOUND: there is none. Bad ones are not logged. */
static int epoch_read(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    MDB_val key = epoch_key(), row;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &key);
    if (rc) {
        return rc;
    }
    rc = pay_row_decode(out, epoch_fields, EPOCH_FIELDS, &row, NULL, NULL);
    return !rc && out->number == 0 && out->held ? PAY_ROWS_BAD : rc;
}

int pay_store_epoch_load(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    MDB_val key = epoch_key();
    int rc;

    rc = epoch_read(out, txn);
    if (rc == PAY_ROWS_BAD) {
        memset(out, 0, sizeof(*out));
        return pay_rows_bad(PAY_TABLE_META, &key);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_store_epoch_store(pay_rows_txn_t *txn, const pay_epoch_t *epoch)
{
    MDB_val key = epoch_key(), row;
    apr_pool_t *pool;
    int rc;

    rc = apr_pool_create(&pool, NULL);
    if (rc != APR_SUCCESS) {
        return rc;
    }
    rc = pay_row_encode(&row, epoch_fields, EPOCH_FIELDS, epoch, pool);
    if (!rc) {
        rc = pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
    }
    apr_pool_destroy(pool);
    return rc;
}

int pay_store_epoch_is_of_file(const pay_epoch_t *epoch, const pay_lmdb_file_id_t *file)
{
    /* Numbers of files are given anew, so that a copy may get that of a file which was deleted. The
     * device says nothing: its number may change whenever the machine starts. */
    return epoch->inode == file->inode
           && (!epoch->born_us || !file->born_us || epoch->born_us == file->born_us);
}

int pay_store_epoch_get(pay_epoch_t *out, pay_rows_txn_t *txn)
{
    const pay_lmdb_env_t *env = pay_lmdb_env_of(txn);
    int rc;

    rc = pay_store_epoch_load(out, txn);
    if (!rc
        && (out->is_backup
            || (env && out->inode && !pay_store_epoch_is_of_file(out, &env->file)))) {
        out->held = 1;
    }
    return rc;
}

int pay_store_epoch_held(int *held, pay_rows_txn_t *txn)
{
    pay_epoch_t epoch;
    int rc;

    rc = pay_store_epoch_get(&epoch, txn);
    *held = rc || epoch.held;
    return rc;
}

int pay_store_epoch_sequence(apr_uint32_t *out, pay_rows_txn_t *txn, apr_uint32_t last)
{
    pay_epoch_t epoch;
    apr_uint32_t before;
    int rc;

    rc = pay_store_epoch_load(&epoch, txn);
    before = epoch.number << SEQUENCE_BITS;
    *out = (last > before ? last : before) + 1;
    /* As of endpoints: what is damaged there does not stand in the way of money. */
    return rc == PAY_ROWS_BAD ? MDB_SUCCESS : rc;
}

int pay_store_check_meta(pay_store_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const MDB_val epoch = epoch_key();
    pay_epoch_t read;
    int rc;

    (void)row;
    if (key->mv_size != epoch.mv_size || memcmp(key->mv_data, epoch.mv_data, epoch.mv_size) != 0) {
        return MDB_SUCCESS;
    }
    rc = epoch_read(&read, check->txn);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_META, key, "the row of its epoch does not decode");
        return MDB_SUCCESS;
    }
    return rc;
}

apr_status_t pay_store_epoch_find(pay_epoch_t *out, pay_store_t *store)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_epoch_get(out, &txn);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

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
