/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_EVENT_H
#define PAY_MODEL_EVENT_H

/*
 * An event: what is told of a change to one endpoint, once it is delivered. It holds what may
 * change later of the records it tells of; the rest is theirs. Pure.
 */

#include "model/charge.h"
#include "model/endpoint.h"
#include "model/refund.h"

#define PAY_EVENT_ID_LEN 46       /* "evt_" and 42 hex digits */
#define PAY_EVENT_ANSWER_MAX 1024 /* bytes of the receiver's body that are kept */
#define PAY_EVENT_TRY_FOR apr_time_from_sec(3 * 24 * 3600) /* after its first try */
/* Why a receipt waits, and why one is given up unsent. */
#define PAY_EVENT_NO_ROOM "Not sent yet: the payer's address had 5 receipts within an hour"
#define PAY_EVENT_NOT_LISTED                                                                       \
    "Not sent: in Test Mode receipts go to the merchant and to listed addresses only (mail set "   \
    "--test-recipient)"
/* In charge_seq of PAY_EVENT_PARKED: these go in no order with the events of their transaction. */
#define PAY_EVENT_PARKED_BIT (APR_UINT64_C(1) << 63)

typedef enum pay_event_kind_t {
    PAY_EVENT_TRANSACTION = 1, /* `state` is a pay_charge_state_t */
    PAY_EVENT_REFUND = 2,      /* `state` is a pay_refund_state_t */
    PAY_EVENT_TEST = 3,        /* of no transaction: charge_seq 0 */
    /* To the merchant: an event of the webhook was given up. `state` is what was answered last. */
    PAY_EVENT_PARKED = 4
} pay_event_kind_t;

typedef struct pay_event_t {
    pay_scope_t scope;
    pay_endpoint_kind_t endpoint;
    apr_uint64_t charge_seq;
    apr_uint32_t sequence; /* from 1, of the transaction's events */

    pay_event_kind_t kind;
    int state;
    apr_time_t created_at; /* updatedAt of the record it tells of */
    int decided;           /* 1: the acquirer's word was there by then */
    apr_int64_t refunded_minor;
    apr_int64_t refunds_pending_minor;
    apr_time_t refund_created_at; /* with refund_seq: which refund */
    apr_uint64_t refund_seq;

    /* Delivery. */
    apr_uint32_t leases; /* how often it was taken: tells one lease from the next */
    pay_worker_t lease_worker;
    apr_int64_t lease_until_ms; /* boot clock of lease_worker's boot, from before it was taken */
    apr_time_t lease_until_at;  /* the store's clock; 0: of an earlier version */
    apr_uint32_t failures;      /* tries that failed */
    apr_time_t first_try_at;    /* 0: not tried yet */
    apr_time_t due_at;          /* 0: an earlier one of the transaction waits, or it is parked */
    apr_time_t parked_at;       /* 0: it is not */
    apr_time_t answered_at;     /* of the last try */
    int status;                 /* HTTP status or SMTP reply; 0: no answer */
    const char *error;          /* a sentence; "" before the first try */
    const char *answer;         /* the start of the receiver's body, UTF-8; "" */

    /* Filled in by event_take and event_get: the records it tells of. */
    const pay_charge_t *charge; /* NULL: a test */
    const pay_refund_t *refund; /* PAY_EVENT_REFUND only */
    /* PAY_EVENT_PARKED only: the webhook's event that was given up; NULL: it no longer waits. */
    const struct pay_event_t *parked;
} pay_event_t;

/*
 * The same at every try and unlike any other's, of another store too: place, and a digest of place
 * and time. In `p`.
 */
const char *pay_event_id(const pay_event_t *event, apr_pool_t *p);
/* Sets endpoint, charge_seq and sequence as the id tells; APR_EINVAL: it is no event's. */
apr_status_t pay_event_id_parse(pay_event_t *out, const char *id);

/* The seq of the charge that it tells of; 0: a test. */
apr_uint64_t pay_event_charge_seq(const pay_event_t *event);

/* "transaction", "refund", "test_assess"; and "successful", "processed", "test". */
const char *pay_event_notify(const pay_event_t *event);
const char *pay_event_notify_type(const pay_event_t *event);

/* 1 when such an event goes to such an endpoint; `first` 0: the transaction came back to a state it
 * had before, which a webhook is told and nobody gets a receipt for. */
int pay_event_is_for(pay_endpoint_kind_t endpoint, pay_event_kind_t kind, int state, int first);

/* The charge, refund as they were at the event. `event->charge` (refund) must be set. */
pay_charge_t pay_event_charge(const pay_event_t *event);
pay_refund_t pay_event_refund(const pay_event_t *event);

/*
 * The webhook's body: {"notify", "notifyType", "sequence", "data"}, the same bytes at every try.
 * `charge` must be set, `refund` for PAY_EVENT_REFUND.
 */
void pay_event_body_to_json(struct pay_writer_t *w, const pay_event_t *event);

/* For paymentsctl: what it tells and how its delivery stands, without the records. */
void pay_event_to_json(struct pay_writer_t *w, const char *name, const pay_event_t *event);

/* How long until the next try after `failures` failed ones, without jitter. */
apr_interval_time_t pay_event_wait(apr_uint32_t failures);

/* "waiting", "behind" (an earlier one goes first), "parked". */
const char *pay_event_standing(const pay_event_t *event);

#endif
