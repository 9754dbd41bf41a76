/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHARGE_H
#define PAY_MODEL_CHARGE_H

/* A charge: its request, states, outcome and JSON forms (docs/api.md, "Charges"). Pure. */

#include "base/crypto/crypto.h"
#include "base/shared/worker.h"
#include "base/text/money.h"
#include "model/account.h"
#include "model/outcome.h"

#include <apr_pools.h>

struct pay_checkout_t;
struct pay_csv_t;
struct pay_writer_t;

#define PAY_REFERENCE_MAX 100
#define PAY_NAME_MAX 100            /* characters of first or last name */
#define PAY_NAMES_BYTES_MAX 240     /* bytes of both; a charge's row has no room for more */
#define PAY_CHARGE_ANSWER_VERSION 2 /* form of the answer; earlier versions keep their renderer */

typedef enum pay_charge_state_t {
    PAY_CHARGE_PENDING,
    PAY_CHARGE_SUCCESSFUL,
    PAY_CHARGE_FAILED,
    PAY_CHARGE_REVERSED, /* processed refunds reached the amount */
    PAY_CHARGE_VOID,
    PAY_CHARGE_ABANDONED,
    PAY_CHARGE_STATE_COUNT
} pay_charge_state_t;

/* How the payer pays. */
typedef enum pay_charge_kind_t {
    PAY_CHARGE_TOKENIZED, /* with a card's token, at once */
    PAY_CHARGE_CHECKOUT   /* on a hosted page, by the payer: may become void or abandoned */
} pay_charge_kind_t;

/* The payer's means of payment; stored. */
typedef enum pay_channel_t {
    PAY_CHANNEL_CARD,
    PAY_CHANNEL_BANK_TRANSFER,
    PAY_CHANNEL_COUNT
} pay_channel_t;

typedef struct pay_charge_t {
    pay_scope_t scope;
    apr_uint64_t seq; /* "id": from 1 within the scope */
    pay_charge_kind_t kind;
    const char *reference;
    unsigned char request_digest[PAY_SHA256_LEN];
    const char *token;
    pay_card_t card;
    pay_money_t money;
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *request_ip;
    const char *acquirer; /* name of the instance that it was sent through */
    const char *key_id;
    pay_charge_state_t state;
    apr_time_t created_at; /* whole milliseconds, set by the store */
    apr_time_t updated_at;

    /* The outcome, frozen when it was decided: replays always render it. */
    /* PAY_CHARGE_PENDING until decided; REVERSED: approved, and fully refunded by then. */
    pay_charge_state_t decided_state;
    apr_time_t decided_at;
    int answer_version;
    const char *code;
    const char *message;
    const char *authorization_code;
    const char *contradiction; /* a later outcome that contradicts it; "" if none exists */

    /* Work in flight: the worker, and its deadlines (boot clock of the worker). Cleared by any
     * resolve. */
    pay_worker_t worker;
    apr_int64_t send_before_ms; /* after it nothing is sent */
    apr_int64_t wait_until_ms;  /* send_before + acquirer time-out */
    apr_time_t wait_until_at;   /* the same by the store's clock; 0: written by an earlier
                                 * version */
    apr_time_t read_at;         /* the store's clock when a row with a worker was read */
    apr_time_t due_at;          /* wall clock: time of the next query to the acquirer; 0: no
                                 * query */
    apr_uint32_t attempts;      /* number of queries so far */

    /* Its refunds. */
    apr_int64_t refunded_minor;        /* processed */
    apr_int64_t refunds_pending_minor; /* at the acquirer */
    apr_uint64_t refund_at_acquirer;   /* seq of the pending one that was made here; 0: none */

    apr_uint32_t events; /* events of it so far, the sequence of the last one */

    /* Of charges that go through an acquirer outside of this process. Strings are never NULL. */
    const char *acquirer_reference; /* the acquirer's name of the charge; "": `reference` */
    /* As in pay_outcome_t; with PAY_LATE_REFUNDING the time when that refund was sent. */
    apr_time_t absent_since;
    pay_moment_t absent_from;
    pay_held_t held;
    pay_late_t late;
    const char *late_tag;   /* of the refund of a late approval; "" if none exists */
    int spent;              /* as in pay_outcome_t: nothing is left to refund */
    const char *resolution; /* as in pay_outcome_t; "" if no person decided */

    pay_channel_t channel;
    /* The refunded amount that the acquirer reported when it approved the charge, as long as the
     * refunds known here come to less; 0: the known refunds count. */
    apr_int64_t refunded_there_minor;
    /* created_at by the boot clock; zero in a charge that never leaves this process. */
    pay_moment_t opened;
    /* By the account's rules when it was approved (model/fee.h); 0 in every other state. */
    apr_int64_t fee_minor;
    /* Of PAY_CHARGE_CHECKOUT: filled in by the store; NULL if its row is lost. */
    const struct pay_checkout_t *checkout;

    /* Internal to the store: kind (and operation) and digest of the Idempotency-Key that it was
     * opened with; zero: no key. */
    unsigned char idempotency_key[1 + PAY_SHA256_LEN];
} pay_charge_t;

typedef enum pay_view_t { PAY_VIEW_SECRET, PAY_VIEW_PUBLIC } pay_view_t;

/* Makes `charge` a new one: it is pending, every number is 0 and every string "", and its answer
 * has the form PAY_CHARGE_ANSWER_VERSION. */
void pay_charge_init(pay_charge_t *charge);

/* APR_EINVAL unless 1 to 100 characters of '!' to '~' without / \ ? #, neither "." nor "..", and
 * not of the form of an API key. */
apr_status_t pay_reference_check(const char *reference);

/* Returns NULL, or why two names that are each short enough are too long together. */
const char *pay_charge_names_fault(const char *first, const char *last);

/* Returns 1 if a charge may go from one state to the other (a table in the .c file). */
int pay_charge_may_become(pay_charge_state_t from, pay_charge_state_t to);

/* Returns how long the process that opened it may still be at work on it, as of the time when it
 * was read; 0 if it is not. */
apr_interval_time_t pay_charge_busy_for(const pay_charge_t *charge);
/* Returns 1 while the process is at work (409 D2); 0: the outcome is unknown (202). */
int pay_charge_in_flight(const pay_charge_t *charge);

/* Returns the exact word: paymentStatus of the API, and the state that people see. */
const char *pay_charge_state_name(pay_charge_state_t state);
/* Returns the API's status: "pending", "successful", "failed" or "reversed". Shops take any other
 * word for "paid", so a voided or abandoned checkout is "failed". */
const char *pay_charge_status_name(pay_charge_state_t state);

const char *pay_channel_name(pay_channel_t channel); /* "card", "bank_transfer" */

/* Returns the name by which its acquirer knows the charge. */
const char *pay_charge_acquirer_reference(const pay_charge_t *charge);

/* Returns the refunded amount, including refunds that only the acquirer knows. */
apr_int64_t pay_charge_refunded_minor(const pay_charge_t *charge);

/*
 * Returns 1 while a refund of it counts, pending or processed: the charge was approved, whatever
 * else is reported.
 */
int pay_charge_has_refunds(const pay_charge_t *charge);

/* Returns 1 if it was decided that the payer has paid, whatever was refunded by then or since. */
int pay_charge_was_approved(const pay_charge_t *charge);

/* Writes the members of the transaction object in its present state into an open object. */
void pay_charge_members_to_json(struct pay_writer_t *w, const pay_charge_t *charge,
                                pay_view_t view);

/* Writes the same members as an object of their own. */
void pay_charge_to_json(struct pay_writer_t *w, const char *name, const pay_charge_t *charge,
                        pay_view_t view);

/* One row of a file of charges, with these titles. */
extern const char *const pay_charge_csv_titles[];
void pay_charge_to_csv(struct pay_csv_t *csv, const pay_charge_t *charge);

/*
 * Writes the answer to the request that made the charge: the whole envelope. Once the charge is
 * decided the bytes never change, whatever happens to the charge later (docs/store.md).
 */
void pay_charge_answer_to_json(struct pay_writer_t *w, const pay_charge_t *charge);

#endif
