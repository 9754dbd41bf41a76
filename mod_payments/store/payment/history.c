/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include "base/text/time.h"
#include "store/keys.h"
#include "store/record/epoch.h"
#include "store/record/text.h"
#include "store/row.h"

#include <string.h>

/* Rows of the table meta: "history/" and the scope. New fields go to the end. */
static const char history_prefix[] = "history/";

static const pay_row_field_t history_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, fetched_until),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, asked),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, answered),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, from),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, to),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, done_until),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, seen),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, added),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, changed),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, refused),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_history_t, error),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, far_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, pending_from),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, asked_epoch),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_history_t, synced_epoch),
};
#define HISTORY_FIELDS (sizeof(history_fields) / sizeof(history_fields[0]))

typedef struct ask_t {
    const pay_scope_t *scope;
    apr_time_t from, to;
    apr_pool_t *p;
    pay_history_t *out;
    int busy;
} ask_t;

typedef struct put_t {
    const pay_history_t *history;
    apr_pool_t *p;
} put_t;

static void history_key(pay_store_key_t *key, const pay_scope_t *scope)
{
    pay_store_key_start(key);
    (void)pay_store_key_bytes(key, history_prefix, sizeof(history_prefix) - 1);
    pay_store_key_scope(key, scope);
}

/* An empty one for a scope without a row. */
static int history_load(pay_history_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                        apr_pool_t *p)
{
    pay_history_t *history = apr_pcalloc(p, sizeof(*history));
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    history->error = "";
    history_key(&key, scope);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &at);
    if (!rc) {
        rc = pay_row_decode(history, history_fields, HISTORY_FIELDS, &row, NULL, p);
        if (rc || history->answered > history->asked || history->from > history->to) {
            rc = pay_rows_bad(PAY_TABLE_META, &at);
        }
    }
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    history->scope = *scope;
    *out = history;
    return 0;
}

static int history_store(pay_rows_txn_t *txn, const pay_history_t *history, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    rc = pay_row_encode(&row, history_fields, HISTORY_FIELDS, history, p);
    if (rc) {
        return rc;
    }
    history_key(&key, &history->scope);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_META, &at, &row, 0);
}

apr_status_t pay_store_history_get(pay_history_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = history_load(out, &txn, scope, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/*
 * The number of the epoch, if the range covers everything that may have been made since its copy.
 */
static int covered(apr_uint32_t *out, pay_rows_txn_t *txn, const ask_t *ask,
                   const pay_history_t *history, apr_time_t now)
{
    pay_epoch_t epoch;
    apr_time_t copied_at;
    int rc;

    rc = pay_store_epoch_load(&epoch, txn);
    copied_at = pay_epoch_copied_at(&epoch, history->fetched_until);
    *out = ask->to >= now && (!copied_at || ask->from <= copied_at) ? epoch.number : 0;
    return rc;
}

static int ask_work(pay_rows_txn_t *txn, void *baton)
{
    ask_t *ask = baton;
    const apr_time_t now = pay_time_now();
    pay_history_t *history;
    int rc;

    ask->out = NULL;
    ask->busy = 0;
    rc = history_load(&history, txn, ask->scope, ask->p);
    if (rc) {
        return rc;
    }
    ask->out = history;
    if (history->asked != history->answered) {
        ask->busy = 1;
        return PAY_ROWS_SILENT;
    }
    rc = covered(&history->asked_epoch, txn, ask, history, now);
    if (rc) {
        return rc;
    }
    history->asked++;
    history->from = ask->from;
    history->to = ask->to < now ? ask->to : now;
    if (history->to < ask->from) {
        history->to = ask->from;
    }
    history->done_until = 0;
    history->seen = 0;
    history->added = 0;
    history->changed = 0;
    history->refused = 0;
    history->error = "";
    return history_store(txn, history, ask->p);
}

apr_status_t pay_store_history_ask(pay_history_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, apr_time_t from, apr_time_t to,
                                   apr_pool_t *p)
{
    ask_t ask = {.scope = scope, .from = from, .to = to, .p = p};
    apr_status_t rv;

    *out = NULL;
    if (from <= 0 || from > to) { /* 0 means "not begun" */
        return APR_EINVAL;
    }
    rv = pay_rows_commit(store, pay_turn_scope(scope), 0, ask_work, &ask);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = ask.out;
    return ask.busy ? APR_EBUSY : APR_SUCCESS;
}

/*
 * Returns 1 if the caller's part of the request is outdated: another request was made since, or
 * another process, which took over while a window of this one was fetched, has advanced further.
 */
static int is_overtaken(const pay_history_t *history, const pay_history_t *stored)
{
    return stored->asked != history->asked || stored->answered > history->answered
           || stored->done_until > history->done_until;
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    const put_t *put = baton;
    pay_history_t row = *put->history;
    pay_history_t *stored;
    int rc;

    rc = history_load(&stored, txn, &row.scope, put->p);
    if (rc) {
        return rc;
    }
    if (row.synced_epoch < stored->synced_epoch) { /* another process was faster */
        row.synced_epoch = stored->synced_epoch;
    }
    if (is_overtaken(&row, stored)) {
        stored->synced_epoch = row.synced_epoch;
        stored->fetched_until = row.fetched_until;
        stored->due_at = row.due_at;
        stored->far_at = row.far_at;
        stored->pending_from = row.pending_from;
        return history_store(txn, stored, put->p);
    }
    row.asked_epoch = stored->asked_epoch;
    row.from = stored->from;
    row.to = stored->to;
    row.error = pay_store_text_cut(row.error, PAY_HISTORY_ERROR_MAX, put->p);
    return history_store(txn, &row, put->p);
}

apr_status_t pay_store_history_put(pay_store_t *store, const pay_history_t *history, apr_pool_t *p)
{
    put_t put = {history, p};

    if (history->answered > history->asked || !history->error) {
        return APR_EINVAL;
    }
    return pay_rows_commit(store, pay_turn_scope(&history->scope), 0, put_work, &put);
}

int pay_store_history_synced(int *synced, apr_time_t *from, pay_rows_txn_t *txn,
                             const pay_scope_t *scope, const pay_epoch_t *epoch, apr_pool_t *p)
{
    pay_history_t *history;
    int rc;

    *synced = 0;
    *from = 0;
    rc = history_load(&history, txn, scope, p);
    if (rc) {
        return rc;
    }
    *synced = history->synced_epoch == epoch->number;
    *from = pay_epoch_copied_at(epoch, history->fetched_until);
    return 0;
}
