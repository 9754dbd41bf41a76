/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_EVENT_H
#define PAY_MODEL_EVENT_H

/*
 * An event: a report of one change to one endpoint, pending delivery. It contains the values of its
 * records that may change later; the rest stays in the records. Pure.
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
/* In charge_seq of PAY_EVENT_PARKED: these are not ordered with the events of their transaction. */
#define PAY_EVENT_PARKED_BIT (APR_UINT64_C(1) << 63)

typedef enum pay_event_kind_t {
    PAY_EVENT_TRANSACTION = 1, /* `state` is a pay_charge_state_t */
    PAY_EVENT_REFUND = 2,      /* `state` is a pay_refund_state_t */
    PAY_EVENT_TEST = 3,        /* without a transaction: charge_seq 0 */
    /* To the merchant: a webhook event was given up. `state` is the status of the last answer. */
    PAY_EVENT_PARKED = 4
} pay_event_kind_t;

typedef struct pay_event_t {
    pay_scope_t scope;
    pay_endpoint_kind_t endpoint;
    apr_uint64_t charge_seq;
    apr_uint32_t sequence; /* from 1, of the transaction's events */

    pay_event_kind_t kind;
    int state;
    apr_time_t created_at; /* updatedAt of the record that it reports */
    int decided;           /* 1: the acquirer had decided by then */
    apr_int64_t refunded_minor;
    apr_int64_t refunds_pending_minor;
    apr_time_t refund_created_at; /* with refund_seq: identifies the refund */
    apr_uint64_t refund_seq;

    /* Delivery. */
    apr_uint32_t leases; /* number of leases so far: distinguishes one lease from the next */
    pay_worker_t lease_worker;
    apr_int64_t lease_until_ms; /* boot clock of lease_worker's boot; read before the lease was
                                 * taken */
    apr_time_t lease_until_at;  /* the store's clock; 0: written by an earlier version */
    apr_uint32_t failures;      /* failed attempts */
    apr_time_t first_try_at;    /* 0: no attempt yet */
    apr_time_t due_at;          /* 0: an earlier event of the transaction waits, or this one is
                                 * parked */
    apr_time_t parked_at;       /* 0: not parked */
    apr_time_t answered_at;     /* of the last attempt */
    int status;                 /* HTTP status or SMTP reply; 0: no answer */
    const char *error;          /* a sentence; "" before the first attempt */
    const char *answer;         /* the start of the receiver's body, UTF-8; "" if empty */

    /* Filled in by event_take and event_get: the records that it reports. */
    const pay_charge_t *charge; /* NULL: a test */
    const pay_refund_t *refund; /* PAY_EVENT_REFUND only */
    /* PAY_EVENT_PARKED only: the webhook event that was given up; NULL: it no longer waits. */
    const struct pay_event_t *parked;
} pay_event_t;

/*
 * Returns the id, the same at every attempt and different from that of any other event, even in
 * another store: place, and a digest of place and time. In `p`.
 */
const char *pay_event_id(const pay_event_t *event, apr_pool_t *p);
/*
 * Sets endpoint, charge_seq and sequence from the id; APR_EINVAL if it is not the id of an event.
 */
apr_status_t pay_event_id_parse(pay_event_t *out, const char *id);

/* Returns the seq of the charge that it reports; 0 for a test. */
apr_uint64_t pay_event_charge_seq(const pay_event_t *event);

/* "transaction", "refund", "test_assess"; and "successful", "processed", "test". */
const char *pay_event_notify(const pay_event_t *event);
const char *pay_event_notify_type(const pay_event_t *event);

/* Returns 1 if events of this kind and state go to endpoints of this kind. `first` 0: the
 * transaction returned to an earlier state, which goes to a webhook and makes no receipt. */
int pay_event_is_for(pay_endpoint_kind_t endpoint, pay_event_kind_t kind, int state, int first);

/*
 * Return the charge and refund as they were at the event. `event->charge` (`refund`) must be set.
 */
pay_charge_t pay_event_charge(const pay_event_t *event);
pay_refund_t pay_event_refund(const pay_event_t *event);

/*
 * Writes the webhook's body: {"notify", "notifyType", "sequence", "data"}, the same bytes at every
 * attempt. `charge` must be set, and `refund` for PAY_EVENT_REFUND.
 */
void pay_event_body_to_json(struct pay_writer_t *w, const pay_event_t *event);

/* Writes the members of an object: its content and the state of its delivery, without the records.
 */
void pay_event_members_to_json(struct pay_writer_t *w, const pay_event_t *event);

/* Returns the time until the next attempt after `failures` failed ones, without jitter. */
apr_interval_time_t pay_event_wait(apr_uint32_t failures);

/* Returns "waiting", "behind" (an earlier one must be sent first) or "parked". */
const char *pay_event_standing(const pay_event_t *event);

#endif
