/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/time.h"
#include "store/event/event.h"
#include "store/payment/acquirer.h"
#include "store/payment/charge.h"
#include "store/payment/charge_record.h"
#include "store/payment/refund_link.h"
#include "store/payment/refund_record.h"
#include "store/payment/sweep.h"
#include "store/payment/total.h"
#include "store/record/scope.h"
#include "store/record/text.h"
#include "store/record/time.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

/* How far ahead of the clock an imported createdAt may lie (docs/store.md, rule 7). */
#define AHEAD_MAX apr_time_from_sec(5 * 60)

/* One record on its way in. */
typedef struct record_t {
    pay_store_refund_t row;
    const char *text;
    /* What its maker calls the charge: a batch may run again, the row's is lost. */
    const char *charge;
    int skip;   /* the batch has it already */
    int turned; /* its charge became reversed by it */
} record_t;

typedef struct begin_t {
    const pay_scope_t *scope;
    apr_uint32_t swept; /* the unfinished import of which nothing is left any more, 0: none */
    apr_pool_t *p;
    int busy;
    apr_uint32_t number;   /* given now, 0: not yet */
    apr_uint32_t leftover; /* what has to be swept first, 0: nothing */
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
 * Claims the scope. An import that was left unfinished is closed first, so that nobody adds to it
 * while it is swept; then this runs again for a number of its own.
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
        return MDB_SUCCESS;
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

/* One record beside those before it in the batch. */
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

/* All that can be judged and written without the store, so that no writer waits for it. */
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

/* The text stored under an id; MDB_NOTFOUND when the id is free. */
static int stored_text(MDB_val *text, pay_rows_txn_t *txn, const pay_store_key_t *id)
{
    MDB_val at = pay_store_key_val(id), refund_key, row;
    pay_store_refund_head_t head;
    int rc;

    rc = pay_rows_get(&refund_key, txn, PAY_TABLE_REFUND_ID, &at);
    if (rc) {
        return rc;
    }
    rc = pay_rows_get(&row, txn, PAY_TABLE_REFUND, &refund_key);
    if (rc) {
        return rc == MDB_NOTFOUND ? pay_rows_bad(PAY_TABLE_REFUND_ID, &at) : rc;
    }
    rc = pay_store_refund_head(&head, &refund_key, &row);
    *text = head.text;
    return rc;
}

/*
 * 1 when the row stored under the record's id is that record, but for what its charge is called:
 * the row may have got our reference, or lost the acquirer's, since it was written.
 */
static int is_same_refund(int *same, pay_rows_txn_t *txn, const record_t *record, apr_pool_t *p)
{
    pay_refund_t like = record->row.refund;
    pay_store_refund_t *row;
    pay_charge_t *charge;
    const char *name;
    MDB_val stored;
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
            return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc; /* store check tells of it */
        }
        name = charge->acquirer_reference;
    }
    if (!record->charge || strcmp(name, record->charge) != 0) {
        return MDB_SUCCESS;
    }
    like.transaction_reference = row->refund.transaction_reference;
    stored.mv_data = (void *)pay_store_refund_text(&row->refund, p); /* only read */
    stored.mv_size = strlen(stored.mv_data);
    *same = pay_store_refund_is_known(&stored, &like, pay_store_refund_text(&like, p), p);
    return MDB_SUCCESS;
}

/* Is it there already (*known), or is one of its names taken (rows->verdict)? */
static int judge(int *known, rows_t *rows, pay_rows_txn_t *txn, const record_t *record)
{
    const pay_refund_t *refund = &record->row.refund;
    pay_store_key_t key;
    MDB_val at, val;
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
    if (rc != MDB_NOTFOUND) {
        return rc;
    }
    (void)pay_store_refund_name_key(&key, &refund->scope, refund->refund_reference);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&val, txn, PAY_TABLE_REFUND_REF, &at);
    if (!rc) {
        rows->verdict = APR_EEXIST;
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

/* The charge it belongs to, if that is known here in the same currency: its amounts move. */
static int count_on_charge(record_t *record, pay_rows_txn_t *txn, apr_pool_t *p)
{
    pay_refund_t *refund = &record->row.refund;
    pay_charge_state_t before;
    pay_charge_t *charge;
    int rc;

    record->turned = 0;
    refund->charge_seq = 0;
    if (!record->charge || refund->money.amount_minor <= 0) {
        return MDB_SUCCESS;
    }
    rc = pay_store_charge_get_ref(&charge, txn, &refund->scope, record->charge, p);
    if (rc) {
        return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (strcmp(charge->money.currency, refund->money.currency) != 0) {
        return MDB_SUCCESS;
    }
    refund->charge_seq = charge->seq;
    if (refund->state == PAY_REFUND_FAILED) {
        return MDB_SUCCESS;
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

/* As above where the acquirer's name says which charge it is: the record then shows our reference.
 */
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
            return rc == ERANGE ? EINVAL : rc; /* more than any sum of money can be */
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
    return MDB_SUCCESS;
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
        return MDB_SUCCESS;
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

/* What is to be told when all of it becomes visible. */
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
