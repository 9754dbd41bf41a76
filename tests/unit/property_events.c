/* SPDX-License-Identifier: Apache-2.0 */
#include "property.h"

#include <unistd.h>

/*
 * Events against the model: a change in the model since the last step must have been written for
 * each endpoint that was enabled then, waits in that order until it is delivered, and is never
 * lost. Notices of parking are delivered like others and not counted.
 */

#define EVENTS_MAX 100
#define HELD_MAX 20
#define KINDS (PAY_ENDPOINT_KIND_LAST + 1)

typedef struct told_t {
    pay_event_kind_t kind;
    int state;
    apr_uint32_t sequence;
    int waits[KINDS]; /* by endpoint: not delivered yet */
} told_t;

/* The last known state of a charge of the model, and its events. */
typedef struct followed_t {
    apr_uint64_t seq;
    pay_charge_state_t state;
    pay_refund_state_t refunds[MODEL_REFUNDS_MAX];
    int refund_count;
    told_t told[EVENTS_MAX];
    int count;
    apr_uint32_t events;
} followed_t;

typedef struct known_t {
    int enabled[KINDS];
    followed_t charges[MODEL_CHARGES_MAX];
    int charge_count;
    const pay_event_t *held[HELD_MAX]; /* taken, and not finished yet */
    int held_count;
    apr_uint32_t before; /* sequences of the epoch follow it */
} known_t;

static known_t now, of_copy;

void property_events_put_back(void)
{
    now = of_copy;
}

void property_events_epoch(apr_uint32_t number)
{
    now.before = number << 12;
}

/* Whether an endpoint receives it; the first time, or when the charge returns to a state. */
static int wants(int endpoint, pay_event_kind_t kind, int state, int first)
{
    const int paid = kind == PAY_EVENT_TRANSACTION && state == PAY_CHARGE_SUCCESSFUL;
    const int declined = kind == PAY_EVENT_TRANSACTION && state == PAY_CHARGE_FAILED;
    const int refunded = kind == PAY_EVENT_REFUND && state == PAY_REFUND_PROCESSED;

    if (endpoint == PAY_ENDPOINT_WEBHOOK) {
        return 1;
    }
    return first && (paid || refunded || (declined && endpoint == PAY_ENDPOINT_NOTICE));
}

static void tell(followed_t *charge, pay_event_kind_t kind, int state, int first)
{
    told_t *told = &charge->told[charge->count];
    int endpoint, any = 0;

    HOLD(charge->count < EVENTS_MAX, "more events than the model has place for");
    memset(told, 0, sizeof(*told));
    for (endpoint = PAY_ENDPOINT_WEBHOOK; endpoint < KINDS; endpoint++) {
        told->waits[endpoint] = now.enabled[endpoint] && wants(endpoint, kind, state, first);
        any |= told->waits[endpoint];
    }
    if (any) {
        told->kind = kind;
        told->state = state;
        charge->events = (charge->events > now.before ? charge->events : now.before) + 1;
        told->sequence = charge->events;
        charge->count++;
    }
}

static void follow_refunds(followed_t *charge, const model_charge_t *model)
{
    pay_refund_state_t state;
    int k;

    for (k = 0; k < model->refund_count; k++) {
        state = model->refunds[k].state;
        if (k == charge->refund_count) {
            charge->refunds[charge->refund_count++] = PAY_REFUND_PENDING;
        }
        if (charge->refunds[k] == state) {
            continue;
        }
        charge->refunds[k] = state;
        tell(charge, PAY_EVENT_REFUND, (int)state, 1);
        if (charge->state != model->state) {
            charge->state = model->state;
            tell(charge, PAY_EVENT_TRANSACTION, (int)model->state, 0);
        }
    }
}

static void follow_charge(followed_t *charge, const model_charge_t *model)
{
    pay_charge_t *found;

    if (!charge->seq) {
        HOLD(pay_store_charge_find(&found, property.service.store, &property.caller.scope,
                                   model->reference, property.step)
                 == APR_SUCCESS,
             "a charge is gone");
        charge->seq = found->seq;
    }
    if (charge->state == PAY_CHARGE_PENDING || charge->state == PAY_CHARGE_VOID) {
        if (charge->state != model->state && model->state != PAY_CHARGE_VOID) {
            tell(charge, PAY_EVENT_TRANSACTION,
                 model->state == PAY_CHARGE_REVERSED ? PAY_CHARGE_SUCCESSFUL : model->state, 1);
        }
        charge->state = model->state;
    }
    follow_refunds(charge, model);
}

/* The next event from `at` on that the store lists and the model knows. */
static const pay_event_t *next_listed(const apr_array_header_t *list, int *at)
{
    const pay_event_t *event;

    while (*at < list->nelts) {
        event = APR_ARRAY_IDX(list, (*at)++, const pay_event_t *);
        if (event->kind != PAY_EVENT_PARKED) {
            return event;
        }
    }
    return NULL;
}

void property_events_compare(void)
{
    apr_array_header_t *list;
    const pay_event_t *event;
    int i, k, endpoint, at = 0;

    for (i = 0; i < property.model.charge_count; i++) {
        follow_charge(&now.charges[i], &property.model.charges[i]);
    }
    now.charge_count = property.model.charge_count;
    HOLD(pay_store_event_list(&list, property.service.store, &property.caller.scope, 0, NULL,
                              PAY_STORE_ROWS_MAX, property.step)
             == APR_SUCCESS,
         "the events cannot be read");
    for (endpoint = PAY_ENDPOINT_WEBHOOK; endpoint < KINDS; endpoint++) {
        for (i = 0; i < now.charge_count; i++) {
            for (k = 0; k < now.charges[i].count; k++) {
                const told_t *told = &now.charges[i].told[k];

                if (!told->waits[endpoint]) {
                    continue;
                }
                event = next_listed(list, &at);
                HOLD(event, "an event is missing");
                HOLD((int)event->endpoint == endpoint && event->charge_seq == now.charges[i].seq,
                     "another endpoint's or charge's event");
                HOLD(event->sequence == told->sequence, "an event's sequence differs");
                HOLD(event->kind == told->kind && event->state == told->state,
                     "an event tells of something else");
            }
        }
    }
    HOLD(!next_listed(list, &at), "an event that nothing tells of");
}

/* The oldest waiting one of its transaction and endpoint. */
static told_t *first_of(const pay_event_t *event)
{
    int i, k;

    for (i = 0; i < now.charge_count; i++) {
        for (k = 0; now.charges[i].seq == event->charge_seq && k < now.charges[i].count; k++) {
            if (now.charges[i].told[k].waits[event->endpoint]) {
                return &now.charges[i].told[k];
            }
        }
    }
    return NULL;
}

static void hold_taken(const pay_event_t *event)
{
    const told_t *told;
    int i;

    HOLD(event->scope.account == property.caller.scope.account, "another account's event");
    HOLD(now.enabled[event->endpoint], "an event of a disabled endpoint was taken");
    for (i = 0; i < now.held_count; i++) {
        HOLD(now.held[i]->endpoint != event->endpoint
                 || now.held[i]->charge_seq != event->charge_seq,
             "two of a transaction are out at a time");
    }
    if (event->kind != PAY_EVENT_PARKED) {
        told = first_of(event);
        HOLD(told && told->sequence == event->sequence, "an event overtook an earlier one");
        HOLD(event->charge && event->charge->seq == event->charge_seq, "of another charge");
    }
}

static int budget(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    (void)endpoint;
    (void)taken;
    return *(const int *)baton;
}

static apr_array_header_t *take(int limit, int each)
{
    apr_array_header_t *taken = NULL;

    HOLD(pay_store_event_take(&taken, property.service.store, limit, budget, &each, property.step)
             == APR_SUCCESS,
         "events cannot be taken");
    return taken;
}

static void take_in_a_child(const void *baton)
{
    (void)take(1 + property_below(5), 3);
    (void)baton;
    _exit(EXIT_SUCCESS);
}

static void finish_one(const pay_event_t *event, pay_event_end_t end, int again)
{
    apr_array_header_t *results = apr_array_make(property.step, 1, sizeof(pay_event_result_t));
    const pay_event_result_t result = {
        .event = event, .end = end, .status = 500, .error = "no", .answer = ""};
    told_t *told = event->kind == PAY_EVENT_PARKED ? NULL : first_of(event);
    int stored;

    APR_ARRAY_PUSH(results, pay_event_result_t) = result;
    HOLD(pay_store_event_finish(property.service.store, results, property.step) == APR_SUCCESS,
         "a result cannot be stored");
    stored = APR_ARRAY_IDX(results, 0, pay_event_result_t).stored;
    HOLD(stored == !again, "a result was not taken, or twice");
    if (told && end == PAY_EVENT_DELIVERED && stored) {
        told->waits[event->endpoint] = 0;
        property.delivered++;
    }
}

static pay_event_end_t end_at_random(void)
{
    static const pay_event_end_t ends[] = {
        PAY_EVENT_DELIVERED, PAY_EVENT_DELIVERED, PAY_EVENT_DELIVERED,
        PAY_EVENT_DELIVERED, PAY_EVENT_DELIVERED, PAY_EVENT_FAILED,
        PAY_EVENT_FAILED,    PAY_EVENT_REFUSED,   PAY_EVENT_RELEASED};

    return ends[property_below(UNIT_ROWS(ends))];
}

static void finish_held(int all)
{
    const pay_event_t *event;
    pay_event_end_t end;

    while (now.held_count > 0 && (all || property_below(4) > 0)) {
        event = now.held[--now.held_count];
        end = all ? PAY_EVENT_DELIVERED : end_at_random();
        finish_one(event, end, 0);
        if (property_below(4) == 0) {
            finish_one(event, PAY_EVENT_DELIVERED, 1);
        }
    }
}

/* Taken events end first: a restored server does not go on with them. */
void property_events_keep(void)
{
    finish_held(1);
    of_copy = now;
}

static void take_and_hold(int limit, int each)
{
    apr_array_header_t *taken = take(limit, each);
    pay_event_t *kept;
    int i;

    for (i = 0; i < taken->nelts; i++) {
        hold_taken(APR_ARRAY_IDX(taken, i, pay_taken_t).event);
        kept =
            apr_pmemdup(property.pool, APR_ARRAY_IDX(taken, i, pay_taken_t).event, sizeof(*kept));
        kept->charge = NULL;
        now.held[now.held_count++] = kept;
    }
}

static void retry_parked(void)
{
    apr_array_header_t *list;
    pay_event_t *event;
    int i;

    HOLD(pay_store_event_list(&list, property.service.store, &property.caller.scope, 1, NULL,
                              PAY_STORE_ROWS_MAX, property.step)
             == APR_SUCCESS,
         "the parked events cannot be read");
    for (i = 0; i < list->nelts; i++) {
        HOLD(pay_store_event_retry(&event, property.service.store, &property.caller.scope,
                                   APR_ARRAY_IDX(list, i, const pay_event_t *), property.step)
                 == APR_SUCCESS,
             "a parked event cannot be retried");
    }
}

static void put_endpoint(int kind, int enabled)
{
    const pay_endpoint_t wanted = {
        .scope = property.caller.scope, .kind = (pay_endpoint_kind_t)kind, .enabled = enabled};
    pay_endpoint_t *endpoint;

    HOLD(pay_store_endpoint_put(&endpoint, property.service.store, &wanted, NULL, property.step)
             == APR_SUCCESS,
         "an endpoint cannot be written");
    now.enabled[kind] = enabled;
}

void property_do_endpoint(void)
{
    put_endpoint(1 + property_below(PAY_ENDPOINT_KIND_LAST), property_below(3) > 0);
}

void property_do_deliver(void)
{
    finish_held(0);
    if (property_below(20) == 0) {
        property_crash(take_in_a_child, NULL);
    }
    if (property_below(8) == 0) {
        retry_parked();
    }
    take_and_hold(1 + property_below(HELD_MAX - now.held_count), 1 + property_below(5));
    finish_held(0);
}

void property_events_begin(void)
{
    const apr_uint32_t before = now.before;
    int kind;

    memset(&now, 0, sizeof(now));
    now.before = before;
    for (kind = PAY_ENDPOINT_WEBHOOK; kind < KINDS; kind++) {
        if (property_below(4) > 0) {
            put_endpoint(kind, 1);
        }
    }
}

void property_events_leave(void)
{
    int kind;

    for (kind = PAY_ENDPOINT_WEBHOOK; kind < KINDS; kind++) {
        put_endpoint(kind, 0);
    }
}

/* All events that were ever written arrive, whatever went wrong before. */
void property_events_end(void)
{
    apr_array_header_t *list;
    int rounds, kind;

    finish_held(1);
    for (kind = PAY_ENDPOINT_WEBHOOK; kind < KINDS; kind++) {
        put_endpoint(kind, 1);
    }
    for (rounds = 0; rounds < 1000; rounds++) {
        retry_parked();
        property.now += PROPERTY_HOUR;
        do {
            take_and_hold(HELD_MAX, HELD_MAX);
            kind = now.held_count;
            finish_held(1);
        } while (kind > 0);
        HOLD(pay_store_event_list(&list, property.service.store, &property.caller.scope, 0, NULL, 1,
                                  property.step)
                 == APR_SUCCESS,
             "the events cannot be read");
        if (list->nelts == 0) {
            break;
        }
    }
    HOLD(rounds < 1000, "events never arrive");
    property_events_compare();
}
