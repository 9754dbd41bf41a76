/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pay_lmdb_check.h"

#include "store/pay_lmdb_event.h"

#include <string.h>

/* 1 in *found when the key that `make` makes of the event is in the table. */
static int has_entry(int *found, pay_lmdb_check_t *check, pay_lmdb_table_t table,
                     void (*make)(pay_lmdb_key_t *, const pay_event_t *), const pay_event_t *event)
{
    pay_lmdb_key_t key;
    MDB_val at;

    make(&key, event);
    at = pay_lmdb_key_val(&key);
    return pay_lmdb_check_has(found, NULL, check, table, &at);
}

int pay_lmdb_check_endpoint(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_endpoint_t *endpoint;
    pay_lmdb_key_t due;
    MDB_val at;
    int rc, found;

    rc = pay_lmdb_endpoint_decode(&endpoint, key, row, check->ptemp);
    if (rc) {
        pay_lmdb_check_fault(check, PAY_TABLE_ENDPOINT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    rc = pay_lmdb_check_account_known(&found, check, key->mv_data);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_ENDPOINT, key, "there is no such account");
    }
    if (rc || !endpoint->due_at) {
        return rc;
    }
    pay_lmdb_key_start(&due);
    pay_lmdb_key_time(&due, endpoint->due_at);
    (void)pay_lmdb_key_bytes(&due, key->mv_data, key->mv_size);
    at = pay_lmdb_key_val(&due);
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_ENDPOINT_DUE, &at);
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_ENDPOINT, key, "it is due, but nothing will look");
    }
    return rc;
}

int pay_lmdb_check_endpoint_due(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *bytes = key->mv_data;
    pay_endpoint_t *endpoint;
    pay_endpoint_kind_t kind;
    pay_scope_t scope;
    int rc = MDB_NOTFOUND;

    (void)row;
    if (key->mv_size == PAY_LMDB_ENDPOINT_DUE_KEY_LEN
        && pay_lmdb_endpoint_key_read(&scope, &kind, bytes + 8, PAY_LMDB_ENDPOINT_KEY_LEN)) {
        rc = pay_lmdb_endpoint_load(&endpoint, check->txn, &scope, kind, check->ptemp);
    }
    if (rc == PAY_LMDB_BAD_ROW) { /* told with the row */
        return MDB_SUCCESS;
    }
    if (rc == MDB_NOTFOUND || (!rc && endpoint->due_at != pay_lmdb_read_time(bytes))) {
        pay_lmdb_check_fault(check, PAY_TABLE_ENDPOINT_DUE, key,
                             "leads to no endpoint that is due");
        return MDB_SUCCESS;
    }
    return rc;
}

/* Only the first of a transaction is in an index, and it always is. */
static int check_place(pay_lmdb_check_t *check, const MDB_val *key, const pay_event_t *event)
{
    pay_event_t *first;
    int rc, found = 1;

    rc = pay_lmdb_event_first(&first, check->txn, event, check->ptemp);
    if (rc) {
        return rc == PAY_LMDB_BAD_ROW || rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
    }
    if (first->sequence != event->sequence && (event->due_at || event->parked_at)) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "it would overtake an earlier one");
    }
    if (first->sequence == event->sequence && !event->due_at == !event->parked_at) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "nothing will deliver it");
    }
    if (event->due_at) {
        rc = has_entry(&found, check, PAY_TABLE_EVENT_DUE, pay_lmdb_event_due_key, event);
    } else if (event->parked_at) {
        rc = has_entry(&found, check, PAY_TABLE_EVENT_PARKED, pay_lmdb_event_parked_key, event);
    }
    if (!rc && !found) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "it is not in the index");
    }
    return rc;
}

int pay_lmdb_check_event(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    pay_event_t *event;
    pay_lmdb_key_t endpoint;
    MDB_val at;
    int rc, found;

    rc = pay_lmdb_event_decode(&event, key, row, check->ptemp);
    if (rc) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "the row does not decode");
        return MDB_SUCCESS;
    }
    pay_lmdb_endpoint_key(&endpoint, &event->scope, event->endpoint);
    at = pay_lmdb_key_val(&endpoint);
    rc = pay_lmdb_check_has(&found, NULL, check, PAY_TABLE_ENDPOINT, &at);
    if (rc) {
        return rc;
    }
    if (!found) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "there is no such endpoint");
    }
    rc = pay_lmdb_event_records(event, check->txn, check->ptemp);
    if (rc == PAY_LMDB_BAD_ROW) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "a record that it tells of is not there");
    } else if (rc) {
        return rc;
    } else if (event->charge && event->sequence > event->charge->events) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT, key, "its charge knows of fewer events");
    }
    return check_place(check, key, event);
}

/* What both indexes have in common: `place` leads to the first event of a transaction. */
static int check_index(pay_event_t **out, pay_lmdb_check_t *check, pay_lmdb_table_t table,
                       const MDB_val *key, const pay_event_t *place)
{
    int rc;

    rc = pay_lmdb_event_first(out, check->txn, place, check->ptemp);
    if (rc == MDB_NOTFOUND) {
        pay_lmdb_check_fault(check, table, key, "leads to no event");
        return MDB_SUCCESS;
    }
    return rc == PAY_LMDB_BAD_ROW ? MDB_SUCCESS : rc; /* told with the row */
}

int pay_lmdb_check_event_due(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *bytes = key->mv_data;
    pay_endpoint_t *endpoint;
    pay_event_t place, *event;
    int rc;

    (void)row;
    memset(&place, 0, sizeof(place));
    if (key->mv_size != PAY_LMDB_EVENT_DUE_KEY_LEN
        || !pay_lmdb_endpoint_key_read(&place.scope, &place.endpoint, bytes,
                                       PAY_LMDB_ENDPOINT_KEY_LEN)) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT_DUE, key, "the key is malformed");
        return MDB_SUCCESS;
    }
    place.charge_seq = pay_lmdb_read_u64(bytes + PAY_LMDB_ENDPOINT_KEY_LEN + 8);
    rc = check_index(&event, check, PAY_TABLE_EVENT_DUE, key, &place);
    if (rc || !event) {
        return rc;
    }
    if (event->due_at != pay_lmdb_read_time(bytes + PAY_LMDB_ENDPOINT_KEY_LEN)) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT_DUE, key, "its event is due at another time");
    }
    rc = pay_lmdb_endpoint_load(&endpoint, check->txn, &place.scope, place.endpoint, check->ptemp);
    if (!rc && endpoint->enabled && !endpoint->due_at) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT_DUE, key, "nothing looks at its endpoint");
    }
    return rc == MDB_NOTFOUND || rc == PAY_LMDB_BAD_ROW ? MDB_SUCCESS : rc;
}

int pay_lmdb_check_event_parked(pay_lmdb_check_t *check, const MDB_val *key, const MDB_val *row)
{
    const unsigned char *bytes = key->mv_data;
    pay_event_t place, *event;
    int rc;

    (void)row;
    memset(&place, 0, sizeof(place));
    if (key->mv_size != PAY_LMDB_EVENT_PARKED_KEY_LEN
        || !pay_lmdb_endpoint_key_read(&place.scope, &place.endpoint, bytes,
                                       PAY_LMDB_ENDPOINT_KEY_LEN)) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT_PARKED, key, "the key is malformed");
        return MDB_SUCCESS;
    }
    place.charge_seq = pay_lmdb_read_u64(bytes + PAY_LMDB_ENDPOINT_KEY_LEN);
    rc = check_index(&event, check, PAY_TABLE_EVENT_PARKED, key, &place);
    if (!rc && event && !event->parked_at) {
        pay_lmdb_check_fault(check, PAY_TABLE_EVENT_PARKED, key, "its event is not parked");
    }
    return rc;
}
