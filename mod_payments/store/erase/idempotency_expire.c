/* SPDX-License-Identifier: Apache-2.0 */
#include "store/payment/idempotency.h"

#include "store/payment/charge.h"
#include "store/payment/refund.h"

#include <assert.h>

/* A record that cannot be removed yet, or cannot be read, is checked again after this time. */
#define LATER apr_time_from_sec(60 * 60)
/* A record due later than this was stored while the clock was ahead: its age is unknown, so it is
 * kept for the whole period from now on. */
#define LONGEST (PAY_IDEMPOTENCY_KEEP + LATER)

typedef struct expire_t {
    apr_time_t now;
    int limit;
    apr_pool_t *p;
    int count;
} expire_t;

/* Entries of a wrong length are removed like others. */
static const pay_store_timed_t due_index = {.table = PAY_TABLE_IDEMPOTENCY_DUE};

static int entries_due(apr_array_header_t **out, pay_rows_txn_t *txn, apr_time_t now, int limit,
                       apr_pool_t *p)
{
    return pay_store_entries_due(out, txn, &due_index, now, now + LONGEST + 1, limit, p);
}

static int delete_entry(pay_rows_txn_t *txn, const pay_bytes_t *entry)
{
    return pay_store_entry_del(txn, PAY_TABLE_IDEMPOTENCY_DUE, entry);
}

/* Moves the entry to another time; one whose row cannot be read moves to the end, so that it never
 * blocks the others. */
static int push_entry(pay_rows_txn_t *txn, const pay_bytes_t *entry, const pay_bytes_t *record_key,
                      apr_time_t due_at)
{
    pay_bytes_t at, nothing = {0, NULL};
    pay_store_key_t key;
    int rc;

    rc = delete_entry(txn, entry);
    if (rc) {
        return rc;
    }
    pay_store_idempotency_due_key(&key, due_at, record_key);
    at = pay_store_key_val(&key);
    return pay_rows_put(txn, PAY_TABLE_IDEMPOTENCY_DUE, &at, &nothing, 0);
}

/* Sets *over to 1 unless the row's charge is pending, or may be. */
static int is_over(int *over, pay_rows_txn_t *txn, const pay_bytes_t *record_key,
                   const pay_store_idempotency_t *record, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_scope_t scope;
    int rc;

    *over = 1;
    if (record->what != PAY_IDEMPOTENCY_CHARGE) {
        return 0;
    }
    *over = 0;
    pay_store_read_scope(&scope, record_key->data);
    rc = pay_store_charge_get(&charge, txn, &scope, record->seq, p);
    if (rc == PAY_ROWS_NOTFOUND
        || (!rc && !pay_store_idempotency_is_of_charge(charge, record_key))) {
        rc = pay_rows_bad(PAY_TABLE_IDEMPOTENCY, record_key);
    }
    if (rc) {
        return rc == PAY_ROWS_BAD ? 0 : rc;
    }
    *over = charge->state != PAY_CHARGE_PENDING;
    return 0;
}

/* Removes the digest of the refund's request; *over is 0 if the refund is pending, and still
 * stands for the request, or if the clock is ahead and the window is not over. */
static int forget_repeat(int *over, pay_rows_txn_t *txn, const pay_bytes_t *record_key,
                         const pay_store_idempotency_t *record, apr_pool_t *p)
{
    apr_interval_time_t age;
    pay_store_refund_t *row;
    pay_store_key_t key;
    pay_bytes_t at;
    int rc;

    *over = 1;
    pay_store_idempotency_refund_key(&key, record_key, record);
    at = pay_store_key_val(&key);
    rc = pay_store_refund_get(&row, txn, &at, p);
    if (rc) {
        *over = rc == PAY_ROWS_NOTFOUND; /* one that cannot be read may be repaired */
        return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc;
    }
    *over = row->refund.state != PAY_REFUND_PENDING
            && (!pay_moment_age(&age, &row->refund.opened) || age >= PAY_REFUND_REPEAT_MAX);
    return *over ? pay_store_refund_repeat_forget(txn, row, p) : 0;
}

/* The entry's row was read; the row's own time counts. */
static int expire_row(const expire_t *expire, pay_rows_txn_t *txn, const pay_bytes_t *entry,
                      const pay_bytes_t *record_key, pay_store_idempotency_t *record)
{
    const pay_store_idempotency_t before = *record;
    int rc = 0, over;

    if (record->due_at == 0) { /* a refund's record never expires */
        return delete_entry(txn, entry);
    }
    if (record->due_at > expire->now && record->due_at <= expire->now + LONGEST) {
        return push_entry(txn, entry, record_key, record->due_at);
    }
    over = record->due_at <= expire->now;
    if (over) {
        rc = record->what == PAY_IDEMPOTENCY_REPEAT
                 ? forget_repeat(&over, txn, record_key, record, expire->p)
                 : is_over(&over, txn, record_key, record, expire->p);
    }
    if (!rc) {
        rc = delete_entry(txn, entry);
    }
    if (rc || over) {
        return rc ? rc : pay_store_idempotency_take_out(txn, record_key, record);
    }
    record->due_at = expire->now + (record->due_at > expire->now ? PAY_IDEMPOTENCY_KEEP : LATER);
    return pay_store_idempotency_write(txn, record_key, &before, record, expire->p);
}

static int expire_entry(const expire_t *expire, pay_rows_txn_t *txn, const pay_bytes_t *entry)
{
    pay_bytes_t record_key, at, row;
    pay_store_idempotency_t record;
    int rc;

    if (entry->len != PAY_STORE_IDEMPOTENCY_DUE_KEY_LEN) {
        (void)pay_rows_bad(PAY_TABLE_IDEMPOTENCY_DUE, entry);
        return delete_entry(txn, entry);
    }
    record_key.len = PAY_STORE_IDEMPOTENCY_KEY_LEN;
    record_key.data = (const char *)entry->data + sizeof(apr_uint64_t);
    at = record_key;
    rc = pay_rows_get(&row, txn, PAY_TABLE_IDEMPOTENCY, &at);
    if (rc == PAY_ROWS_NOTFOUND) {
        return delete_entry(txn, entry);
    }
    if (!rc) {
        rc = pay_store_idempotency_decode(&record, &record_key, &row);
    }
    if (rc == PAY_ROWS_BAD) {
        return push_entry(txn, entry, &record_key, expire->now + LATER);
    }
    return rc ? rc : expire_row(expire, txn, entry, &record_key, &record);
}

static int expire_work(pay_rows_txn_t *txn, void *baton)
{
    expire_t *expire = baton;
    apr_array_header_t *entries;
    int i, rc;

    expire->count = 0;
    rc = entries_due(&entries, txn, expire->now, expire->limit, expire->p);
    for (i = 0; !rc && i < entries->nelts; i++) {
        rc = expire_entry(expire, txn, &APR_ARRAY_IDX(entries, i, pay_bytes_t));
    }
    if (!rc) {
        expire->count = entries->nelts;
    }
    return rc;
}

apr_status_t pay_store_idempotency_expire(int *count, pay_store_t *store, apr_time_t now, int limit,
                                          apr_pool_t *p)
{
    expire_t expire = {.now = now, .limit = limit, .p = p};
    apr_array_header_t *entries;
    pay_rows_txn_t txn;
    apr_status_t rv;
    int rc;

    *count = 0;
    assert(limit >= 1);
    assert(limit <= PAY_STORE_ROWS_MAX);
    /* Most steps find nothing: those do not wait for the writer lock. */
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = entries_due(&entries, &txn, now, 1, p);
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (entries->nelts == 0) {
        return APR_SUCCESS;
    }
    rv = pay_rows_commit(store, pay_turn_all(), 0, expire_work, &expire);
    if (rv == APR_SUCCESS) {
        *count = expire.count;
    }
    return rv;
}
