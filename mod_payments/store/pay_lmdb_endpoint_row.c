/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_endpoint.h"

#include "store/pay_lmdb_row.h"

#include <assert.h>

static const pay_row_field_t endpoint_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, enabled),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, address),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, secret),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, old_secret),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, old_secret_until),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, updated_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, failures),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, probes),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, probing),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, failing_since),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, tests),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, answered_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_endpoint_t, status),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, error),
    PAY_ROW_MAX(pay_endpoint_t, parked_told_at, APR_INT64_MAX),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_endpoint_t, recipients),
};
#define ENDPOINT_FIELDS (sizeof(endpoint_fields) / sizeof(endpoint_fields[0]))

void pay_lmdb_endpoint_key(pay_lmdb_key_t *key, const pay_scope_t *scope, pay_endpoint_kind_t kind)
{
    unsigned char byte = (unsigned char)kind;

    pay_lmdb_key_of_scope(key, scope);
    (void)pay_lmdb_key_bytes(key, &byte, 1);
}

int pay_lmdb_endpoint_key_read(pay_scope_t *scope, pay_endpoint_kind_t *kind, const void *bytes,
                               size_t len)
{
    const unsigned char *at = bytes;
    const unsigned char *number = at + PAY_LMDB_SCOPE_LEN;

    if (len != PAY_LMDB_ENDPOINT_KEY_LEN || *number < PAY_ENDPOINT_WEBHOOK
        || *number > PAY_ENDPOINT_KIND_LAST) {
        return 0;
    }
    pay_lmdb_read_scope(scope, at);
    *kind = (pay_endpoint_kind_t)*number;
    return 1;
}

int pay_lmdb_endpoint_decode(pay_endpoint_t **out, const MDB_val *key, const MDB_val *row,
                             apr_pool_t *p)
{
    pay_endpoint_t *endpoint = apr_pcalloc(p, sizeof(*endpoint));
    int rc;

    *out = NULL;
    if (!pay_lmdb_endpoint_key_read(&endpoint->scope, &endpoint->kind, key->mv_data,
                                    key->mv_size)) {
        return pay_lmdb_bad_row(PAY_TABLE_ENDPOINT, key);
    }
    rc = pay_row_decode(endpoint, endpoint_fields, ENDPOINT_FIELDS, row, NULL, p);
    if (rc) {
        return pay_lmdb_bad_row(PAY_TABLE_ENDPOINT, key);
    }
    *out = endpoint;
    return MDB_SUCCESS;
}

int pay_lmdb_endpoint_load(pay_endpoint_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                           pay_endpoint_kind_t kind, apr_pool_t *p)
{
    pay_lmdb_key_t key;
    MDB_val at, row;
    int rc;

    *out = NULL;
    pay_lmdb_endpoint_key(&key, scope, kind);
    at = pay_lmdb_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_ENDPOINT, &at);
    return rc ? rc : pay_lmdb_endpoint_decode(out, &at, &row, p);
}

int pay_lmdb_endpoint_store(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, apr_pool_t *p)
{
    pay_lmdb_key_t key;
    MDB_val at, row;
    int rc;

    rc = pay_row_encode(&row, endpoint_fields, ENDPOINT_FIELDS, endpoint, p);
    if (rc) {
        return rc;
    }
    pay_lmdb_endpoint_key(&key, &endpoint->scope, endpoint->kind);
    at = pay_lmdb_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_ENDPOINT, &at, &row, 0);
}

static void due_key(pay_lmdb_key_t *key, const pay_endpoint_t *endpoint)
{
    unsigned char byte = (unsigned char)endpoint->kind;

    pay_lmdb_key_start(key);
    pay_lmdb_key_time(key, endpoint->due_at);
    pay_lmdb_key_scope(key, &endpoint->scope);
    (void)pay_lmdb_key_bytes(key, &byte, 1);
}

int pay_lmdb_endpoint_move(pay_rows_txn_t *txn, pay_endpoint_t *endpoint, apr_time_t due_at)
{
    MDB_val at, nothing = {0, NULL};
    pay_lmdb_key_t key;
    int rc = MDB_SUCCESS;

    if (endpoint->due_at == due_at) {
        return MDB_SUCCESS;
    }
    if (endpoint->due_at) {
        due_key(&key, endpoint);
        at = pay_lmdb_key_val(&key);
        rc = pay_rows_del(txn, PAY_TABLE_ENDPOINT_DUE, &at);
    }
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    endpoint->due_at = due_at;
    if (!due_at) {
        return MDB_SUCCESS;
    }
    due_key(&key, endpoint);
    at = pay_lmdb_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_ENDPOINT_DUE, &at, &nothing, 0);
}

int pay_lmdb_endpoint_hasten(int *moved, pay_rows_txn_t *txn, pay_endpoint_t *endpoint,
                             apr_time_t due_at)
{
    /* Later than any back-off says: the clock was set back since. */
    const apr_interval_time_t wait_max = 2 * pay_endpoint_wait(APR_UINT32_MAX);

    *moved = 0;
    if (endpoint->due_at
        && (endpoint->due_at <= due_at
            || (pay_endpoint_is_failing(endpoint) && endpoint->due_at - due_at <= wait_max))) {
        return MDB_SUCCESS;
    }
    *moved = 1;
    return pay_lmdb_endpoint_move(txn, endpoint, due_at);
}
