/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#include "store/payment/charge.h"

/* The check's reports on endpoints and events whose rows do not agree. */

typedef enum target_t { ENDPOINT, ENDPOINT_DUE, EVENT, EVENT_DUE, EVENT_PARKED } target_t;

static const pay_table_t tables[] = {
    [ENDPOINT] = PAY_TABLE_ENDPOINT,
    [ENDPOINT_DUE] = PAY_TABLE_ENDPOINT_DUE,
    [EVENT] = PAY_TABLE_EVENT,
    [EVENT_DUE] = PAY_TABLE_EVENT_DUE,
    [EVENT_PARKED] = PAY_TABLE_EVENT_PARKED,
};

static const struct {
    const char *name;
    target_t target;
    int gone; /* the row is removed, else added */
    apr_uint64_t charge_seq;
    apr_uint32_t sequence;
    apr_time_t due_at;
    const char *bytes;
    int longer; /* of its key */
    const char *told;
} spoil_cases[] = {
    {"the endpoint is gone", ENDPOINT, 1, 0, 0, 0, NULL, 0, "there is no such endpoint"},
    {"the endpoint does not decode", ENDPOINT, 0, 0, 0, 0, "x", 0, "the row does not decode"},
    {"the endpoint's entry is gone", ENDPOINT_DUE, 1, 0, 0, TILL_NOW, NULL, 0,
     "it is due, but nothing will look"},
    {"another entry of the endpoint", ENDPOINT_DUE, 0, 0, 0, TILL_NOW + 1, "", 0,
     "leads to no endpoint that is due"},
    {"an entry of a key too long", ENDPOINT_DUE, 0, 0, 0, TILL_NOW, "", 1,
     "the key has a wrong length"},
    {"an event does not decode", EVENT, 0, 1, 1, 0, "x", 0, "the row does not decode"},
    {"an event of a key too long", EVENT, 0, 1, 1, 0, "x", 1, "the row does not decode"},
    {"the first event is gone", EVENT, 1, 1, 1, 0, NULL, 0, "nothing will deliver it"},
    {"the only event is gone", EVENT, 1, 3, 1, 0, NULL, 0, "leads to no event"},
    {"the parked event is gone", EVENT, 1, 2, 1, 0, NULL, 0, "nothing will deliver it"},
    {"an event's entry is gone", EVENT_DUE, 1, 1, 0, TILL_NOW, NULL, 0, "it is not in the index"},
    {"another entry of an event", EVENT_DUE, 0, 1, 0, TILL_NOW + 1, "", 0, "due at another time"},
    {"an entry of a parked event", EVENT_DUE, 0, 2, 0, TILL_NOW, "", 0, "due at another time"},
    {"an entry of no event", EVENT_DUE, 0, 99, 0, TILL_NOW, "", 0, "leads to no event"},
    {"a due key too long", EVENT_DUE, 0, 1, 0, TILL_NOW, "", 1, "the key has a wrong length"},
    {"a parked one's entry is gone", EVENT_PARKED, 1, 2, 0, 0, NULL, 0, "it is not in the index"},
    {"parked, but it waits", EVENT_PARKED, 0, 1, 0, 0, "", 0, "its event is not parked"},
    {"parked, but there is none", EVENT_PARKED, 0, 99, 0, 0, "", 0, "leads to no event"},
    {"a parked key too long", EVENT_PARKED, 0, 2, 0, 0, "", 1, "the key has a wrong length"},
};

/* Of each scope: a transaction of three events, one of two whose first is parked, one of one. */
static void fill(void)
{
    pay_refund_t *out;
    int i, k;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
        (void)till_charge(i, "order-1", 1000);
        out = till_refund(i, "order-1", 1000, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&out, i, out->refund_reference, PAY_OUTCOME_APPROVED);
        (void)till_charge(i, "order-2", 1000);
        out = till_refund(i, "order-2", 300, PAY_REFUND_OPENED);
        (void)till_refund_resolve(&out, i, out->refund_reference, PAY_OUTCOME_APPROVED);
        (void)till_charge(i, "order-3", 1000);
    }
    {
        apr_array_header_t *taken = outlet_take(100, 100);

        for (k = 0; k < taken->nelts; k++) {
            const pay_event_t *event = outlet_event(taken, k);

            (void)outlet_finish(event,
                                event->charge_seq == 2 ? PAY_EVENT_REFUSED : PAY_EVENT_RELEASED);
        }
    }
    till_check_clean();
}

static void make_key(pay_store_key_t *key, int row, int i)
{
    const pay_event_t event = {.scope = till->scopes[i],
                               .endpoint = PAY_ENDPOINT_WEBHOOK,
                               .charge_seq = spoil_cases[row].charge_seq,
                               .sequence = spoil_cases[row].sequence,
                               .due_at = spoil_cases[row].due_at};
    pay_store_key_t endpoint;

    pay_store_endpoint_key(&endpoint, &event.scope, event.endpoint);
    switch (spoil_cases[row].target) {
    case ENDPOINT:
        *key = endpoint;
        break;
    case ENDPOINT_DUE:
        pay_store_key_start(key);
        pay_store_key_time(key, event.due_at);
        (void)pay_store_key_bytes(key, endpoint.bytes, endpoint.len);
        break;
    case EVENT:
        pay_store_event_key(key, &event);
        break;
    case EVENT_DUE:
        pay_store_event_due_key(key, &event);
        break;
    case EVENT_PARKED:
        pay_store_event_parked_key(key, &event);
        break;
    }
    if (spoil_cases[row].longer) {
        (void)pay_store_key_bytes(key, "", 1);
    }
}

static void told(const char *name, const char *want)
{
    int faults = till_faults(want);

    ck_assert_msg(faults > 0, "%s: no fault was told", name);
    ck_assert_msg(strstr(till_fault, want) != NULL, "%s: told '%s'", name, till_fault);
}

START_TEST(test_spoiled)
{
    const char *bytes = spoil_cases[_i].bytes;
    pay_store_key_t key;

    fill();
    make_key(&key, _i, _i % TILL_SCOPES);
    till_plant(tables[spoil_cases[_i].target], &key, spoil_cases[_i].gone ? NULL : bytes,
               bytes ? strlen(bytes) : 0);
    told(spoil_cases[_i].name, spoil_cases[_i].told);
}
END_TEST

static void due_too(pay_event_t *event)
{
    event->due_at = TILL_NOW;
}
static void parked_too(pay_event_t *event)
{
    event->parked_at = TILL_NOW;
}
static void due_at_another_time(pay_event_t *event)
{
    event->due_at++;
}
static void due_never(pay_event_t *event)
{
    event->due_at = 0;
}
static void of_no_refund(pay_event_t *event)
{
    event->refund_seq = 77;
}
static void of_no_state(pay_event_t *event)
{
    event->state = PAY_REFUND_STATE_COUNT;
}
static void of_no_kind(pay_event_t *event)
{
    event->kind = (pay_event_kind_t)5;
}
static void test_of_a_charge(pay_event_t *event)
{
    event->kind = PAY_EVENT_TEST;
}
static void parking_without_its_bit(pay_event_t *event)
{
    event->kind = PAY_EVENT_PARKED;
}
static void first_tried_before_time_began(pay_event_t *event)
{
    event->first_try_at = -1;
}
static void first_tried_at_the_end_of_time(pay_event_t *event)
{
    event->first_try_at = APR_INT64_MAX;
}
static void leased_for_ever(pay_event_t *event)
{
    event->lease_until_ms = APR_INT64_MAX;
}

static const struct {
    const char *name;
    apr_uint64_t charge_seq;
    apr_uint32_t sequence;
    void (*change)(pay_event_t *event);
    const char *told;
} change_cases[] = {
    {"one behind is due", 1, 2, due_too, "it would overtake an earlier one"},
    {"one behind is parked", 2, 2, parked_too, "it would overtake an earlier one"},
    {"due and parked", 1, 1, parked_too, "nothing will deliver it"},
    {"due at another time", 1, 1, due_at_another_time, "it is not in the index"},
    {"due never", 1, 1, due_never, "nothing will deliver it"},
    {"of no refund", 1, 2, of_no_refund, "a record that it reports is not there"},
    {"of no state", 1, 2, of_no_state, "the row does not decode"},
    {"of no kind", 1, 1, of_no_kind, "the row does not decode"},
    {"a test of a charge", 1, 1, test_of_a_charge, "the row does not decode"},
    {"a notice of parking at another's place", 1, 1, parking_without_its_bit,
     "the row does not decode"},
    {"a time too early", 1, 1, first_tried_before_time_began, "the row does not decode"},
    {"a time too late", 1, 1, first_tried_at_the_end_of_time, "the row does not decode"},
    {"a lease too long", 1, 1, leased_for_ever, "the row does not decode"},
};

START_TEST(test_changed)
{
    const pay_event_t place = {.scope = till->scopes[_i % TILL_SCOPES],
                               .endpoint = PAY_ENDPOINT_WEBHOOK,
                               .charge_seq = change_cases[_i].charge_seq,
                               .sequence = change_cases[_i].sequence};

    fill();
    outlet_change(&place, change_cases[_i].change);
    told(change_cases[_i].name, change_cases[_i].told);
}
END_TEST

/* Rows added where none existed, or of records that are gone. */
START_TEST(test_charge_knows_of_fewer)
{
    pay_store_key_t key;
    pay_charge_t *charge;
    pay_bytes_t row;

    fill();
    charge = till_find(1, "order-1");
    charge->events = 2;
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    pay_store_charge_key(&key, &till->scopes[1], charge->seq);
    till_plant(PAY_TABLE_CHARGE, &key, row.data, row.len);
    told("fewer", "its charge knows of fewer events");
}
END_TEST

START_TEST(test_charge_is_gone)
{
    pay_store_key_t key;

    fill();
    pay_store_charge_key(&key, &till->scopes[1], 1);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    told("gone", "a record that it reports is not there");
}
END_TEST

typedef struct put_t {
    const pay_endpoint_t *endpoint;
} put_t;

static int put_work(pay_rows_txn_t *txn, void *baton)
{
    return pay_store_endpoint_store(txn, ((const put_t *)baton)->endpoint, unit_pool);
}

static void put_raw(const pay_endpoint_t *endpoint)
{
    put_t put = {endpoint};

    till_raw(put_work, &put);
}

START_TEST(test_endpoint_of_no_account)
{
    pay_endpoint_t stray;

    fill();
    stray = *outlet_get(0, PAY_ENDPOINT_WEBHOOK);
    stray.scope.account = 99;
    stray.due_at = 0;
    put_raw(&stray);
    told("no account", "there is no such account");
}
END_TEST

START_TEST(test_nothing_looks)
{
    pay_endpoint_t asleep;
    pay_store_key_t key, endpoint;

    fill();
    asleep = *outlet_get(0, PAY_ENDPOINT_WEBHOOK);
    pay_store_endpoint_key(&endpoint, &asleep.scope, asleep.kind);
    pay_store_key_start(&key);
    pay_store_key_time(&key, asleep.due_at);
    (void)pay_store_key_bytes(&key, endpoint.bytes, endpoint.len);
    till_plant(PAY_TABLE_ENDPOINT_DUE, &key, NULL, 0);
    asleep.due_at = 0;
    put_raw(&asleep);
    told("asleep", "nothing looks at its endpoint");
    asleep.enabled = 0; /* then it is as it should be */
    put_raw(&asleep);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
    tcase_add_loop_test(tcase, test_changed, 0, UNIT_ROWS(change_cases));
    tcase_add_test(tcase, test_charge_knows_of_fewer);
    tcase_add_test(tcase, test_charge_is_gone);
    tcase_add_test(tcase, test_endpoint_of_no_account);
    tcase_add_test(tcase, test_nothing_looks);
}

UNIT_PROGRAM(add)
