/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/limits.h"

#include "store/lmdb/env.h"
#include "store/row.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The row "limits" of the table meta. New fields go to the end. */
static const char limits_name[] = "limits";

static const pay_row_field_t limits_fields[] = {
    PAY_ROW_MAX(pay_store_limits_t, map_bytes, APR_INT64_MAX),
    PAY_ROW_MAX(pay_store_limits_t, reserve_bytes, APR_INT64_MAX),
    PAY_ROW_MAX(pay_store_limits_t, account_rows_max, INT_MAX),
};
#define LIMITS_FIELDS (sizeof(limits_fields) / sizeof(limits_fields[0]))

int pay_store_limits_get(pay_store_limits_t *out, pay_rows_txn_t *txn)
{
    MDB_val key = {sizeof(limits_name) - 1, (void *)limits_name}, row;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = pay_rows_get(&row, txn, PAY_TABLE_META, &key);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    rc = pay_row_decode(out, limits_fields, LIMITS_FIELDS, &row, NULL, NULL);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_META, &key);
    }
    return MDB_SUCCESS;
}

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    MDB_val key = {sizeof(limits_name) - 1, (void *)limits_name}, row = *(const MDB_val *)baton;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

/* A row that does not decode is written anew. */
static int limits_are(pay_store_t *db, const pay_store_limits_t *limits)
{
    pay_store_limits_t stored;
    pay_rows_txn_t txn;
    int same;

    if (pay_rows_begin(&txn, db) != APR_SUCCESS) {
        return 0;
    }
    same = pay_store_limits_get(&stored, &txn) == MDB_SUCCESS
           && stored.map_bytes == limits->map_bytes && stored.reserve_bytes == limits->reserve_bytes
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
    MDB_val row;
    int rc;

    if (limits_are(db, &limits)) { /* each start of a server says them again */
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

    rc = pay_store_limits_get(&limits, txn);
    if (rc == PAY_ROWS_BAD) {
        return MDB_SUCCESS; /* told by the check; a person must be able to mend the store */
    }
    if (!rc && limits.map_bytes >= sysconf(_SC_PAGESIZE)) { /* else no server has prepared it */
        own->map_bytes = limits.map_bytes;
        own->reserve_bytes = limits.reserve_bytes;
    }
    return rc;
}
