/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#define STRIDE 4096       /* no page is smaller */
#define AGREE_TRIES_MAX 5 /* another process may commit between the two looks */
#define AGREE_PAUSE apr_time_from_msec(20)

/* Reads a byte of each page that the value lies in. */
static void value_touch(const MDB_val *val)
{
    const volatile unsigned char *at = val->mv_data;
    size_t i;

    for (i = 0; i < val->mv_size; i += STRIDE) {
        (void)at[i];
    }
    if (val->mv_size > 0) {
        (void)at[val->mv_size - 1];
    }
}

/* Every page of a table: the rows, and what leads to them. */
static int table_touch(pay_rows_txn_t *txn, MDB_dbi dbi)
{
    MDB_cursor *cursor;
    MDB_val key, val;
    int rc;

    rc = mdb_cursor_open(txn->mdb, dbi, &cursor);
    if (rc) {
        return rc;
    }
    rc = mdb_cursor_get(cursor, &key, &val, MDB_FIRST);
    while (!rc) {
        value_touch(&key);
        value_touch(&val);
        rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* LMDB's own two tables, free pages and names, and ours. */
apr_status_t pay_lmdb_pages_touch(pay_store_t *store)
{
    apr_status_t rv;
    pay_rows_txn_t txn;
    MDB_dbi dbi;
    int rc = 0;

    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (dbi = 0; !rc && dbi < PAY_LMDB_DBI_FIRST + PAY_TABLE_COUNT; dbi++) {
        if (dbi < PAY_LMDB_DBI_FIRST
            || !pay_rows_table_is_missing(&txn, (pay_table_t)(dbi - PAY_LMDB_DBI_FIRST))) {
            rc = table_touch(&txn, dbi);
        }
    }
    pay_rows_end(&txn);
    return pay_rows_status(rc);
}

/*
 * LMDB takes the number of the last transaction from lock.mdb while any process has the store open.
 * Of another data.mdb, put in place meanwhile, it would take the wrong one of the two newest
 * states.
 */
apr_status_t pay_lmdb_pages_agree(int *agree, pay_store_t *store)
{
    MDB_envinfo info;
    apr_status_t rv;
    size_t number;
    pay_rows_txn_t txn;
    int tries;

    *agree = 0;
    for (tries = 0; tries < AGREE_TRIES_MAX && !*agree; tries++) {
        if (tries > 0) {
            apr_sleep(AGREE_PAUSE);
        }
        rv = pay_rows_begin(&txn, store);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        number = mdb_txn_id(txn.mdb);
        (void)mdb_env_info(mdb_txn_env(txn.mdb), &info);
        pay_rows_end(&txn);
        *agree = number == info.me_last_txnid;
    }
    return APR_SUCCESS;
}
