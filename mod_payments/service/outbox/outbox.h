/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_OUTBOX_H
#define PAY_SERVICE_OUTBOX_OUTBOX_H

/*
 * Delivers due events of the outbox: webhooks and e-mails, many at once (docs/notifications.md). An
 * outbox belongs to one thread; any number of processes may work on one store.
 */

#include "base/crypto/keyring.h"
#include "service/service.h"

#define PAY_OUTBOX_IN_FLIGHT_MAX 256     /* attempts at a time */
#define PAY_OUTBOX_IN_FLIGHT_HOST_MAX 16 /* of them to one host and port */

typedef struct pay_outbox_t pay_outbox_t;

/*
 * `keyring` NULL: there is no master key, and events that need a secret wait, which is logged.
 * Delivery settings are read from the store at the first step and again after a minute. Closed with
 * `p`: attempts under way at that time are repeated after their leases have ended.
 */
apr_status_t pay_outbox_create(pay_outbox_t **out, pay_store_t *store, const pay_keyring_t *keyring,
                               apr_pool_t *p);

/*
 * Takes due events, sends them, stores the results; goes on as long as there is work, at most
 * `time_max`. `stop` (NULL: never) is called often: if it returns 1, the step ends after the
 * results so far are stored. *delivered counts (NULL allowed).
 */
apr_status_t pay_outbox_step(int *delivered, pay_outbox_t *outbox, apr_interval_time_t time_max,
                             int (*stop)(void *baton), void *baton);

/* Begins nothing more: waits at most `time_max` for the attempts under way to end, and stores their
 * results. */
apr_status_t pay_outbox_drain(pay_outbox_t *outbox, apr_interval_time_t time_max);

/* Returns the number of attempts that are under way, or whose results are not stored yet. */
int pay_outbox_in_flight(const pay_outbox_t *outbox);

#endif
