/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENTS_H
#define PAY_STORE_EVENTS_H

/*
 * Units of work of the store for endpoints and events (docs/store.md, "Events"). The operations
 * that change charges and refunds write events in their transactions. Include store/store.h
 * instead.
 */

#include "store/types.h"

/* --- delivery settings; APR_NOTFOUND: no server has stored them yet --- */
apr_status_t pay_store_delivery_put(pay_store_t *store, const pay_delivery_t *delivery,
                                    apr_pool_t *p);
apr_status_t pay_store_delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p);

/* --- endpoints --- */
/*
 * Writes enabled, address and secrets of `endpoint`, made if it is missing; the state of its
 * deliveries is left alone, but an enabled one is no longer failing and is examined when an event
 * is due. `was`: the secrets that it must still have (compare and set; "" if absent), else
 * APR_EEXIST and nothing is written; NULL: any.
 */
apr_status_t pay_store_endpoint_put(pay_endpoint_t **out, pay_store_t *store,
                                    const pay_endpoint_t *endpoint, const pay_endpoint_t *was,
                                    apr_pool_t *p);
/*
 * Switches endpoints on or off, all of them in one transaction: array of pay_endpoint_switch_t, at
 * most PAY_STORE_SWITCHES_MAX. Other values of an endpoint stay, as above; a missing one is made
 * only if it is switched on, or if recipients are set.
 */
#define PAY_STORE_SWITCHES_MAX 4 /* two kinds of e-mail in both modes */
typedef struct pay_endpoint_switch_t {
    pay_scope_t scope;
    pay_endpoint_kind_t kind;
    int enabled;            /* 1, 0, -1: unchanged */
    const char *address;    /* NULL: unchanged */
    const char *recipients; /* NULL: unchanged */
} pay_endpoint_switch_t;
apr_status_t pay_store_endpoint_switch(pay_store_t *store, const apr_array_header_t *switches,
                                       apr_pool_t *p);
apr_status_t pay_store_endpoint_get(pay_endpoint_t **out, pay_store_t *store,
                                    const pay_scope_t *scope, pay_endpoint_kind_t kind,
                                    apr_pool_t *p);
/* Array of pay_endpoint_t *, at most `limit`, by scope and kind, after `after` (NULL: all). */
apr_status_t pay_store_endpoint_list(apr_array_header_t **out, pay_store_t *store,
                                     const pay_endpoint_t *after, int limit, apr_pool_t *p);
/*
 * Replaces `was` by `secret` (compare and set, both sealed): *changed 0 if neither secret of the
 * endpoint is `was`.
 */
apr_status_t pay_store_endpoint_reseal(int *changed, pay_store_t *store,
                                       const pay_endpoint_t *endpoint, const char *was,
                                       const char *secret, apr_pool_t *p);

/* --- events --- */
/* Makes a test event, due at once; earlier ones of the endpoint are removed. APR_NOTFOUND: no such
 * endpoint, or it is not enabled; APR_EINVAL: there are no tests for payers. */
apr_status_t pay_store_event_test(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                  pay_endpoint_kind_t kind, apr_pool_t *p);

/*
 * Returns how many events of the endpoint may be taken now; 0: it has its greatest number, and is
 * examined again soon; negative: nothing can be sent there yet, it is examined again in seconds.
 * `taken` PAY_EVENT_BUDGET_ASK requests that; else `taken` is how many of them were taken, and the
 * rest is for others. Called inside a transaction, which may start again and call again: uses only
 * memory.
 */
#define PAY_EVENT_BUDGET_ASK (-1)
typedef int pay_event_budget_t(void *baton, const pay_endpoint_t *endpoint, int taken);

/* A taken event: lease and records are filled in, and its endpoint. */
typedef struct pay_taken_t {
    const pay_event_t *event;
    const pay_endpoint_t *endpoint;
    int withheld; /* 1: a receipt of Test Mode to an address that is not listed: it must not be
                   * sent */
} pay_taken_t;

/*
 * Array of pay_taken_t, at most `limit` (PAY_STORE_LEASES_MAX): the oldest undelivered events of
 * due transactions, endpoint by endpoint, each leased to this process for PAY_STORE_LEASE_MS in the
 * same transaction. Of a failing endpoint only one. Does not write if nothing is due. Receipts
 * count for their payer in that transaction, and wait while the payer has had enough of them
 * (docs/notifications.md, "How many").
 */
apr_status_t pay_store_event_take(apr_array_header_t **out, pay_store_t *store, int limit,
                                  pay_event_budget_t *budget, void *baton, apr_pool_t *p);

typedef enum pay_event_end_t {
    PAY_EVENT_DELIVERED,
    PAY_EVENT_FAILED,   /* to be retried later */
    PAY_EVENT_REFUSED,  /* permanent: parked at once; the endpoint itself answers */
    PAY_EVENT_WITHHELD, /* permanent: parked at once; not tried */
    PAY_EVENT_RELEASED  /* not tried: due again at once */
} pay_event_end_t;

typedef struct pay_event_result_t {
    const pay_event_t *event; /* as taken */
    pay_event_end_t end;
    int status;
    const char *error;  /* "" when delivered */
    const char *answer; /* any bytes; cut and converted to UTF-8 when stored */
    /* Set by event_finish. */
    int stored; /* 0: the lease is no longer valid, or the event is gone */
    int parked;
    apr_time_t due_at; /* the next attempt; 0: none */
} pay_event_result_t;

/*
 * Array of pay_event_result_t, at most PAY_STORE_LEASES_MAX, in one transaction. Delivered: the
 * event is deleted, the transaction's next is due. A result of an earlier lease changes nothing.
 */
apr_status_t pay_store_event_finish(pay_store_t *store, apr_array_header_t *results, apr_pool_t *p);

/* Array of pay_event_t *, undelivered ones of a scope by endpoint, transaction and sequence;
 * `parked` 1: only parked ones. Without records. */
apr_status_t pay_store_event_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, int parked, const pay_event_t *after,
                                  int limit, apr_pool_t *p);
/* Finds an event by endpoint, charge_seq and sequence of `place`, with its records. */
apr_status_t pay_store_event_get(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 const pay_event_t *place, apr_pool_t *p);
/* Makes it due at once, as if it had never been tried; its endpoint is tried again too. APR_EBUSY:
 * an earlier one of its transaction must be sent first. */
apr_status_t pay_store_event_retry(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                   const pay_event_t *place, apr_pool_t *p);
/* Deletes it; the transaction's next is due if it was the first. */
apr_status_t pay_store_event_drop(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                  const pay_event_t *place, apr_pool_t *p);
apr_status_t pay_store_event_stat(pay_event_stat_t *out, pay_store_t *store, apr_pool_t *p);

#endif
