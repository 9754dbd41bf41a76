/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_EVENTS_H
#define PAY_SERVICE_OUTBOX_EVENTS_H

/* What a person does to one notification: a test is sent, one that was not taken is sent again or
 * dropped. */

#include "service/service.h"

/* The undelivered event of this id, with its records. 404 N1: there is none of this id (any more),
 * or the id is malformed. */
const pay_problem_t *pay_event_find(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, const char *id, apr_pool_t *p);

/*
 * The event, as pay_event_find or a list gave it, is due at once, as if it had never been tried.
 * *out as it stands then, without records. 404 N1: it is gone; 409 D1: an earlier one of its
 * transaction goes first.
 */
const pay_problem_t *pay_event_retry(pay_event_t **out, const pay_service_t *service,
                                     const pay_event_t *event, apr_pool_t *p);

/* Likewise, and it is never sent. *out as it was. */
const pay_problem_t *pay_event_drop(pay_event_t **out, const pay_service_t *service,
                                    const pay_event_t *event, apr_pool_t *p);

/* A test event for the webhook or the merchant (PAY_ENDPOINT_NOTICE), due at once. 409 D1: there is
 * no such endpoint, or it is off. */
const pay_problem_t *pay_event_test(pay_event_t **out, const pay_service_t *service,
                                    const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                    apr_pool_t *p);

#endif
