/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_EVENTS_H
#define PAY_SERVICE_OUTBOX_EVENTS_H

/* A person's action on one notification: sends a test, sends an undelivered one again, or drops
 * it. */

#include "service/service.h"

/* Finds the undelivered event of this id, with its records. 404 N1: there is no such event (any
 * more), or the id is malformed. */
const pay_problem_t *pay_event_find(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, const char *id, apr_pool_t *p);

/*
 * Makes the event, from pay_event_find or a list, due at once, as if it had never been tried. *out
 * is its present state, without records. 404 N1: it is gone; 409 D1: an earlier one of its
 * transaction must be sent first.
 */
const pay_problem_t *pay_event_retry(pay_event_t **out, const pay_service_t *service,
                                     const pay_event_t *event, apr_pool_t *p);

/* Likewise, but it is never sent. *out is its last state. */
const pay_problem_t *pay_event_drop(pay_event_t **out, const pay_service_t *service,
                                    const pay_event_t *event, apr_pool_t *p);

/* Makes a test event for the webhook or the merchant (PAY_ENDPOINT_NOTICE), due at once. 409 D1:
 * there is no such endpoint, or it is off. */
const pay_problem_t *pay_event_test(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                    apr_pool_t *p);

#endif
