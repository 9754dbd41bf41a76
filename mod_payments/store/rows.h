/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ROWS_H
#define PAY_STORE_ROWS_H

/*
 * The seam between the units of work and the engine: rows in tables, ordered by their keys, read
 * and written inside a transaction (docs/store.md describes every table). Keys lead with the scope,
 * numbers are big-endian (store/keys.h); values are rows of store/row.h unless the table says
 * otherwise. Rows in order: store/rows_scan.h. No file outside store/ includes it.
 */

#include "store/bytes.h"
#include "store/store.h"

#define PAY_STORE_SCHEMA_VERSION 1

/*
 * Each table: PAY_TABLE_ and this, its name in LMDB, the turn of its writers (pay_turn_t), and key
 * -> value. LMDB numbers them in this order, so that a new one goes to the end. An index needs only
 * its line here and the declaration of the record (store/record/index.h).
 *
 * SCOPE: the key begins with a scope, and needs its turn. TIMED: with a time, and then a scope.
 * ACCOUNT: with the number of an account. STORE: the store's. ANY: names and digests, which belong
 * to no scope; any turn may write them.
 *
 * Names on disk never change: idempotency records are in "kept" and "kept_due".
 */
/* clang-format off */
#define PAY_ROWS_TABLES(X) \
    X(META, "meta", ANY) /* name -> bytes: "schema", "epoch", ... */ \
    X(ACCOUNT, "account", ACCOUNT) /* account number -> account row */ \
    X(ACCOUNT_NAME, "account_name", STORE) /* name -> account number */ \
    X(API_KEY, "api_key", ANY) /* SHA-256 of the key -> key row */ \
    X(API_KEY_ID, "api_key_id", ANY) /* id -> SHA-256 */ \
    X(TOKEN, "token", SCOPE) /* scope, token -> token row */ \
    X(SCOPE, "scope", SCOPE) /* scope -> scope row: last sequences, last createdAt */ \
    X(CHARGE, "charge", SCOPE) /* scope, seq -> charge row */ \
    X(CHARGE_REF, "charge_ref", SCOPE) /* scope, reference -> seq */ \
    X(REFUND, "refund", SCOPE) /* scope, createdAt, seq -> header, final JSON text */ \
    X(REFUND_REF, "refund_ref", SCOPE) /* scope, refund reference -> refund key */ \
    X(REFUND_ID, "refund_id", SCOPE) /* scope, refund id -> refund key */ \
    X(REFUND_BY_CHARGE, "refund_by_charge", SCOPE) /* scope, charge seq, seq -> refund key */ \
    X(REFUND_REPEAT, "refund_repeat", SCOPE) /* scope, charge seq, digest, seq -> refund key */ \
    X(CHARGE_BY_TIME, "charge_by_time", SCOPE) /* scope, createdAt, seq -> mark of the e-mail */ \
    X(IDEMPOTENCY, "kept", SCOPE) /* scope, key kind, operation, SHA-256 of the key -> row */ \
    X(IDEMPOTENCY_DUE, "kept_due", TIMED) /* time it expires, key of the record -> empty */ \
    X(TOTAL, "total", SCOPE) /* scope, step, currency, import number -> counts and sums */ \
    X(PENDING_DUE, "pending_due", TIMED) /* due time, scope, kind, seq -> refund key, or empty */ \
    X(ENDPOINT, "endpoint", SCOPE) /* scope, kind -> endpoint row */ \
    X(ENDPOINT_DUE, "endpoint_due", TIMED) /* time at which it is due, scope, kind -> empty */ \
    X(EVENT, "event", SCOPE) /* scope, endpoint kind, charge seq, sequence -> event row */ \
    X(EVENT_DUE, "event_due", SCOPE) /* scope, endpoint kind, due time, charge seq -> empty */ \
    X(EVENT_PARKED, "event_parked", SCOPE) /* scope, endpoint kind, charge seq -> empty */ \
    X(ACQUIRER, "acquirer", SCOPE) /* scope, kind, name at the acquirer -> seq or refund key */ \
    X(LATE_DUE, "late_due", TIMED) /* as pending_due: late queries */ \
    X(HELD, "held", SCOPE) /* scope, kind, seq -> refund key, or empty for a charge */ \
    X(GRANT, "grant", ACCOUNT) /* account number, SHA-256 of host and user -> row */ \
    X(GRANT_USER, "grant_user", STORE) /* SHA-256 of host and user, account number -> empty */ \
    X(ENCRYPTION_KEY, "encryption_key", SCOPE) /* scope -> encryption key row */ \
    X(AUDIT, "audit", ACCOUNT) /* account number (0: the store), seq -> entry; appended only */ \
    X(CHECKOUT, "checkout", SCOPE) /* scope, seq of the charge -> checkout row */ \
    X(PAGE, "page", ANY) /* page id -> its target: kind, scope, seq or reference */ \
    X(LINK, "link", SCOPE) /* scope, reference of a payment link -> link row */ \
    X(CHECKOUT_SWEEP, "checkout_sweep", TIMED) /* time it ended, scope, seq -> empty */
/* clang-format on */

#define PAY_ROWS_TABLE_ID(id, name, turn) PAY_TABLE_##id,
typedef enum pay_table_t { PAY_ROWS_TABLES(PAY_ROWS_TABLE_ID) PAY_TABLE_COUNT } pay_table_t;

struct pay_rows_txn_t;

/*
 * Announces the rows that a unit of work will read, by pay_rows_hint alone, from the work's own
 * `baton`. Runs on the thread that called pay_rows_commit, before the turn is taken and the work
 * runs, or not at all: it reads and changes nothing.
 */
typedef void (*pay_rows_hints_t)(struct pay_rows_txn_t *txn, const void *baton);

/*
 * The rows that a unit of work may write: declared before the work runs; a write outside of them is
 * refused. LMDB has one writer, so that a turn costs nothing; an engine with more takes the turns
 * of a transaction first, and has one writer for each.
 */
typedef struct pay_turn_t {
    enum {
        PAY_TURN_NONE,    /* for read transactions */
        PAY_TURN_SCOPE,   /* rows of a scope */
        PAY_TURN_ACCOUNT, /* an account's own row, its grants and its audit */
        PAY_TURN_STORE,   /* rows of no account, and all of PAY_TURN_ACCOUNT */
        PAY_TURN_ALL /* everything: work in the background, which finds its scopes as it goes */
    } kind;
    pay_scope_t scope;      /* of an account: its number alone */
    pay_rows_hints_t hints; /* NULL: the rows to read are not announced */
} pay_turn_t;

static inline pay_turn_t pay_turn_scope(const pay_scope_t *scope)
{
    return (pay_turn_t){.kind = PAY_TURN_SCOPE, .scope = *scope};
}

static inline pay_turn_t pay_turn_account(apr_uint32_t account)
{
    return (pay_turn_t){.kind = PAY_TURN_ACCOUNT, .scope = {account, PAY_TEST}};
}

static inline pay_turn_t pay_turn_store(void)
{
    return (pay_turn_t){.kind = PAY_TURN_STORE};
}

static inline pay_turn_t pay_turn_all(void)
{
    return (pay_turn_t){.kind = PAY_TURN_ALL};
}

/* Returns the turn of a work whose `hints` announce the rows that it will read. */
static inline pay_turn_t pay_turn_hinted(pay_turn_t turn, pay_rows_hints_t hints)
{
    turn.hints = hints;
    return turn;
}

/*
 * From this one on tables are missing in stores of earlier versions: any process that may write
 * adds them.
 */
#define PAY_TABLE_LATER_FIRST PAY_TABLE_CHECKOUT_SWEEP

/*
 * Codes of the seam, besides 0 for success and errno's, which are positive. The first four have
 * LMDB's numbers (store/rows_lmdb.h); other codes of an engine pass through the units of work to
 * pay_rows_status.
 */
#define PAY_ROWS_EXISTS (-30799)    /* the key has a row already */
#define PAY_ROWS_NOTFOUND (-30798)  /* the key has no row; a scan: there are no more */
#define PAY_ROWS_CORRUPTED (-30796) /* rows contradict each other */
#define PAY_ROWS_FULL (-30792)      /* the store has no room left */
#define PAY_ROWS_BAD (-30001)       /* a row does not decode */

/*
 * Returned by a work instead of 0 if it made no change for the audit: a refusal, or a state that
 * was so already. Rows that it wrote (a key with the refusal) are still committed.
 */
#define PAY_ROWS_SILENT (-30002)

/*
 * Maps the codes of the seam, the engine and errno to the statuses of store/store.h: the only place
 * that does.
 */
apr_status_t pay_rows_status(int rc);

/*
 * Returns the original handle of one that pay_store_audited made: for commits that are a step on
 * the way to a change, which has its entry in the audit at its end.
 */
pay_store_t *pay_rows_base(pay_store_t *db);

/*
 * A transaction, of one thread: made by pay_rows_begin, or by the commit for a unit of work, which
 * reaches the tables by the functions below alone. They return 0, PAY_ROWS_NOTFOUND,
 * PAY_ROWS_EXISTS, or another code, after which the transaction is given up. The bytes of a row
 * belong to the engine: they are valid until the next write in the transaction, or its end.
 */
typedef struct pay_rows_txn_t {
    void *native;       /* the engine's own transaction */
    pay_store_t *store; /* NULL while its environment is being opened */
    pay_turn_t turn;
} pay_rows_txn_t;

/*
 * Announces that the row under the key will be read, and for one that contains another row's key
 * (charge_ref, refund_ref) that row as well. An engine over a network fetches them with the locks
 * of the turns, in one trip; each row that is read without a hint costs a trip of its own. It is no
 * promise: a hinted row may be missing, and need not be read. Rows of the scope of the turn (table
 * scope) come with the turn. LMDB runs no pay_rows_hints_t: its rows are in memory.
 */
void pay_rows_hint(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key);

/* Returns 1 if the transaction may write a row under the key; else logs a refusal and returns 0. */
int pay_rows_may_write(const pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key);

/* Reads the row under the key, in the state of this transaction; PAY_ROWS_NOTFOUND. */
static inline int pay_rows_get(pay_bytes_t *row, const pay_rows_txn_t *txn, pay_table_t table,
                               const pay_bytes_t *key);
#define PAY_ROWS_NOOVERWRITE 0x10U
/*
 * Writes a row; EACCES outside the transaction's turn. `flags`: 0, or PAY_ROWS_NOOVERWRITE, which
 * returns PAY_ROWS_EXISTS and the stored row in *row if the key exists.
 */
static inline int pay_rows_put(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key,
                               pay_bytes_t *row, unsigned int flags);
/* Deletes a row; PAY_ROWS_NOTFOUND; EACCES outside the transaction's turn. */
static inline int pay_rows_del(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key);

/* Sets *count to the number of rows of a table. */
int pay_rows_count(apr_uint64_t *count, const pay_rows_txn_t *txn, pay_table_t table);

/*
 * Begins a read transaction. Never keep one across a network call, a lock or another one. After
 * APR_SUCCESS the caller must call pay_rows_end.
 */
apr_status_t pay_rows_begin(pay_rows_txn_t *txn, pay_store_t *store);
void pay_rows_end(pay_rows_txn_t *txn);

/*
 * One unit of work inside a write transaction. It may run again in a transaction of its own if its
 * batch failed: it resets its outputs at entry, draws nothing random, touches nothing outside. All
 * checks come before the first write; a refusal writes nothing and returns PAY_ROWS_SILENT with its
 * verdict in the baton. Any other code aborts.
 *
 * Another thread may run it, inside the leader's transaction: the leader of the batch runs the work
 * of all, while each waiter, which called pay_rows_commit, sleeps until its work is done. The work
 * allocates from the waiter's pool (the baton names it) and writes to the waiter's memory; nothing
 * else touches them meanwhile. It reads no thread-local state of the waiter, waits for no lock that
 * the waiter holds, and keeps neither `txn` nor a pointer into the store's pages.
 */
typedef int (*pay_rows_work_t)(pay_rows_txn_t *txn, void *baton);

/*
 * Runs `work` in a write transaction that has the turn, and returns after its commit is durable.
 * EBUSY: no turn within the commit wait, nothing done. EUNKNOWN: the commit itself failed.
 * Otherwise the status of the code that `work` returned, nothing done. `grows` 1: the work adds
 * charges, refunds or the like, and is refused with EFULL below the reserve. PAY_ROWS_GROWS_MUCH:
 * so much at once that the room is measured again, not believed for a second.
 */
#define PAY_ROWS_GROWS_MUCH 2
apr_status_t pay_rows_commit(pay_store_t *store, pay_turn_t turn, int grows, pay_rows_work_t work,
                             void *baton);

/* Logs that a stored row does not decode, with table and key, and returns PAY_ROWS_BAD. */
int pay_rows_bad(pay_table_t table, const pay_bytes_t *key);
const char *pay_rows_table_name(pay_table_t table);
/*
 * Returns 1 for a table that came later, in a store of an earlier version that was opened for
 * reading only.
 */
int pay_rows_table_is_missing(const pay_rows_txn_t *txn, pay_table_t table);

#include "store/rows_lmdb.h"

#endif
