/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/keys.h"
#include "store/lmdb/env.h"
#include "store/rows_scan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define SCHEMA_LEN 4
#define LOGGED_KEY_MAX 64 /* bytes of a key in a log line */

static const char schema_name[] = "schema";

#define TABLE_NAME(id, name, turn) [PAY_TABLE_##id] = (name),
static const char *const table_names[] = {PAY_ROWS_TABLES(TABLE_NAME)};

const char *pay_rows_table_name(pay_table_t table)
{
    assert(table < PAY_TABLE_COUNT);
    return table_names[table];
}

MDB_dbi pay_lmdb_dbi(pay_table_t table)
{
    assert(table < PAY_TABLE_COUNT);
    return (MDB_dbi)(PAY_LMDB_DBI_FIRST + table); /* pay_lmdb_tables_open guarantees it */
}

int pay_rows_count(apr_uint64_t *count, const pay_rows_txn_t *txn, pay_table_t table)
{
    MDB_stat stat;
    int rc;

    rc = mdb_stat(txn->native, pay_lmdb_dbi(table), &stat);
    *count = rc ? 0 : stat.ms_entries;
    return rc;
}

int pay_rows_table_is_missing(const pay_rows_txn_t *txn, pay_table_t table)
{
    unsigned int flags;

    return table >= PAY_TABLE_LATER_FIRST
           && mdb_dbi_flags(txn->native, pay_lmdb_dbi(table), &flags) == EINVAL;
}

int pay_rows_bad(pay_table_t table, const pay_bytes_t *key)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = key->data;
    char hex[2 * LOGGED_KEY_MAX + 1];
    size_t len = key->len < LOGGED_KEY_MAX ? key->len : LOGGED_KEY_MAX;
    size_t i;

    /* In this table the scope is followed by the token itself, which nobody may read. */
    if (table == PAY_TABLE_TOKEN && len > PAY_STORE_SCOPE_LEN) {
        len = PAY_STORE_SCOPE_LEN;
    }
    for (i = 0; i < len; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * len] = '\0';
    pay_log(PAY_LOG_ERR, APR_SUCCESS,
            PAYLOGNO(00104) "table %s: the row of key 0x%s%s does not decode; run paymentsctl "
                            "store check and restore the store from a backup",
            pay_rows_table_name(table), hex, len < key->len ? "..." : "");
    return PAY_ROWS_BAD;
}

int pay_lmdb_schema_get(apr_uint32_t *version, MDB_txn *txn)
{
    const pay_bytes_t key = {sizeof(schema_name) - 1, schema_name};
    MDB_val val;
    int rc;

    *version = 0;
    rc = mdb_get(txn, pay_lmdb_dbi(PAY_TABLE_META), pay_lmdb_val(&key), &val);
    if (rc) {
        return rc;
    }
    if (val.mv_size != SCHEMA_LEN) {
        return pay_rows_bad(PAY_TABLE_META, &key);
    }
    *version = pay_store_read_u32(val.mv_data);
    return 0;
}

apr_status_t pay_lmdb_schema_check(pay_lmdb_env_t *env, MDB_txn *txn)
{
    apr_uint32_t version;
    int rc;

    rc = pay_lmdb_schema_get(&version, txn);
    if (rc) {
        return rc == MDB_NOTFOUND ? PAY_STORE_ESCHEMA : pay_rows_status(rc);
    }
    if (version == PAY_STORE_SCHEMA_VERSION) {
        return APR_SUCCESS;
    }
    if (pay_lmdb_env_log_due(env, PAY_LMDB_CAUSE_SCHEMA)) {
        pay_log(
            PAY_LOG_ERR, PAY_STORE_ESCHEMA,
            PAYLOGNO(00110) "store %s was upgraded to schema version %u while this program, which "
                            "uses version %u, had it open: restart with the newer program",
            env->path, version, (unsigned int)PAY_STORE_SCHEMA_VERSION);
    }
    return PAY_STORE_ESCHEMA;
}

static int schema_put(MDB_txn *txn)
{
    const pay_bytes_t key = {sizeof(schema_name) - 1, schema_name};
    pay_store_key_t number;
    pay_bytes_t val;
    int rc;

    pay_store_key_start(&number);
    pay_store_key_u32(&number, PAY_STORE_SCHEMA_VERSION);
    val = pay_store_key_val(&number);
    rc = mdb_put(txn, pay_lmdb_dbi(PAY_TABLE_META), pay_lmdb_val(&key), pay_lmdb_val(&val),
                 MDB_NOOVERWRITE);
    return rc == MDB_KEYEXIST ? 0 : rc; /* another process was faster */
}

/* Opens one table; LMDB numbers handles in this order as long as nothing else opens one. */
static int table_open(MDB_txn *txn, pay_table_t table, unsigned int flags)
{
    MDB_dbi dbi;
    int rc;

    rc = mdb_dbi_open(txn, table_names[table], flags, &dbi);
    if (rc) {
        return rc;
    }
    return dbi == pay_lmdb_dbi(table) ? 0 : MDB_INCOMPATIBLE;
}

/* All tables and the schema version in one transaction: a store has all of them or none. */
static int tables_create(MDB_env *mdb)
{
    MDB_txn *txn;
    int table;
    int rc;

    rc = mdb_txn_begin(mdb, NULL, 0, &txn);
    if (rc) {
        return rc;
    }
    for (table = 0; !rc && table < PAY_TABLE_COUNT; table++) {
        rc = table_open(txn, (pay_table_t)table, MDB_CREATE);
    }
    if (!rc) {
        rc = schema_put(txn);
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

/*
 * ENOENT: the environment has no tables yet. Sets *lacks to 1 if only the tables that were added
 * later are missing.
 */
static int tables_find(apr_uint32_t *version, int *lacks, MDB_env *mdb)
{
    MDB_txn *txn;
    int table;
    int rc;

    *version = 0;
    *lacks = 0;
    rc = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn);
    if (rc) {
        return rc;
    }
    rc = table_open(txn, PAY_TABLE_META, 0);
    if (rc == MDB_NOTFOUND) {
        rc = ENOENT;
    }
    if (!rc) {
        rc = pay_lmdb_schema_get(version, txn);
    }
    for (table = PAY_TABLE_META + 1; !rc && *version == PAY_STORE_SCHEMA_VERSION; table++) {
        if (table == PAY_TABLE_COUNT) {
            break;
        }
        rc = table_open(txn, (pay_table_t)table, 0);
        if (rc == MDB_NOTFOUND && table >= PAY_TABLE_LATER_FIRST) {
            *lacks = 1; /* and all after it: they were added in this order */
            rc = 0;
            break;
        }
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn); /* keeps the handles */
}

static apr_status_t schema_judge(apr_uint32_t version, const char *path, pay_lmdb_reason_t *reason)
{
    if (version == PAY_STORE_SCHEMA_VERSION) {
        return APR_SUCCESS;
    }
    if (version > PAY_STORE_SCHEMA_VERSION) {
        pay_lmdb_reason_set(reason,
                            "store %s has schema version %u, this program supports versions up "
                            "to %u: install the newer mod_payments that wrote it",
                            path, version, (unsigned int)PAY_STORE_SCHEMA_VERSION);
    } else {
        pay_lmdb_reason_set(reason,
                            "store %s has schema version %u, this program uses %u: stop the "
                            "server and run \"paymentsctl -s lmdb:%s store upgrade\"",
                            path, version, (unsigned int)PAY_STORE_SCHEMA_VERSION, path);
    }
    return PAY_STORE_ESCHEMA;
}

apr_status_t pay_lmdb_tables_open(MDB_env *mdb, const char *path, int create, int read_only,
                                  pay_lmdb_reason_t *reason)
{
    apr_uint32_t version;
    int rc, lacks;

    rc = tables_find(&version, &lacks, mdb);
    if (rc == ENOENT && create) {
        rc = tables_create(mdb);
        version = PAY_STORE_SCHEMA_VERSION;
    } else if (!rc && lacks && !read_only) {
        rc = tables_create(mdb);
        if (rc == MDB_MAP_FULL || rc == ENOSPC || rc == EIO) {
            rc = 0; /* a full store (EIO: a full disk, at commit) is served without them */
        }
    }
    if (rc == ENOENT) {
        pay_lmdb_reason_set(reason,
                            "%s holds no tables: let the server's start or \"paymentsctl -s "
                            "lmdb:%s account create NAME\" create them",
                            path, path);
        return PAY_STORE_EDOWN;
    }
    if (rc == MDB_MAP_FULL) {
        pay_lmdb_reason_set(reason, "store %s has no room for its tables: raise PaymentsStoreSize",
                            path);
        return PAY_STORE_EFULL;
    }
    if (rc == MDB_NOTFOUND) {
        pay_lmdb_reason_set(reason,
                            "store %s lacks tables of schema version %u: a version before the "
                            "first release created it. Move it away and begin with a new one",
                            path, (unsigned int)PAY_STORE_SCHEMA_VERSION);
        return PAY_STORE_ESCHEMA;
    }
    if (rc) {
        pay_lmdb_reason_set(reason, "store %s: its tables cannot be opened: %s", path,
                            rc == PAY_ROWS_BAD ? "the schema version does not decode"
                                               : mdb_strerror(rc));
        return pay_rows_status(rc);
    }
    return schema_judge(version, path, reason);
}

/* ---- scans */

static int move(pay_bytes_t *key, pay_bytes_t *row, const pay_rows_scan_t *scan, MDB_cursor_op op)
{
    return mdb_cursor_get(scan->cursor, pay_lmdb_val(key), pay_lmdb_val(row), op);
}

/* Moves to the last row below the key. */
static int seek_below(pay_bytes_t *key, pay_bytes_t *row, const pay_rows_scan_t *scan)
{
    int rc = move(key, row, scan, MDB_SET_RANGE);

    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    return move(key, row, scan, rc ? MDB_LAST : MDB_PREV);
}

static int seek(pay_bytes_t *key, pay_bytes_t *row, const pay_rows_scan_t *scan)
{
    const int is_given = scan->from && scan->from->len > 0;
    const pay_store_key_t *from = is_given ? scan->from : scan->prefix;
    int rc;

    if (!from || from->len == 0) {
        return move(key, row, scan, scan->way == PAY_ROWS_BEFORE ? MDB_LAST : MDB_FIRST);
    }
    *key = pay_store_key_val(from);
    if (scan->way == PAY_ROWS_BEFORE) {
        return seek_below(key, row, scan);
    }
    rc = move(key, row, scan, MDB_SET_RANGE);
    if (!rc && is_given && scan->way == PAY_ROWS_AFTER && key->len == from->len
        && memcmp(key->data, from->bytes, from->len) == 0) {
        rc = move(key, row, scan, MDB_NEXT);
    }
    return rc;
}

int pay_rows_scan_start(pay_bytes_t *key, pay_bytes_t *row, pay_rows_scan_t *scan)
{
    MDB_cursor *cursor = NULL;
    int rc = MDB_SUCCESS;

    if (!scan->cursor) {
        rc = mdb_cursor_open(scan->txn->native, pay_lmdb_dbi(scan->table), &cursor);
        scan->cursor = cursor;
    }
    if (!rc) {
        rc = seek(key, row, scan);
        scan->started = 1;
    }
    return rc;
}

int pay_rows_scan_end(pay_rows_scan_t *scan, int rc)
{
    if (scan->cursor) {
        mdb_cursor_close(scan->cursor);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

int pay_rows_first(pay_bytes_t *key, pay_bytes_t *row, const pay_rows_txn_t *txn, pay_table_t table,
                   const pay_store_key_t *prefix, const pay_store_key_t *from, pay_rows_way_t way)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, table, prefix, from, way);
    int rc;

    rc = pay_rows_next(key, row, &scan);
    (void)pay_rows_scan_end(&scan, rc);
    return rc;
}

pay_bytes_t pay_rows_dup(const pay_bytes_t *val, apr_pool_t *p)
{
    return (pay_bytes_t){val->len, apr_pmemdup(p, val->data, val->len)};
}
