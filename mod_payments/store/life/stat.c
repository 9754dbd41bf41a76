/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "base/text/time.h"
#include "store/lmdb/raw.h"
#include "store/payment/due.h"
#include "store/record/epoch.h"

#include <apr_strings.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    pay_table_t table;
    size_t offset; /* of the count in pay_store_stat_t */
} counted[] = {
    {PAY_TABLE_ACCOUNT, offsetof(pay_store_stat_t, accounts)},
    {PAY_TABLE_API_KEY, offsetof(pay_store_stat_t, api_keys)},
    {PAY_TABLE_TOKEN, offsetof(pay_store_stat_t, tokens)},
    {PAY_TABLE_CHARGE, offsetof(pay_store_stat_t, charges)},
    {PAY_TABLE_REFUND, offsetof(pay_store_stat_t, refunds)},
    {PAY_TABLE_HELD, offsetof(pay_store_stat_t, held)},
    {PAY_TABLE_IDEMPOTENCY, offsetof(pay_store_stat_t, idempotency_records)},
    {PAY_TABLE_EVENT, offsetof(pay_store_stat_t, events)},
    {PAY_TABLE_EVENT_PARKED, offsetof(pay_store_stat_t, parked)},
};

static int stat_tables(pay_store_stat_t *out, pay_rows_txn_t *txn)
{
    apr_uint64_t count;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
        rc = pay_rows_count(&count, txn, counted[i].table);
        if (rc) {
            return rc;
        }
        memcpy((char *)out + counted[i].offset, &count, sizeof(count));
    }
    return pay_store_due_count(&out->pending, &out->checkouts_open, txn);
}

apr_status_t pay_store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    apr_uint32_t version;
    struct stat file;
    apr_status_t rv;
    pay_rows_txn_t txn;
    int rc;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_lmdb_schema_get(&version, txn.native);
    if (!rc) {
        out->schema_version = version;
        rc = stat_tables(out, &txn);
    }
    if (!rc) {
        rc = pay_lmdb_space_stat(out, &txn);
    }
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (stat(apr_pstrcat(p, store->path, "/" PAY_LMDB_DATA_FILE, NULL), &file) == 0) {
        out->file_bytes = (apr_int64_t)file.st_size;
    }
    out->disk_free_bytes = pay_lmdb_space_disk_free(store->path);
    return APR_SUCCESS;
}

apr_status_t pay_store_backup(pay_store_t *store, const char *path, apr_pool_t *p)
{
    apr_time_t began = pay_time_now();

    return pay_lmdb_copy(store, path, pay_store_restore_mark, &began, p);
}
