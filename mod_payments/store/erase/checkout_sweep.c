/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/env.h"

#include "store/erase/cascade.h"
#include "store/payment/charge.h"
#include "store/payment/checkout.h"
#include "store/payment/link.h"
#include "store/record/rows.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

/* A checkout that cannot be removed yet, or cannot be read, is checked again after this time. */
#define LATER apr_time_from_sec(60 * 60)
/* A checkout whose end is further in the future than this ended while the clock was ahead. */
#define AHEAD_MAX apr_time_from_sec(24 * 60 * 60)

typedef struct sweep_t {
    apr_time_t now;
    apr_interval_time_t keep;
    apr_time_t until; /* checkouts that ended before are checked */
    int limit;
    apr_pool_t *p;
    int count; /* rows examined */
    int done;  /* the walk is finished */
} sweep_t;

/* ---- once per store: checkouts of earlier versions have neither entry nor mark */

/*
 * The row of table meta: the key of table checkout where the walk continues; a single byte: it is
 * finished.
 */
static const char walk_name[] = "checkout_walk";
#define WALK_OVER_LEN 1

static int walk_place(pay_store_key_t *from, int *over, pay_rows_txn_t *txn)
{
    pay_bytes_t key = {sizeof(walk_name) - 1, walk_name}, val;
    int rc;

    *over = 0;
    pay_store_key_start(from);
    rc = pay_rows_get(&val, txn, PAY_TABLE_META, &key);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    *over = val.len == WALK_OVER_LEN;
    if (!*over && val.len == PAY_STORE_CHARGE_KEY_LEN) {
        (void)pay_store_key_bytes(from, val.data, val.len);
    }
    return 0; /* of another length: start over, which changes nothing twice */
}

static int walk_put(pay_rows_txn_t *txn, const pay_bytes_t *place)
{
    static const char over = 1;
    pay_bytes_t key = {sizeof(walk_name) - 1, walk_name};
    pay_bytes_t val = {WALK_OVER_LEN, &over};

    if (place) {
        val = *place;
    }
    return pay_rows_put(txn, PAY_TABLE_META, &key, &val, 0);
}

/* A checkout that an earlier version wrote gets what a new one gets at once. */
static int walk_row(const sweep_t *sweep, pay_rows_txn_t *txn, const pay_bytes_t *key)
{
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc, is_anonymous;

    if (key->len != PAY_STORE_CHARGE_KEY_LEN) {
        return 0; /* the check reports it, like all unreadable rows */
    }
    pay_store_read_scope(&scope, key->data);
    rc = pay_store_charge_get(&charge, txn, &scope,
                              pay_store_read_u64((const char *)key->data + PAY_STORE_SCOPE_LEN),
                              sweep->p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
    }
    if (!charge->checkout || charge->checkout->anonymous || charge->state == PAY_CHARGE_SUCCESSFUL
        || charge->state == PAY_CHARGE_REVERSED) {
        return 0;
    }
    rc = pay_store_checkout_is_anonymous(&is_anonymous, txn, charge, sweep->p);
    if (rc || !is_anonymous) {
        return rc;
    }
    checkout = apr_pmemdup(sweep->p, charge->checkout, sizeof(*checkout));
    checkout->anonymous = 1;
    charge->checkout = checkout;
    rc = pay_store_checkout_put(txn, charge, sweep->p);
    if (!rc) {
        rc = pay_store_rows_anonymous(txn, &scope, 1);
    }
    return rc ? rc : pay_store_checkout_ended(txn, charge, sweep->p);
}

/*
 * The next keys of table checkout, one more than are examined: that one is where the walk
 * continues.
 */
static int walk_keys(apr_array_header_t **out, pay_rows_txn_t *txn, const pay_store_key_t *from,
                     int limit, apr_pool_t *p)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_CHECKOUT, NULL, from, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    int rc;

    *out = apr_array_make(p, 16, sizeof(pay_bytes_t));
    rc = pay_rows_next(&key, &val, &scan);
    while (!rc && (*out)->nelts <= limit) {
        APR_ARRAY_PUSH(*out, pay_bytes_t) = pay_rows_dup(&key, p);
        rc = pay_rows_next(&key, &val, &scan);
    }
    return pay_rows_scan_end(&scan, rc);
}

static int walk_work(pay_rows_txn_t *txn, void *baton)
{
    sweep_t *sweep = baton;
    apr_array_header_t *keys;
    pay_store_key_t from;
    int i, rc, over;

    sweep->count = 0;
    rc = walk_place(&from, &over, txn);
    sweep->done = over;
    if (rc || over) {
        return rc;
    }
    rc = walk_keys(&keys, txn, &from, sweep->limit, sweep->p);
    for (i = 0; !rc && i < keys->nelts && i < sweep->limit; i++) {
        rc = walk_row(sweep, txn, &APR_ARRAY_IDX(keys, i, pay_bytes_t));
    }
    if (rc) {
        return rc;
    }
    sweep->count = i;
    sweep->done = keys->nelts <= sweep->limit;
    return walk_put(txn, sweep->done ? NULL : &APR_ARRAY_IDX(keys, sweep->limit, pay_bytes_t));
}

/* ---- due checkouts */

/* Entries of a wrong length are removed like others. */
static const pay_store_timed_t sweep_due = {.table = PAY_TABLE_CHECKOUT_SWEEP};

/* Entries that ended by sweep->until, then those whose end is too far in the future. */
static int entries_due(apr_array_header_t **out, pay_rows_txn_t *txn, const sweep_t *sweep,
                       int limit, apr_pool_t *p)
{
    return pay_store_entries_due(out, txn, &sweep_due, sweep->until, sweep->now + AHEAD_MAX + 1,
                                 limit, p);
}

static int delete_entry(pay_rows_txn_t *txn, const pay_bytes_t *entry)
{
    return pay_store_entry_del(txn, PAY_TABLE_CHECKOUT_SWEEP, entry);
}

/* Sets *judged to 1 if a single-use link judges its next payer by this checkout. */
static int is_judged(int *judged, pay_rows_txn_t *txn, const pay_charge_t *charge, apr_pool_t *p)
{
    pay_link_t *link;
    int rc;

    *judged = 0;
    if (!*charge->checkout->link) {
        return 0;
    }
    rc = pay_store_link_load(&link, txn, &charge->scope, charge->checkout->link, p);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    *judged = link->once && link->last_seq == charge->seq;
    return 0;
}

static int has_refund(int *has, pay_rows_txn_t *txn, const pay_charge_t *charge)
{
    pay_store_key_t prefix;
    pay_bytes_t key, val;
    int rc;

    pay_store_charge_key(&prefix, &charge->scope, charge->seq);
    rc = pay_rows_first(&key, &val, txn, PAY_TABLE_REFUND_BY_CHARGE, &prefix, NULL, PAY_ROWS_FROM);
    *has = rc == 0;
    return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
}

typedef enum verdict_t {
    GOES,
    STAYS, /* for ever: money moved, or a person or an acquirer made a statement about it */
    WAITS  /* somebody may still decide it, or receive an event about it */
} verdict_t;

/* Returns 1, in Live Mode, if the clock, which is ahead, says that it was kept long enough, but
 * the boot clock says that it was not: its payer may still be offered to pay there. */
static int is_early(const sweep_t *sweep, const pay_charge_t *charge)
{
    apr_interval_time_t age;

    return pay_moment_age(&age, &charge->opened) && age < sweep->keep;
}

static int judge(verdict_t *out, pay_rows_txn_t *txn, const pay_charge_t *charge,
                 const sweep_t *sweep)
{
    apr_pool_t *p = sweep->p;
    const int ended = charge->state == PAY_CHARGE_FAILED || charge->state == PAY_CHARGE_VOID
                      || charge->state == PAY_CHARGE_ABANDONED;
    int rc, has = 0;

    *out = STAYS;
    if (charge->refunded_minor != 0 || charge->refunds_pending_minor != 0
        || charge->late != PAY_LATE_NONE || *charge->contradiction || *charge->resolution) {
        return 0;
    }
    rc = has_refund(&has, txn, charge);
    if (rc || has) {
        return rc;
    }
    *out = WAITS;
    if (!ended || charge->due_at != 0 || charge->held != PAY_NOT_HELD
        || pay_charge_in_flight(charge) || is_early(sweep, charge)) {
        return 0;
    }
    rc = is_judged(&has, txn, charge, p);
    if (!rc && !has) {
        rc = pay_store_cascade_has_event(&has, txn, charge, 0, p);
    }
    if (!rc && !has) {
        *out = GOES;
    }
    return rc;
}

static int sweep_charge(const sweep_t *sweep, pay_rows_txn_t *txn, pay_charge_t *charge)
{
    verdict_t verdict;
    int rc;

    rc = judge(&verdict, txn, charge, sweep);
    if (rc == PAY_ROWS_BAD) { /* moved to the end, so that it never blocks the others */
        verdict = WAITS;
        rc = 0;
    }
    if (rc) {
        return rc;
    }
    switch (verdict) {
    case GOES:
        return pay_store_purge_charge(txn, charge, sweep->p);
    case STAYS:
        return pay_store_checkout_list_at(txn, charge, 0, sweep->p);
    case WAITS:
        break;
    }
    return pay_store_checkout_list_at(txn, charge, sweep->until + LATER, sweep->p);
}

static int sweep_entry(const sweep_t *sweep, pay_rows_txn_t *txn, const pay_bytes_t *entry)
{
    const char *at = entry->data;
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    if (entry->len != PAY_STORE_CHECKOUT_SWEEP_KEY_LEN) {
        (void)pay_rows_bad(PAY_TABLE_CHECKOUT_SWEEP, entry);
        return delete_entry(txn, entry);
    }
    pay_store_read_scope(&scope, at + sizeof(apr_uint64_t));
    rc = pay_store_charge_get(&charge, txn, &scope,
                              pay_store_read_u64(at + sizeof(apr_uint64_t) + PAY_STORE_SCOPE_LEN),
                              sweep->p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) {
        return delete_entry(txn, entry);
    }
    if (rc) {
        return rc;
    }
    if (!charge->checkout || charge->checkout->ended_at != pay_store_read_time(at)) {
        return delete_entry(txn, entry);
    }
    if (charge->checkout->ended_at > sweep->now + AHEAD_MAX) {
        return pay_store_checkout_list_at(txn, charge, sweep->now, sweep->p);
    }
    return sweep_charge(sweep, txn, charge);
}

static int sweep_work(pay_rows_txn_t *txn, void *baton)
{
    sweep_t *sweep = baton;
    apr_array_header_t *entries;
    int i, rc;

    sweep->count = 0;
    rc = entries_due(&entries, txn, sweep, sweep->limit, sweep->p);
    for (i = 0; !rc && i < entries->nelts; i++) {
        rc = sweep_entry(sweep, txn, &APR_ARRAY_IDX(entries, i, pay_bytes_t));
    }
    if (!rc) {
        sweep->count = entries->nelts;
    }
    return rc;
}

/* Finds the work to be done without the writer lock: most steps find nothing. */
static int look(sweep_t *sweep, int *walks, int *sweeps, pay_rows_txn_t *txn)
{
    apr_array_header_t *entries;
    pay_store_key_t from;
    int rc, over;

    *walks = *sweeps = 0;
    if (pay_rows_table_is_missing(txn, PAY_TABLE_CHECKOUT_SWEEP)) {
        return 0;
    }
    rc = walk_place(&from, &over, txn);
    if (!rc) {
        rc = entries_due(&entries, txn, sweep, 1, sweep->p);
    }
    if (!rc) {
        *walks = !over;
        *sweeps = entries->nelts > 0;
    }
    return rc;
}

apr_status_t pay_store_checkout_sweep(int *count, pay_store_t *store, apr_time_t now, int limit,
                                      apr_pool_t *p)
{
    const apr_interval_time_t keep = store->options.checkout_keep;
    sweep_t sweep = {.now = now, .keep = keep, .until = now - keep, .limit = limit, .p = p};
    int rc, walks, sweeps;
    apr_status_t rv;
    pay_rows_txn_t txn;

    *count = 0;
    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = look(&sweep, &walks, &sweeps, &txn);
    pay_rows_end(&txn);
    rv = pay_rows_status(rc);
    if (rv == APR_SUCCESS && walks) {
        rv = pay_rows_commit(store, pay_turn_all(), 0, walk_work, &sweep);
        if (rv == APR_SUCCESS && !sweep.done) {
            *count = sweep.count;
            return APR_SUCCESS;
        }
    }
    if (rv != APR_SUCCESS || keep == 0 || (!walks && !sweeps)) {
        return rv;
    }
    rv = pay_rows_commit(store, pay_turn_all(), 0, sweep_work, &sweep);
    if (rv == APR_SUCCESS) {
        *count = sweep.count;
    }
    return rv;
}
