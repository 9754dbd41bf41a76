/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check/check.h"

#include "store/event/event.h"
#include "store/outbox/outbox.h"

int pay_store_check_endpoint(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_bytes_t *row)
{
    pay_endpoint_t *endpoint;
    int rc, found;

    rc = pay_store_endpoint_decode(&endpoint, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_ENDPOINT, key, "the row does not decode");
        return 0;
    }
    rc = pay_store_check_account_known(&found, check, key->data);
    if (!rc && !found) {
        pay_store_check_fault(check, PAY_TABLE_ENDPOINT, key, "there is no such account");
    }
    return rc ? rc : pay_store_check_entries(check, &pay_store_endpoint_record, key, endpoint);
}

/* The event's endpoint exists, and has a time of its next check while the event is due. */
static int check_endpoint_of(pay_store_check_t *check, const pay_bytes_t *key,
                             const pay_event_t *event)
{
    pay_endpoint_t *endpoint;
    int rc;

    rc = pay_store_endpoint_load(&endpoint, check->txn, &event->scope, event->endpoint,
                                 check->ptemp);
    if (rc == PAY_ROWS_NOTFOUND) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "there is no such endpoint");
    } else if (!rc && event->due_at && endpoint->enabled && !endpoint->due_at) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "nothing looks at its endpoint");
    }
    return rc == PAY_ROWS_NOTFOUND || rc == PAY_ROWS_BAD ? 0 : rc; /* reported with its row */
}

/* The records that the event refers to exist. */
static int check_records(pay_store_check_t *check, const pay_bytes_t *key, pay_event_t *event)
{
    int rc;

    rc = pay_store_event_records(event, check->txn, check->ptemp);
    if (rc == PAY_ROWS_BAD) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "a record that it reports is not there");
        return 0;
    }
    if (!rc && event->charge && event->sequence > event->charge->events) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "its charge knows of fewer events");
    }
    return rc;
}

/* Only the first event of a transaction is in an index, and it always is. */
static int check_place(pay_store_check_t *check, const pay_bytes_t *key, const pay_event_t *event)
{
    pay_event_t *first;
    int rc;

    rc = pay_store_event_first(&first, check->txn, event, check->ptemp);
    if (rc) {
        return rc == PAY_ROWS_BAD || rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (first->sequence != event->sequence && (event->due_at || event->parked_at)) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "it would overtake an earlier one");
    }
    if (first->sequence == event->sequence && !event->due_at == !event->parked_at) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "nothing will deliver it");
    }
    return 0;
}

int pay_store_check_event(pay_store_check_t *check, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_event_t *event;
    int rc;

    rc = pay_store_event_decode(&event, key, row, check->ptemp);
    if (rc) {
        pay_store_check_fault(check, PAY_TABLE_EVENT, key, "the row does not decode");
        return 0;
    }
    rc = check_endpoint_of(check, key, event);
    rc = rc ? rc : check_records(check, key, event);
    rc = rc ? rc : check_place(check, key, event);
    return rc ? rc : pay_store_check_entries(check, &pay_store_event_record, key, event);
}
