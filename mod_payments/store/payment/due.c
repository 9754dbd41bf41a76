/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/due.h"

#include "model/checkout.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/time.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <assert.h>
#include <string.h>

void pay_store_due_key(pay_store_key_t *key, apr_time_t due_at, const pay_scope_t *scope,
                       pay_store_due_kind_t kind, apr_uint64_t seq)
{
    unsigned char byte = (unsigned char)kind;

    pay_store_key_start(key);
    pay_store_key_time(key, due_at);
    pay_store_key_scope(key, scope);
    (void)pay_store_key_bytes(key, &byte, 1);
    pay_store_key_u64(key, seq);
}

pay_table_t pay_store_due_table_charge(const pay_charge_t *charge)
{
    return charge->state == PAY_CHARGE_PENDING ? PAY_TABLE_PENDING_DUE : PAY_TABLE_LATE_DUE;
}

pay_table_t pay_store_due_table_refund(const pay_refund_t *refund)
{
    return refund->state == PAY_REFUND_FAILED ? PAY_TABLE_LATE_DUE : PAY_TABLE_PENDING_DUE;
}

/* The time in a damaged row may have any value. */
static int may_stand_apart(const pay_charge_t *charge)
{
    return charge->kind == PAY_CHARGE_CHECKOUT && charge->state == PAY_CHARGE_PENDING
           && charge->due_at > 0 && charge->due_at < PAY_STORE_DUE_OPEN_FROM;
}

int pay_store_due_places(pay_store_key_t places[PAY_STORE_DUE_PLACES_MAX],
                         const pay_charge_t *charge)
{
    pay_store_due_key(&places[0], charge->due_at, &charge->scope, PAY_DUE_CHARGE, charge->seq);
    if (!may_stand_apart(charge)) {
        return 1;
    }
    pay_store_due_key(&places[1], PAY_STORE_DUE_OPEN_FROM + charge->due_at, &charge->scope,
                      PAY_DUE_CHARGE, charge->seq);
    return 2;
}

pay_store_due_part_t pay_store_due_part(const pay_bytes_t *key)
{
    return key->len == PAY_STORE_DUE_KEY_LEN
                   && pay_store_read_time(key->data) >= PAY_STORE_DUE_OPEN_FROM
               ? PAY_DUE_OPEN
               : PAY_DUE_SENT;
}

apr_time_t pay_store_due_time(const pay_bytes_t *key)
{
    const apr_time_t at = pay_store_read_time(key->data);

    return at >= PAY_STORE_DUE_OPEN_FROM ? at - PAY_STORE_DUE_OPEN_FROM : at;
}

void pay_store_due_begin(pay_store_key_t *key, pay_store_due_part_t part)
{
    pay_store_key_start(key);
    if (part == PAY_DUE_OPEN) {
        pay_store_key_time(key, PAY_STORE_DUE_OPEN_FROM);
    }
}

int pay_store_due_count(apr_uint64_t *sent, apr_uint64_t *open, pay_rows_txn_t *txn)
{
    pay_rows_scan_t scan = pay_rows_scan(txn, PAY_TABLE_PENDING_DUE, NULL, NULL, PAY_ROWS_FROM);
    pay_bytes_t key, val;
    apr_uint64_t all;
    int rc;

    *sent = *open = 0;
    rc = pay_rows_count(&all, txn, PAY_TABLE_PENDING_DUE);
    if (!rc) {
        rc = pay_rows_next(&key, &val, &scan);
    }
    while (!rc && pay_store_due_part(&key) == PAY_DUE_SENT && *sent < PAY_STORE_DUE_COUNT_MAX) {
        ++*sent;
        rc = pay_rows_next(&key, &val, &scan);
    }
    if (*sent == PAY_STORE_DUE_COUNT_MAX) {
        *sent = all;
    }
    *open = all - *sent;
    return pay_rows_scan_end(&scan, rc);
}

/* ---- taking due rows */

/* Index entries read for each row that may be returned. */
#define VISITS_PER_ROW 4

#define DAY apr_time_from_sec(24 * 60 * 60)
/* The longest waits. Queries about pending rows are a day apart at most, and leases are shorter;
 * the last query about failed or closed rows comes after a week. */
#define LONGEST_PENDING (DAY + apr_time_from_sec(60 * 60))
#define LONGEST_LATE (7 * DAY)
#define LONGEST_OPEN (PAY_CHECKOUT_LIFETIME_MAX + PAY_CHECKOUT_AHEAD_MAX)

/* A copy of an index entry. */
typedef struct entry_t {
    pay_table_t table;
    apr_time_t due_at;
    pay_scope_t scope;
    pay_store_due_kind_t kind;
    apr_uint64_t seq;
    pay_bytes_t key, refund_key;
} entry_t;

typedef struct take_t {
    apr_time_t now;
    apr_interval_time_t lease;
    int limit;
    apr_pool_t *p;
    apr_array_header_t *out; /* of pay_due_t */
} take_t;

/* The common members of both kinds of rows. */
typedef struct work_in_flight_t {
    const pay_worker_t *worker;
    apr_int64_t wait_until_ms;
    apr_time_t wait_until_at;
    apr_time_t *due_at;
    apr_uint32_t *attempts;
    int is_due; /* pending; failed for absence, or a closed checkout, and queried late */
} work_in_flight_t;

static work_in_flight_t work_of_charge(pay_charge_t *charge)
{
    const work_in_flight_t work = {&charge->worker, charge->wait_until_ms, charge->wait_until_at,
                                   &charge->due_at, &charge->attempts,     charge->due_at != 0};

    return work;
}

static work_in_flight_t work_of_refund(pay_refund_t *refund)
{
    const work_in_flight_t work = {&refund->worker, refund->wait_until_ms, refund->wait_until_at,
                                   &refund->due_at, &refund->attempts,     refund->due_at != 0};

    return work;
}

static pay_bytes_t val_dup(const pay_bytes_t *val, apr_pool_t *p)
{
    pay_bytes_t copy = {val->len, val->len ? apr_pmemdup(p, val->data, val->len) : NULL};

    return copy;
}

static entry_t entry_read(pay_table_t table, const pay_bytes_t *key, const pay_bytes_t *val,
                          apr_pool_t *p)
{
    const unsigned char *at = key->data;
    entry_t entry;

    entry.table = table;
    entry.due_at = pay_store_due_time(key);
    pay_store_read_scope(&entry.scope, at + 8);
    entry.kind = (pay_store_due_kind_t)at[8 + PAY_STORE_SCOPE_LEN];
    entry.seq = pay_store_read_u64(at + 8 + PAY_STORE_SCOPE_LEN + 1);
    entry.key = val_dup(key, p);
    entry.refund_key = val_dup(val, p);
    return entry;
}

/* A row due later than this was postponed while the clock was ahead, and is due now. */
static apr_time_t latest_of(pay_table_t table, pay_store_due_part_t part, apr_time_t now)
{
    if (part == PAY_DUE_OPEN) {
        return now + LONGEST_OPEN;
    }
    return now + (table == PAY_TABLE_PENDING_DUE ? LONGEST_PENDING : LONGEST_LATE);
}

/* Collects entries of the part from the scan's position on that are due by `until`, as long as
 * `out` has fewer than `limit`. */
static int entries_from(apr_array_header_t *out, pay_rows_scan_t *scan, pay_store_due_part_t part,
                        apr_time_t until, int limit, apr_pool_t *p)
{
    pay_bytes_t key, val;
    int rc, seen = out->nelts;

    rc = pay_rows_next(&key, &val, scan);
    while (!rc && seen++ < limit) {
        if (key.len != PAY_STORE_DUE_KEY_LEN) {
            (void)pay_rows_bad(scan->table, &key);
        } else if (pay_store_due_part(&key) != part || pay_store_due_time(&key) > until) {
            break;
        } else {
            APR_ARRAY_PUSH(out, entry_t) = entry_read(scan->table, &key, &val, p);
        }
        rc = pay_rows_next(&key, &val, scan);
    }
    return rc;
}

/* The first due entries of a part of a table, until `out` has `limit` of them; then those whose
 * due time is too far ahead. */
static int entries_of(apr_array_header_t *out, pay_rows_txn_t *txn, pay_table_t table,
                      pay_store_due_part_t part, apr_time_t now, int limit, apr_pool_t *p)
{
    const apr_time_t part_from = part == PAY_DUE_OPEN ? PAY_STORE_DUE_OPEN_FROM : 0;
    pay_store_key_t from, beyond;
    pay_rows_scan_t scan = pay_rows_scan(txn, table, NULL, &from, PAY_ROWS_FROM);
    int rc;

    pay_store_due_begin(&from, part);
    rc = entries_from(out, &scan, part, now, limit, p);
    if ((!rc || rc == PAY_ROWS_NOTFOUND) && out->nelts < limit) {
        pay_store_key_start(&beyond);
        pay_store_key_time(&beyond, part_from + latest_of(table, part, now) + 1);
        pay_rows_scan_move(&scan, &beyond);
        rc = entries_from(out, &scan, part, PAY_STORE_DUE_OPEN_FROM, limit, p);
    }
    return pay_rows_scan_end(&scan, rc);
}

/* The due entries, at most `limit`, pending ones first; copied, because the index changes while
 * they are processed. */
static int entries_due(apr_array_header_t **out, pay_rows_txn_t *txn, apr_time_t now, int limit,
                       apr_pool_t *p)
{
    int rc;

    *out = apr_array_make(p, 16, sizeof(entry_t));
    rc = entries_of(*out, txn, PAY_TABLE_PENDING_DUE, PAY_DUE_SENT, now, limit, p);
    if (!rc) {
        rc = entries_of(*out, txn, PAY_TABLE_PENDING_DUE, PAY_DUE_OPEN, now, limit, p);
    }
    return rc ? rc : entries_of(*out, txn, PAY_TABLE_LATE_DUE, PAY_DUE_SENT, now, limit, p);
}

/* Loads the row of an entry; *due stays empty if there is no row. */
static int load(pay_due_t *due, pay_store_refund_t **refund, pay_charge_t **charge,
                pay_rows_txn_t *txn, const entry_t *entry, apr_pool_t *p)
{
    int rc;

    memset(due, 0, sizeof(*due));
    *refund = NULL;
    *charge = NULL;
    if (entry->kind == PAY_DUE_CHARGE) {
        rc = pay_store_charge_get(charge, txn, &entry->scope, entry->seq, p);
    } else {
        rc = pay_store_refund_get(refund, txn, &entry->refund_key, p);
        if (!rc && (*refund)->refund.charge_seq != 0) {
            rc = pay_store_charge_get(charge, txn, &entry->scope, (*refund)->refund.charge_seq, p);
            if (rc == PAY_ROWS_NOTFOUND) { /* a refund whose charge no longer exists must not be
                                              sent */
                return pay_rows_bad(entry->table, &entry->key);
            }
        }
    }
    if (rc == PAY_ROWS_NOTFOUND) {
        return 0;
    }
    due->charge = *charge;
    due->refund = *refund ? &(*refund)->refund : NULL;
    return rc;
}

/* Moves an entry whose row cannot be read to the end, so that it never blocks the others. */
static int push_entry(pay_rows_txn_t *txn, const entry_t *entry, apr_time_t due_at)
{
    pay_store_key_t key;
    pay_bytes_t at, val = entry->refund_key;
    int rc;

    rc = pay_store_entry_del(txn, entry->table, &entry->key);
    if (rc) {
        return rc;
    }
    pay_store_due_key(&key, due_at, &entry->scope, entry->kind, entry->seq);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, entry->table, &at, &val, 0);
}

/* How long the row is left to its worker, which may have sent it just before its deadline; 0: it
 * may be queried now. */
static apr_interval_time_t busy_for(const work_in_flight_t *work)
{
    return pay_worker_left(work->worker, work->wait_until_ms + apr_time_as_msec(PAY_WORKER_GRACE),
                           work->wait_until_at, pay_store_time_now());
}

/* Returns 1 for an open checkout that has not expired and that is among the sent ones, as in
 * stores of earlier versions. */
static int is_early(const take_t *take, const entry_t *entry, const pay_charge_t *charge)
{
    return charge && entry->due_at > take->now && pay_checkout_is_open(charge)
           && pay_store_due_part(&entry->key) == PAY_DUE_SENT;
}

/*
 * The entry that was found does not exist any more; the one that the row should have may be
 * missing.
 */
static int put_in_place(pay_rows_txn_t *txn, const pay_store_refund_t *refund,
                        const pay_charge_t *charge)
{
    return refund ? pay_store_refund_reindex(txn, refund) : pay_store_charge_reindex(txn, charge);
}

static int take_entry(take_t *take, pay_rows_txn_t *txn, const entry_t *entry)
{
    pay_store_refund_t *refund;
    pay_charge_t *charge;
    work_in_flight_t work;
    pay_due_t due;
    apr_interval_time_t busy;
    int rc;

    rc = load(&due, &refund, &charge, txn, entry, take->p);
    if (rc == PAY_ROWS_BAD) {
        return push_entry(txn, entry, take->now + take->lease);
    }
    if (rc) {
        return rc;
    }
    rc = pay_store_entry_del(txn, entry->table, &entry->key);
    if (rc || (!refund && !charge)) {
        return rc;
    }
    if (refund) {
        work = work_of_refund(&refund->refund);
    } else {
        work = work_of_charge(charge);
    }
    if (!work.is_due) {
        return 0; /* left over from an entry that was once moved back unread */
    }
    if (*work.due_at != entry->due_at || is_early(take, entry, refund ? NULL : charge)) {
        return put_in_place(txn, refund, charge); /* the row determines time and table */
    }
    busy = busy_for(&work);
    if (busy > 0) {
        *work.due_at = take->now + busy;
    } else {
        *work.due_at = take->now + take->lease;
        (*work.attempts)++;
        APR_ARRAY_PUSH(take->out, pay_due_t) = due;
    }
    return refund ? pay_store_refund_put(txn, refund, take->p)
                  : pay_store_charge_put(txn, charge, take->p);
}

static int take_work(pay_rows_txn_t *txn, void *baton)
{
    take_t *take = baton;
    apr_array_header_t *entries;
    int i, rc;

    take->out = apr_array_make(take->p, 16, sizeof(pay_due_t));
    rc = entries_due(&entries, txn, take->now, VISITS_PER_ROW * take->limit, take->p);
    for (i = 0; !rc && i < entries->nelts && take->out->nelts < take->limit; i++) {
        rc = take_entry(take, txn, &APR_ARRAY_IDX(entries, i, entry_t));
    }
    return rc;
}

apr_status_t pay_store_due_take(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                                apr_interval_time_t lease, int limit, apr_pool_t *p)
{
    take_t take = {.now = now, .lease = lease, .limit = limit, .p = p};
    apr_array_header_t *entries;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *out = apr_array_make(p, 1, sizeof(pay_due_t));
    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    assert(lease > 0);
    /* Most steps find nothing: those do not wait for the writer lock. */
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = entries_due(&entries, &txn, now, VISITS_PER_ROW * limit, p);
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (entries->nelts == 0) {
        return APR_SUCCESS;
    }
    rv = pay_rows_commit(store, pay_turn_all(), 0, take_work, &take);
    if (rv == APR_SUCCESS) {
        *out = take.out;
    }
    return rv;
}
