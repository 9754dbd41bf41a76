/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_EVENT_EVENT_H
#define PAY_STORE_EVENT_EVENT_H

/*
 * Event rows inside a transaction that the caller holds. Of the undelivered events of a transaction
 * and endpoint only the first has an entry in event_due or event_parked. Functions return the
 * seam's codes or PAY_ROWS_BAD (already logged).
 */

#include "store/event/endpoint.h"
#include "store/rows.h"

#define PAY_STORE_EVENT_KEY_LEN (PAY_STORE_ENDPOINT_KEY_LEN + 8 + 4)
#define PAY_STORE_EVENT_DUE_KEY_LEN (PAY_STORE_ENDPOINT_KEY_LEN + 8 + 8)
/* The longest wait between two tries, including its jitter: an event or endpoint that is due later
 * was postponed while the clock was ahead, and is due now. */
#define PAY_STORE_EVENT_LONGEST apr_time_from_sec(14 * 3600)

#define PAY_STORE_EVENT_PARKED_KEY_LEN (PAY_STORE_ENDPOINT_KEY_LEN + 8)

void pay_store_event_key(pay_store_key_t *key, const pay_event_t *event);
/* Returns 1 and sets endpoint, scope, charge_seq and sequence if the bytes are such a key. */
int pay_store_event_key_read(pay_event_t *place, const pay_bytes_t *key);
void pay_store_event_due_key(pay_store_key_t *key, const pay_event_t *event);
void pay_store_event_parked_key(pay_store_key_t *key, const pay_event_t *event);
/* Returns 1 and sets `place` if the bytes are a key of event_due or, with due_at 0, of
 * event_parked. Its sequence is 0: pay_store_event_first finds the event. */
int pay_store_event_entry_read(pay_event_t *place, const pay_bytes_t *key);

/* The endpoint's entries in event_due. */
void pay_store_event_timed(pay_store_timed_t *out, const pay_scope_t *scope,
                           pay_endpoint_kind_t kind);

int pay_store_event_decode(pay_event_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p);
int pay_store_event_encode(pay_bytes_t *row, const pay_event_t *event, apr_pool_t *p);
/* The event at `place`; PAY_ROWS_NOTFOUND if it does not exist. */
int pay_store_event_load(pay_event_t **out, pay_rows_txn_t *txn, const pay_event_t *place,
                         apr_pool_t *p);
/* The first undelivered event of the transaction and endpoint of `place`. */
int pay_store_event_first(pay_event_t **out, pay_rows_txn_t *txn, const pay_event_t *place,
                          apr_pool_t *p);

/* --- store/event/event.c: the row with its entry --- */

extern const pay_store_record_t pay_store_event_record;

/* Writes the row, new or not: the event is due at due_at or was parked at parked_at; if both are
 * 0, it comes after another event of its transaction. */
int pay_store_event_store(pay_rows_txn_t *txn, const pay_event_t *event, apr_pool_t *p);
int pay_store_event_remove(pay_rows_txn_t *txn, const pay_event_t *event);
/* Makes the event due at `due_at` and writes the row. In this function and the following one
 * `event` has the stored due_at and parked_at. */
int pay_store_event_move(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t due_at, apr_pool_t *p);
/* Parks the event at `now` and writes the row. */
int pay_store_event_park(pay_rows_txn_t *txn, pay_event_t *event, apr_time_t now, apr_pool_t *p);
/*
 * After an event was removed: the transaction's first remaining event becomes due at `now`. Sets
 * *any to 0 if there is no event left.
 */
int pay_store_event_promote(int *any, pay_rows_txn_t *txn, const pay_event_t *gone, apr_time_t now,
                            apr_pool_t *p);

/* --- store/event/add.c: what the operations on charges and refunds call --- */

/*
 * Writes events about the charge's current state for the endpoints; call it before the charge is
 * written, because it changes the charge's count of events. `first` as in pay_event_is_for.
 */
int pay_store_event_of_charge(pay_rows_txn_t *txn, pay_charge_t *charge, int first, apr_pool_t *p);
/* Sets *wanted to 1 if the scope has an endpoint that is enabled. */
int pay_store_event_is_wanted(int *wanted, pay_rows_txn_t *txn, const pay_scope_t *scope,
                              apr_pool_t *p);
/*
 * Writes the events of a refund that was decided, or failed later, and whose row is written; with
 * `turned` 1, also those of its charge, which became reversed by it, or successful again. Changes
 * the charge's count of events; the caller writes the charge.
 */
int pay_store_event_of_refund(pay_rows_txn_t *txn, pay_charge_t *charge, const pay_refund_t *refund,
                              int turned, apr_pool_t *p);

/* At the end of an import: a processed refund that is announced, or that reversed its charge. */
typedef struct pay_store_told_t {
    const char *refund_reference;
    apr_uint64_t charge_seq;
    int is_news; /* 0: too old to be announced */
    int turned;  /* it reversed its charge */
} pay_store_told_t;

/*
 * Notifies the merchant, at the endpoint `notice`, that an event of `webhook` was parked, at most
 * once a day. The caller writes both rows.
 */
int pay_store_event_of_parked(pay_rows_txn_t *txn, const pay_event_t *parked,
                              pay_endpoint_t *webhook, pay_endpoint_t *notice, apr_time_t now,
                              apr_pool_t *p);

#endif
