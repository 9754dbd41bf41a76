/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/endpoint.h"

#include "store/record/record.h"
#include "store/row.h"

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

void pay_store_endpoint_key(pay_store_key_t *key, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_of_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
}

int pay_store_endpoint_key_read(pay_scope_t *scope, pay_endpoint_kind_t *kind, const void *bytes,
                                size_t len)
{
    const unsigned char *at = bytes;
    const unsigned char *number = at + PAY_STORE_SCOPE_LEN;

    if (len != PAY_STORE_ENDPOINT_KEY_LEN || *number < PAY_ENDPOINT_WEBHOOK
        || *number > PAY_ENDPOINT_KIND_LAST) {
        return 0;
    }
    pay_store_read_scope(scope, at);
    *kind = (pay_endpoint_kind_t)*number;
    return 1;
}

int pay_store_endpoint_decode(pay_endpoint_t **out, const MDB_val *key, const MDB_val *row,
                              apr_pool_t *p)
{
    pay_endpoint_t *endpoint = apr_pcalloc(p, sizeof(*endpoint));
    int rc;

    *out = NULL;
    if (!pay_store_endpoint_key_read(&endpoint->scope, &endpoint->kind, key->mv_data,
                                     key->mv_size)) {
        return pay_rows_bad(PAY_TABLE_ENDPOINT, key);
    }
    rc = pay_row_decode(endpoint, endpoint_fields, ENDPOINT_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_ENDPOINT, key);
    }
    *out = endpoint;
    return MDB_SUCCESS;
}

/* ---- when it is looked at next */

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_endpoint_t *endpoint = record;

    if (!endpoint->due_at) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_ENDPOINT_DUE;
    entry->value_len = 0;
    pay_store_key_start(&entry->key);
    pay_store_key_time(&entry->key, endpoint->due_at);
    (void)pay_store_key_bytes(&entry->key, at->bytes, at->len);
    return MDB_SUCCESS;
}

static int row_of_due(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    (void)value;
    return pay_store_key_of(row_key, (const char *)key->mv_data + 8, PAY_STORE_ENDPOINT_KEY_LEN);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_ENDPOINT_DUE},
     .key_len = PAY_STORE_ENDPOINT_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of_due,
     .missing = "it is due, but nothing will look",
     .astray = "leads to no endpoint that is due"},
};

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    pay_endpoint_t *endpoint = NULL;
    MDB_val at = *row_key, row;
    int rc;

    rc = pay_rows_get(&row, txn, PAY_TABLE_ENDPOINT, &at);
    if (!rc) {
        rc = pay_store_endpoint_decode(&endpoint, row_key, &row, p);
    }
    *record = endpoint;
    return rc;
}

const pay_store_record_t pay_store_endpoint_record = {
    .table = PAY_TABLE_ENDPOINT, .indexes = indexes, .index_count = 1, .load = load};

const pay_store_timed_t pay_store_endpoint_due = {.table = PAY_TABLE_ENDPOINT_DUE,
                                                  .key_len = PAY_STORE_ENDPOINT_DUE_KEY_LEN};

/* ---- the row */

int pay_store_endpoint_load(pay_endpoint_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                            pay_endpoint_kind_t kind, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val at;
    void *record;
    int rc;

    pay_store_endpoint_key(&key, scope, kind);
    at = pay_store_key_val(&key);
    rc = load(&record, txn, &at, p);
    *out = record;
    return rc;
}

int pay_store_endpoint_store(pay_rows_txn_t *txn, const pay_endpoint_t *endpoint, apr_pool_t *p)
{
    pay_store_key_t key;
    MDB_val row;
    int rc;

    rc = pay_row_encode(&row, endpoint_fields, ENDPOINT_FIELDS, endpoint, p);
    if (rc) {
        return rc;
    }
    pay_store_endpoint_key(&key, &endpoint->scope, endpoint->kind);
    return pay_store_record_store(txn, &pay_store_endpoint_record, &key, &row, endpoint, p);
}

int pay_store_endpoint_hasten(pay_endpoint_t *endpoint, apr_time_t due_at)
{
    /* Later than any back-off says: the clock was set back since. */
    const apr_interval_time_t wait_max = 2 * pay_endpoint_wait(APR_UINT32_MAX);

    if (endpoint->due_at
        && (endpoint->due_at <= due_at
            || (pay_endpoint_is_failing(endpoint) && endpoint->due_at - due_at <= wait_max))) {
        return 0;
    }
    endpoint->due_at = due_at;
    return 1;
}
