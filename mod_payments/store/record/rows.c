/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/rows.h"

#include "base/log.h"
#include "store/keys.h"
#include "store/lmdb/env.h"
#include "store/record/audit.h"
#include "store/record/walk.h"
#include "store/row.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- recounting a scope */

static const pay_table_t counted[] = {PAY_TABLE_IDEMPOTENCY, PAY_TABLE_EVENT, PAY_TABLE_TOKEN,
                                      PAY_TABLE_LINK, PAY_TABLE_CHECKOUT};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

/* Returns 1 if the table's rows are counted. */
static int rows_is_counted(pay_table_t table)
{
    size_t i;

    for (i = 0; i < COUNTED; i++) {
        if (counted[i] == table) {
            return 1;
        }
    }
    return 0;
}

static int count_table(apr_uint64_t *out, pay_rows_txn_t *txn, pay_table_t table,
                       const pay_store_key_t *prefix)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, table, prefix, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, row;
    int rc;

    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        (*out)++;
        rc = pay_rows_next(&key, &row, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

int pay_store_rows_count(apr_uint64_t *out, pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    pay_store_key_t prefix;
    int rc = 0;
    size_t i;

    *out = 0;
    pay_store_key_of_scope(&prefix, scope);
    for (i = 0; !rc && i < COUNTED; i++) {
        rc = count_table(out, txn, counted[i], &prefix);
    }
    return rc;
}

/* ---- the server's limits */

/* The row "limits" of the table meta. New fields go to the end. */
static const char limits_name[] = "limits";

static const pay_row_field_t limits_fields[] = {
    PAY_ROW_MAX(pay_store_limits_t, map_bytes, APR_INT64_MAX),
    PAY_ROW_MAX(pay_store_limits_t, reserve_bytes, APR_INT64_MAX),
    PAY_ROW_MAX(pay_store_limits_t, account_rows_max, INT_MAX),
};
#define LIMITS_FIELDS (sizeof(limits_fields) / sizeof(limits_fields[0]))

/* All zero without a row. PAY_ROWS_BAD (already logged). */
static int limits_get(pay_store_limits_t *out, pay_rows_txn_t *txn)
{
    pay_bytes_t key = {sizeof(limits_name) - 1, limits_name}, row;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &key);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    rc = pay_row_decode(out, limits_fields, LIMITS_FIELDS, &row, NULL, NULL);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_META, &key);
    }
    return 0;
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = {sizeof(limits_name) - 1, limits_name}, row = *(const pay_bytes_t *)baton;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

/* A row that does not decode is written again. */
static int limits_are(pay_store_t *db, const pay_store_limits_t *limits)
{
    pay_store_limits_t stored;
    pay_rows_txn_t txn;
    int same;

    if (pay_rows_begin(&txn, db) != APR_SUCCESS) {
        return 0;
    }
    same = limits_get(&stored, &txn) == 0 && stored.map_bytes == limits->map_bytes
           && stored.reserve_bytes == limits->reserve_bytes
           && stored.account_rows_max == limits->account_rows_max;
    pay_rows_end(&txn);
    return same;
}

apr_status_t pay_store_limits_put(pay_store_t *db, const pay_store_options_t *options,
                                  apr_pool_t *p)
{
    const pay_store_limits_t limits = {.map_bytes = options->map_bytes,
                                       .reserve_bytes = options->reserve_bytes,
                                       .account_rows_max = options->account_rows_max};
    apr_status_t rv;
    pay_bytes_t row;
    int rc;

    if (limits_are(db, &limits)) { /* each start of a server sets them again */
        return APR_SUCCESS;
    }
    rc = pay_row_encode(&row, limits_fields, LIMITS_FIELDS, &limits, p);
    if (rc) {
        return pay_rows_status(rc);
    }
    rv = pay_rows_commit(db, pay_turn_store(), 0, put_work, &row);
    return rv == PAY_STORE_EFULL ? APR_SUCCESS : rv; /* a full store must still be served */
}

int pay_lmdb_env_limits(pay_rows_txn_t *txn, void *options)
{
    pay_store_options_t *own = options;
    pay_store_limits_t limits;
    int rc;

    rc = limits_get(&limits, txn);
    if (rc == PAY_ROWS_BAD) {
        return 0; /* the check reports it; a person must be able to repair the store */
    }
    if (!rc && limits.map_bytes >= sysconf(_SC_PAGESIZE)) { /* else no server has prepared it */
        own->map_bytes = limits.map_bytes;
        own->reserve_bytes = limits.reserve_bytes;
    }
    return rc;
}

#define MODES 2           /* of pay_mode_t */
#define ANONYMOUS_SHARE 8 /* the share of the quota for anonymous clients */
#define ANONYMOUS_ROWS 2  /* of a checkout: the charge and its checkout row */

/* ---- counted rows */

/* Writes the scope's row again. The callers have no pool: the row they change is another one. */
static int write_row(pay_rows_txn_t *txn, const pay_scope_t *scope, const pay_store_scope_t *row)
{
    apr_pool_t *pool;
    apr_status_t rv;
    int rc;

    rv = apr_pool_create(&pool, NULL);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_scope_write(txn, scope, row, pool);
    apr_pool_destroy(pool);
    return rc;
}

/*
 * Called after a row was added or removed. A count that is too small for what is subtracted stays,
 * and `store check` reports it: decisions about money never wait for statistics.
 */
static int change(pay_rows_txn_t *txn, const pay_scope_t *scope, int by)
{
    pay_store_scope_t row;
    int rc, found;

    assert(by == 1 || by == -1);
    rc = pay_store_scope_find(&found, &row, txn, scope);
    if (rc) {
        return rc == PAY_ROWS_BAD ? 0 : rc;
    }
    if (!found) { /* a new scope, or one of an earlier version with only tokens or links */
        rc = pay_store_rows_count(&row.rows_told, txn, scope);
        row.rows_told++;
        return rc ? rc : write_row(txn, scope, &row);
    }
    if (row.rows_told == 0 || (by < 0 && row.rows_told == 1)) {
        return 0;
    }
    row.rows_told += by < 0 ? (apr_uint64_t)-1 : 1;
    return write_row(txn, scope, &row);
}

int pay_store_rows_put(pay_rows_txn_t *txn, pay_table_t table, pay_bytes_t *key, pay_bytes_t *row,
                       unsigned int flags)
{
    pay_bytes_t val = *row; /* the put makes it point at the existing row */
    pay_scope_t scope;
    int rc;

    rc = pay_rows_put(txn, table, key, &val, flags | PAY_ROWS_NOOVERWRITE);
    if (rc == PAY_ROWS_EXISTS && !(flags & PAY_ROWS_NOOVERWRITE)) {
        val = *row;
        return pay_rows_put(txn, table, key, &val, flags);
    }
    if (rc || !rows_is_counted(table) || key->len < PAY_STORE_SCOPE_LEN) {
        return rc;
    }
    pay_store_read_scope(&scope, key->data);
    return change(txn, &scope, 1);
}

int pay_store_rows_del(pay_rows_txn_t *txn, pay_table_t table, pay_bytes_t *key)
{
    pay_scope_t scope;
    int rc;

    if (key->len < PAY_STORE_SCOPE_LEN || !rows_is_counted(table)) {
        return pay_rows_del(txn, table, key);
    }
    pay_store_read_scope(&scope, key->data); /* before the row is deleted: it may hold the key */
    rc = pay_rows_del(txn, table, key);
    return rc ? rc : change(txn, &scope, -1);
}

int pay_store_rows_anonymous(pay_rows_txn_t *txn, const pay_scope_t *scope, int by)
{
    pay_store_scope_t row;
    int rc, found;

    assert(by == 1 || by == -1);
    rc = pay_store_scope_find(&found, &row, txn, scope);
    if (rc || !found || (by < 0 && row.anonymous == 0)) {
        return rc == PAY_ROWS_BAD ? 0 : rc;
    }
    row.anonymous += by < 0 ? (apr_uint64_t)-1 : 1;
    return write_row(txn, scope, &row);
}

/* ---- the quota */

/*
 * Everything that counts for the quota of this row's scope: the rows above, charges, refunds. Audit
 * entries do not: anonymous clients and viewers cause them, and must never block the shop's
 * payments (store/record/audit.c).
 */
static apr_uint64_t rows_total(const pay_store_scope_t *row)
{
    return pay_store_scope_count(row) + (row->rows_told ? row->rows_told - 1 : 0);
}

static void log_quota(pay_rows_txn_t *txn, const pay_scope_t *scope, apr_uint64_t rows)
{
    /* Not txn->store->env: the handle may be closed while its work is still running. */
    pay_lmdb_env_t *env = pay_lmdb_env_of(txn);

    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_QUOTA)) {
        pay_log(PAY_LOG_ERR, APR_SUCCESS,
                PAYLOGNO(00190) "store %s: account number %u has %" APR_UINT64_T_FMT
                                " rows in %s mode, the maximum of PaymentsAccountQuota: new rows "
                                "are refused",
                txn->store->path, scope->account, rows, pay_mode_name(scope->mode));
    }
}

int pay_store_rows_has_quota(const pay_store_t *db)
{
    return db->options.account_rows_max > 0;
}

int pay_store_rows_quota(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    const int rows_max = txn->store->options.account_rows_max;
    pay_store_scope_t row;
    apr_uint64_t rows;
    int rc;

    *reached = 0;
    if (!rows_max) {
        return 0;
    }
    rc = pay_store_scope_get(&row, txn, scope);
    if (rc) {
        return rc;
    }
    rows = rows_total(&row);
    if (rows < (apr_uint64_t)rows_max) {
        return 0;
    }
    *reached = 1;
    log_quota(txn, scope, rows);
    return 0;
}

int pay_store_rows_quota_anonymous(int *reached, pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    pay_lmdb_env_t *env = pay_lmdb_env_of(txn);
    const int rows_max = txn->store->options.account_rows_max;
    pay_store_scope_t row;
    int rc;

    *reached = 0;
    if (!rows_max) {
        return 0;
    }
    rc = pay_store_scope_get(&row, txn, scope);
    if (rc || (row.anonymous + 1) * ANONYMOUS_ROWS <= (apr_uint64_t)rows_max / ANONYMOUS_SHARE) {
        return rc;
    }
    *reached = 1;
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_QUOTA)) {
        pay_log(
            PAY_LOG_WARNING, APR_SUCCESS,
            PAYLOGNO(00760) "store %s: account number %u has %" APR_UINT64_T_FMT
                            " unpaid checkouts of public keys and payment links in %s mode, which "
                            "fill an eighth of PaymentsAccountQuota: new ones are refused",
            txn->store->path, scope->account, row.anonymous, pay_mode_name(scope->mode));
    }
    return 0;
}

apr_status_t pay_store_account_rows(pay_account_rows_t *out, pay_store_t *store,
                                    apr_uint32_t account, apr_pool_t *p)
{
    pay_scope_t scope = {.account = account};
    pay_store_limits_t limits;
    pay_store_scope_t row;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc, i;

    (void)p;
    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = limits_get(&limits, &txn);
    out->rows_max = limits.account_rows_max;
    for (i = 0; !rc && i < MODES; i++) {
        scope.mode = (pay_mode_t)i;
        rc = pay_store_scope_get(&row, &txn, &scope);
        if (!rc) {
            out->rows[i] = rows_total(&row);
            out->anonymous[i] = row.anonymous;
        }
    }
    rc = rc ? rc
            : pay_store_audit_last(&out->entries, &txn, account); /* entries are never removed */
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/* ---- stores of an earlier version */

typedef struct uncounted_t {
    apr_array_header_t *scopes; /* of pay_scope_t */
    pay_scope_t scope;          /* the one being counted */
} uncounted_t;

static int find_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    uncounted_t *uncounted = baton;
    pay_store_scope_t row;
    pay_scope_t scope;
    int rc;

    (void)val;
    if (key->len != PAY_STORE_SCOPE_LEN) {
        return 0; /* the check reports it */
    }
    pay_store_read_scope(&scope, key->data);
    rc = pay_store_scope_get(&row, txn, &scope);
    if (!rc && row.rows_told == 0) {
        APR_ARRAY_PUSH(uncounted->scopes, pay_scope_t) = scope;
    }
    return rc == PAY_ROWS_BAD ? 0 : rc;
}

static int count_work(pay_rows_txn_t *txn, void *baton)
{
    const uncounted_t *uncounted = baton;
    pay_store_scope_t row;
    int rc, found;

    rc = pay_store_scope_find(&found, &row, txn, &uncounted->scope);
    if (rc || !found || row.rows_told) {
        return rc;
    }
    rc = pay_store_rows_count(&row.rows_told, txn, &uncounted->scope);
    row.rows_told++;
    return rc ? rc : write_row(txn, &uncounted->scope, &row);
}

apr_status_t pay_store_rows_prepare(pay_store_t *db, apr_pool_t *p)
{
    uncounted_t uncounted = {.scopes = apr_array_make(p, 8, sizeof(pay_scope_t))};
    apr_status_t rv;
    int i;

    rv = pay_store_walk(db, PAY_TABLE_SCOPE, NULL, find_visit, &uncounted);
    for (i = 0; rv == APR_SUCCESS && i < uncounted.scopes->nelts; i++) {
        uncounted.scope = APR_ARRAY_IDX(uncounted.scopes, i, pay_scope_t);
        rv = pay_rows_commit(db, pay_turn_scope(&uncounted.scope), 0, count_work, &uncounted);
    }
    return rv == PAY_STORE_EFULL ? APR_SUCCESS : rv; /* a full store must still be served */
}
