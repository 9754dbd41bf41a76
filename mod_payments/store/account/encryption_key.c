/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/encryption_key.h"

#include "store/account/account.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

/* The scope is in the row's key. */
static const pay_row_field_t record_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_encryption_key_t, public_pem),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_encryption_key_t, sealed),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_encryption_key_t, created_at),
};
#define RECORD_FIELDS (sizeof(record_fields) / sizeof(record_fields[0]))

typedef struct put_t {
    const pay_encryption_key_t *proposal;
    int replace;
    apr_pool_t *p;
    pay_encryption_key_t *out;
} put_t;

typedef struct reseal_t {
    const pay_scope_t *scope;
    const char *was, *sealed;
    apr_pool_t *p;
    int changed;
} reseal_t;

static void record_key(pay_store_key_t *key, const pay_scope_t *scope)
{
    pay_store_key_of_scope(key, scope);
}

int pay_store_encryption_key_decode(pay_encryption_key_t **out, const pay_bytes_t *key,
                                    const pay_bytes_t *row, apr_pool_t *p)
{
    pay_encryption_key_t *record = apr_pcalloc(p, sizeof(*record));
    int rc;

    *out = NULL;
    if (key->len != PAY_STORE_SCOPE_LEN) {
        return pay_rows_bad(PAY_TABLE_ENCRYPTION_KEY, key);
    }
    rc = pay_row_decode(record, record_fields, RECORD_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_ENCRYPTION_KEY, key);
    }
    pay_store_read_scope(&record->scope, key->data);
    *out = record;
    return 0;
}

static int record_load(pay_encryption_key_t **out, pay_rows_txn_t *txn, const pay_scope_t *scope,
                       apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    record_key(&key, scope);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_ENCRYPTION_KEY, &at);
    return rc ? rc : pay_store_encryption_key_decode(out, &at, &row, p);
}

int pay_store_encryption_key_store(pay_rows_txn_t *txn, const pay_encryption_key_t *record,
                                   apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    rc = pay_row_encode(&row, record_fields, RECORD_FIELDS, record, p);
    if (rc) {
        return rc;
    }
    record_key(&key, &record->scope);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_ENCRYPTION_KEY, &at, &row, 0);
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    put_t *put = baton;
    pay_encryption_key_t *record;
    pay_account_t *account;
    int rc;

    put->out = NULL;
    rc = pay_store_account_by_number(&account, txn, put->proposal->scope.account, put->p);
    if (rc) {
        return rc;
    }
    rc =
        put->replace ? PAY_ROWS_NOTFOUND : record_load(&record, txn, &put->proposal->scope, put->p);
    if (!rc) {
        put->out = record;
        return PAY_ROWS_SILENT;
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        record = apr_pmemdup(put->p, put->proposal, sizeof(*record));
        record->created_at = pay_store_time_now();
        rc = pay_store_encryption_key_store(txn, record, put->p);
    }
    if (!rc) {
        put->out = record;
    }
    return rc;
}

apr_status_t pay_store_encryption_key_put(pay_encryption_key_t **out, pay_store_t *store,
                                          const pay_encryption_key_t *key, int replace,
                                          apr_pool_t *p)
{
    put_t put = {.proposal = key, .replace = replace, .p = p};
    apr_status_t rv;

    *out = NULL;
    assert(key->public_pem);
    assert(key->sealed);
    rv = pay_rows_commit(store, pay_turn_scope(&key->scope), 1, put_work, &put);
    if (rv == APR_SUCCESS) {
        *out = put.out;
    }
    return rv;
}

apr_status_t pay_store_encryption_key_get(pay_encryption_key_t **out, pay_store_t *store,
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
    rc = record_load(out, &txn, scope, p);
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    apr_array_header_t *records = baton;
    pay_encryption_key_t *record;
    int rc;

    (void)txn;
    rc = pay_store_encryption_key_decode(&record, key, val, records->pool);
    if (!rc) {
        APR_ARRAY_PUSH(records, pay_encryption_key_t *) = record;
    }
    return rc;
}

apr_status_t pay_store_encryption_key_list(apr_array_header_t **out, pay_store_t *store,
                                           const pay_scope_t *after, int limit, apr_pool_t *p)
{
    pay_store_key_t from;

    *out = apr_array_make(p, 16, sizeof(pay_encryption_key_t *));
    pay_store_key_start(&from);
    if (after) {
        record_key(&from, after);
    }
    return pay_store_walk_page(store, PAY_TABLE_ENCRYPTION_KEY, NULL, &from, limit, list_visit,
                               *out);
}

static int reseal_work(pay_rows_txn_t *txn, void *baton)
{
    reseal_t *reseal = baton;
    pay_encryption_key_t *record;
    int rc;

    reseal->changed = 0;
    rc = record_load(&record, txn, reseal->scope, reseal->p);
    if (rc || strcmp(record->sealed, reseal->was) != 0) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    record->sealed = reseal->sealed;
    reseal->changed = 1;
    return pay_store_encryption_key_store(txn, record, reseal->p);
}

apr_status_t pay_store_encryption_key_reseal(int *changed, pay_store_t *store,
                                             const pay_scope_t *scope, const char *was,
                                             const char *sealed, apr_pool_t *p)
{
    reseal_t reseal = {.scope = scope, .was = was, .sealed = sealed, .p = p};
    apr_status_t rv;

    *changed = 0;
    rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(scope), 0, reseal_work, &reseal);
    if (rv == APR_SUCCESS) {
        *changed = reseal.changed;
    }
    return rv;
}
