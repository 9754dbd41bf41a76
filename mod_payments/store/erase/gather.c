/* SPDX-License-Identifier: Apache-2.0 */
#include "store/erase/gather.h"

#include "store/account/token.h"
#include "store/erase/cascade.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/idempotency.h"
#include "store/record/rows.h"
#include "store/record/scope.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <stddef.h>
#include <string.h>

/* Collects the keys of this part; the next one begins at gather->from. */
static int collect(pay_store_gather_t *gather, pay_rows_txn_t *txn)
{
    const pay_store_key_t from = gather->from;
    pay_store_key_t prefix;
    pay_rows_scan_t scan = pay_rows_scan(txn, gather->table, &prefix, &from, PAY_ROWS_FROM);
    pay_bytes_t key, row;
    int rc, wanted, visits = 0;

    (void)pay_store_key_of(&prefix, from.bytes, PAY_STORE_SCOPE_LEN);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc) {
        if (visits++ == PAY_STORE_GATHER_VISITS_MAX
            || gather->keys->nelts == PAY_STORE_GATHER_ROWS_MAX) {
            (void)pay_store_key_of(&gather->from, key.data, key.len);
            break;
        }
        rc = gather->want(&wanted, gather, &key, &row, gather->ptemp);
        if (!rc && wanted) {
            APR_ARRAY_PUSH(gather->keys, pay_bytes_t) = pay_rows_dup(&key, gather->ptemp);
        }
        if (!rc) {
            rc = pay_rows_next(&key, &row, &scan);
        }
    }
    gather->done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

/* Rows that were changed or deleted since they were found are left alone. */
static int take_out_work(pay_rows_txn_t *txn, void *baton)
{
    pay_store_gather_t *gather = baton;
    pay_bytes_t key, row;
    int i, rc, wanted;

    gather->taken = 0;
    for (i = 0; i < gather->keys->nelts; i++) {
        key = APR_ARRAY_IDX(gather->keys, i, pay_bytes_t);
        rc = pay_rows_get(&row, txn, gather->table, &key);
        if (rc == PAY_ROWS_NOTFOUND) {
            continue;
        }
        if (!rc) {
            rc = gather->want(&wanted, gather, &key, &row, gather->ptemp);
        }
        if (!rc && wanted) {
            rc = gather->take_out(gather, txn, &key, &row, gather->ptemp);
            gather->taken++;
        }
        if (rc) {
            return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(gather->table, &key) : rc;
        }
    }
    return gather->taken ? 0 : PAY_ROWS_SILENT;
}

apr_status_t pay_store_gather(pay_store_gather_t *gather, pay_store_place_t *place, pay_store_t *db,
                              apr_pool_t *ptemp)
{
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    gather->taken = 0;
    gather->done = 0;
    gather->ptemp = ptemp;
    gather->keys = apr_array_make(ptemp, 16, sizeof(pay_bytes_t));
    pay_store_key_start(&gather->from);
    if (place->key_len > 0) {
        (void)pay_store_key_bytes(&gather->from, place->key, place->key_len);
    } else {
        pay_store_key_scope(&gather->from, gather->scope);
    }
    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect(gather, &txn);
    pay_rows_end(&txn);
    rv = pay_rows_status(rc);
    if (rv == APR_SUCCESS && gather->keys->nelts > 0) {
        rv = pay_rows_commit(db, pay_turn_scope(gather->scope), 0, take_out_work, gather);
    }
    if (rv == APR_SUCCESS && !gather->done) {
        memcpy(place->key, gather->from.bytes, gather->from.len);
        place->key_len = gather->from.len;
    }
    return rv;
}

static int gather_take_row(pay_store_gather_t *gather, pay_rows_txn_t *txn, const pay_bytes_t *key,
                           const pay_bytes_t *row, apr_pool_t *p)
{
    pay_bytes_t at = *key;

    (void)row;
    (void)p;
    return pay_store_rows_del(txn, gather->table, &at);
}

int pay_store_gather_take_idempotency(pay_store_gather_t *gather, pay_rows_txn_t *txn,
                                      const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_idempotency_t record;
    int rc;

    (void)gather;
    (void)p;
    rc = pay_store_idempotency_decode(&record, key, row);
    return rc ? rc : pay_store_idempotency_take_out(txn, key, &record);
}

/* ---- reset of Test Mode */

/* Idempotency records are removed before the refunds that they stand for. */
enum { PHASE_IDEMPOTENCY, PHASE_CHARGES, PHASE_REFUNDS, PHASE_TESTS, PHASE_TOKENS, PHASE_COUNT };

/* ---- charges */

/* Work in flight would find its row deleted. */
static int begin(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                 pay_charge_t *charge)
{
    (void)txn;
    *leave = pay_charge_in_flight(charge);
    cascade->left += *leave ? 1 : 0;
    return 0;
}

static int take_event(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_event_t *event)
{
    cascade->events_done++;
    return pay_store_event_remove(txn, event);
}

static int take_refund(int *leave, pay_store_cascade_t *cascade, pay_rows_txn_t *txn,
                       pay_store_refund_t *row)
{
    const pay_reset_t *at = cascade->baton;

    if (row->refund.seq > at->refund_seq || pay_refund_in_flight(&row->refund)) {
        cascade->left++;
        *leave = 1;
        return 0;
    }
    cascade->refunds_done++;
    return pay_store_purge_refund(txn, &row->refund, cascade->p);
}

static int take_charge(pay_store_cascade_t *cascade, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    int rc, has;

    rc = pay_store_cascade_has_event(&has, txn, charge, 0, cascade->p);
    if (rc) {
        return rc;
    }
    if (has || charge->refunded_minor != 0 || charge->refunds_pending_minor != 0) {
        cascade->left++; /* an event was added since another transaction checked */
        return 0;
    }
    cascade->charges_done++;
    return pay_store_purge_charge(txn, charge, cascade->p);
}

static const pay_store_visitor_t remover = {
    .begin = begin, .event = take_event, .refund = take_refund, .charge = take_charge};

static void counted(const pay_store_cascade_t *cascade, void *sums)
{
    pay_reset_t *at = sums;

    at->charges += cascade->charges_done;
    at->refunds += cascade->refunds_done;
    at->events += cascade->events_done;
    at->left += cascade->left;
}

/* The next existing seqs; sets *done to 1 if there are no more. */
static int collect_charges(apr_array_header_t *seqs, int *done, const pay_reset_t *at,
                           pay_rows_txn_t *txn, const pay_scope_t *scope)
{
    pay_store_key_t prefix, after;
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_CHARGE, &prefix, &after, PAY_ROWS_AFTER);
    pay_bytes_t key, row;
    apr_uint64_t seq;
    int rc;

    pay_store_key_of_scope(&prefix, scope);
    pay_store_charge_key(&after, scope, at->place.cursor.seq);
    rc = pay_rows_next(&key, &row, &scan);
    while (!rc && seqs->nelts < PAY_STORE_CASCADE_CHARGES_MAX) {
        seq = key.len == PAY_STORE_CHARGE_KEY_LEN
                  ? pay_store_read_u64((const char *)key.data + PAY_STORE_SCOPE_LEN)
                  : APR_UINT64_MAX;
        if (seq > at->charge_seq) {
            rc = PAY_ROWS_NOTFOUND;
            break;
        }
        APR_ARRAY_PUSH(seqs, apr_uint64_t) = seq;
        rc = pay_rows_next(&key, &row, &scan);
    }
    *done = rc == PAY_ROWS_NOTFOUND;
    return pay_rows_scan_end(&scan, rc);
}

static apr_status_t reset_charges(int *done, pay_reset_t *at, pay_store_t *db,
                                  const pay_scope_t *scope, apr_pool_t *ptemp)
{
    apr_array_header_t *seqs =
        apr_array_make(ptemp, PAY_STORE_CASCADE_CHARGES_MAX, sizeof(apr_uint64_t));
    pay_store_cascade_t cascade = {
        .visitor = &remover, .scope = scope, .charges = seqs, .baton = at, .p = ptemp};
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = collect_charges(seqs, done, at, &txn, scope);
    pay_rows_end(&txn);
    rv = pay_rows_status(rc);
    if (rv == APR_SUCCESS) {
        rv = pay_store_cascade(&cascade, db, counted, at);
    }
    if (rv == APR_SUCCESS && seqs->nelts > 0) {
        at->place.cursor.seq = APR_ARRAY_IDX(seqs, seqs->nelts - 1, apr_uint64_t);
    }
    return rv;
}

/* ---- rows that belong to no charge */

/* Judges by createdAt, which is in the future if the clock was ahead then. */
static int is_past(apr_time_t created_at, const pay_reset_t *at)
{
    return created_at <= at->started_at || created_at > pay_store_time_now() + PAY_STORE_RAISE_MAX;
}

/* Judges by the number of its charge or refund, if it has one. */
static int is_from_before(const pay_store_idempotency_t *record, const pay_reset_t *at)
{
    switch (record->what) {
    case PAY_IDEMPOTENCY_CHARGE:
        return record->seq <= at->charge_seq;
    case PAY_IDEMPOTENCY_REFUND:
    case PAY_IDEMPOTENCY_REPEAT:
        return record->seq <= at->refund_seq;
    default:
        return is_past(record->created_at, at);
    }
}

static int want_record(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                       const pay_bytes_t *row, apr_pool_t *p)
{
    const pay_reset_t *at = gather->baton;
    pay_store_idempotency_t record;
    int rc;

    (void)p;
    rc = pay_store_idempotency_decode(&record, key, row);
    *wanted = !rc && is_from_before(&record, at);
    return rc;
}

static int want_refund(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                       const pay_bytes_t *row, apr_pool_t *p)
{
    const pay_reset_t *at = gather->baton;
    pay_store_refund_t *refund;
    int rc;

    *wanted = 0;
    rc = pay_store_refund_peek(&refund, key, row, p);
    if (!rc) {
        *wanted = refund->refund.charge_seq == 0 && refund->refund.seq <= at->refund_seq;
    }
    return rc;
}

static int take_lone_refund(pay_store_gather_t *gather, pay_rows_txn_t *txn, const pay_bytes_t *key,
                            const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_refund_t *refund;
    int rc;

    (void)gather;
    rc = pay_store_refund_decode(&refund, key, row, p);
    return rc ? rc : pay_store_purge_refund(txn, &refund->refund, p);
}

static int want_test(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                     const pay_bytes_t *row, apr_pool_t *p)
{
    pay_event_t *event;
    int rc;

    (void)gather;
    *wanted = 0;
    rc = pay_store_event_decode(&event, key, row, p);
    if (!rc) {
        *wanted = event->kind == PAY_EVENT_TEST;
    }
    return rc;
}

static int take_test(pay_store_gather_t *gather, pay_rows_txn_t *txn, const pay_bytes_t *key,
                     const pay_bytes_t *row, apr_pool_t *p)
{
    pay_event_t *event;
    int rc;

    (void)gather;
    rc = pay_store_event_decode(&event, key, row, p);
    return rc ? rc : pay_store_event_remove(txn, event);
}

static int want_token(int *wanted, const pay_store_gather_t *gather, const pay_bytes_t *key,
                      const pay_bytes_t *row, apr_pool_t *p)
{
    const pay_reset_t *at = gather->baton;
    pay_token_t *token;
    int rc;

    *wanted = 0;
    rc = pay_store_token_decode(&token, key, row, p);
    if (!rc) {
        *wanted = is_past(token->created_at, at);
    }
    return rc;
}

static const struct {
    pay_table_t table;
    pay_store_want_t want;
    pay_store_take_out_t take_out;
    size_t count; /* offset of the counter in pay_reset_t */
} phases[PHASE_COUNT] = {
    [PHASE_IDEMPOTENCY] = {PAY_TABLE_IDEMPOTENCY, want_record, pay_store_gather_take_idempotency,
                           offsetof(pay_reset_t, answers)},
    [PHASE_CHARGES] = {PAY_TABLE_CHARGE, NULL, NULL, 0}, /* reset_charges */
    [PHASE_REFUNDS] = {PAY_TABLE_REFUND, want_refund, take_lone_refund,
                       offsetof(pay_reset_t, refunds)},
    [PHASE_TESTS] = {PAY_TABLE_EVENT, want_test, take_test, offsetof(pay_reset_t, events)},
    [PHASE_TOKENS] = {PAY_TABLE_TOKEN, want_token, gather_take_row, offsetof(pay_reset_t, tokens)},
};

static apr_status_t step(int *done, pay_reset_t *at, pay_store_t *db, const pay_scope_t *scope,
                         apr_pool_t *ptemp)
{
    const int phase = at->place.phase;
    pay_store_gather_t gather = {.scope = scope, .baton = at};
    apr_status_t rv;

    if (phase == PHASE_CHARGES) {
        return reset_charges(done, at, db, scope, ptemp);
    }
    gather.table = phases[phase].table;
    gather.want = phases[phase].want;
    gather.take_out = phases[phase].take_out;
    rv = pay_store_gather(&gather, &at->place, db, ptemp);
    if (rv == APR_SUCCESS) {
        *(apr_uint64_t *)((char *)at + phases[phase].count) += gather.taken;
        *done = gather.done;
    }
    return rv;
}

/* The rows that exist now are the ones to be removed. */
static apr_status_t start(pay_reset_t *at, pay_store_t *db, const pay_scope_t *scope)
{
    const apr_time_t now = pay_store_time_now();
    pay_store_scope_t last;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    rv = pay_rows_begin(&txn, db);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_store_scope_get(&last, &txn, scope);
    pay_rows_end(&txn);
    if (!rc) { /* dates from a clock that was ahead do not identify rows created meanwhile */
        at->started_at = last.created_at > now && last.created_at <= now + PAY_STORE_RAISE_MAX
                             ? last.created_at
                             : now;
        at->charge_seq = last.charge_seq;
        at->refund_seq = last.refund_seq;
    }
    return pay_rows_status(rc);
}

apr_status_t pay_store_scope_reset(pay_reset_t *at, pay_store_t *store, const pay_scope_t *scope,
                                   apr_pool_t *p)
{
    apr_status_t rv = APR_SUCCESS;
    apr_pool_t *ptemp;
    int done = 0;

    if (scope->mode != PAY_TEST) {
        return APR_EINVAL;
    }
    if (at->done) {
        return APR_SUCCESS;
    }
    if (at->started_at == 0) {
        rv = start(at, store, scope);
    }
    if (rv == APR_SUCCESS) {
        rv = apr_pool_create(&ptemp, p);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = step(&done, at, store, scope, ptemp);
    apr_pool_destroy(ptemp);
    if (rv == APR_SUCCESS && done) {
        at->place.phase++;
        at->place.key_len = 0;
        at->done = at->place.phase == PHASE_COUNT;
    }
    return rv;
}
