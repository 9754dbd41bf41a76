/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_refund.h"

#include "store/pay_lmdb_charge.h"
#include "store/pay_lmdb_due.h"
#include "store/pay_lmdb_kept.h"
#include "store/pay_lmdb_scope.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

typedef struct open_t {
    const pay_refund_t *proposal;
    const pay_idempotency_t *use; /* NULL: none */
    apr_interval_time_t repeat_window;
    apr_pool_t *p;
    pay_kept_t *kept; /* what the key is known for: then nothing else is set */
    pay_refund_t *out;
    pay_charge_t *charge; /* NULL: there is none */
    pay_refund_verdict_t verdict;
    apr_status_t refused; /* a proposal that no charge could take */
    apr_interval_time_t stepped_back;
} open_t;

apr_status_t pay_lmdb_refund_find(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                                  const char *refund_reference, apr_pool_t *p)
{
    pay_lmdb_t *db = (pay_lmdb_t *)store;
    pay_lmdb_refund_t *row;
    MDB_txn *txn;
    apr_status_t rv;
    int rc, visible = 0;

    *out = NULL;
    rv = pay_lmdb_read_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_lmdb_refund_get_name(&row, txn, db, PAY_TABLE_REFUND_REF, scope, refund_reference, p);
    if (!rc) {
        rc = pay_lmdb_refund_visible(&visible, txn, db, &row->refund);
    }
    pay_lmdb_read_end(db, txn);
    if (rc) {
        return pay_lmdb_status(rc);
    }
    if (!visible) {
        return APR_NOTFOUND;
    }
    *out = &row->refund;
    return APR_SUCCESS;
}

static int same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static int is_repeat(const pay_refund_t *refund, const pay_refund_t *proposal)
{
    return proposal->money.amount_minor > 0
           && refund->money.amount_minor == proposal->money.amount_minor
           && same_text(refund->customer_note, proposal->customer_note)
           && same_text(refund->merchant_note, proposal->merchant_note);
}

/* The cursor on the newest refund of the charge; MDB_NOTFOUND when the table ends before. */
static int seek_newest(MDB_cursor *cursor, MDB_val *key, MDB_val *val, const pay_charge_t *charge)
{
    pay_lmdb_key_t beyond;
    int rc;

    pay_lmdb_refund_by_charge_key(&beyond, &charge->scope, charge->seq + 1, 0);
    *key = pay_lmdb_key_val(&beyond);
    rc = mdb_cursor_get(cursor, key, val, MDB_SET_RANGE);
    if (rc && rc != MDB_NOTFOUND) {
        return rc;
    }
    return mdb_cursor_get(cursor, key, val, rc == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
}

/*
 * Looks at one earlier refund of the charge. *over 1: older ones matter no more. Only one refund of
 * ours is pending at a time and none is opened meanwhile, so it is the newest of ours. A failed one
 * moved nothing: asking again for it is no repetition.
 */
static int look_at(int *over, int *pending, open_t *open, MDB_txn *txn, const pay_lmdb_t *db,
                   const MDB_val *refund_key, apr_time_t now)
{
    const pay_refund_t *refund;
    pay_lmdb_refund_t *row;
    MDB_val key = *refund_key, val;
    int rc;

    if (key.mv_size != PAY_LMDB_REFUND_KEY_LEN) {
        return pay_lmdb_bad_row(PAY_TABLE_REFUND_BY_CHARGE, &key);
    }
    rc = mdb_get(txn, pay_lmdb_dbi(db, PAY_TABLE_REFUND), &key, &val);
    if (rc) {
        return rc == MDB_NOTFOUND ? pay_lmdb_bad_row(PAY_TABLE_REFUND, &key) : rc;
    }
    rc = pay_lmdb_refund_peek(&row, &key, &val, open->p);
    if (rc) {
        return rc;
    }
    refund = &row->refund;
    if (refund->import_number != 0) {
        return MDB_SUCCESS;
    }
    if (refund->state == PAY_REFUND_PENDING) {
        *pending = 1;
    } else if (refund->created_at < now - open->repeat_window) {
        *over = 1;
        return MDB_SUCCESS;
    }
    if (open->repeat_window == 0 || refund->state == PAY_REFUND_FAILED
        || refund->money.amount_minor != open->proposal->money.amount_minor) {
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_refund_decode(&row, &key, &val, open->p);
    if (!rc && is_repeat(&row->refund, open->proposal)) {
        open->verdict = PAY_REFUND_REFUSED_REPEATED;
        open->out = &row->refund;
        *over = 1;
    }
    return rc;
}

/* The charge's refunds from the newest back: is one pending, was this one just made (R5)? */
static int look_back(int *pending, open_t *open, MDB_txn *txn, const pay_lmdb_t *db)
{
    const size_t prefix_len = PAY_LMDB_SCOPE_LEN + sizeof(apr_uint64_t);
    apr_time_t now = pay_lmdb_scope_now(0);
    pay_lmdb_key_t prefix;
    MDB_cursor *cursor;
    MDB_val key, refund_key;
    int rc, over = 0;

    *pending = 0;
    pay_lmdb_refund_by_charge_key(&prefix, &open->charge->scope, open->charge->seq, 0);
    rc = mdb_cursor_open(txn, pay_lmdb_dbi(db, PAY_TABLE_REFUND_BY_CHARGE), &cursor);
    if (rc) {
        return rc;
    }
    rc = seek_newest(cursor, &key, &refund_key, open->charge);
    while (!rc && !over && key.mv_size > prefix_len
           && memcmp(key.mv_data, prefix.bytes, prefix_len) == 0) {
        rc = look_at(&over, pending, open, txn, db, &refund_key, now);
        if (!rc) {
            rc = mdb_cursor_get(cursor, &key, &refund_key, MDB_PREV);
        }
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/*
 * Sets the verdict, and the amount when it is PAY_REFUND_OPENED. What no pending refund's fate can
 * change comes before R4; what is still pending comes after it (of imported history, which nobody
 * works on).
 */
static int judge(apr_int64_t *amount_minor, open_t *open, MDB_txn *txn, const pay_lmdb_t *db)
{
    const pay_charge_t *charge = open->charge;
    apr_int64_t wanted = open->proposal->money.amount_minor;
    apr_int64_t unrefunded = charge->money.amount_minor - charge->refunded_minor;
    apr_int64_t left = unrefunded > 0 ? unrefunded - charge->refunds_pending_minor : 0;
    int rc, pending;

    *amount_minor = 0;
    open->verdict = PAY_REFUND_OPENED;
    if (charge->state != PAY_CHARGE_SUCCESSFUL) {
        open->verdict = charge->state == PAY_CHARGE_REVERSED ? PAY_REFUND_REFUSED_FULL
                                                             : PAY_REFUND_REFUSED_STATE;
        return MDB_SUCCESS;
    }
    rc = look_back(&pending, open, txn, db);
    if (rc || open->verdict != PAY_REFUND_OPENED) {
        return rc;
    }
    if (unrefunded <= 0) {
        open->verdict = PAY_REFUND_REFUSED_FULL;
    } else if (wanted > unrefunded) {
        open->verdict = PAY_REFUND_REFUSED_ABOVE;
    } else if (pending) {
        open->verdict = PAY_REFUND_REFUSED_BUSY;
    } else if (left <= 0) {
        open->verdict = PAY_REFUND_REFUSED_FULL;
    } else if (wanted > left) {
        open->verdict = PAY_REFUND_REFUSED_ABOVE;
    } else {
        *amount_minor = wanted > 0 ? wanted : left;
    }
    return MDB_SUCCESS;
}

/* open->refused when id or reference is in use: both are random, so it is a caller's mistake. */
static int check_names(open_t *open, MDB_txn *txn, const pay_lmdb_t *db)
{
    const pay_refund_t *refund = open->proposal;
    const struct {
        pay_lmdb_table_t table;
        const char *name;
    } names[] = {{PAY_TABLE_REFUND_REF, refund->refund_reference},
                 {PAY_TABLE_REFUND_ID, refund->id}};
    pay_lmdb_key_t key;
    MDB_val at, val;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!pay_lmdb_refund_name_key(&key, &refund->scope, names[i].name)) {
            open->refused = APR_EINVAL;
            return MDB_SUCCESS;
        }
        at = pay_lmdb_key_val(&key);
        rc = mdb_get(txn, pay_lmdb_dbi(db, names[i].table), &at, &val);
        if (rc != MDB_NOTFOUND) {
            open->refused = APR_EEXIST;
            return rc;
        }
    }
    return MDB_SUCCESS;
}

static pay_lmdb_refund_t *opened(const open_t *open, apr_int64_t amount_minor, apr_uint64_t seq,
                                 apr_time_t now)
{
    pay_lmdb_refund_t *row = apr_pcalloc(open->p, sizeof(*row));
    pay_refund_t *refund = &row->refund;

    *refund = *open->proposal;
    refund->money = open->charge->money;
    refund->money.amount_minor = amount_minor;
    refund->state = PAY_REFUND_PENDING;
    refund->decided_state = PAY_REFUND_PENDING;
    refund->decided_at = 0;
    refund->transaction_reference = open->charge->reference;
    refund->created_at = now;
    refund->updated_at = now;
    refund->seq = seq;
    refund->charge_seq = open->charge->seq;
    refund->import_number = 0;
    refund->acquirer = pay_lmdb_text_cut(open->proposal->acquirer, PAY_LMDB_NAME_MAX, open->p);
    refund->key_id = pay_lmdb_text_cut(open->proposal->key_id, PAY_LMDB_NAME_MAX, open->p);
    refund->attempts = 0;
    row->contradiction = "";
    return row;
}

/* The refund was allowed: row, indexes, charge and scope change together. */
static int insert(open_t *open, MDB_txn *txn, const pay_lmdb_t *db, apr_int64_t amount_minor)
{
    const pay_scope_t *scope = &open->proposal->scope;
    pay_lmdb_scope_t last;
    pay_lmdb_refund_t *row;
    pay_refund_t *refund;
    int rc;

    rc = pay_lmdb_scope_get(&last, txn, db, scope);
    if (rc) {
        return rc;
    }
    last.refund_seq++;
    row = opened(open, amount_minor, last.refund_seq,
                 pay_lmdb_scope_stamp(&open->stepped_back, &last));
    refund = &row->refund;
    rc = pay_lmdb_charge_refund_moved(open->charge, PAY_REFUND_FAILED, PAY_REFUND_PENDING,
                                      amount_minor);
    if (rc) {
        return rc;
    }
    open->charge->updated_at = refund->created_at;
    rc = pay_lmdb_refund_insert(txn, db, row, pay_lmdb_refund_text(refund, open->p), open->p);
    if (rc) {
        return rc;
    }
    rc = pay_lmdb_due_put_refund(txn, db, refund);
    if (rc) {
        return rc;
    }
    rc = pay_lmdb_charge_put(txn, db, open->charge, 0, open->p);
    if (rc) {
        return rc;
    }
    if (open->use) {
        rc = pay_lmdb_kept_add_refund(txn, db, open->use, refund, open->p);
        if (rc) {
            return rc;
        }
    }
    open->out = refund;
    return pay_lmdb_scope_put(txn, db, scope, &last, open->p);
}

/* What no later try can change is kept; of a refund that is still pending nobody knows (R4). */
static int keep_refusal(const open_t *open, MDB_txn *txn, const pay_lmdb_t *db)
{
    if (!open->use || open->verdict == PAY_REFUND_REFUSED_BUSY) {
        return MDB_SUCCESS;
    }
    return pay_lmdb_kept_add_refusal(txn, db, &open->proposal->scope, open->use, open->verdict,
                                     pay_lmdb_scope_now(0), open->p);
}

static int open_work(MDB_txn *txn, pay_lmdb_t *db, void *baton)
{
    open_t *open = baton;
    const pay_refund_t *proposal = open->proposal;
    apr_int64_t amount_minor;
    int rc;

    open->kept = NULL;
    open->out = NULL;
    open->charge = NULL;
    open->verdict = PAY_REFUND_OPENED;
    open->refused = APR_SUCCESS;
    open->stepped_back = 0;
    if (open->use) {
        rc = pay_lmdb_kept_get(&open->kept, txn, db, &proposal->scope, open->use, open->p);
        if (rc != MDB_NOTFOUND) {
            return rc;
        }
    }
    rc = pay_lmdb_charge_get_ref(&open->charge, txn, db, &proposal->scope,
                                 proposal->transaction_reference, open->p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (proposal->money.amount_minor > 0
        && strcmp(proposal->money.currency, open->charge->money.currency) != 0) {
        open->refused = APR_EINVAL;
        return MDB_SUCCESS;
    }
    rc = judge(&amount_minor, open, txn, db);
    if (rc) {
        return rc;
    }
    if (open->verdict != PAY_REFUND_OPENED) {
        return keep_refusal(open, txn, db);
    }
    rc = check_names(open, txn, db);
    if (rc || open->refused != APR_SUCCESS) {
        return rc;
    }
    return insert(open, txn, db, amount_minor);
}

apr_status_t pay_lmdb_refund_open(pay_refund_t **out, pay_charge_t **charge,
                                  pay_refund_verdict_t *verdict, pay_kept_t **kept,
                                  pay_store_t *store, const pay_refund_t *proposal,
                                  const pay_idempotency_t *use, apr_interval_time_t repeat_window,
                                  apr_pool_t *p)
{
    /* A key says by itself whether a request is a repetition. */
    open_t open = {
        .proposal = proposal, .use = use, .repeat_window = use ? 0 : repeat_window, .p = p};
    apr_status_t rv;

    *out = NULL;
    *charge = NULL;
    *verdict = PAY_REFUND_REFUSED_STATE;
    *kept = NULL;
    assert(proposal->transaction_reference);
    assert(proposal->money.amount_minor >= 0);
    assert(proposal->due_at > 0);
    assert(repeat_window >= 0);
    rv = pay_lmdb_commit((pay_lmdb_t *)store, 1, open_work, &open);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (open.kept) {
        *kept = open.kept;
        return APR_SUCCESS;
    }
    if (!open.charge) {
        return APR_NOTFOUND;
    }
    if (open.refused != APR_SUCCESS) {
        return open.refused;
    }
    pay_lmdb_scope_log_step(&proposal->scope, open.stepped_back);
    *out = open.out;
    *charge = open.charge;
    *verdict = open.verdict;
    return APR_SUCCESS;
}
