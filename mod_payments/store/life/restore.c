/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/shared/moment.h"
#include "base/text/time.h"
#include "store/account/account.h"
#include "store/keys.h"
#include "store/lmdb/env.h"
#include "store/lmdb/raw.h"
#include "store/payment/charge.h"
#include "store/record/epoch.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <errno.h>

/*
 * Epoch numbers follow the clock, in steps of ten minutes from 2026 on: a backup that is restored
 * twice begins two different epochs, though neither knows of the other. A clock that is far ahead
 * does not use up the numbers.
 */
#define NUMBER_STEP apr_time_from_sec(600)
#define NUMBER_ZERO apr_time_from_sec(APR_INT64_C(1767225600)) /* 2026-01-01 */
#define NUMBER_BY_CLOCK_MAX (1 << 19)
#define NUMBER_MAX ((1 << 20) - 1)

typedef enum judgement_t {
    FILE_KNOWN,
    FILE_NEW, /* no file is recorded: an earlier version wrote it, or it was just created */
    FILE_PUT_BACK
} judgement_t;

/* The contents of a restored store, for one line of the log. */
typedef struct content_t {
    apr_uint64_t keys, tokens, grants, events, pending;
} content_t;

/* A row that does not decode may hide that the store was restored. */
static int judge(judgement_t *out, pay_epoch_t *stored, pay_rows_txn_t *txn,
                 const pay_lmdb_file_id_t *file)
{
    int rc;

    *out = FILE_KNOWN;
    rc = pay_store_epoch_load(stored, txn);
    if (rc == PAY_ROWS_BAD
        || (!rc
            && (stored->is_backup
                || (stored->inode && !pay_store_epoch_is_of_file(stored, file))))) {
        *out = FILE_PUT_BACK;
        return 0;
    }
    if (!rc && !stored->inode) {
        *out = FILE_NEW;
    }
    return rc;
}

static apr_uint32_t number_after(apr_uint32_t last, apr_time_t now)
{
    const apr_time_t step = (now - NUMBER_ZERO) / NUMBER_STEP;

    if (step > (apr_time_t)last && step <= NUMBER_BY_CLOCK_MAX) {
        return (apr_uint32_t)step;
    }
    return last < NUMBER_MAX ? last + 1 : last;
}

static void file_note(pay_epoch_t *epoch, const pay_lmdb_file_id_t *file)
{
    epoch->inode = file->inode;
    epoch->born_us = file->born_us;
    epoch->is_backup = 0;
}

static int content_count(content_t *out, pay_rows_txn_t *txn)
{
    int rc;

    rc = pay_rows_count(&out->keys, txn, PAY_TABLE_API_KEY);
    if (!rc) {
        rc = pay_rows_count(&out->tokens, txn, PAY_TABLE_TOKEN);
    }
    if (!rc) {
        rc = pay_rows_count(&out->grants, txn, PAY_TABLE_GRANT);
    }
    if (!rc) {
        rc = pay_rows_count(&out->events, txn, PAY_TABLE_EVENT);
    }
    return rc ? rc : pay_rows_count(&out->pending, txn, PAY_TABLE_PENDING_DUE);
}

/* createdAt of the scope's newest charge that was made until `now`; 0 if none exists. */
static int newest_charge(apr_time_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                         apr_time_t now)
{
    pay_store_key_t prefix, beyond;
    pay_bytes_t key, val;
    int rc;

    *out = 0;
    pay_store_key_of_scope(&prefix, scope);
    pay_store_charge_time_key(&beyond, scope, now, ~(apr_uint64_t)0);
    rc = pay_rows_first(&key, &val, txn, PAY_TABLE_CHARGE_BY_TIME, &prefix, &beyond,
                        PAY_ROWS_BEFORE);
    if (!rc && key.len == PAY_STORE_CHARGE_TIME_KEY_LEN) {
        *out = pay_store_read_time((const char *)key.data + PAY_STORE_SCOPE_LEN);
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* The newest charge of all scopes: everything in a copy was made before the copy. */
static int newest_of_all(apr_time_t *out, pay_rows_txn_t *txn, apr_time_t now)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_SCOPE, NULL, NULL, PAY_ROWS_FROM);
    pay_scope_t scope;
    pay_bytes_t key, val;
    apr_time_t when;
    int rc;

    *out = 0;
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc) {
        if (key.len == PAY_STORE_SCOPE_LEN) {
            pay_store_read_scope(&scope, key.data);
            rc = newest_charge(&when, txn, &scope, now);
            *out = !rc && when > *out ? when : *out;
        }
        rc = rc ? rc : pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

static int epoch_begin(content_t *content, pay_epoch_t *stored, pay_rows_txn_t *txn,
                       const pay_lmdb_file_id_t *file)
{
    const apr_time_t now = pay_time_now();
    int rc;

    rc = content_count(content, txn);
    if (!rc) {
        rc = newest_of_all(&stored->copied_after, txn, now);
    }
    if (rc) {
        return rc;
    }
    if (!stored->is_backup) {
        stored->copied_at = 0;
    }
    stored->number = number_after(stored->number, now);
    stored->began_at = now;
    stored->began = pay_moment_now();
    stored->held = 1;
    stored->confirmed_at = 0;
    stored->confirmed = (pay_moment_t){0, 0};
    file_note(stored, file);
    return pay_store_epoch_store(txn, stored);
}

static void epoch_tell(const char *path, const pay_epoch_t *epoch, const content_t *content)
{
    char copied[PAY_TIME_TEXT_LEN + 1] = "a time that is not known";

    if (epoch->copied_at) {
        (void)pay_time_format(copied, epoch->copied_at);
    }
    pay_log(PAY_LOG_WARNING, APR_SUCCESS,
            PAYLOGNO(00700) "store %s was restored from a copy of %s: live refunds and live events "
                            "wait until you run \"paymentsctl -s lmdb:%s store confirm\". The copy "
                            "brings back %lu keys, %lu tokens and %lu grants, also those that were "
                            "revoked since, %lu events that were not delivered and %lu rows that "
                            "wait for an acquirer or a payer",
            path, copied, path, (unsigned long)content->keys, (unsigned long)content->tokens,
            (unsigned long)content->grants, (unsigned long)content->events,
            (unsigned long)content->pending);
}

/* The baton of the works below. */
typedef struct look_t {
    const pay_lmdb_file_id_t *file;
    judgement_t judgement;
    pay_epoch_t stored;
    content_t content;
} look_t;

static int judge_work(pay_rows_txn_t *txn, void *baton)
{
    look_t *look = baton;

    return judge(&look->judgement, &look->stored, txn, look->file);
}

/* Another process may have been faster: the row is judged again. */
static int begin_work(pay_rows_txn_t *txn, void *baton)
{
    look_t *look = baton;
    int rc;

    rc = judge_work(txn, look);
    if (!rc && look->judgement == FILE_NEW) {
        file_note(&look->stored, look->file);
        rc = pay_store_epoch_store(txn, &look->stored);
    } else if (!rc && look->judgement == FILE_PUT_BACK) {
        rc = epoch_begin(&look->content, &look->stored, txn, look->file);
    }
    return rc;
}

int pay_lmdb_env_opened(pay_lmdb_raw_t *mdb, const pay_lmdb_file_id_t *file, const char *path,
                        int read_only)
{
    look_t look = {.file = file};
    int rc;

    rc = pay_lmdb_raw_read(mdb, judge_work, &look);
    if (rc || look.judgement == FILE_KNOWN || read_only) {
        return rc;
    }
    rc = pay_lmdb_raw_write(mdb, begin_work, &look);
    if (!rc && look.judgement == FILE_PUT_BACK) {
        epoch_tell(path, &look.stored, &look.content);
    }
    /* A full store (EIO: a full disk, at commit) must still be readable. */
    return rc == PAY_ROWS_FULL || rc == ENOSPC || rc == EIO ? 0 : rc;
}

int pay_store_restore_mark(pay_rows_txn_t *txn, void *when)
{
    pay_epoch_t epoch;
    int rc;

    rc = pay_store_epoch_load(&epoch, txn); /* all zero for a row that does not decode */
    if (rc && rc != PAY_ROWS_BAD) {
        return rc;
    }
    epoch.is_backup = 1;
    epoch.copied_at = *(const apr_time_t *)when;
    return pay_store_epoch_store(txn, &epoch);
}

/* ---- confirming an epoch */

typedef struct confirm_t {
    int unsynced; /* 1: allowed */
    apr_pool_t *p;
    pay_epoch_t epoch;          /* as it was before */
    const pay_account_t *first; /* the first that was not synced; NULL if none exists */
} confirm_t;

/* An account that is in Test Mode now may have been in Live Mode since the copy was made, and may
 * be again: its charges there may have been refunded. */
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

/* Sets confirm->first to the first account whose refunds must be fetched, and were not since. */
static int find_unsynced(confirm_t *confirm, pay_rows_txn_t *txn)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_ACCOUNT, NULL, NULL, PAY_ROWS_FROM);
    pay_account_t *account;
    apr_time_t from;
    pay_bytes_t key, row;
    int rc, wanted, synced;

    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && !confirm->first) {
        if (key.len != sizeof(apr_uint32_t)) {
            rc = pay_rows_bad(PAY_TABLE_ACCOUNT, &key);
            break;
        }
        rc = pay_store_account_by_number(&account, txn, pay_store_read_u32(key.data), confirm->p);
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
