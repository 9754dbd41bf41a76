/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/import.h"

#include "base/text/time.h"
#include "store/event/event.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/payment/refund_link.h"
#include "store/payment/total.h"
#include "store/record/audit.h"
#include "store/record/scope.h"
#include "store/record/text.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

typedef struct sweep_t {
    const pay_scope_t *scope;
    apr_uint32_t number;
    pay_store_key_t from;     /* the start of the next part */
    apr_array_header_t *keys; /* of pay_bytes_t: the rows of this part */
    apr_pool_t *ptemp;        /* for this part */
} sweep_t;

/* The next rows of the import. Sets *done to 1 if the scope has no more. */
static int collect(int *done, sweep_t *sweep, pay_rows_txn_t *txn)
{
    const pay_store_key_t from = sweep->from;
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_REFUND, &prefix, &from, PAY_ROWS_FROM);
    pay_store_refund_head_t head;
    pay_bytes_t key, row;
    int rc, visits = 0;

    sweep->keys = apr_array_make(sweep->ptemp, 64, sizeof(pay_bytes_t));
    (void)pay_store_key_of(&prefix, from.bytes, PAY_STORE_SCOPE_LEN);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && visits++ < PAY_STORE_SWEEP_VISITS_MAX
           && sweep->keys->nelts < PAY_STORE_SWEEP_ROWS_MAX) {
        /* A row whose head cannot be read is logged and left to `store check`. */
        if (pay_store_refund_head(&head, &key, &row) == 0 && head.import_number == sweep->number) {
            APR_ARRAY_PUSH(sweep->keys, pay_bytes_t) = pay_rows_dup(&key, sweep->ptemp);
        }
        rc = pay_rows_next(&key, &row, &scan);
    }
    if (!rc) {
        (void)pay_store_key_of(&sweep->from, key.data, key.len);
    }
    *done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

/* As if the refund had failed: a failed one counts nothing. */
static int give_back(pay_rows_txn_t *txn, const pay_refund_t *refund, apr_pool_t *p)
{
    if (refund->charge_seq == 0 || refund->state == PAY_REFUND_FAILED) {
        return 0;
    }
    return pay_store_charge_move_refund(NULL, txn, refund, PAY_REFUND_FAILED, p);
}

static int remove_work(pay_rows_txn_t *txn, void *baton)
{
    sweep_t *sweep = baton;
    apr_uint64_t removed = 0;
    pay_store_refund_t *row;
    pay_store_scope_t last;
    int i, rc;

    for (i = 0; i < sweep->keys->nelts; i++) {
        rc = pay_store_refund_get(&row, txn, &APR_ARRAY_IDX(sweep->keys, i, pay_bytes_t),
                                  sweep->ptemp);
        if (rc == PAY_ROWS_NOTFOUND) { /* removed by another sweep meanwhile */
            continue;
        }
        if (!rc) {
            rc = give_back(txn, &row->refund, sweep->ptemp);
        }
        if (!rc) {
            rc = pay_store_refund_remove(txn, &row->refund);
        }
        if (!rc && row->refund.state == PAY_REFUND_PROCESSED) {
            rc = pay_store_total_refund(txn, &row->refund, -1, sweep->ptemp);
        }
        if (rc) {
            return rc;
        }
        removed++;
    }
    rc = pay_store_scope_get(&last, txn, sweep->scope);
    if (rc) {
        return rc;
    }
    last.taken_back += removed;
    if (pay_store_scope_is_worker(&last)) {
        pay_store_scope_hold(&last);
    }
    return pay_store_scope_put(txn, sweep->scope, &last, sweep->ptemp);
}

/* One read transaction, and one write transaction if it found something. */
static apr_status_t sweep_part(int *done, sweep_t *sweep, pay_store_t *db)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *done = 0;
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(done, sweep, &txn);
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (sweep->keys->nelts == 0) {
        return APR_SUCCESS;
    }
    return pay_rows_commit(db, pay_turn_scope(sweep->scope), 0, remove_work, sweep);
}

apr_status_t pay_store_sweep(pay_store_t *db, const pay_scope_t *scope, apr_uint32_t number,
                             apr_pool_t *p)
{
    sweep_t sweep = {.scope = scope, .number = number};
    apr_status_t rv;
    int done = 0;

    rv = apr_pool_create(&sweep.ptemp, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    pay_store_refund_key(&sweep.from, scope, APR_INT64_MIN, 0);
    while (rv == APR_SUCCESS && !done) {
        rv = sweep_part(&done, &sweep, db);
        apr_pool_clear(sweep.ptemp);
    }
    apr_pool_destroy(sweep.ptemp);
    return rv;
}

/* ---- import */

/* How far ahead of the clock an imported createdAt may be (docs/store.md, rule 7). */
#define AHEAD_MAX apr_time_from_sec(5 * 60)

/* One record to be imported. */
typedef struct record_t {
    pay_store_refund_t row;
    const char *text;
    /* The maker's name of the charge: a batch may run again, and the row's own is overwritten. */
    const char *charge;
    int skip;   /* the batch has it already */
    int turned; /* it reversed its charge */
} record_t;

typedef struct begin_t {
    const pay_scope_t *scope;
    apr_uint32_t swept; /* the unfinished import that is completely removed, 0: no import */
    apr_pool_t *p;
    int busy;
    apr_uint32_t number;   /* assigned now, 0: not yet */
    apr_uint32_t leftover; /* the import that must be swept first, 0: no import */
} begin_t;

typedef struct rows_t {
    const pay_import_t *import;
    apr_array_header_t *records; /* of record_t */
    apr_pool_t *p;
    apr_status_t verdict;
    int at;
    apr_uint64_t written, skipped, unlinked;
} rows_t;

/*
 * Claims the scope. An unfinished import is closed first, so that nobody adds to it while it is
 * swept; then this runs again to get a number of its own.
 */
static int begin_work(pay_rows_txn_t *txn, void *baton)
{
    begin_t *begin = baton;
    pay_store_scope_t last;
    int rc;

    begin->busy = 0;
    begin->number = 0;
    begin->leftover = 0;
    rc = pay_store_scope_get(&last, txn, begin->scope);
    if (rc) {
        return rc;
    }
    if (pay_store_scope_is_held(&last)) {
        begin->busy = 1;
        return 0;
    }
    if (last.import_open != 0) {
        last.import_left = last.import_open;
        last.import_open = 0;
    }
    if (last.import_left == begin->swept) {
        begin->number = ++last.import_given;
        last.import_open = begin->number;
        last.import_left = 0;
    } else {
        begin->leftover = last.import_left;
    }
    pay_store_scope_hold(&last);
    return pay_store_scope_put(txn, begin->scope, &last, begin->p);
}

apr_status_t pay_store_import_begin(pay_import_t *out, pay_store_t *store, const pay_scope_t *scope,
                                    apr_pool_t *p)
{
    begin_t begin = {.scope = scope, .p = p};
    pay_store_t *db = pay_rows_base(store);
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    rv = pay_rows_commit(db, pay_turn_scope(scope), 0, begin_work, &begin);
    if (rv == APR_SUCCESS && begin.leftover != 0) {
        rv = pay_store_sweep(db, scope, begin.leftover, p);
        if (rv == APR_SUCCESS) {
            begin.swept = begin.leftover;
            rv = pay_rows_commit(db, pay_turn_scope(scope), 0, begin_work, &begin);
        }
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (begin.busy || begin.number == 0) { /* 0: another thread of this process began one */
        return APR_EBUSY;
    }
    out->scope = *scope;
    out->number = begin.number;
    out->told = apr_array_make(p, 1, sizeof(pay_store_told_t));
    return APR_SUCCESS;
}

/* Prepares one record, given those before it in the batch. */
static apr_status_t prepare_one(record_t *record, const pay_import_t *import,
                                const pay_refund_t *refund, apr_hash_t *ids, apr_hash_t *references,
                                apr_time_t latest, apr_pool_t *p)
{
    const record_t *twin;
    pay_refund_t *copy = &record->row.refund;
    pay_store_key_t key;

    memset(record, 0, sizeof(*record));
    pay_refund_init(copy);
    copy->id = refund->id;
    copy->refund_reference = refund->refund_reference;
    copy->money = refund->money;
    copy->scope = import->scope;
    copy->channel = refund->channel;
    copy->merchant_note = refund->merchant_note;
    copy->customer_note = refund->customer_note;
    copy->state = refund->state;
    copy->transaction_reference = refund->transaction_reference;
    copy->created_at = pay_store_time_cut(refund->created_at);
    copy->updated_at = pay_store_time_cut(refund->updated_at);
    copy->decided_state = copy->state;
    copy->decided_at = copy->state == PAY_REFUND_PENDING ? 0 : copy->updated_at;
    copy->import_number = import->number;
    copy->acquirer = pay_store_text_cut(import->acquirer, PAY_STORE_NAME_MAX, p);
    record->charge = import->by_acquirer ? refund->acquirer_charge : refund->transaction_reference;
    record->row.contradiction = "";
    record->text = pay_store_refund_text(copy, p);
    if (copy->created_at > latest || strlen(record->text) > PAY_REFUND_TEXT_MAX
        || !pay_store_refund_name_key(&key, &copy->scope, copy->id)
        || !pay_store_refund_name_key(&key, &copy->scope, copy->refund_reference)) {
        return APR_EINVAL;
    }
    twin = apr_hash_get(ids, copy->id, APR_HASH_KEY_STRING);
    if (twin) {
        record->skip = strcmp(twin->text, record->text) == 0;
        return record->skip ? APR_SUCCESS : APR_EEXIST;
    }
    if (apr_hash_get(references, copy->refund_reference, APR_HASH_KEY_STRING)) {
        return APR_EEXIST;
    }
    apr_hash_set(ids, copy->id, APR_HASH_KEY_STRING, record);
    apr_hash_set(references, copy->refund_reference, APR_HASH_KEY_STRING, record);
    return APR_SUCCESS;
}

/* Does all checks and writing that need no store, so that no writer waits for it. */
static apr_status_t prepare(rows_t *rows, const apr_array_header_t *refunds)
{
    apr_time_t latest = pay_time_now() + AHEAD_MAX;
    apr_hash_t *ids = apr_hash_make(rows->p);
    apr_hash_t *references = apr_hash_make(rows->p);
    apr_status_t rv = APR_SUCCESS;

    rows->records = apr_array_make(rows->p, refunds->nelts, sizeof(record_t));
    for (rows->at = 0; rows->at < refunds->nelts; rows->at++) {
        rv = prepare_one(&APR_ARRAY_PUSH(rows->records, record_t), rows->import,
                         APR_ARRAY_IDX(refunds, rows->at, const pay_refund_t *), ids, references,
                         latest, rows->p);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return rv;
}

/* The text stored under an id; PAY_ROWS_NOTFOUND if the id is free. */
static int stored_text(pay_bytes_t *text, pay_rows_txn_t *txn, const pay_store_key_t *id)
{
    pay_bytes_t at = pay_store_key_val(id), refund_key, row;
    pay_store_refund_head_t head;
    int rc;

    rc = pay_rows_get(&refund_key, txn, PAY_TABLE_REFUND_ID, &at);
    if (rc) {
        return rc;
    }
    rc = pay_rows_get(&row, txn, PAY_TABLE_REFUND, &refund_key);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_ID, &at) : rc;
    }
    rc = pay_store_refund_head(&head, &refund_key, &row);
    *text = head.text;
    return rc;
}

/*
 * Sets *same to 1 if the row stored under the record's id is that record, except for the name of
 * its charge: the row may have got our reference, or lost the acquirer's, since it was written.
 */
static int is_same_refund(int *same, pay_rows_txn_t *txn, const record_t *record, apr_pool_t *p)
{
    pay_refund_t like = record->row.refund;
    pay_store_refund_t *row;
    pay_charge_t *charge;
    const char *name;
    pay_bytes_t stored;
    int rc;

    *same = 0;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_ID, &like.scope, like.id, p);
    if (rc) {
        return rc;
    }
    name = row->refund.acquirer_charge;
    if (row->refund.charge_seq != 0) {
        rc = pay_store_charge_get(&charge, txn, &like.scope, row->refund.charge_seq, p);
        if (rc) {
            return rc == PAY_ROWS_NOTFOUND ? 0 : rc; /* store check reports it */
        }
        name = charge->acquirer_reference;
    }
    if (!record->charge || strcmp(name, record->charge) != 0) {
        return 0;
    }
    like.transaction_reference = row->refund.transaction_reference;
    stored.data = pay_store_refund_text(&row->refund, p);
    stored.len = strlen(stored.data);
    *same = pay_store_refund_is_known(&stored, &like, pay_store_refund_text(&like, p), p);
    return 0;
}

/* Sets *known if the record exists already, and rows->verdict if one of its names is taken. */
static int judge(int *known, rows_t *rows, pay_rows_txn_t *txn, const record_t *record)
{
    const pay_refund_t *refund = &record->row.refund;
    pay_store_key_t key;
    pay_bytes_t at, val;
    int rc;

    *known = 0;
    (void)pay_store_refund_name_key(&key, &refund->scope, refund->id);
    rc = stored_text(&val, txn, &key);
    if (!rc) {
        *known = pay_store_refund_is_known(&val, refund, record->text, rows->p);
        if (!*known && rows->import->by_acquirer) {
            rc = is_same_refund(known, txn, record, rows->p);
        }
        if (!*known) {
            rows->verdict = APR_EEXIST;
        }
        return rc;
    }
    if (rc != PAY_ROWS_NOTFOUND) {
        return rc;
    }
    (void)pay_store_refund_name_key(&key, &refund->scope, refund->refund_reference);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_REFUND_REF, &at);
    if (!rc) {
        rows->verdict = APR_EEXIST;
    }
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

/* The charge it belongs to, if it is known here in the same currency: its amounts change. */
static int count_on_charge(record_t *record, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_refund_t *refund = &record->row.refund;
    pay_charge_state_t before;
    pay_charge_t *charge;
    int rc;

    record->turned = 0;
    refund->charge_seq = 0;
    if (!record->charge || refund->money.amount_minor <= 0) {
        return 0;
    }
    rc = pay_store_charge_get_ref(&charge, txn, &refund->scope, record->charge, p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (strcmp(charge->money.currency, refund->money.currency) != 0) {
        return 0;
    }
    refund->charge_seq = charge->seq;
    if (refund->state == PAY_REFUND_FAILED) {
        return 0;
    }
    before = charge->state;
    rc = pay_store_charge_refund_moved(charge, PAY_REFUND_FAILED, refund->state,
                                       refund->money.amount_minor);
    if (rc) {
        return rc;
    }
    record->turned = charge->state != before;
    charge->updated_at = pay_store_time_not_before(charge->updated_at);
    return pay_store_charge_put(txn, charge, p);
}

/* The same if the acquirer's name identifies the charge: the record then shows our reference. */
static int link_to_charge(record_t *record, const char **text, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_refund_t *refund = &record->row.refund;
    int rc;

    refund->acquirer_charge = record->charge ? record->charge : "";
    rc = pay_store_refund_link_new(&record->turned, txn, refund, p);
    *text = pay_store_refund_text(refund, p);
    return rc;
}

static int write_records(rows_t *rows, pay_rows_txn_t *txn, pay_store_scope_t *last)
{
    record_t *record;
    const char *text;
    int i, rc;

    for (i = 0; i < rows->records->nelts; i++) {
        record = &APR_ARRAY_IDX(rows->records, i, record_t);
        if (record->row.refund.seq == 0) {
            continue;
        }
        record->row.refund.seq = ++last->refund_seq;
        text = record->text;
        rc = rows->import->by_acquirer ? link_to_charge(record, &text, txn, rows->p)
                                       : count_on_charge(record, txn, rows->p);
        if (rc) {
            rows->at = i;
            return rc == ERANGE ? EINVAL : rc; /* more than any amount of money can be */
        }
        rc = pay_store_refund_insert(txn, &record->row, text, rows->p);
        if (!rc && record->row.refund.state == PAY_REFUND_PROCESSED) {
            rc = pay_store_total_refund(txn, &record->row.refund, 1, rows->p);
        }
        if (rc) {
            return rc;
        }
        rows->written++;
        rows->unlinked += rows->import->by_acquirer && record->row.refund.charge_seq == 0;
    }
    return 0;
}

static int rows_work(pay_rows_txn_t *txn, void *baton)
{
    rows_t *rows = baton;
    pay_store_scope_t last;
    record_t *record;
    int rc, known;

    rows->verdict = APR_SUCCESS;
    rows->written = 0;
    rows->skipped = 0;
    rows->unlinked = 0;
    rc = pay_store_scope_get(&last, txn, &rows->import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_store_scope_runs_import(&last, rows->import->number)) {
        rows->verdict = APR_EBUSY;
        return 0;
    }
    for (rows->at = 0; rows->at < rows->records->nelts; rows->at++) {
        record = &APR_ARRAY_IDX(rows->records, rows->at, record_t);
        known = record->skip;
        if (!known) {
            rc = judge(&known, rows, txn, record);
        }
        if (rc || rows->verdict != APR_SUCCESS) {
            return rc;
        }
        rows->skipped += (apr_uint64_t)known;
        record->row.refund.seq = known ? 0 : 1; /* 0: it is not written */
    }
    rc = write_records(rows, txn, &last);
    pay_store_scope_hold(&last);
    return rc ? rc : pay_store_scope_put(txn, &rows->import->scope, &last, rows->p);
}

/* Collects the events to be written when the whole import becomes visible. */
static void note_told(pay_import_t *import, const rows_t *rows)
{
    const pay_refund_t *refund;
    const record_t *record;
    int i, is_news;

    for (i = 0; import->acquirer && i < rows->records->nelts; i++) {
        record = &APR_ARRAY_IDX(rows->records, i, record_t);
        refund = &record->row.refund;
        if (refund->seq == 0 || refund->charge_seq == 0 || refund->state != PAY_REFUND_PROCESSED) {
            continue;
        }
        is_news = refund->created_at >= import->tell_since;
        if (is_news || record->turned) {
            APR_ARRAY_PUSH(import->told, pay_store_told_t) = (pay_store_told_t){
                .refund_reference = apr_pstrdup(import->told->pool, refund->refund_reference),
                .charge_seq = refund->charge_seq,
                .is_news = is_news,
                .turned = record->turned};
        }
    }
}

apr_status_t pay_store_import_rows(pay_import_t *import, int *at, pay_store_t *store,
                                   const apr_array_header_t *refunds, apr_pool_t *p)
{
    rows_t rows = {.import = import, .p = p};
    apr_status_t rv;

    *at = 0;
    assert(refunds->nelts <= PAY_STORE_ROWS_MAX);
    rv = prepare(&rows, refunds);
    if (rv == APR_SUCCESS) {
        rv = pay_rows_commit(pay_rows_base(store), pay_turn_scope(&import->scope),
                             PAY_ROWS_GROWS_MUCH, rows_work, &rows);
        if (rv == APR_SUCCESS) {
            rv = rows.verdict;
        }
    }
    if (rv == APR_EEXIST || rv == APR_EINVAL) {
        *at = rows.at;
    }
    if (rv == APR_SUCCESS) {
        import->written += rows.written;
        import->skipped += rows.skipped;
        note_told(import, &rows);
        import->unlinked += rows.unlinked;
    }
    return rv;
}

/* ---- abort and finish */

#define CLOCKS_APART_MAX apr_time_from_sec(5 * 60) /* the acquirer's clock and ours */

typedef struct abort_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int over; /* it no longer belongs to this process */
} abort_t;

/* Returns 1 if this process has closed it before, but has not finished removing it. */
static int is_left(const pay_store_scope_t *last, apr_uint32_t number)
{
    return last->import_left == number && pay_store_scope_is_worker(last);
}

/* From here on nobody adds to it, and this process keeps the scope while it is swept. */
static int close_work(pay_rows_txn_t *txn, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_store_scope_t last;
    int rc;

    work->over = 0;
    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_store_scope_runs_import(&last, import->number)) {
        work->over = !is_left(&last, import->number);
        return 0;
    }
    last.import_left = import->number;
    last.import_open = 0;
    pay_store_scope_hold(&last);
    return pay_store_scope_put(txn, &import->scope, &last, work->p);
}

/*
 * All of it is removed. Another thread may have begun one meanwhile: then the scope belongs to that
 * one.
 */
static int release_work(pay_rows_txn_t *txn, void *baton)
{
    abort_t *work = baton;
    const pay_import_t *import = work->import;
    pay_store_scope_t last;
    int rc;

    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc || !is_left(&last, import->number)) {
        return rc;
    }
    last.import_left = 0;
    pay_store_scope_let_go(&last);
    return pay_store_scope_put(txn, &import->scope, &last, work->p);
}

apr_status_t pay_store_import_abort(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    abort_t work = {.import = import, .p = p};
    pay_store_t *db = pay_rows_base(store);
    apr_status_t rv;

    rv = pay_rows_commit(db, pay_turn_scope(&import->scope), 0, close_work, &work);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (work.over) {
        return APR_EBUSY;
    }
    rv = pay_store_sweep(db, &import->scope, import->number, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return pay_rows_commit(db, pay_turn_scope(&import->scope), 0, release_work, &work);
}

/* ---- finish: all of it becomes visible at once */

typedef struct finish_t {
    const pay_import_t *import;
    apr_pool_t *p;
    int busy;
} finish_t;

/* The events of one charge: that it became reversed is announced once, after its refunds. */
typedef struct group_t {
    int turned;
    int last; /* index of the last of them that is announced; -1: none */
} group_t;

/* A refund that is skipped because of damage is reported by `store check`. *refund is NULL if it
 * is not announced because its charge was made after it. The acquirer's clock may differ from
 * ours. */
static int load_told(const pay_refund_t **refund, const finish_t *finish, pay_rows_txn_t *txn,
                     const char *refund_reference)
{
    pay_store_refund_t *row;
    pay_charge_t *charge;
    int rc;

    *refund = NULL;
    rc = pay_store_refund_get_name(&row, txn, PAY_TABLE_REFUND_REF, &finish->import->scope,
                                   refund_reference, finish->p);
    if (!rc) {
        rc = pay_store_charge_get(&charge, txn, &finish->import->scope, row->refund.charge_seq,
                                  finish->p);
    }
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
    }
    if (charge->created_at <= row->refund.created_at + CLOCKS_APART_MAX) {
        *refund = &row->refund;
    }
    return 0;
}

static group_t *group_of(apr_hash_t *groups, const pay_store_told_t *told, apr_pool_t *p)
{
    group_t *group = apr_hash_get(groups, &told->charge_seq, sizeof(told->charge_seq));

    if (!group) {
        group = apr_palloc(p, sizeof(*group));
        *group = (group_t){0, -1};
        apr_hash_set(groups, &told->charge_seq, sizeof(told->charge_seq), group);
    }
    return group;
}

static int tell_news(const finish_t *finish, pay_rows_txn_t *txn)
{
    const apr_array_header_t *all = finish->import->told;
    const pay_store_told_t *told = (const pay_store_told_t *)all->elts;
    const pay_refund_t **refunds =
        apr_pcalloc(finish->p, sizeof(*refunds) * (apr_size_t)(all->nelts + 1));
    apr_hash_t *groups = apr_hash_make(finish->p); /* by the charge's number */
    group_t *group;
    int i, rc = 0;

    for (i = 0; !rc && i < all->nelts; i++) {
        if (told[i].is_news) {
            rc = load_told(&refunds[i], finish, txn, told[i].refund_reference);
        }
        group = group_of(groups, &told[i], finish->p);
        group->turned |= told[i].turned;
        group->last = refunds[i] ? i : group->last;
    }
    for (i = 0; !rc && i < all->nelts; i++) {
        if (refunds[i]) {
            group = group_of(groups, &told[i], finish->p);
            rc = pay_store_refund_announce(txn, refunds[i], group->turned && group->last == i,
                                           finish->p);
        }
    }
    return rc;
}

static int finish_work(pay_rows_txn_t *txn, void *baton)
{
    finish_t *finish = baton;
    const pay_import_t *import = finish->import;
    pay_store_scope_t last;
    int rc;

    finish->busy = 0;
    rc = pay_store_scope_get(&last, txn, &import->scope);
    if (rc) {
        return rc;
    }
    if (!pay_store_scope_runs_import(&last, import->number)) {
        finish->busy = 1;
        return PAY_ROWS_SILENT;
    }
    pay_store_audit_tell(txn->store, import->scope.account, NULL,
                         apr_psprintf(finish->p, "%s: %" APR_UINT64_T_FMT " records",
                                      pay_mode_name(import->scope.mode), import->written));
    last.import_done = import->number;
    last.import_open = 0;
    pay_store_scope_let_go(&last);
    rc = pay_store_scope_put(txn, &import->scope, &last, finish->p);
    return rc || !import->told ? rc : tell_news(finish, txn);
}

apr_status_t pay_store_import_finish(pay_import_t *import, pay_store_t *store, apr_pool_t *p)
{
    finish_t finish = {.import = import, .p = p};
    apr_status_t rv;

    rv = pay_rows_commit(store, pay_turn_scope(&import->scope), 0, finish_work, &finish);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return finish.busy ? APR_EBUSY : APR_SUCCESS;
}
