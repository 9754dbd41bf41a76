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

typedef enum pay_lmdb_table_t {
    PAY_TABLE_META,             /* name -> bytes: "schema", "defaults/<name>", "epoch", ... */
    PAY_TABLE_ACCOUNT,          /* account number -> account row */
    PAY_TABLE_ACCOUNT_NAME,     /* name -> account number */
    PAY_TABLE_API_KEY,          /* SHA-256 of the key -> key row */
    PAY_TABLE_API_KEY_ID,       /* id -> SHA-256 */
    PAY_TABLE_TOKEN,            /* scope, token -> token row */
    PAY_TABLE_SCOPE,            /* scope -> scope row: last sequences, last createdAt */
    PAY_TABLE_CHARGE,           /* scope, seq -> charge row */
    PAY_TABLE_CHARGE_REF,       /* scope, reference -> seq */
    PAY_TABLE_REFUND,           /* scope, createdAt, seq -> refund header + final JSON text */
    PAY_TABLE_REFUND_REF,       /* scope, refund reference -> refund key */
    PAY_TABLE_REFUND_ID,        /* scope, refund id -> refund key */
    PAY_TABLE_REFUND_BY_CHARGE, /* scope, charge seq, refund seq -> refund key */
    PAY_TABLE_REFUND_REPEAT,    /* scope, charge seq, digest, refund seq -> refund key */
    PAY_TABLE_CHARGE_BY_TIME,   /* scope, createdAt, seq -> mark of the e-mail */
    PAY_TABLE_KEPT,         /* scope, key kind, operation, SHA-256 of an Idempotency-Key -> row */
    PAY_TABLE_KEPT_DUE,     /* end of its time, key of kept -> empty */
    PAY_TABLE_TOTAL,        /* scope, step, currency, import number -> counts and sums */
    PAY_TABLE_PENDING_DUE,  /* due time, scope, kind, seq -> refund key, or empty for a charge */
    PAY_TABLE_ENDPOINT,     /* scope, kind -> endpoint row */
    PAY_TABLE_ENDPOINT_DUE, /* when it is looked at next, scope, kind -> empty */
    PAY_TABLE_EVENT,        /* scope, endpoint kind, charge seq, sequence -> event row */
    PAY_TABLE_EVENT_DUE,    /* scope, endpoint kind, due time, charge seq -> empty */
    PAY_TABLE_EVENT_PARKED, /* scope, endpoint kind, charge seq -> empty */
    PAY_TABLE_ACQUIRER,     /* scope, kind, name at the acquirer -> charge seq or refund key */
    PAY_TABLE_LATE_DUE,     /* as pending_due: what failed for absence and is asked about late */
    PAY_TABLE_HELD,         /* scope, kind, seq -> refund key, or empty for a charge */
    PAY_TABLE_GRANT,        /* account number, SHA-256 of host and user -> grant row */
    PAY_TABLE_GRANT_USER,   /* SHA-256 of host and user, account number -> empty */
    /* scope -> encryption key row */
    PAY_TABLE_ENCRYPTION_KEY,
    PAY_TABLE_AUDIT,    /* account number (0: the store), seq -> entry; only ever appended */
    PAY_TABLE_CHECKOUT, /* scope, seq of the charge -> checkout row */
    PAY_TABLE_PAGE,     /* page id -> what it is of: kind, scope, seq or reference */
    PAY_TABLE_LINK,     /* scope, reference of a payment link -> link row */
    /* When it ended, scope, seq of a checkout that is removed unless it was paid -> empty */
    PAY_TABLE_CHECKOUT_SWEEP,
    PAY_TABLE_COUNT
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
