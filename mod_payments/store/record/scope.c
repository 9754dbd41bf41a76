/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/scope.h"

#include "base/log.h"
#include "store/record/rows.h"
#include "store/record/time.h"
#include "store/row.h"

#include <string.h>

#define USEC_PER_MSEC 1000

_Static_assert(PAY_STORE_IMPORT_LEASE <= PAY_WORKER_TERM_MAX, "else it would count as over");

static const pay_row_field_t scope_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, charge_seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, refund_seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_given),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_open),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_left),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_done),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_worker.pid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_worker.start_ticks),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_worker.boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, taken_back),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, rows_told),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, anonymous),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_store_scope_t, import_until_at),
};
#define SCOPE_FIELDS (sizeof(scope_fields) / sizeof(scope_fields[0]))

int pay_store_scope_find(int *found, pay_store_scope_t *out, pay_rows_txn_t *txn,
                         const pay_scope_t *scope)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *found = 0;
    memset(out, 0, sizeof(*out));
    pay_store_key_of_scope(&key, scope);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_SCOPE, &at);
    if (rc == PAY_ROWS_NOTFOUND) {
        return 0;
    }
    if (rc) {
        return rc;
    }
    *found = 1;
    /* It has no strings, so no pool is needed. */
    rc = pay_row_decode(out, scope_fields, SCOPE_FIELDS, &row, NULL, NULL);
    return rc ? pay_rows_bad(PAY_TABLE_SCOPE, &at) : 0;
}

int pay_store_scope_get(pay_store_scope_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    int found;

    return pay_store_scope_find(&found, out, txn, scope);
}

int pay_store_scope_write(pay_rows_txn_t *txn, const pay_scope_t *scope,
                          const pay_store_scope_t *row, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    rc = pay_row_encode(&val, scope_fields, SCOPE_FIELDS, row, p);
    if (rc) {
        return rc;
    }
    pay_store_key_of_scope(&key, scope);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_SCOPE, &at, &val, 0);
}

int pay_store_scope_put(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_store_scope_t *row,
                        apr_pool_t *p)
{
    pay_store_scope_t whole = *row, stored;
    int rc, found;

    rc = pay_store_scope_find(&found, &stored, txn, scope);
    if (!rc && !found) { /* a new scope, or one of an earlier version with only tokens or links */
        rc = pay_store_rows_count(&stored.rows_told, txn, scope);
        stored.rows_told++;
    }
    if (rc) {
        return rc;
    }
    whole.rows_told = stored.rows_told;
    whole.anonymous = stored.anonymous;
    return pay_store_scope_write(txn, scope, &whole, p);
}

apr_uint64_t pay_store_scope_count(const pay_store_scope_t *row)
{
    return row->charge_seq + row->refund_seq - row->taken_back;
}

int pay_store_scope_take_back(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t count,
                              apr_pool_t *p)
{
    pay_store_scope_t row;
    int rc;

    rc = pay_store_scope_get(&row, txn, scope);
    if (rc) {
        return rc;
    }
    row.taken_back += count;
    return pay_store_scope_put(txn, scope, &row, p);
}

int pay_store_scope_is_worker(const pay_store_scope_t *row)
{
    pay_worker_t self = pay_worker_self();

    return row->import_worker.pid == self.pid && row->import_worker.start_ticks == self.start_ticks
           && row->import_worker.boot_id == self.boot_id;
}

int pay_store_scope_is_held(const pay_store_scope_t *row)
{
    if ((row->import_open == 0 && row->import_left == 0) || pay_store_scope_is_worker(row)) {
        return 0;
    }
    /* In this boot it holds the scope as long as it lives, without a deadline. */
    return pay_worker_left(&row->import_worker, APR_INT64_MAX, row->import_until_at,
                           pay_store_time_now())
           > 0;
}

void pay_store_scope_hold(pay_store_scope_t *row)
{
    row->import_worker = pay_worker_self();
    row->import_until_at = pay_store_time_now() + PAY_STORE_IMPORT_LEASE;
}

void pay_store_scope_let_go(pay_store_scope_t *row)
{
    memset(&row->import_worker, 0, sizeof(row->import_worker));
    row->import_until_at = 0;
}

int pay_store_scope_runs_import(const pay_store_scope_t *row, apr_uint32_t number)
{
    return row->import_open == number && pay_store_scope_is_worker(row);
}

apr_time_t pay_store_scope_stamp(apr_interval_time_t *stepped_back, pay_store_scope_t *row)
{
    apr_time_t now = pay_store_time_now();

    *stepped_back = 0;
    if (now < row->created_at) {
        if (row->created_at - now <= PAY_STORE_RAISE_MAX) {
            now = row->created_at;
        } else {
            *stepped_back = row->created_at - now;
        }
    }
    row->created_at = now;
    return now;
}

void pay_store_scope_log_step(const pay_scope_t *scope, apr_interval_time_t stepped_back)
{
    if (stepped_back > 0) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00150) "account %u %s: the clock is %" APR_INT64_T_FMT
                                " ms behind the time of the last record, and the clock is trusted: "
                                "new records may be listed before older ones",
                scope->account, pay_mode_name(scope->mode), stepped_back / USEC_PER_MSEC);
    }
}
