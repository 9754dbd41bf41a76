/* SPDX-License-Identifier: Apache-2.0 */

/* The row of an event together with its indexes: when it is due, or that it was given up. */

#include "store/event/event.h"

#include "store/record/record.h"

static int due_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_event_t *event = record;

    (void)at;
    if (!event->due_at) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_EVENT_DUE;
    entry->value_len = 0;
    pay_store_event_due_key(&entry->key, event);
    return MDB_SUCCESS;
}

static int parked_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_event_t *event = record;

    (void)at;
    if (!event->parked_at) {
        return MDB_NOTFOUND;
    }
    entry->table = PAY_TABLE_EVENT_PARKED;
    entry->value_len = 0;
    pay_store_event_parked_key(&entry->key, event);
    return MDB_SUCCESS;
}

/* An entry names no sequence: 0 stands for the first one of the transaction. */
static int row_of(pay_store_key_t *row_key, const MDB_val *key, const MDB_val *value)
{
    pay_event_t place;

    (void)value;
    if (!pay_store_event_entry_read(&place, key)) {
        return 0;
    }
    pay_store_event_key(row_key, &place);
    return 1;
}

static const char *wrong(pay_table_t table, const MDB_val *key, const void *record)
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

static int load(void **record, pay_rows_txn_t *txn, const MDB_val *row_key, apr_pool_t *p)
{
    pay_event_t place, *event = NULL;
    int rc = MDB_NOTFOUND;

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
    MDB_val row;
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

/* Of one that was read: its entry is known, and the row is not read once more. */
static int move_to(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t due_at, apr_time_t parked_at,
                   apr_pool_t *p)
{
    const pay_event_t before = *event;
    pay_store_key_t key;
    MDB_val row;
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
    if (rc == MDB_NOTFOUND || rc == PAY_ROWS_BAD) { /* a damaged one waits for repair */
        return MDB_SUCCESS;
    }
    if (rc || next->due_at || next->parked_at) {
        return rc;
    }
    *any = 1;
    return pay_store_event_move(txn, next, now, p);
}
