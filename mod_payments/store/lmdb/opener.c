/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "base/shared/worker.h"
#include "store/row.h"

#include <errno.h>
#include <string.h>

/*
 * LMDB recognizes dead readers by their pids, and a process locks the byte at its pid: processes
 * that see different pids (containers) corrupt each other's reader table. So the row "opener" of
 * the table meta names the boot and PID namespace of the processes that have the store open.
 * Another namespace takes over when no process has it open, which LMDB's lock on the first byte of
 * lock.mdb shows.
 */
typedef struct opener_t {
    apr_int64_t boot_id;
    apr_int64_t namespace_id;
} opener_t;

static const pay_row_field_t opener_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, opener_t, boot_id),
    PAY_ROW_FIELD(PAY_ROW_INT, opener_t, namespace_id),
};
#define OPENER_FIELDS (sizeof(opener_fields) / sizeof(opener_fields[0]))

static const char opener_name[] = "opener";

/* A missing or undecodable row names no namespace. */
static int opener_get(opener_t *out, MDB_txn *txn)
{
    const pay_bytes_t key = {sizeof(opener_name) - 1, opener_name};
    pay_bytes_t val;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = mdb_get(txn, pay_lmdb_dbi(PAY_TABLE_META), pay_lmdb_val(&key), pay_lmdb_val(&val));
    if (rc) {
        return rc == MDB_NOTFOUND ? 0 : rc;
    }
    if (pay_row_decode(out, opener_fields, OPENER_FIELDS, &val, NULL, NULL) != 0) {
        memset(out, 0, sizeof(*out));
    }
    return 0;
}

static int opener_put(MDB_txn *txn, const opener_t *self)
{
    const pay_bytes_t key = {sizeof(opener_name) - 1, opener_name};
    apr_pool_t *pool;
    pay_bytes_t val;
    int rc;

    rc = apr_pool_create(&pool, NULL);
    if (rc != APR_SUCCESS) {
        return rc;
    }
    rc = pay_row_encode(&val, opener_fields, OPENER_FIELDS, self, pool);
    if (!rc) {
        rc = mdb_put(txn, pay_lmdb_dbi(PAY_TABLE_META), pay_lmdb_val(&key), pay_lmdb_val(&val), 0);
    }
    apr_pool_destroy(pool);
    return rc;
}

static int is_foreign(const opener_t *opener, const opener_t *self)
{
    return opener->boot_id == self->boot_id && opener->namespace_id != self->namespace_id;
}

/* Takes the store over; sets *foreign to 1 if another namespace uses it. */
static int opener_take(int *foreign, MDB_env *mdb, int lock_fd, const opener_t *self)
{
    opener_t opener;
    MDB_txn *txn;
    int rc;

    *foreign = 0;
    rc = mdb_txn_begin(mdb, NULL, 0, &txn);
    if (rc) {
        return rc;
    }
    rc = opener_get(&opener, txn);
    if (!rc && is_foreign(&opener, self) && pay_lmdb_files_is_shared(lock_fd)) {
        *foreign = 1;
    }
    if (!rc && !*foreign) {
        rc = opener_put(txn, self);
    }
    if (rc || *foreign) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int opener_read(opener_t *out, MDB_env *mdb)
{
    MDB_txn *txn;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn);
    if (rc) {
        return rc;
    }
    rc = opener_get(out, txn);
    mdb_txn_abort(txn);
    return rc;
}

apr_status_t pay_lmdb_opener_check(MDB_env *mdb, int lock_fd, const char *path, int read_only,
                                   pay_lmdb_reason_t *reason)
{
    opener_t self = {pay_worker_self().boot_id, pay_worker_namespace()};
    opener_t opener;
    int foreign;
    int rc;

    if (!self.boot_id || !self.namespace_id) {
        return APR_SUCCESS; /* no proc file system: nothing to compare */
    }
    rc = opener_read(&opener, mdb);
    if (!rc && opener.boot_id == self.boot_id && opener.namespace_id == self.namespace_id) {
        return APR_SUCCESS;
    }
    foreign = is_foreign(&opener, &self) && pay_lmdb_files_is_shared(lock_fd);
    if (!rc && !foreign && !read_only) {
        rc = opener_take(&foreign, mdb, lock_fd, &self);
        if (rc == MDB_MAP_FULL || rc == ENOSPC || rc == EIO) {
            rc = 0; /* a full store (EIO: a full disk, at commit) must still be readable */
        }
    }
    if (rc) {
        pay_lmdb_reason_set(reason, "store %s: the row of its opener: %s", path, mdb_strerror(rc));
        return pay_rows_status(rc);
    }
    if (foreign) {
        pay_lmdb_reason_set(reason,
                            "store %s is open in another PID namespace (container): LMDB cannot be "
                            "shared between them; stop the processes there, or run these in the "
                            "same namespace",
                            path);
        return PAY_STORE_EDOWN;
    }
    return APR_SUCCESS;
}
