/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_endpoint.h"
#include "store/pay_lmdb_scope.h"
#include "store/pay_lmdb_walk.h"

#include <assert.h>
#include <string.h>

/* The time leads the keys of pending_due, so that those of other scopes lie between. */
static int count_pending(int *count, MDB_txn *txn, const pay_lmdb_t *db,
                         const pay_lmdb_key_t *scope, pay_lmdb_due_part_t part, int limit)
{
    const unsigned char *at;
    MDB_cursor *cursor;
    MDB_val key, val;
    int rc, looks;

    rc = mdb_cursor_open(txn, pay_lmdb_dbi(db, PAY_TABLE_PENDING_DUE), &cursor);
    if (rc) {
        return rc;
    }
    rc = pay_lmdb_due_seek(cursor, part, &key, &val);
    for (looks = 0; !rc && *count < limit && looks < PAY_STORE_LOOKS_MAX; looks++) {
        if (pay_lmdb_due_part(&key) != part) {
            break;
        }
        at = (const unsigned char *)key.mv_data + 8;
        if (key.mv_size == PAY_LMDB_DUE_KEY_LEN && memcmp(at, scope->bytes, scope->len) == 0
            && at[PAY_LMDB_SCOPE_LEN] == PAY_DUE_CHARGE) {
            ++*count;
        }
        rc = mdb_cursor_get(cursor, &key, &val, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int count_all(pay_waiting_t *out, MDB_txn *txn, const pay_lmdb_t *db,
                     const pay_scope_t *scope, int limit)
{
    pay_lmdb_key_t prefix, webhook;
    pay_lmdb_scope_t last;
    int rc;

    pay_lmdb_key_start(&prefix);
    pay_lmdb_key_scope(&prefix, scope);
    pay_lmdb_endpoint_key(&webhook, scope, PAY_ENDPOINT_WEBHOOK);
    rc = pay_lmdb_scope_get(&last, txn, db, scope);
    if (rc) {
        return rc;
    }
    out->charges = last.charge_seq > 0;
    rc = count_pending(&out->pending, txn, db, &prefix, PAY_DUE_SENT, limit);
    if (!rc) {
        rc = count_pending(&out->open, txn, db, &prefix, PAY_DUE_OPEN, limit);
    }
    if (!rc) {
        rc = pay_lmdb_walk_count(&out->held, txn, db, PAY_TABLE_HELD, &prefix, limit);
    }
    if (!rc) {
        rc = pay_lmdb_walk_count(&out->webhooks, txn, db, PAY_TABLE_EVENT, &webhook, limit);
    }
    if (!rc) {
        rc = pay_lmdb_walk_count(&out->parked, txn, db, PAY_TABLE_EVENT_PARKED, &webhook, limit);
    }
    return rc;
}

apr_status_t pay_lmdb_waiting_count(pay_waiting_t *out, pay_store_t *store,
                                    const pay_scope_t *scope, int limit)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    MDB_txn *txn;
    apr_status_t rv;
    int rc;

    assert(limit >= 1);
    memset(out, 0, sizeof(*out));
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = count_all(out, txn, db, scope, limit);
    pay_lmdb_read_end(db, txn);
    return pay_lmdb_status(rc);
}
