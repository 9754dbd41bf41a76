/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include "store/keys.h"
#include "store/row.h"

#include <string.h>

/* Rows "defaults/<account name>" of the table meta. */
static const char defaults_prefix[] = "defaults/";

static const pay_row_field_t settings_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, key_prefix),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, currency),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, timezone),
};
#define SETTINGS_FIELDS (sizeof(settings_fields) / sizeof(settings_fields[0]))

typedef struct defaults_work_t {
    pay_store_key_t key;
    MDB_val row;
} defaults_work_t;

/* 0: no account can have such a name. */
static int defaults_key(pay_store_key_t *key, const char *name)
{
    pay_store_key_start(key);
    if (*name && pay_account_name_check(name) != APR_SUCCESS) {
        return 0;
    }
    return pay_store_key_bytes(key, defaults_prefix, sizeof(defaults_prefix) - 1)
           && pay_store_key_bytes(key, name, strlen(name));
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    defaults_work_t *work = baton;
    MDB_val key = pay_store_key_val(&work->key);
    MDB_val row = work->row;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

static int defaults_read(MDB_val *row, pay_rows_txn_t *txn, const char *name, pay_store_key_t *key)
{
    MDB_val at;

    if (!defaults_key(key, name)) {
        return MDB_NOTFOUND;
    }
    at = pay_store_key_val(key);
    return pay_rows_get(row, txn, PAY_TABLE_META, &at);
}

/* 1 when the store holds just these already: each start of a server says them again. */
static int defaults_are(pay_store_t *db, const char *name, const MDB_val *wanted)
{
    pay_store_key_t key;
    MDB_val row;
    pay_rows_txn_t txn;
    int same;

    if (pay_rows_begin(&txn, db) != APR_SUCCESS) {
        return 0;
    }
    same = defaults_read(&row, &txn, name, &key) == 0 && row.mv_size == wanted->mv_size
           && memcmp(row.mv_data, wanted->mv_data, row.mv_size) == 0;
    pay_rows_end(&txn);
    return same;
}

apr_status_t pay_store_defaults_put(pay_store_t *store, const char *name,
                                    const pay_account_settings_t *settings, apr_pool_t *p)
{
    defaults_work_t work;
    int rc;

    if (!defaults_key(&work.key, name)) {
        return APR_EINVAL;
    }
    if (!settings->key_prefix || !settings->currency || !settings->timezone) {
        return APR_EINVAL;
    }
    rc = pay_row_encode(&work.row, settings_fields, SETTINGS_FIELDS, settings, p);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (defaults_are(store, name, &work.row)) {
        return APR_SUCCESS;
    }
    return pay_rows_commit(store, pay_turn_store(), 0, put_work, &work);
}

static int settings_decode(pay_account_settings_t *out, const MDB_val *row,
                           const pay_store_key_t *key, apr_pool_t *p)
{
    MDB_val at = pay_store_key_val(key);
    int rc;

    rc = pay_row_decode(out, settings_fields, SETTINGS_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_META, &at);
    }
    return 0;
}

apr_status_t pay_store_defaults_get(pay_account_settings_t **out, pay_store_t *store,
                                    const char *name, apr_pool_t *p)
{
    pay_account_settings_t *settings = apr_palloc(p, sizeof(*settings));
    pay_store_key_t key;
    apr_status_t rv;
    MDB_val row;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    *settings = pay_account_settings_builtin;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = defaults_read(&row, &txn, name, &key);
    if (rc == MDB_NOTFOUND && *name) {
        rc = defaults_read(&row, &txn, "", &key);
    }
    if (!rc) {
        rc = settings_decode(settings, &row, &key, p);
    }
    pay_rows_end(&txn);
    if (rc && rc != MDB_NOTFOUND) {
        return pay_rows_status(rc);
    }
    *out = settings;
    return APR_SUCCESS;
}
