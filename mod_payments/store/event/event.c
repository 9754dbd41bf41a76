/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event/event.h"
#include "store/row.h"
#include "store/rows_scan.h"

#include <limits.h>
#include <string.h>

#define TRANSACTION_KEY_LEN (PAY_STORE_ENDPOINT_KEY_LEN + 8)
#define TIME_MAX (APR_INT64_MAX / 2) /* days can be added to this time */

static const pay_row_field_t event_fields[] = {
    PAY_ROW_MAX(pay_event_t, kind, PAY_EVENT_PARKED),
    PAY_ROW_MAX(pay_event_t, state, INT_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, decided),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, refunded_minor),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, refunds_pending_minor),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, refund_created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, refund_seq),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, leases),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, lease_worker.pid),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, lease_worker.start_ticks),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, lease_worker.boot_id),
    PAY_ROW_MAX(pay_event_t, lease_until_ms, TIME_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, failures),
    PAY_ROW_MAX(pay_event_t, first_try_at, TIME_MAX),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, due_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, parked_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, answered_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, status),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_event_t, error),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_event_t, answer),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_event_t, lease_until_at),
};
#define EVENT_FIELDS (sizeof(event_fields) / sizeof(event_fields[0]))

void pay_store_event_key(pay_store_key_t *key, const pay_event_t *event)
{
    pay_store_endpoint_key(key, &event->scope, event->endpoint);
    pay_store_key_u64(key, event->charge_seq);
    pay_store_key_u32(key, event->sequence);
}

int pay_store_event_key_read(pay_event_t *place, const pay_bytes_t *key)
{
    const unsigned char *at = key->data;

    if (key->len != PAY_STORE_EVENT_KEY_LEN
        || !pay_store_endpoint_key_read(&place->scope, &place->endpoint, at,
                                        PAY_STORE_ENDPOINT_KEY_LEN)) {
        return 0;
    }
    place->charge_seq = pay_store_read_u64(at + PAY_STORE_ENDPOINT_KEY_LEN);
    place->sequence = pay_store_read_u32(at + TRANSACTION_KEY_LEN);
    return 1;
}

void pay_store_event_due_key(pay_store_key_t *key, const pay_event_t *event)
{
    pay_store_endpoint_key(key, &event->scope, event->endpoint);
    pay_store_key_time(key, event->due_at);
    pay_store_key_u64(key, event->charge_seq);
}

void pay_store_event_parked_key(pay_store_key_t *key, const pay_event_t *event)
{
    pay_store_endpoint_key(key, &event->scope, event->endpoint);
    pay_store_key_u64(key, event->charge_seq);
}

int pay_store_event_entry_read(pay_event_t *place, const pay_bytes_t *key)
{
    const unsigned char *at = key->data;
    const int is_due = key->len == PAY_STORE_EVENT_DUE_KEY_LEN;

    memset(place, 0, sizeof(*place));
    if ((!is_due && key->len != PAY_STORE_EVENT_PARKED_KEY_LEN)
        || !pay_store_endpoint_key_read(&place->scope, &place->endpoint, at,
                                        PAY_STORE_ENDPOINT_KEY_LEN)) {
        return 0;
    }
    at += PAY_STORE_ENDPOINT_KEY_LEN;
    place->due_at = is_due ? pay_store_read_time(at) : 0;
    place->charge_seq = pay_store_read_u64(is_due ? at + 8 : at);
    return 1;
}

void pay_store_event_timed(pay_store_timed_t *out, const pay_scope_t *scope,
                           pay_endpoint_kind_t kind)
{
    out->table = PAY_TABLE_EVENT_DUE;
    out->key_len = PAY_STORE_EVENT_DUE_KEY_LEN;
    pay_store_endpoint_key(&out->prefix, scope, kind);
}

/* Checks what the rest of the program relies on without checking again. */
static int is_sound(const pay_event_t *event)
{
    return event->kind >= PAY_EVENT_TRANSACTION
           && (event->kind != PAY_EVENT_TRANSACTION || event->state < PAY_CHARGE_STATE_COUNT)
           && (event->kind != PAY_EVENT_REFUND || event->state < PAY_REFUND_STATE_COUNT)
           && (event->kind == PAY_EVENT_TEST) == (event->charge_seq == 0)
           && (event->kind == PAY_EVENT_PARKED)
                  == (event->charge_seq != pay_event_charge_seq(event));
}

int pay_store_event_decode(pay_event_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p)
{
    pay_event_t *event = apr_pcalloc(p, sizeof(*event));
    int rc;

    *out = NULL;
    if (!pay_store_event_key_read(event, key)) {
        return pay_rows_bad(PAY_TABLE_EVENT, key);
    }
    rc = pay_row_decode(event, event_fields, EVENT_FIELDS, row, NULL, p);
    if (rc || !is_sound(event)) {
        return pay_rows_bad(PAY_TABLE_EVENT, key);
    }
    *out = event;
    return 0;
}

int pay_store_event_encode(pay_bytes_t *row, const pay_event_t *event, apr_pool_t *p)
{
    return pay_row_encode(row, event_fields, EVENT_FIELDS, event, p);
}

int pay_store_event_load(pay_event_t **out, pay_rows_txn_t *txn, const pay_event_t *place,
                         apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    pay_store_event_key(&key, place);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_EVENT, &at);
    return rc ? rc : pay_store_event_decode(out, &at, &row, p);
}

int pay_store_event_first(pay_event_t **out, pay_rows_txn_t *txn, const pay_event_t *place,
                          apr_pool_t *p)
{
    pay_store_key_t prefix;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    pay_store_event_key(&prefix, place);
    prefix.len = TRANSACTION_KEY_LEN;
    rc = pay_rows_first(&at, &row, txn, PAY_TABLE_EVENT, &prefix, NULL, PAY_ROWS_FROM);
    if (!rc && at.len != PAY_STORE_EVENT_KEY_LEN) {
        rc = PAY_ROWS_NOTFOUND;
    }
    return rc ? rc : pay_store_event_decode(out, &at, &row, p);
}

/* ---- the row with its entry */

/* The row of an event together with its indexes: when it is due, or that it was parked. */

#include "store/event/event.h"

#include "store/record/index.h"

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_event_t *event = record;

    (void)at;
    if (!event->due_at) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_EVENT_DUE;
    entry->value_len = 0;
    pay_store_event_due_key(&entry->key, event);
    return 0;
}

static int parked_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_event_t *event = record;

    (void)at;
    if (!event->parked_at) {
        return PAY_ROWS_NOTFOUND;
    }
    entry->table = PAY_TABLE_EVENT_PARKED;
    entry->value_len = 0;
    pay_store_event_parked_key(&entry->key, event);
    return 0;
}

/* An entry has no sequence: 0 stands for the first event of the transaction. */
static int row_of(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    pay_event_t place;

    (void)value;
    if (!pay_store_event_entry_read(&place, key)) {
        return 0;
    }
    pay_store_event_key(row_key, &place);
    return 1;
}

static const char *wrong(pay_table_t table, const pay_bytes_t *key, const void *record)
{
    (void)key;
    (void)record;
    return table == PAY_TABLE_EVENT_DUE ? "its event is due at another time"
                                        : "its event is not parked";
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_EVENT_DUE},
     .key_len = PAY_STORE_EVENT_DUE_KEY_LEN,
     .entry_of = due_of,
     .row_of = row_of,
     .missing = "it is not in the index",
     .astray = "leads to no event",
     .wrong = wrong},
    {.tables = {PAY_TABLE_EVENT_PARKED},
     .key_len = PAY_STORE_EVENT_PARKED_KEY_LEN,
     .entry_of = parked_of,
     .row_of = row_of,
     .missing = "it is not in the index",
     .astray = "leads to no event",
     .wrong = wrong},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_event_t place, *event = NULL;
    int rc = PAY_ROWS_NOTFOUND;

    if (pay_store_event_key_read(&place, row_key)) {
        rc = place.sequence ? pay_store_event_load(&event, txn, &place, p)
                            : pay_store_event_first(&event, txn, &place, p);
    }
    *record = event;
    return rc;
}

const pay_store_record_t pay_store_event_record = {
    .table = PAY_TABLE_EVENT, .indexes = indexes, .index_count = 2, .load = load};

int pay_store_event_store(pay_rows_txn_t *txn, const pay_event_t *event, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    rc = pay_store_event_encode(&row, event, p);
    if (rc) {
        return rc;
    }
    pay_store_event_key(&key, event);
    return pay_store_record_store(txn, &pay_store_event_record, &key, &row, event, p);
}

int pay_store_event_remove(pay_rows_txn_t *txn, const pay_event_t *event)
{
    pay_store_key_t key;

    pay_store_event_key(&key, event);
    return pay_store_record_del(txn, &pay_store_event_record, &key, event);
}

/* For an event that was read: its entry is known, and the row is not read again. */
static int move_to(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t due_at, apr_time_t parked_at,
                   apr_pool_t *p)
{
    const pay_event_t before = *event;
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    event->due_at = due_at;
    event->parked_at = parked_at;
    rc = pay_store_event_encode(&row, event, p);
    if (rc) {
        return rc;
    }
    pay_store_event_key(&key, event);
    return pay_store_record_put(txn, &pay_store_event_record, &key, &row, &before, event);
}

int pay_store_event_move(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t due_at, apr_pool_t *p)
{
    return move_to(txn, event, due_at, 0, p);
}

int pay_store_event_park(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t now, apr_pool_t *p)
{
    return move_to(txn, event, 0, now, p);
}

int pay_store_event_promote(int *any, pay_rows_txn_t *txn, const pay_event_t *gone, apr_time_t now,
                            apr_pool_t *p)
{
    pay_event_t *next;
    int rc;

    *any = 0;
    rc = pay_store_event_first(&next, txn, gone, p);
    if (rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD) { /* a damaged one waits for repair */
        return 0;
    }
    if (rc || next->due_at || next->parked_at) {
        return rc;
    }
    *any = 1;
    return pay_store_event_move(txn, next, now, p);
}
