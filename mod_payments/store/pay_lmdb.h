/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_LMDB_H
#define PAY_LMDB_H

/*
 * What the pay_lmdb*.c files share; nobody else includes it. One environment per directory (inode)
 * and process. Keys lead with the scope, numbers are big-endian (pay_lmdb_keys.h); values are rows
 * of pay_lmdb_row.h unless the table says otherwise. docs/store.md describes every table.
 */

#include "store/pay_store.h"

#include <lmdb.h>

#define PAY_LMDB_SCHEMA_VERSION 1

/*
 * Each table: PAY_TABLE_ and this, its name in LMDB, key -> value. LMDB numbers them in this order,
 * so that a new one goes to the end. One of an index needs nothing beside its line here and what
 * the record declares (pay_lmdb_index.h).
 */
#define PAY_LMDB_TABLES(X)                                                                         \
    X(META, "meta")                 /* name -> bytes: "schema", "epoch", ... */                    \
    X(ACCOUNT, "account")           /* account number -> account row */                            \
    X(ACCOUNT_NAME, "account_name") /* name -> account number */                                   \
    X(API_KEY, "api_key")           /* SHA-256 of the key -> key row */                            \
    X(API_KEY_ID, "api_key_id")     /* id -> SHA-256 */                                            \
    X(TOKEN, "token")               /* scope, token -> token row */                                \
    X(SCOPE, "scope")               /* scope -> scope row: last sequences, last createdAt */       \
    X(CHARGE, "charge")             /* scope, seq -> charge row */                                 \
    X(CHARGE_REF, "charge_ref")     /* scope, reference -> seq */                                  \
    X(REFUND, "refund")             /* scope, createdAt, seq -> refund header + final JSON text */ \
    X(REFUND_REF, "refund_ref")     /* scope, refund reference -> refund key */                    \
    X(REFUND_ID, "refund_id")       /* scope, refund id -> refund key */                           \
    X(REFUND_BY_CHARGE, "refund_by_charge") /* scope, charge seq, refund seq -> refund key */      \
    X(REFUND_REPEAT, "refund_repeat")   /* scope, charge seq, digest, refund seq -> refund key */  \
    X(CHARGE_BY_TIME, "charge_by_time") /* scope, createdAt, seq -> mark of the e-mail */          \
    X(KEPT, "kept")         /* scope, key kind, operation, SHA-256 of an Idempotency-Key -> row */ \
    X(KEPT_DUE, "kept_due") /* end of its time, key of kept -> empty */                            \
    X(TOTAL, "total")       /* scope, step, currency, import number -> counts and sums */          \
    X(PENDING_DUE, "pending_due")   /* due time, scope, kind, seq -> refund key, or empty */       \
    X(ENDPOINT, "endpoint")         /* scope, kind -> endpoint row */                              \
    X(ENDPOINT_DUE, "endpoint_due") /* when it is looked at next, scope, kind -> empty */          \
    X(EVENT, "event")               /* scope, endpoint kind, charge seq, sequence -> event row */  \
    X(EVENT_DUE, "event_due")       /* scope, endpoint kind, due time, charge seq -> empty */      \
    X(EVENT_PARKED, "event_parked") /* scope, endpoint kind, charge seq -> empty */                \
    X(ACQUIRER, "acquirer") /* scope, kind, name at the acquirer -> charge seq or refund key */    \
    X(LATE_DUE, "late_due") /* as pending_due: what is asked about late */                         \
    X(HELD, "held")         /* scope, kind, seq -> refund key, or empty for a charge */            \
    X(GRANT, "grant")       /* account number, SHA-256 of host and user -> grant row */            \
    X(GRANT_USER, "grant_user")         /* SHA-256 of host and user, account number -> empty */    \
    X(ENCRYPTION_KEY, "encryption_key") /* scope -> encryption key row */                          \
    X(AUDIT, "audit")       /* account number (0: the store), seq -> entry; only ever appended */  \
    X(CHECKOUT, "checkout") /* scope, seq of the charge -> checkout row */                         \
    X(PAGE, "page")         /* page id -> what it is of: kind, scope, seq or reference */          \
    X(LINK, "link")         /* scope, reference of a payment link -> link row */                   \
    X(CHECKOUT_SWEEP, "checkout_sweep") /* end of an unpaid checkout, scope, seq -> empty */

#define PAY_LMDB_TABLE_ID(id, name) PAY_TABLE_##id,
typedef enum pay_lmdb_table_t {
    PAY_LMDB_TABLES(PAY_LMDB_TABLE_ID) PAY_TABLE_COUNT
} pay_lmdb_table_t;

/* From this one on stores of earlier versions lack them: whoever may write adds them. */
#define PAY_TABLE_LATER_FIRST PAY_TABLE_CHECKOUT_SWEEP

/* A code of ours beside LMDB's (negative) and errno's (positive): a row does not decode. */
#define PAY_LMDB_BAD_ROW (-30001)

/*
 * What a work returns in place of 0 when nothing came of it that the audit tells of: a refusal, or
 * what was so already. What it wrote (a key with the refusal) is committed all the same.
 */
#define PAY_LMDB_SILENT (-30002)

/* LMDB's and errno's codes to the statuses of pay_store.h: the one place where they are mapped. */
apr_status_t pay_lmdb_status(int rc);

/* The handle of a table; valid while a transaction is open. */
MDB_dbi pay_lmdb_dbi(pay_lmdb_table_t table);

/*
 * Returns the handle that was opened, of one that pay_store_audited made of it: for commits that
 * are a step on the way to a change, of which the audit tells at its end.
 */
pay_store_t *pay_lmdb_base(pay_store_t *db);

/*
 * A transaction, of one thread: made by pay_rows_begin, or by the commit for a unit of work, which
 * reaches the tables by the functions below alone. They return 0, MDB_NOTFOUND, MDB_KEYEXIST, or
 * another code, after which the transaction is given up. What a row points at belongs to the
 * engine: it is valid until the next write in the transaction, or its end, and is never written to.
 */
typedef struct pay_rows_txn_t {
    MDB_txn *mdb;
    pay_store_t *store; /* NULL while its environment is being opened */
} pay_rows_txn_t;

/* The row under the key, as this transaction left it; MDB_NOTFOUND. */
static inline int pay_rows_get(MDB_val *row, const pay_rows_txn_t *txn, pay_lmdb_table_t table,
                               const MDB_val *key)
{
    return mdb_get(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, row);
}

/*
 * Writes a row. `flags`: 0, or MDB_NOOVERWRITE, which returns MDB_KEYEXIST, with the stored row in
 * *row, if there is one under the key.
 */
static inline int pay_rows_put(pay_rows_txn_t *txn, pay_lmdb_table_t table, const MDB_val *key,
                               MDB_val *row, unsigned int flags)
{
    return mdb_put(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, row, flags);
}

/* Takes a row out; MDB_NOTFOUND. */
static inline int pay_rows_del(pay_rows_txn_t *txn, pay_lmdb_table_t table, const MDB_val *key)
{
    return mdb_del(txn->mdb, pay_lmdb_dbi(table), (MDB_val *)key, NULL);
}

/* Sets *count to the number of rows of a table. */
int pay_rows_count(apr_uint64_t *count, const pay_rows_txn_t *txn, pay_lmdb_table_t table);

/*
 * A read transaction. Never keep one across a network call, a lock or another one. On APR_SUCCESS
 * pay_rows_end is owed.
 */
apr_status_t pay_rows_begin(pay_rows_txn_t *txn, pay_store_t *store);
void pay_rows_end(pay_rows_txn_t *txn);

/*
 * One unit of work inside a write transaction. It may run again in a transaction of its own when
 * its batch failed: it resets its outputs at entry, draws nothing random, touches nothing outside.
 * All checks come before the first write; a refusal writes nothing and returns PAY_LMDB_SILENT
 * with its verdict in the baton. Any other code aborts.
 *
 * Another thread may run it, inside the leader's transaction: the one that leads the batch runs the
 * work of all, while each waiter, which called pay_lmdb_commit, sleeps until its work is done. The
 * work allocates from the waiter's pool (the baton names it) and writes to the waiter's memory;
 * nobody else touches them meanwhile. It reads no thread-local state of the waiter's, waits for no
 * lock that the waiter holds, and keeps neither `txn` nor a pointer into the store's pages.
 */
typedef int (*pay_lmdb_work_t)(pay_rows_txn_t *txn, void *baton);

/*
 * Runs `work` in a write transaction and returns after its commit is durable. EBUSY: no turn within
 * the commit wait, nothing done. EUNKNOWN: mdb_txn_commit failed. Otherwise the
 * status of what `work` returned, nothing done. `grows` 1: the work adds charges, refunds or the
 * like, and is refused with EFULL below the reserve. PAY_LMDB_GROWS_MUCH: so much at once that the
 * room is measured anew, not believed for a second.
 */
#define PAY_LMDB_GROWS_MUCH 2
apr_status_t pay_lmdb_commit(pay_store_t *db, int grows, pay_lmdb_work_t work, void *baton);

/* Logs that a stored row does not decode, with table and key, and returns PAY_LMDB_BAD_ROW. */
int pay_lmdb_bad_row(pay_lmdb_table_t table, const MDB_val *key);
const char *pay_lmdb_table_name(pay_lmdb_table_t table);
/* 1 in a store of an earlier version, opened for reading only, of a table that came later. */
int pay_lmdb_table_is_missing(const pay_rows_txn_t *txn, pay_lmdb_table_t table);

#endif
