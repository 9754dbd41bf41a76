/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTLET_H
#define OUTLET_H

/*
 * The common part of the tests of the store's events: endpoints of the till's scopes, events taken
 * and finished, and waiting events as text. A call that goes wrong fails the test.
 */

#include "till.h"

#include "store/event/event.h"

#define OUTLET_ANY 1000 /* a budget that is no limit */
#define OUTLET_DAY apr_time_from_sec(24 * 3600)

/* Enables it; an existing one keeps the state of its deliveries. */
pay_endpoint_t *outlet_open(int i, pay_endpoint_kind_t kind);

void outlet_open_all(int i);

pay_endpoint_t *outlet_get(int i, pay_endpoint_kind_t kind);

void outlet_shut(int i, pay_endpoint_kind_t kind);

/* The same for each endpoint: the int at `baton`. */
int outlet_budget(void *baton, const pay_endpoint_t *endpoint, int taken);

/* Array of pay_taken_t. */
apr_array_header_t *outlet_take(int limit, int budget);

const pay_event_t *outlet_event(const apr_array_header_t *taken, int at);

pay_event_result_t outlet_result(const pay_event_t *event, pay_event_end_t end);

pay_event_result_t outlet_finish(const pay_event_t *event, pay_event_end_t end);

/* Ends all taken events in the same way, in one transaction. */
apr_array_header_t *outlet_finish_all(const apr_array_header_t *taken, pay_event_end_t end);

/* Takes due events until none is left, all with the same end; returns their number. */
int outlet_run(pay_event_end_t end);

/* "webhook 1.2 refund processed", with * for a leased one and its standing unless it waits. */
const char *outlet_name(const pay_event_t *event);

/* All undelivered events in scope `i`, by endpoint, transaction and sequence. */
const char *outlet_waiting(int i);

/* Changes a row behind the store's back; its entries stay. */
void outlet_change(const pay_event_t *place, void (*change)(pay_event_t *event));

#endif
